package org.tamanoir.qdisc;

import java.util.Set;

/**
 * A class of traffic. Where priorities count, the class that stands first in the configuration comes first.
 *
 * @param name lower-case letters, digits, hyphens
 * @param classesOfService values of the class-of-service option that mean it, 0 to 255
 * @param weight its share relative to the others, 1 to 1,000,000
 * @param limitPackets packets that may wait in it at each point, 1 to 1,000,000
 * @param limitBytes the same in bytes, 65,536 to 1 Gi
 * @param dscp the differentiated services code point (RFC 2474) that its packets leave with, 0 to 63
 */
public record TrafficClass(
        String name, Set<Integer> classesOfService, long weight, int limitPackets, long limitBytes, int dscp) {
    /** Packets that may wait unless the configuration says otherwise. */
    public static final int DEFAULT_LIMIT_PACKETS = 1000;
    /** Bytes that may wait unless the configuration says otherwise. */
    public static final long DEFAULT_LIMIT_BYTES = 1 << 20;

    public TrafficClass {
        classesOfService = Set.copyOf(classesOfService);
    }

    /** A class whose packets leave with code point 0, as all do where nothing is said. */
    public TrafficClass(String name, Set<Integer> classesOfService, long weight, int limitPackets, long limitBytes) {
        this(name, classesOfService, weight, limitPackets, limitBytes, 0);
    }

    /** A class with the default limits. */
    public TrafficClass(String name, Set<Integer> classesOfService, long weight) {
        this(name, classesOfService, weight, DEFAULT_LIMIT_PACKETS, DEFAULT_LIMIT_BYTES);
    }
}
