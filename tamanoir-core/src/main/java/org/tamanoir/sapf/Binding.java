package org.tamanoir.sapf;

/**
 * What a selector stands for that this node has issued: the header of a flow, for packets from who asked for it alone.
 *
 * <p>Thread contract: its state is changed under its table's lock and read by any thread.
 */
final class Binding {
    final long selector;
    final long request;
    final HeaderTemplate header;
    /** Where its packets come from: the source lock. */
    final long high;

    final long low;
    final int port;

    /** The end of its lifetime. */
    volatile long untilNs;
    /** Its source has shown that it reads what is sent there, by naming the selector. */
    volatile boolean isProven;

    Binding(long selector, long request, HeaderTemplate header, long high, long low, int port, long untilNs) {
        this.selector = selector;
        this.request = request;
        this.header = header;
        this.high = high;
        this.low = low;
        this.port = port;
        this.untilNs = untilNs;
    }

    boolean isFrom(long high, long low, int port) {
        return this.port == port && this.low == low && this.high == high;
    }

    boolean isExpired(long nowNs) {
        return nowNs - untilNs >= 0;
    }
}
