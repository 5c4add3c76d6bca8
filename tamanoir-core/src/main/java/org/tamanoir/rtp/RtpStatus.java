package org.tamanoir.rtp;

import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;

/**
 * How a source stands.
 *
 * @param ssrc of which 32 bits count
 * @param receiver the far side of a gateway, or of what comes from there the sender whom it goes to
 * @param payloadType of its last packet
 * @param received packets, since it was found to be a source
 * @param lost expected, and not received; less than 0 where packets came twice
 * @param misordered packets behind one that was sent later, or again
 * @param jitterMs between arrivals, smoothed as RFC 3550 says
 * @param hasEnded whether it has said goodbye (BYE)
 * @param report the last one of a receiver; null = none came by
 */
public record RtpStatus(
        int ssrc,
        InetSocketAddress sender,
        InetSocketAddress receiver,
        int payloadType,
        long received,
        long lost,
        long misordered,
        double jitterMs,
        boolean hasEnded,
        @Nullable RtpReport report) {}
