package org.tamanoir.benchmarks.cluster;

/**
 * How throughput grows with machines. A packet costs processor time at four stages: the sender, the front-end, the
 * back-end's node, the receiver. Each of n streams has one thread at a stage, so that a stage takes at most n
 * processors.
 *
 * <pre>
 *   all stages on P shared processors      X(s)    = min( P / (S + B + R),  s / max(S, B, R) )
 *   each stage on machines of its own      X(n, s) = min( min(s, n·p) / B,  p / F,  L )
 * </pre>
 *
 * <p>On shared processors the number of back-ends n does not appear: what one more node could do, the processors
 * cannot. With machines of their own, front-end and links bound what n back-ends add up to; senders and receivers
 * are taken to be many.
 *
 * @param senderNs S, processor time for a packet, the kernel's way to the next socket included
 * @param nodeNs B
 * @param receiverNs R
 */
record Model(double senderNs, double nodeNs, double receiverNs) {
    private static final double NS = 1e9;

    /** Packets a second on shared processors. */
    double shared(double processors, int streams) {
        double slowestNs = Math.max(nodeNs, Math.max(senderNs, receiverNs));
        return NS * Math.min(processors / (senderNs + nodeNs + receiverNs), streams / slowestNs);
    }

    /** The same on shared processors and without a node: for what sender and receiver reach alone. */
    double direct(double processors, int streams) {
        return NS * Math.min(processors / (senderNs + receiverNs), streams / Math.max(senderNs, receiverNs));
    }

    /**
     * Packets a second with machines of their own.
     *
     * @param backEnds n
     * @param streams s
     * @param processors p, of each machine
     * @param frontEndNs F: processor time for a packet at the front-end
     * @param linkPacketsPerSecond L: of the link on which the front-end takes packets in
     */
    double own(int backEnds, int streams, int processors, double frontEndNs, double linkPacketsPerSecond) {
        double nodes = NS * Math.min(streams, backEnds * processors) / nodeNs;
        return Math.min(nodes, bound(processors, frontEndNs, linkPacketsPerSecond));
    }

    /** The least number of back-ends with which the front-end, or its link, is what bounds throughput. */
    int boundFrom(int processors, double frontEndNs, double linkPacketsPerSecond) {
        double most = bound(processors, frontEndNs, linkPacketsPerSecond);
        return (int) Math.max(1, Math.ceil(most * nodeNs / (NS * processors)));
    }

    private static double bound(int processors, double frontEndNs, double linkPacketsPerSecond) {
        return Math.min(NS * processors / frontEndNs, linkPacketsPerSecond);
    }
}
