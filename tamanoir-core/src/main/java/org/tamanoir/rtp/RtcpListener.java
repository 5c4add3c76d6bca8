package org.tamanoir.rtp;

/**
 * Takes what RTCP says, as {@link RtpPacket#readControl} reads it. Of SRTCP (RFC 3711) reports are encrypted: what is said
 * of SSRCs that nobody has is to be left alone.
 *
 * <p>Thread contract: who reads calls.
 */
@FunctionalInterface
public interface RtcpListener {
    /** A receiver says this of the source with that SSRC, of which 32 bits count. */
    void report(int ssrc, RtpReport report);

    /** The source with that SSRC says goodbye. */
    default void bye(int ssrc) {}
}
