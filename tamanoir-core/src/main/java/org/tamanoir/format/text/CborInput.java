package org.tamanoir.format.text;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;

/**
 * Hands on CBOR (RFC 8949) whose text strings are UTF-8; Jackson takes overlong forms, surrogates and code points beyond
 * U+10FFFF for other characters. Every item begins with a head, and a string's bytes follow it:
 *
 * <pre>
 *   |major 3 bits|info 5 bits|argument 0, 1, 2, 4 or 8 bytes|of strings: as many bytes|
 * </pre>
 *
 * What items mean is the parser's business. What stands before a refused byte is given out first.
 *
 * <p>Thread contract: one thread.
 */
public final class CborInput extends FilterInputStream {
    private static final int BYTE_STRING = 2;
    private static final int TEXT_STRING = 3;
    private static final int INDEFINITE = 31;
    /** Infos of arguments of 1, 2, 4 and 8 bytes: from this one on. */
    private static final int ARGUMENT_FOLLOWS = 24;

    private int major;
    private int info;
    private int argumentBytes;
    private long argument;
    private long stringBytes;
    /** Bytes that a character still needs, and the bounds of the next. */
    private int continuations;

    private int lower;
    private int upper;
    private long offset;
    private boolean refused;

    /** Makes a stream; to close it closes the other. */
    public CborInput(InputStream in) {
        super(in);
    }

    @Override
    public int read() throws IOException {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xFF;
    }

    @Override
    public int read(byte[] to, int at, int length) throws IOException {
        int read = refused ? 0 : in.read(to, at, length);
        for (int i = 0; i < read; i++) {
            if (!takes(to[at + i] & 0xFF)) {
                refused = true;
                read = i;
            } else {
                offset++;
            }
        }
        if (refused && read == 0) {
            throw new IOException("text that is not UTF-8 at byte offset " + offset);
        }
        return read;
    }

    @Override
    public long skip(long count) {
        return 0; // Every byte is looked at.
    }

    @Override
    public boolean markSupported() {
        return false;
    }

    private boolean takes(int octet) {
        if (stringBytes > 0) {
            stringBytes--;
            return major != TEXT_STRING || isText(octet) && (stringBytes > 0 || continuations == 0);
        }
        if (argumentBytes > 0) {
            argumentBytes--;
            argument = argument << 8 | octet;
        } else {
            major = octet >> 5;
            info = octet & 0x1F;
            boolean follows = info >= ARGUMENT_FOLLOWS && info < ARGUMENT_FOLLOWS + 4;
            argumentBytes = follows ? 1 << info - ARGUMENT_FOLLOWS : 0;
            argument = follows ? 0 : info;
        }
        if (argumentBytes == 0 && (major == BYTE_STRING || major == TEXT_STRING) && info != INDEFINITE) {
            stringBytes = argument < 0 ? Long.MAX_VALUE : argument;
        }
        return true;
    }

    /** Returns whether the next byte of UTF-8 is one that may stand there: table 3-7 of the Unicode Standard. */
    private boolean isText(int octet) {
        if (continuations > 0) {
            continuations--;
            boolean isOne = octet >= lower && octet <= upper;
            lower = 0x80;
            upper = 0xBF;
            return isOne;
        }
        lower = octet == 0xE0 ? 0xA0 : octet == 0xF0 ? 0x90 : 0x80;
        upper = octet == 0xED ? 0x9F : octet == 0xF4 ? 0x8F : 0xBF;
        continuations = octet < 0xC2 ? 0 : octet < 0xE0 ? 1 : octet < 0xF0 ? 2 : 3;
        return octet < 0x80 || octet >= 0xC2 && octet <= 0xF4;
    }
}
