package org.tamanoir.rtp;

import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.tamanoir.routing.Addresses;

/**
 * The sources whose packets, and RTCP packets, come by: each an SSRC from one address and port. Where there is no room for
 * one more, it takes the place of the one that has been quiet longest of those that have not shown yet that they are one
 * (two packets in order); those that have give way to nobody before they are quiet for a minute.
 *
 * <p>Thread contract: any thread.
 */
public final class RtpSources {
    /** Sources at once. */
    public static final int MAX_SOURCES = 1024;

    private static final long IDLE_NS = 60_000_000_000L;

    private final RtpPacket packet = new RtpPacket();
    /** Those that have been quiet longest first. Guarded by the lock, as all is. */
    private final Map<Key, RtpSource> sources = new LinkedHashMap<>(64, 0.75f, true);
    /** The source of each SSRC that was new last, which receivers' reports are of. */
    private final Map<Integer, RtpSource> bySsrc = new HashMap<>();

    private long crowded;

    /** Names a source. */
    record Key(long high, long low, int port, int ssrc) {
        InetAddress address() {
            return Addresses.of(high, low);
        }
    }

    /**
     * Takes note of a datagram.
     *
     * @param memory big-endian
     * @param port that it came from, as {@code high} and {@code low} are the address
     * @param clockHz of payload types that have no clock of their own
     * @return null, or in a few words why it is neither RTP nor RTCP
     */
    public synchronized @Nullable String take(
            ByteBuffer memory, int at, int octets, long high, long low, int port, int clockHz, long nowNs) {
        String wrong = packet.read(memory, at, octets);
        if (wrong != null) {
            return wrong;
        }
        if (packet.isControl()) {
            return RtpControl.read(memory, at, octets, new RtpControl.Said() {
                @Override
                public void report(int ssrc, RtpReport report) {
                    RtpSource known = bySsrc.get(ssrc);
                    if (known != null) {
                        known.report(report);
                    }
                }

                @Override
                public void bye(int ssrc) {
                    bye(high, low, port, ssrc);
                    bye(high, low, port - 1, ssrc); // RTCP on the port above.
                }

                private void bye(long high, long low, int port, int ssrc) {
                    RtpSource known = sources.get(new Key(high, low, port, ssrc));
                    if (known != null) {
                        known.end();
                    }
                }
            });
        }
        Key key = new Key(high, low, port, packet.ssrc());
        RtpSource source = sources.get(key);
        if (source == null) {
            if (!hasRoom(nowNs)) {
                crowded++;
                return null;
            }
            source = new RtpSource(key, clockHz);
            source.begin(packet.sequence());
            sources.put(key, source);
            bySsrc.put(key.ssrc(), source);
        }
        source.take(packet, nowNs);
        return null;
    }

    private boolean hasRoom(long nowNs) {
        if (sources.size() < MAX_SOURCES) {
            return true;
        }
        for (Iterator<RtpSource> each = sources.values().iterator(); each.hasNext(); ) {
            RtpSource source = each.next();
            if (!source.counts() || nowNs - source.usedNs >= IDLE_NS) {
                each.remove();
                bySsrc.remove(source.key.ssrc(), source);
                return true;
            }
        }
        return false;
    }

    /** Returns the sources that have shown that they are one. */
    public synchronized List<RtpStatus> status() {
        List<RtpStatus> all = new ArrayList<>();
        for (RtpSource source : sources.values()) {
            if (source.counts()) {
                all.add(source.status());
            }
        }
        return all;
    }

    /** Returns how many packets came by that were not looked at, since there was no room for their source. */
    public synchronized long crowded() {
        return crowded;
    }
}
