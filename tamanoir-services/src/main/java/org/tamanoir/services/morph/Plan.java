package org.tamanoir.services.morph;

import java.util.List;
import java.util.Map;
import org.tamanoir.services.morph.handler.PlanNames;

/**
 * A graph of handlers over contexts, as it runs: checked, ordered and placed.
 *
 * @param tree as it was written
 * @param contexts the first is {@code receive}
 * @param stages in the order in which they run: each behind those that lead to it
 * @param dropsByDefault what becomes of messages that no path takes
 * @param emitLimit the most messages that a handler may make in one call
 * @param order what was put into another order than it was written in, and why: a line each
 * @param admission what contexts have and what their handlers need
 * @param table which way messages of the formats take that are known beforehand
 * @param notes what could not be checked beforehand: a line each
 */
record Plan(
        Map<String, Object> tree,
        PlanNames names,
        List<ContextSpec> contexts,
        List<StageSpec> stages,
        List<PathRule> paths,
        boolean dropsByDefault,
        int emitLimit,
        List<String> order,
        List<Map<String, Object>> admission,
        PathTable table,
        List<String> notes) {
    /** In place of a stage's number: the message leaves the chain. */
    static final int OUT = -1;

    static final String OUT_NAME = "out";
    static final int MAX_HANDLERS = 100;
    static final int MAX_CONTEXTS = 16;
    static final int MAX_PORTS = 64;
    static final int RECEIVE = 0;

    /** Returns the name of a stage, or {@code out}. */
    String nameOf(int stage) {
        return stage == OUT ? OUT_NAME : stages.get(stage).name();
    }

    /** Returns the number of the stage of this name, -1 if there is none. */
    int stage(String name) {
        for (int i = 0; i < stages.size(); i++) {
            if (stages.get(i).name().equals(name)) {
                return i;
            }
        }
        return -1;
    }
}
