package org.tamanoir.rtp;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.tamanoir.admission.FairPlaces;
import org.tamanoir.routing.Addresses;

/**
 * The sources whose packets, and RTCP packets, cross a gateway: each an SSRC of one sender, and on the way back of what one
 * sender is sent. They have {@link FairPlaces}, which those keep that have shown that they are one (two packets in order),
 * until they are quiet for a minute.
 *
 * <p>Thread contract: any thread; {@link #status} holds up the others while it copies.
 */
public final class RtpSources {
    /** Sources at once. */
    public static final int MAX_SOURCES = 1024;

    private static final long IDLE_NS = 60_000_000_000L;

    private final InetSocketAddress far;
    private final int clockHz;
    // Guarded by the lock, as all is from here on.
    private final Map<Key, RtpSource> sources = new HashMap<>();
    private final FairPlaces<RtpSource> places = new FairPlaces<>(MAX_SOURCES);
    /** The source of each SSRC that receivers' reports are of: of those that count the one that has for longest. */
    private final Map<Integer, RtpSource> bySsrc = new HashMap<>();

    private final Said said = new Said();
    /** What is asked for. */
    private final Key asked = new Key();

    private long crowded;
    private final long[] companions = new long[RtpCompanion.values().length];

    /** Names a source. Nobody changes one that stands in a map. */
    static final class Key {
        private long high;
        private long low;
        private int port;
        int ssrc;
        /** It comes from the far side, and goes to the sender whose address this is. */
        boolean isBack;

        Key set(long high, long low, int port, int ssrc, boolean isBack) {
            this.high = high;
            this.low = low;
            this.port = port;
            this.ssrc = ssrc;
            this.isBack = isBack;
            return this;
        }

        Key copy() {
            return new Key().set(high, low, port, ssrc, isBack);
        }

        InetAddress address() {
            return Addresses.of(high, low);
        }

        InetSocketAddress near() {
            return new InetSocketAddress(address(), port);
        }

        @Override
        public boolean equals(@Nullable Object other) {
            return other instanceof Key key
                    && ssrc == key.ssrc
                    && port == key.port
                    && low == key.low
                    && high == key.high
                    && isBack == key.isBack;
        }

        @Override
        public int hashCode() {
            return (int) (Addresses.hash(high, low, (long) ssrc << 32 | port << 1 | (isBack ? 1 : 0)) >>> 32);
        }
    }

    /** Takes what RTCP of the sender in {@link #asked} says. */
    private final class Said implements RtcpListener {
        @Override
        public void report(int ssrc, RtpReport report) {
            RtpSource known = bySsrc.get(ssrc);
            if (known != null) {
                known.report(report);
            }
        }

        @Override
        public void bye(int ssrc) {
            int port = asked.port;
            asked.ssrc = ssrc;
            end(sources.get(asked));
            asked.port = port - 1; // RTCP on the port above.
            end(sources.get(asked));
            asked.port = port;
        }

        private void end(@Nullable RtpSource known) {
            if (known != null) {
                known.end();
            }
        }
    }

    /**
     * Makes those of a gateway.
     *
     * @param far where it leads
     * @param clockHz of payload types that have no clock of their own
     */
    public RtpSources(InetSocketAddress far, int clockHz) {
        this.far = far;
        this.clockHz = clockHz;
    }

    /**
     * Takes note of a packet.
     *
     * @param packet that has been read, and nothing was wrong with it
     * @param port of the sender, as {@code high} and {@code low} are his address
     * @param isBack whether it comes from the far side, and goes to that sender
     * @return null, or in a few words why it is neither RTP nor RTCP
     */
    public synchronized @Nullable String take(
            RtpPacket packet, long high, long low, int port, boolean isBack, long nowNs) {
        if (packet.isControl()) {
            asked.set(high, low, port, 0, isBack);
            return packet.readControl(said);
        }
        RtpSource source = sources.get(asked.set(high, low, port, packet.ssrc(), isBack));
        if (source == null) {
            if (!hasRoom(nowNs)) {
                crowded++;
                return null;
            }
            source = new RtpSource(asked.copy(), far, clockHz);
            source.begin(packet.sequence());
            sources.put(source.key, source);
            places.add(source);
        }
        places.used(source);
        boolean counted = source.counts();
        source.take(packet, nowNs);
        if (!counted && source.counts()) {
            places.keep(source, source.key.address());
            bySsrc.putIfAbsent(source.key.ssrc, source);
        }
        return null;
    }

    /** Counts a datagram of another protocol, of either direction. */
    public synchronized void take(RtpCompanion companion) {
        companions[companion.ordinal()]++;
    }

    private boolean hasRoom(long nowNs) {
        if (!places.isFull()) {
            return true;
        }
        RtpSource goes = places.givesWay();
        if (goes == null) {
            goes = places.quietest();
            if (goes == null || nowNs - goes.usedNs < IDLE_NS) {
                return false;
            }
        }
        remove(goes);
        return true;
    }

    private void remove(RtpSource gone) {
        sources.remove(gone.key);
        places.remove(gone);
        if (bySsrc.remove(gone.key.ssrc, gone)) {
            for (RtpSource other : sources.values()) {
                if (other.key.ssrc == gone.key.ssrc && other.counts()) {
                    bySsrc.put(gone.key.ssrc, other);
                    return;
                }
            }
        }
    }

    /** Returns what is known, the source that has been quiet longest first. */
    public synchronized RtpSnapshot status() {
        List<RtpSource> counting = new ArrayList<>();
        for (RtpSource source : sources.values()) {
            if (source.counts()) {
                counting.add(source);
            }
        }
        counting.sort((one, other) -> Long.signum(one.usedNs - other.usedNs));
        Map<RtpCompanion, Long> others = new EnumMap<>(RtpCompanion.class);
        for (RtpCompanion each : RtpCompanion.values()) {
            others.put(each, companions[each.ordinal()]);
        }
        return new RtpSnapshot(counting.stream().map(RtpSource::status).toList(), crowded, others);
    }
}
