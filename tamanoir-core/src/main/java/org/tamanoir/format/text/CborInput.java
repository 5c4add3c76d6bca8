package org.tamanoir.format.text;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Hands on CBOR (RFC 8949) whose text strings are UTF-8, whose keys are texts and whose tags are those of numbers. Jackson
 * takes overlong forms, surrogates and code points beyond U+10FFFF for other characters, drops tags, and takes undefined for
 * null. Every item begins with a head, and a string's bytes follow it:
 *
 * <pre>
 *   |major 3 bits|info 5 bits|argument 0, 1, 2, 4 or 8 bytes|of strings: as many bytes|
 * </pre>
 *
 * What items mean besides is the parser's business. What stands before a refused byte is given out first.
 *
 * <p>Thread contract: one thread.
 */
public final class CborInput extends FilterInputStream {
    private static final int BYTE_STRING = 2;
    private static final int TEXT_STRING = 3;
    private static final int LIST = 4;
    private static final int MAP = 5;
    private static final int TAG = 6;
    private static final int SIMPLE = 7;
    /** Of simple values: false, true and null are between these, floats behind. */
    private static final int FALSE = 20;

    private static final int UNDEFINED = 23;
    private static final int ONE_BYTE = 24;
    /** Tags of whole numbers in bytes, and of decimal fractions. */
    private static final int POSITIVE = 2;

    private static final int NEGATIVE = 3;
    private static final int DECIMAL = 4;
    /** Items of a list or map, at most: beyond what can follow. */
    private static final long MAX_ITEMS = 1L << 60;

    private static final String BAD_DECIMAL = "tag 4 without a list of two whole numbers";
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
    /** Lists, maps and strings in chunks that are open, the innermost last. */
    private final List<Level> open = new ArrayList<>();

    /** The tag before the next item; 0: none. */
    private long tag;

    private @Nullable String refused;

    /** What an item is in. */
    private static final class Level {
        final int major;
        final boolean isDecimal;
        /** Items that are due, twice as many of a map; below 0, and counted down, where a break ends it. */
        long left;

        Level(int major, boolean isDecimal) {
            this.major = major;
            this.isDecimal = isDecimal;
        }
    }

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
        int read = refused != null ? 0 : in.read(to, at, length);
        for (int i = 0; i < read; i++) {
            refused = refusal(to[at + i] & 0xFF);
            if (refused != null) {
                read = i;
            } else {
                offset++;
            }
        }
        if (refused != null && read == 0) {
            throw new IOException(refused + " at byte offset " + offset);
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

    /** Returns why the next byte is refused; null if it is not. */
    private @Nullable String refusal(int octet) {
        if (stringBytes > 0) {
            stringBytes--;
            boolean isTaken = major != TEXT_STRING || isText(octet) && (stringBytes > 0 || continuations == 0);
            return isTaken ? null : "text that is not UTF-8";
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
        if (argumentBytes > 0) {
            return null;
        }
        if ((major == BYTE_STRING || major == TEXT_STRING) && info != INDEFINITE) {
            stringBytes = argument < 0 ? Long.MAX_VALUE : argument;
        }
        return item();
    }

    /** Returns why the item whose head is whole is refused; null if it is not. */
    private @Nullable String item() {
        Level in = open.isEmpty() ? null : open.get(open.size() - 1);
        boolean isBreak = major == SIMPLE && info == INDEFINITE;
        boolean isDecimal = tag == DECIMAL;
        if (isDecimal && (major != LIST || argument != 2 || info == INDEFINITE)) {
            return BAD_DECIMAL;
        }
        if (tag != 0 && !isDecimal && major != BYTE_STRING) {
            return "tag " + tag + " without a byte string";
        }
        if (in != null
                && in.isDecimal
                && tag == 0
                && major > 1
                && !(major == TAG && in.left == 1 && argument < DECIMAL)) {
            return BAD_DECIMAL;
        }
        tag = 0;
        if (isBreak) {
            if (in != null && in.left < 0) {
                open.remove(open.size() - 1);
                count();
            }
            return null;
        }
        if (in != null && in.major == MAP && (in.left & 1) == 0 && major != TEXT_STRING) {
            return "key that is no text";
        }
        if (major == TAG) {
            tag = argument;
            return tag >= POSITIVE && tag <= DECIMAL
                    ? null
                    : "tag " + Long.toUnsignedString(tag) + ", where " + POSITIVE + ", " + NEGATIVE + " and " + DECIMAL
                            + " are taken,";
        }
        if (major == SIMPLE && (info < FALSE || info == UNDEFINED || info == ONE_BYTE)) {
            return "undefined or another simple value that is no value of a record";
        }
        if (major >= BYTE_STRING && major <= MAP && info == INDEFINITE) {
            push(isDecimal, -2);
        } else if ((major == LIST || major == MAP) && argument != 0) {
            long items = argument < 0 ? MAX_ITEMS : Math.min(argument, MAX_ITEMS);
            push(isDecimal, major == MAP ? 2 * items : items);
        } else {
            count();
        }
        return null;
    }

    private void push(boolean isDecimal, long left) {
        Level level = new Level(major, isDecimal);
        level.left = left;
        open.add(level);
    }

    /** Counts an item that ends, and what ends with it. */
    private void count() {
        while (!open.isEmpty() && --open.get(open.size() - 1).left == 0) {
            open.remove(open.size() - 1);
        }
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
