package org.tamanoir.benchmarks.levels;

import java.io.IOException;
import java.util.concurrent.locks.LockSupport;
import org.tamanoir.benchmarks.Child;
import org.tamanoir.benchmarks.CpuClock;
import org.tamanoir.benchmarks.netns.AdminApi;
import org.tamanoir.benchmarks.netns.Namespace;
import org.tamanoir.nodeos.Level;
import tools.jackson.databind.JsonNode;

/** A node that runs in the router. Thread contract: one thread. */
final class RouterNode implements AutoCloseable {
    static final int ADMIN_PORT = 3324;

    private static final long ASK_AGAIN_NS = 20_000_000;
    private static final int TIMEOUT_MS = 20_000;
    private static final long TERM_TIMEOUT_MS = 10_000;

    private final AdminApi admin;
    private final Child child;

    RouterNode(Namespace router, Child child) {
        this.admin = new AdminApi(router, ADMIN_PORT);
        this.child = child;
    }

    boolean isReady() {
        return admin.isReady();
    }

    /** What the admin API answers. */
    JsonNode get(String path) throws IOException {
        return admin.get(path);
    }

    /** One request to the admin API; its answer. */
    String ask(String method, String path, String body) throws IOException {
        return admin.ask(method, path, body);
    }

    /** Fails if it has ended. */
    void requireAlive() throws IOException {
        child.requireAlive();
    }

    /**
     * What policies of a level have done.
     *
     * @param packets that they decided about
     * @param up of those, to the JVM
     * @param on handled and sent on
     */
    record Counts(long packets, long up, long on) {}

    /** One line: how a level is attached. */
    String detail(Level level) throws IOException {
        for (JsonNode each : get("/v1/levels").path("levels")) {
            if (each.path("level").asString("").equals(level.label())) {
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
        long endNs = System.nanoTime() + TIMEOUT_MS * 1_000_000L;
        String placement = "";
        while (System.nanoTime() - endNs < 0) {
            for (JsonNode each : get("/v1/services").path("services")) {
                placement = each.path("placement").toString();
                if (each.path("placement").path("level").asString("").equals(level.label())) {
                    return;
                }
            }
            LockSupport.parkNanos(ASK_AGAIN_NS);
        }
        throw new IOException("Monitor is not at level " + level.label() + ": " + placement);
    }

    /** Waits until a service has a policy there. */
    void awaitPolicy(Level level) throws IOException {
        long endNs = System.nanoTime() + TIMEOUT_MS * 1_000_000L;
        while (get("/v1/levels").path("offloads").isEmpty()) {
            if (System.nanoTime() - endNs > 0) {
                throw new IOException(
                        "Monitor got no policy at level " + level.label() + ": " + get("/v1/services/Monitor"));
            }
            LockSupport.parkNanos(ASK_AGAIN_NS);
        }
    }

    Counts counts(Level level) throws IOException {
        for (JsonNode each : get("/v1/levels").path("offloads")) {
            if (each.path("level").asString("").equals(level.label())) {
                JsonNode counters = each.path("counters");
                return new Counts(
                        counters.path("packets").asLong(),
                        counters.path("up").asLong(),
                        counters.path("on").asLong());
            }
        }
        throw new IOException("Monitor has no policy at level " + level.label() + ": " + get("/v1/levels"));
    }

    /** Processor time that its process has used, in ns. */
    long cpuNs() {
        return CpuClock.ns(child.handle());
    }

    /** Ends it as an operator would, so that it takes its programs and rules away. */
    @Override
    public void close() {
        try {
            child.terminate(TERM_TIMEOUT_MS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        child.close();
    }
}
