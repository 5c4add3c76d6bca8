package org.tamanoir.rtp;

/** Takes what RTCP says, as {@link RtpPacket#readControl} reads it. */
@FunctionalInterface
public interface RtcpListener {
    /** A receiver says this of the source with that SSRC, of which 32 bits count. */
    void report(int ssrc, RtpReport report);

    /** The source with that SSRC says goodbye. */
    default void bye(int ssrc) {}
}
