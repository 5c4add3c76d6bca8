package org.tamanoir.rtp;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Protocols that share a port with RTP and RTCP, told apart by the first octet of a datagram (RFC 7983, section 7): 128 to
 * 191 are RTP's and RTCP's own, the rest is nobody's. Among them are keep-alives: indications of STUN, and RTP of version 0
 * (RFC 6263).
 */
public enum RtpCompanion {
    /** Finds the way through address translators (RFC 8489): 0 to 3. */
    STUN(0, 3),
    /** Agrees on keys (RFC 6189): 16 to 19. */
    ZRTP(16, 19),
    /** Agrees on keys (RFC 5764), or carries data channels: 20 to 63. */
    DTLS(20, 63),
    /** Channels of relays (RFC 8656): 64 to 79. */
    TURN(64, 79);

    private static final @Nullable RtpCompanion[] BY_OCTET = byOctet();

    private final int first;
    private final int last;

    RtpCompanion(int first, int last) {
        this.first = first;
        this.last = last;
    }

    private static @Nullable RtpCompanion[] byOctet() {
        @Nullable RtpCompanion[] all = new @Nullable RtpCompanion[256];
        for (RtpCompanion each : values()) {
            for (int octet = each.first; octet <= each.last; octet++) {
                all[octet] = each;
            }
        }
        return all;
    }

    /**
     * Returns the protocol that a datagram is of; null where it is RTP, RTCP, or nobody's.
     *
     * @param octet the first one, of which 8 bits count
     */
    public static @Nullable RtpCompanion of(int octet) {
        return BY_OCTET[octet & 0xFF];
    }

    /** Returns {@code stun}, {@code zrtp}, {@code dtls} or {@code turn}. */
    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }
}
