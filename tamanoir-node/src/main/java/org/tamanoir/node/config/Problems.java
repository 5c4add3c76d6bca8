package org.tamanoir.node.config;

import java.util.ArrayList;
import java.util.List;
import org.tamanoir.deploy.OneLine;

/** Collects every error of a configuration, one line each, in the order found. One thread. */
public final class Problems {
    private final List<String> lines = new ArrayList<>();

    /**
     * Adds an error.
     *
     * @param where {@code FILE:LINE: path}, or an option of the command line
     * @param what what is wrong, the value, the bound and the remedy
     */
    public void add(String where, String what) {
        add(where + ": " + what);
    }

    /** Adds an error that says its place. */
    public void add(String line) {
        lines.add(OneLine.of(line.replaceAll("\\R\\s*", " ")));
    }

    public boolean isEmpty() {
        return lines.isEmpty();
    }

    public List<String> lines() {
        return List.copyOf(lines);
    }
}
