package org.tamanoir.benchmarks.levels;

import java.io.IOException;
import org.tamanoir.benchmarks.Threads;
import org.tamanoir.benchmarks.netns.NodeProcess;
import org.tamanoir.nodeos.Level;
import tools.jackson.databind.JsonNode;

/** A node that runs in the router. Thread contract: one thread. */
record RouterNode(NodeProcess node) implements AutoCloseable {
    private static final double ASK_AGAIN_MS = 20;
    private static final double TIMEOUT_S = 20;

    /**
     * What policies of a level have done.
     *
     * @param packets that they decided about
     * @param up of those, to the JVM
     * @param on handled and sent on
     */
    record Counts(long packets, long up, long on) {}

    private JsonNode get(String path) throws IOException {
        return node.api().get(path);
    }

    private static boolean isOf(Level level, JsonNode each) {
        return each.path("level").asString("").equals(level.label());
    }

    /** One line: how a level is attached. */
    String detail(Level level) throws IOException {
        for (JsonNode each : get("/v1/levels").path("levels")) {
            if (isOf(level, each)) {
                return level.label() + ": " + each.path("detail").asString("");
            }
        }
        throw new IOException("the node knows no level " + level.label());
    }

    /**
     * Waits until Monitor is where the operator has placed it, and fails with the node's reason if it is not: what
     * cannot be placed runs in the JVM.
     */
    void awaitPlaced(Level level) throws IOException {
        boolean isPlaced = Threads.await(TIMEOUT_S, ASK_AGAIN_MS, () -> {
            boolean found = false;
            for (JsonNode each : get("/v1/services").path("services")) {
                found |= isOf(level, each.path("placement"));
            }
            return found;
        });
        if (!isPlaced) {
            throw new IOException("Monitor is not at level " + level.label() + ": " + get("/v1/services"));
        }
    }

    /** Waits until a service has a policy there. */
    void awaitPolicy(Level level) throws IOException {
        if (!Threads.await(
                TIMEOUT_S,
                ASK_AGAIN_MS,
                () -> !get("/v1/levels").path("offloads").isEmpty())) {
            throw new IOException(
                    "Monitor got no policy at level " + level.label() + ": " + get("/v1/services/Monitor"));
        }
    }

    Counts counts(Level level) throws IOException {
        for (JsonNode each : get("/v1/levels").path("offloads")) {
            if (isOf(level, each)) {
                JsonNode counters = each.path("counters");
                return new Counts(
                        counters.path("packets").asLong(),
                        counters.path("up").asLong(),
                        counters.path("on").asLong());
            }
        }
        throw new IOException("Monitor has no policy at level " + level.label() + ": " + get("/v1/levels"));
    }

    long cpuNs() {
        return node.cpuNs();
    }

    @Override
    public void close() {
        node.close();
    }
}
