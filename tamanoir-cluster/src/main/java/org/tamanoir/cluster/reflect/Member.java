package org.tamanoir.cluster.reflect;

import org.jspecify.annotations.Nullable;
import org.tamanoir.qdisc.TokenBucket;
import org.tamanoir.routing.Addresses;
import org.tamanoir.rtp.RtpReport;

/** A member of one session, with what it sent and what it was sent. One thread. */
final class Member {
    /** Of no source. */
    static final long NO_SSRC = -1;

    /** Of its rate: what a bucket holds when it is full, within these bounds in bytes. */
    private static final int BURSTS_PER_SECOND = 20;

    private static final long MIN_BURST = 1 << 16;
    private static final long MAX_BURST = 4 << 20;

    /** Bytes of RTCP towards a member, a second and at once: the receiver reports of some thousand members. */
    private static final int REPORT_BYTES = 1 << 16;

    /** It renews every few seconds; what comes under its forged address takes from this alone. */
    private static final int WISHES_PER_SECOND = 10;

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
    /** Of RTCP towards it, in bytes. */
    final TokenBucket reports;
    /** Of wishes that it makes as a member. */
    final TokenBucket wishes;

    // The address of this host that it spoke to last, which copies leave from; 0 and 0 = the system chooses.
    long ownHigh;
    long ownLow;
    int ownDevice;

    final Counts copies = new Counts();
    long packetsIn;
    long bytesIn;
    /** When something came from it last. */
    long seenNs;
    /** When it showed a cookie last. */
    long provenNs;
    /** The source that it sent last as, or {@link #NO_SSRC}; see {@link #isOwn}. */
    long ssrc = NO_SSRC;

    long ssrcNs;
    /** Whether RTCP goes to the port behind: one that joined has proven its own alone, until something comes from there. */
    boolean usesPortBehind;

    /** What its last receiver report said of the source that it misses most of; null = it made none. */
    @Nullable
    RtpReport report;

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
        long burst = Math.max(MIN_BURST, Math.min(MAX_BURST, rate / BURSTS_PER_SECOND));
        bucket = rate == 0 ? null : new TokenBucket(rate, burst, nowNs);
        if (bucket != null && origin == Origin.COOKIE) {
            bucket.take(burst, nowNs); // Else who comes and goes would get a burst each time.
        }
        reports = new TokenBucket(REPORT_BYTES, REPORT_BYTES, nowNs);
        wishes = new TokenBucket(WISHES_PER_SECOND, WISHES_PER_SECOND, nowNs);
        usesPortBehind = origin != Origin.COOKIE;
        seenNs = nowNs;
        provenNs = nowNs;
    }

    /** Has copies leave from the address that it spoke to: firewalls and connected sockets take no others. */
    void speaksTo(long ownHigh, long ownLow, int ownDevice) {
        this.ownHigh = ownHigh;
        this.ownLow = ownLow;
        this.ownDevice = ownDevice;
    }

    /** Returns whether it sent this source itself, lately: another may have taken the number since. */
    boolean isOwn(long ssrc, long nowNs) {
        return ssrc != NO_SSRC && ssrc == this.ssrc && nowNs - ssrcNs < Seen.HORIZON_NS;
    }

    boolean isAt(long high, long low, int port) {
        return this.low == low && this.port == port && this.high == high;
    }
}
