package org.tamanoir.benchmarks.cluster;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.tamanoir.benchmarks.Child;
import org.tamanoir.benchmarks.CpuClock;
import org.tamanoir.benchmarks.netns.AdminApi;
import org.tamanoir.benchmarks.netns.Namespace;
import tools.jackson.databind.JsonNode;

/** A node as a back-end: a JVM of its own in a namespace. Thread contract: one thread. */
final class BackEnd implements AutoCloseable {
    static final int ADMIN_PORT = 3324;

    /** Emulated processors are slow. */
    private static final long START_TIMEOUT_S = 240;

    private static final long ASK_AGAIN_NS = TimeUnit.MILLISECONDS.toNanos(100);
    private static final long TERM_TIMEOUT_MS = 5000;

    private final Child child;
    private final AdminApi admin;

    private BackEnd(Child child, AdminApi admin) {
        this.child = child;
        this.admin = admin;
    }

    /**
     * What it has done so far.
     *
     * @param packets that came in
     * @param dropped of those
     * @param connections that it took
     */
    record Counts(long packets, long dropped, long connections) {}

    /** Starts one; it is ready later. */
    static BackEnd start(Namespace namespace, NodeJvm jvm, org.tamanoir.benchmarks.Processes processes)
            throws IOException {
        List<String> command = new ArrayList<>(List.of(jvm.java()));
        command.addAll(jvm.flags());
        command.addAll(List.of("-jar", jvm.jar().toString(), "node"));
        command.addAll(List.of("--tcp", "0.0.0.0:" + Bed.PORT, "--udp", "0.0.0.0:" + Bed.PORT));
        command.addAll(List.of("--route", Bed.RECEIVERS_PREFIX + "=destination:" + Bed.PORT));
        return new BackEnd(
                processes.start("node " + namespace.name(), namespace.inside(command)),
                new AdminApi(namespace, ADMIN_PORT));
    }

    /** Waits until it does its work. */
    void awaitReady() throws IOException {
        long endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(START_TIMEOUT_S);
        while (!admin.isReady()) {
            child.requireAlive();
            if (System.nanoTime() - endNs > 0) {
                throw new IOException("a node was not ready in " + START_TIMEOUT_S + " s: " + child.lastWords());
            }
            LockSupport.parkNanos(ASK_AGAIN_NS);
        }
    }

    Counts counts() throws IOException {
        JsonNode traffic = admin.get("/v1/traffic");
        JsonNode streams = admin.get("/v1/streams?limit=1");
        return new Counts(
                traffic.path("packetsIn").asLong(),
                traffic.path("dropped").asLong(),
                streams.path("accepted").asLong());
    }

    /** Processor time that its process has used. */
    long cpuNs() {
        return CpuClock.ns(child.handle());
    }

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
