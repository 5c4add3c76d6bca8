package org.tamanoir.node.admin;

import java.util.ArrayList;
import java.util.List;
import org.tamanoir.manager.ManagerException;

/** Has a node read its configuration again. Any thread may call. */
public interface Reloading {
    /**
     * Tells what a reload did.
     *
     * @param changed what the node has taken, a line each
     * @param failed what the node has taken and has no effect, such as a level where a service cannot be, a line each
     * @param needRestart what changed and counts from the next start on, a line each
     */
    record Outcome(List<String> changed, List<String> failed, List<String> needRestart) {
        /** Returns all lines. */
        public List<String> lines() {
            List<String> lines = new ArrayList<>(changed);
            failed.forEach(line -> lines.add("without effect: " + line));
            needRestart.forEach(line -> lines.add("needs a restart: " + line));
            return lines;
        }
    }

    /**
     * Reads it and takes what changed, all of it or nothing.
     *
     * @throws ManagerException {@link ManagerException.Kind#INVALID} with a line for each thing that is wrong; nothing is
     *     changed then
     */
    Outcome reload() throws ManagerException;
}
