package org.tamanoir.cluster.lvs;

/**
 * What the kernel counted for one back-end of a virtual service, or for the service. It adds up its processors' counts
 * every 2 s, so all but {@code active}, {@code inactive} and {@code persistent} may be that old.
 *
 * @param active connections that are established (TCP) now
 * @param inactive other connections now: TCP not established, UDP until its time-out
 * @param persistent templates that keep clients on it
 * @param connections since it was added
 * @param packetsIn from clients since it was added; bytes too
 * @param packetsOut answers through the director: by NAT alone
 * @param connectionsPerSecond by the kernel's estimator, over some 8 s; the rates after it too
 */
public record Counters(
        int active,
        int inactive,
        int persistent,
        long connections,
        long packetsIn,
        long packetsOut,
        long bytesIn,
        long bytesOut,
        long connectionsPerSecond,
        long packetsInPerSecond,
        long packetsOutPerSecond,
        long bytesInPerSecond,
        long bytesOutPerSecond) {
    public static final Counters NONE = new Counters(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
}
