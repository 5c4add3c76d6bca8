package org.tamanoir.cluster.reflect;

import org.jspecify.annotations.Nullable;
import org.tamanoir.qdisc.TokenBucket;
import org.tamanoir.routing.Addresses;

/** A member of one session, with what it sent and what it was sent. One thread. */
final class Member {
    /** Of no source. */
    static final long NO_SSRC = -1;

    /** Of its rate: what a bucket holds when it is full, within these bounds in bytes. */
    private static final int BURSTS_PER_SECOND = 20;

    private static final long MIN_BURST = 1 << 16;
    private static final long MAX_BURST = 4 << 20;

    final MemberConfig config;
    final Origin origin;
    final long high;
    final long low;
    final int port;
    final boolean sends;
    final boolean receives;
    final int quality;
    /** Null = its rate is not limited. */
    final @Nullable TokenBucket bucket;

    final Counts copies = new Counts();
    long packetsIn;
    long bytesIn;
    /** When something came from it last. */
    long seenNs;
    /** When it showed a cookie last. */
    long provenNs;
    /** The source that it sent last as, or {@link #NO_SSRC}. */
    long ssrc = NO_SSRC;

    /** The highest loss of its last receiver report, in 1/256, of all sources; -1 = it made none. */
    int reportedLoss = -1;
    /** Packets that it said to miss of that source. */
    int reportedLost;
    /** In timestamp units. */
    long reportedJitter;

    Member(MemberConfig config, Origin origin, long nowNs) {
        this.config = config;
        this.origin = origin;
        Terms terms = config.terms();
        high = Addresses.high(config.address().getAddress());
        low = Addresses.low(config.address().getAddress());
        port = config.address().getPort();
        sends = terms.direction().sends();
        receives = terms.direction().receives();
        quality = terms.quality();
        long rate = terms.rateBytesPerSecond();
        bucket = rate == 0
                ? null
                : new TokenBucket(rate, Math.max(MIN_BURST, Math.min(MAX_BURST, rate / BURSTS_PER_SECOND)), nowNs);
        seenNs = nowNs;
        provenNs = nowNs;
    }

    boolean isAt(long high, long low, int port) {
        return this.low == low && this.port == port && this.high == high;
    }
}
