package org.tamanoir.benchmarks.cluster;

import java.io.IOException;
import org.tamanoir.benchmarks.NodeJvm;
import org.tamanoir.benchmarks.Processes;
import org.tamanoir.benchmarks.netns.Namespace;
import org.tamanoir.benchmarks.netns.NodeProcess;
import tools.jackson.databind.JsonNode;

/** A node as a back-end: a JVM of its own in a namespace. Thread contract: one thread. */
record BackEnd(NodeProcess node) {
    /**
     * What it has done so far.
     *
     * @param packets that came in
     * @param dropped of those
     * @param connections that it took
     */
    record Counts(long packets, long dropped, long connections) {}

    /** Starts one; it is ready later. */
    static BackEnd start(Namespace namespace, NodeJvm jvm, Processes processes) throws IOException {
        String listen = "0.0.0.0:" + Bed.PORT;
        String route = Bed.RECEIVERS_PREFIX + "=destination:" + Bed.PORT;
        return new BackEnd(namespace.node(processes, jvm.line("--tcp", listen, "--udp", listen, "--route", route)));
    }

    Counts counts() throws IOException {
        JsonNode traffic = node.api().get("/v1/traffic");
        JsonNode streams = node.api().get("/v1/streams?limit=1");
        return new Counts(
                traffic.path("packetsIn").asLong(),
                traffic.path("dropped").asLong(),
                streams.path("accepted").asLong());
    }
}
