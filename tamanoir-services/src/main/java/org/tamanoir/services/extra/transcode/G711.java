package org.tamanoir.services.extra.transcode;

/**
 * ITU-T G.711 (11/88), tables 1 and 2, between 16-bit linear samples and codes. Linear values of μ-law have 14 bits and
 * those of A-law 13 there; they stand here in the upper bits of 16.
 *
 * <pre>
 *   code   sign (1: positive) | segment, 3 bits | step in the segment, 4 bits
 *          μ-law: all bits inverted; A-law: every other bit, XOR 0x55
 * </pre>
 *
 * <p>A negative sample lies in the interval of the positive one with all its bits inverted, as in the ITU-T's Software
 * Tool Library (G.191): so each code's value gets this code again, but for the negative zero of μ-law, 0x7F.
 *
 * <p>Thread contract: any threads; all is immutable.
 */
final class G711 {
    private static final short[] ULAW_VALUES = new short[256];
    private static final short[] ALAW_VALUES = new short[256];
    /** Codes by the upper 14 bits of a sample, and by the upper 13. */
    private static final byte[] ULAW_CODES = new byte[1 << 14];

    private static final byte[] ALAW_CODES = new byte[1 << 13];

    static {
        for (int code = 0; code < 256; code++) {
            ULAW_VALUES[code] = (short) ulawValue(code);
            ALAW_VALUES[code] = (short) alawValue(code);
        }
        for (int i = 0; i < ULAW_CODES.length; i++) {
            ULAW_CODES[i] = (byte) ulawCode((short) (i << 2) >> 2);
        }
        for (int i = 0; i < ALAW_CODES.length; i++) {
            ALAW_CODES[i] = (byte) alawCode((short) (i << 3) >> 3);
        }
    }

    private G711() {}

    /** Returns the sample of this code, 0 to 255. */
    static int fromUlaw(int code) {
        return ULAW_VALUES[code];
    }

    /** Returns the sample of this code, 0 to 255. */
    static int fromAlaw(int code) {
        return ALAW_VALUES[code];
    }

    /** Returns the code of this sample, −32,768 to 32,767. */
    static byte toUlaw(int sample) {
        return ULAW_CODES[sample >> 2 & 0x3FFF];
    }

    /** Returns the code of this sample, −32,768 to 32,767. */
    static byte toAlaw(int sample) {
        return ALAW_CODES[sample >> 3 & 0x1FFF];
    }

    private static int ulawValue(int code) {
        int inverted = ~code;
        int magnitude = (((inverted & 0xF) << 1) + 33 << (inverted >> 4 & 7)) - 33;
        return (code < 0x80 ? -magnitude : magnitude) << 2;
    }

    private static int alawValue(int code) {
        int plain = code ^ 0x55;
        int segment = plain >> 4 & 7;
        int steps = ((plain & 0xF) << 1) + 1;
        int magnitude = segment == 0 ? steps : steps + 32 << segment - 1;
        return (plain < 0x80 ? -magnitude : magnitude) << 3;
    }

    /** @param sample of 14 bits */
    private static int ulawCode(int sample) {
        int magnitude = Math.min((sample < 0 ? ~sample : sample) + 33, 0x1FFF);
        int segment = 31 - Integer.numberOfLeadingZeros(magnitude) - 5;
        int code = segment << 4 | magnitude >> segment + 1 & 0xF;
        return (sample < 0 ? code : code | 0x80) ^ 0x7F;
    }

    /** @param sample of 13 bits */
    private static int alawCode(int sample) {
        int magnitude = (sample < 0 ? ~sample : sample) >> 1;
        int segment = magnitude < 16 ? 0 : 31 - Integer.numberOfLeadingZeros(magnitude) - 3;
        int code = segment << 4 | (segment == 0 ? magnitude : magnitude >> segment - 1) & 0xF;
        return (sample < 0 ? code : code | 0x80) ^ 0x55;
    }
}
