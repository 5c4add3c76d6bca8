package org.tamanoir.benchmarks.soak;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import tools.jackson.databind.JsonNode;

/**
 * What the node uses and holds at one moment.
 *
 * @param second since the beginning
 * @param heapBytes in use, garbage included
 * @param directBytes of direct buffers
 * @param residentBytes of the process, as the kernel says
 * @param verifiedBytes at far ends since the beginning
 */
record Sample(
        double second,
        double heapBytes,
        double directBytes,
        double residentBytes,
        double descriptors,
        double threads,
        double streams,
        double held,
        double verifiedBytes) {
    static final String HEAD = "second,heap,direct,resident,descriptors,threads,streams,held,verified";

    /** Asks the node and the kernel. */
    static Sample of(SoakNode node, double second, long verifiedBytes) throws IOException {
        String metrics = node.api.ask("GET", "/metrics", "");
        Path process = Path.of("/proc", Long.toString(node.pid()));
        double resident = 0;
        for (String line : Files.readAllLines(process.resolve("status"))) {
            if (line.startsWith("VmRSS:")) {
                resident = Double.parseDouble(line.replaceAll("[^0-9]", "")) * 1024;
            }
        }
        double descriptors;
        try (Stream<Path> open = Files.list(process.resolve("fd"))) {
            descriptors = open.count();
        }
        return new Sample(
                second,
                sum(metrics, "jvm_memory_used_bytes{area=\"heap\""),
                sum(metrics, "jvm_buffer_memory_used_bytes{id=\"direct\"}"),
                resident,
                descriptors,
                sum(metrics, "jvm_threads_live_threads "),
                sum(metrics, "tamanoir_streams_open "),
                sum(metrics, "tamanoir_packets_held "),
                verifiedBytes);
    }

    private static double sum(String metrics, String prefix) {
        return metrics.lines()
                .filter(line -> line.startsWith(prefix))
                .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
                .sum();
    }

    String csv() {
        return "%.1f,%.0f,%.0f,%.0f,%.0f,%.0f,%.0f,%.0f,%.0f"
                .formatted(
                        second,
                        heapBytes,
                        directBytes,
                        residentBytes,
                        descriptors,
                        threads,
                        streams,
                        held,
                        verifiedBytes);
    }

    /** Returns in - what is accounted for, from the node's traffic; 0 when all is. */
    static long balance(JsonNode traffic) {
        return traffic.path("packetsIn").asLong()
                + traffic.path("packetsMade").asLong()
                - traffic.path("packetsOut").asLong()
                - traffic.path("dropped").asLong()
                - traffic.path("held").asLong();
    }
}
