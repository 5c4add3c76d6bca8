package org.tamanoir.services.extra.transcode;

/** How samples of sound are coded. */
enum Coding {
    /** G.711, μ-law: 8 bits. */
    ULAW(1, 0),
    /** G.711, A-law: 8 bits. */
    ALAW(1, 8),
    /** Linear, 16 bits with sign in network order: L16 of RFC 3551. */
    PCM(2, Coding.DYNAMIC);

    /** Stands for a payload type that is agreed upon: 96 to 127. */
    static final int DYNAMIC = -1;

    /** Bytes of a sample. */
    final int bytes;
    /** The payload type of RTP at 8 kHz, RFC 3551 (6). */
    final int rtpType;

    Coding(int bytes, int rtpType) {
        this.bytes = bytes;
        this.rtpType = rtpType;
    }
}
