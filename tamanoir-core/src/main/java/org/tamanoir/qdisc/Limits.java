package org.tamanoir.qdisc;

/**
 * The limits of one queue that all flows share: the sums of the flows' own, unless the options {@value #PACKETS} and
 * {@value #OCTETS} say otherwise.
 */
record Limits(int packets, long octets) {
    static final String PACKETS = "limit-packets";
    static final String OCTETS = "limit-octets";

    /** The largest limit in octets that an option may ask for: 1 Ti. */
    private static final long MAX_OCTETS = 1L << 40;

    static Limits of(String discipline, DisciplineConfig config, Options options) {
        long packets = 0;
        long octets = 0;
        for (FlowConfig flow : config.flows()) {
            packets += flow.limitPackets();
            octets += Math.min(flow.limitOctets(), Long.MAX_VALUE / 2 - octets);
        }
        packets = options.number(PACKETS, Math.min(packets, Integer.MAX_VALUE), 1, Integer.MAX_VALUE);
        octets = options.number(OCTETS, octets, 1, MAX_OCTETS);
        if (packets == 0 || octets == 0) {
            throw new IllegalArgumentException("discipline " + discipline + ": there is no flow to take limits from;"
                    + " give one, or the options " + PACKETS + " and " + OCTETS);
        }
        return new Limits((int) packets, octets);
    }
}
