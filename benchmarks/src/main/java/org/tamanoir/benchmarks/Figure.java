package org.tamanoir.benchmarks;

import com.fasterxml.jackson.annotation.JsonValue;

/** What is measured, in its unit. */
enum Figure {
    /** Throughput at the sink, 10^6 bytes a second. */
    THROUGHPUT("MB/s", 0),
    /** Processor time of the forwarder per 10^9 bytes that the sink got. */
    CPU_PER_GB("CPU-s/GB", 2),
    /** Median from writing to reading. */
    P50("p50 µs", 1),
    /** 99th percentile from writing to reading. */
    P99("p99 µs", 1),
    /** 99.9th percentile from writing to reading. */
    P999("p99.9 µs", 1),
    /** Longest time from writing to reading. */
    MAX("max µs", 0),
    /** Mean life of a stream: from connecting to the end that comes back. */
    LIFE("µs/stream", 0),
    /** Processor time of the forwarder per stream. */
    CPU_PER_STREAM("CPU-µs/stream", 0),
    /** Packets that did not arrive. */
    LOST("lost", 0),
    /** Packets that arrived broken or out of order. */
    FAULTS("faults", 0),
    /** Packets a second at the sink. */
    PACKET_RATE("packets/s", 0),
    /** Processor time of the forwarder per 10^6 packets that the sink got. */
    CPU_PER_MILLION("CPU-s/Mpkt", 2),
    /** User time of the forwarder per packet that the sink got. */
    USER_PER_PACKET("user ns/packet", 1),
    /** Packets that the sink got per second of the forwarder's processor time. */
    PACKETS_PER_CPU("packets/CPU-s", 0),
    /** Packets a second that the sender sent. */
    SENT_RATE("sent/s", 0),
    /** Resident memory of the forwarder, 2^20 bytes. */
    RSS("RSS MiB", 0),
    /** Threads of the forwarder. */
    THREADS("threads", 0),
    /** Open descriptors of the forwarder. */
    DESCRIPTORS("descriptors", 0),
    /** From the start of the process to the first packet at the sink. */
    STARTUP("ms to first packet", 0);

    private final String unit;
    private final int digits;

    Figure(String unit, int digits) {
        this.unit = unit;
        this.digits = digits;
    }

    @JsonValue
    String unit() {
        return unit;
    }

    String format(double value) {
        return ("%,." + digits + "f").formatted(value);
    }
}
