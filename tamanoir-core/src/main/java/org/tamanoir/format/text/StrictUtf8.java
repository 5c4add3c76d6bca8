package org.tamanoir.format.text;

import java.io.IOException;
import java.io.InputStream;
import java.io.Reader;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CoderResult;
import java.nio.charset.StandardCharsets;

/**
 * Reads UTF-8 as RFC 3629 has it: overlong forms, surrogates, code points beyond U+10FFFF and sequences that are cut off
 * are refused, never replaced. A byte order mark at the beginning is passed over. What stands before a refused byte is
 * given out first, so that a parser knows its line.
 *
 * <p>Thread contract: one thread.
 */
public final class StrictUtf8 extends Reader {
    private static final int BUFFER_BYTES = 1 << 13;
    private static final char BYTE_ORDER_MARK = '\uFEFF';

    private final InputStream in;
    private final CharsetDecoder decoder = StandardCharsets.UTF_8.newDecoder();
    private final ByteBuffer bytes = ByteBuffer.allocate(BUFFER_BYTES).limit(0);
    private final CharBuffer chars = CharBuffer.allocate(BUFFER_BYTES).limit(0);
    /** Offset of the first byte in the buffer. */
    private long offset;

    private boolean begun;
    private boolean ended;

    /** Says where bytes stop being UTF-8. */
    private static final class MalformedException extends CharacterCodingException {
        private static final long serialVersionUID = 1L;

        private final long offset;

        MalformedException(long offset) {
            this.offset = offset;
        }

        @Override
        public String getMessage() {
            return "not UTF-8 at byte offset " + offset + ": convert it to UTF-8";
        }
    }

    /** Makes a reader; to close it closes the stream. */
    public StrictUtf8(InputStream in) {
        this.in = in;
    }

    /**
     * Returns the text, without a byte order mark.
     *
     * @throws CharacterCodingException in one line, if the bytes are not UTF-8
     */
    public static String decode(byte[] bytes) throws CharacterCodingException {
        ByteBuffer from = ByteBuffer.wrap(bytes);
        CharBuffer to = CharBuffer.allocate(bytes.length);
        if (StandardCharsets.UTF_8.newDecoder().decode(from, to, true).isError()) {
            throw new MalformedException(from.position());
        }
        to.flip();
        return to.length() > 0 && to.charAt(0) == BYTE_ORDER_MARK
                ? to.subSequence(1, to.length()).toString()
                : to.toString();
    }

    /** Returns whether each surrogate has its other half, so that UTF-8 can hold the text. */
    public static boolean isText(String text) {
        return StandardCharsets.UTF_8.newEncoder().canEncode(text);
    }

    @Override
    public int read(char[] to, int at, int length) throws IOException {
        while (!chars.hasRemaining()) {
            if (!decode()) {
                return -1;
            }
        }
        int count = Math.min(length, chars.remaining());
        chars.get(to, at, count);
        return count;
    }

    /** Decodes what is there, and reads on where that is nothing; returns false at the end. */
    private boolean decode() throws IOException {
        chars.clear();
        int from = bytes.position();
        CoderResult result = decoder.decode(bytes, chars, ended);
        offset += bytes.position() - from;
        chars.flip();
        if (chars.hasRemaining()) {
            if (!begun && chars.get(0) == BYTE_ORDER_MARK) {
                chars.position(1);
            }
            begun = true;
            return true;
        }
        if (result.isError()) {
            throw new MalformedException(offset);
        }
        if (ended) {
            return false;
        }
        bytes.compact();
        int read = in.read(bytes.array(), bytes.position(), bytes.remaining());
        ended = read < 0;
        bytes.position(bytes.position() + Math.max(0, read)).flip();
        return true;
    }

    @Override
    public void close() throws IOException {
        in.close();
    }
}
