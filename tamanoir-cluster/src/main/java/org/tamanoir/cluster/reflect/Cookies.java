package org.tamanoir.cluster.reflect;

import java.nio.ByteBuffer;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * The proof that whoever wants to join receives at the address that it sends from. A message has {@value #MESSAGE_BYTES}
 * bytes of ASCII:
 *
 * <pre>
 *  0  "tamanoir-join " or "tamanoir-quit ", from whoever comes or goes; "tamanoir-take ", the answer
 * 14  cookie, 32 hexadecimal digits; zeros where none is known
 * </pre>
 *
 * A line feed, and up to {@value #MAX_MESSAGE_BYTES} bytes in all, may follow. The cookie is the first half of
 * HMAC-SHA-256, under a key of this process, over address, port and the half minute: nothing is kept for a stranger.
 * The answer is the message with the right cookie, never longer than it, and has a word of its own, so that reflectors
 * that are made to write to each other, or to themselves, do not go on.
 *
 * <p>Thread contract: one thread.
 */
final class Cookies {
    static final int MESSAGE_BYTES = 46;
    static final int MAX_MESSAGE_BYTES = 64;

    /** A cookie holds for this slice of time and the next. */
    static final long SLICE_NS = TimeUnit.SECONDS.toNanos(30);

    /** A member that has shown none for so long is let go, however much comes from its address. */
    static final long PROOF_NS = 2 * SLICE_NS;

    private static final long PREFIX = 0x74616D616E6F6972L; // "tamanoir"
    private static final long JOIN = 0x2D6A6F696E20L; // "-join "
    private static final long QUIT = 0x2D7175697420L; // "-quit "
    private static final long TAKE = 0x2D74616B6520L; // "-take "
    private static final int COOKIE_AT = 14;
    private static final int COOKIE_BYTES = 16;
    private static final int INPUT_BYTES = 26;

    private final Mac mac;
    private final byte[] input = new byte[INPUT_BYTES];
    private final ByteBuffer inputView = ByteBuffer.wrap(input);
    private final byte[] output = new byte[32];
    private final byte[] shown = new byte[COOKIE_BYTES];

    /** @param key 32 random bytes */
    Cookies(byte[] key) {
        try {
            mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec(key, "HmacSHA256"));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("every Java has HmacSHA256", e);
        }
    }

    /** Returns whether a datagram is such a message. */
    static boolean isMessage(ByteBuffer buffer, int at, int bytes) {
        return fits(bytes)
                && buffer.getLong(at) == PREFIX
                && (verb(buffer, at) == JOIN || verb(buffer, at) == QUIT || isAnswer(buffer, at));
    }

    /** Returns whether a message can have so many bytes. */
    static boolean fits(int bytes) {
        return bytes >= MESSAGE_BYTES && bytes <= MAX_MESSAGE_BYTES;
    }

    static boolean isQuit(ByteBuffer buffer, int at) {
        return verb(buffer, at) == QUIT;
    }

    static boolean isAnswer(ByteBuffer buffer, int at) {
        return verb(buffer, at) == TAKE;
    }

    private static long verb(ByteBuffer buffer, int at) {
        return buffer.getLong(at + 6) & 0xFFFF_FFFF_FFFFL;
    }

    /** Returns whether the message shows a cookie of this address that still holds. */
    boolean holds(ByteBuffer buffer, int at, long high, long low, int port, long nowNs) {
        for (int i = 0; i < COOKIE_BYTES; i++) {
            int first = Character.digit(buffer.get(at + COOKIE_AT + 2 * i), 16);
            int second = Character.digit(buffer.get(at + COOKIE_AT + 2 * i + 1), 16);
            if (first < 0 || second < 0) {
                return false;
            }
            shown[i] = (byte) (first << 4 | second);
        }
        long slice = Math.floorDiv(nowNs, SLICE_NS);
        return isOf(high, low, port, slice) || isOf(high, low, port, slice - 1);
    }

    private boolean isOf(long high, long low, int port, long slice) {
        compute(high, low, port, slice);
        return MessageDigest.isEqual(shown, Arrays.copyOf(output, COOKIE_BYTES));
    }

    /** Makes the answer of the message, where it lies: with the cookie of this address. */
    void answer(ByteBuffer buffer, int at, long high, long low, int port, long nowNs) {
        buffer.putShort(at + 8, (short) (TAKE >>> 32)).putInt(at + 10, (int) TAKE);
        compute(high, low, port, Math.floorDiv(nowNs, SLICE_NS));
        for (int i = 0; i < COOKIE_BYTES; i++) {
            buffer.put(at + COOKIE_AT + 2 * i, (byte) Character.forDigit(output[i] >> 4 & 15, 16));
            buffer.put(at + COOKIE_AT + 2 * i + 1, (byte) Character.forDigit(output[i] & 15, 16));
        }
    }

    private void compute(long high, long low, int port, long slice) {
        inputView.putLong(0, high).putLong(8, low).putShort(16, (short) port).putLong(18, slice);
        try {
            mac.update(input);
            mac.doFinal(output, 0);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("the output has room", e);
        }
    }
}
