package org.tamanoir.node.run;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.tamanoir.ee.ExecutionEnvironment;
import org.tamanoir.manager.ManagerException;
import org.tamanoir.node.config.NodeConfig;
import org.tamanoir.node.config.NodeSettings;
import org.tamanoir.nodeos.LevelException;
import org.tamanoir.offload.PlainChange;
import org.tamanoir.plain.PlainRules;
import org.tamanoir.plain.PlainTraffic;

/**
 * What a reload changes of the rules for plain IP: made ready first, so that they are refused before anything is changed.
 *
 * <p>Thread contract: one thread.
 *
 * @param change null = the rules stay
 */
record PlainReload(
        ExecutionEnvironment environment, @Nullable PlainChange change) {
    /**
     * Makes the rules ready that another configuration says.
     *
     * @throws ManagerException if they cannot be had; nothing is changed then
     */
    static PlainReload stage(ExecutionEnvironment environment, NodeConfig before, NodeConfig after)
            throws ManagerException {
        List<?> had = List.of(before.get(NodeSettings.PLAIN), before.get(NodeSettings.PLAIN_ALERTS));
        if (had.equals(List.of(after.get(NodeSettings.PLAIN), after.get(NodeSettings.PLAIN_ALERTS)))) {
            return new PlainReload(environment, null);
        }
        try {
            PlainRules rules = new PlainRules(after.get(NodeSettings.PLAIN));
            return new PlainReload(environment, environment.stage(rules, after.get(NodeSettings.PLAIN_ALERTS)));
        } catch (LevelException e) {
            throw new ManagerException(ManagerException.Kind.CONFLICT, "plain: " + e.getMessage());
        }
    }

    /** Puts them in force, and returns why they have no effect, a line each. */
    List<String> commit() {
        if (change == null) {
            return List.of();
        }
        try {
            change.commit();
        } catch (LevelException e) {
            return List.of("plain: " + e.getMessage());
        }
        PlainTraffic.Status status = environment.plain().status();
        return status.isThere() ? List.of() : List.of("plain: nothing comes up: " + status.detail());
    }

    /** Leaves those before in force. */
    void abandon() {
        if (change != null) {
            change.abandon();
        }
    }
}
