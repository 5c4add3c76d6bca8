package org.tamanoir.qdisc;

/**
 * The limits of one queue that all flows share: the sums of the flows' own, unless the options {@value #PACKETS} and
 * {@value #BYTES} say otherwise.
 */
record Limits(int packets, long bytes) {
    static final String PACKETS = "limit-packets";
    static final String BYTES = "limit-bytes";

    /** The largest limit in bytes that an option may ask for: 1 Ti. */
    private static final long MAX_BYTES = 1L << 40;

    static Limits of(String discipline, DisciplineConfig config, Options options) {
        long packets = 0;
        long bytes = 0;
        for (FlowConfig flow : config.flows()) {
            packets += flow.limitPackets();
            bytes += Math.min(flow.limitBytes(), Long.MAX_VALUE / 2 - bytes);
        }
        packets = options.number(PACKETS, Math.min(packets, Integer.MAX_VALUE), 1, Integer.MAX_VALUE);
        bytes = options.number(BYTES, bytes, 1, MAX_BYTES);
        if (packets == 0 || bytes == 0) {
            throw new IllegalArgumentException("discipline " + discipline + ": there is no flow to take limits from;"
                    + " give one, or the options " + PACKETS + " and " + BYTES);
        }
        return new Limits((int) packets, bytes);
    }
}
