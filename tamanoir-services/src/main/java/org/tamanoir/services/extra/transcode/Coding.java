package org.tamanoir.services.extra.transcode;

/** How samples of sound are coded. */
enum Coding {
    /** G.711, μ-law: 8 bits. */
    ULAW(1),
    /** G.711, A-law: 8 bits. */
    ALAW(1),
    /** Linear, 16 bits with sign in network order: L16 of RFC 3551. */
    PCM(2);

    /** Bytes of a sample. */
    final int bytes;

    Coding(int bytes) {
        this.bytes = bytes;
    }
}
