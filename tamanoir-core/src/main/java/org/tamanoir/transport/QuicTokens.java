package org.tamanoir.transport;

import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.quic.Quic;
import io.netty.handler.codec.quic.QuicTokenHandler;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Arrays;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * The tokens of Retry packets (RFC 9000, section 8.1.2): nothing is kept of who begins a connection until it has shown
 * that it gets what is sent to its address, which is what limits by address then go by. A token:
 *
 * <pre>
 *  8 bytes  time when it was made, nanoseconds of the clock
 * 16 bytes  of HMAC-SHA-256 by a key of this process: over the time, the address and port, the connection's first name
 * rest      that name, at most 20 bytes
 * </pre>
 *
 * <p>Thread contract: one thread.
 */
final class QuicTokens implements QuicTokenHandler {
    static final long LIFE_NS = Duration.ofSeconds(10).toNanos();

    private static final int TIME_BYTES = Long.BYTES;
    private static final int TAG_BYTES = 16;
    private static final int HEAD_BYTES = TIME_BYTES + TAG_BYTES;

    private final Mac mac;
    private final LongSupplier clock;
    private final Predicate<InetSocketAddress> admission;

    /**
     * @param clock in nanoseconds
     * @param admission whether there is room for a connection from there; without, its packet is dropped
     */
    QuicTokens(LongSupplier clock, Predicate<InetSocketAddress> admission) {
        this.clock = clock;
        this.admission = admission;
        byte[] key = new byte[32];
        new SecureRandom().nextBytes(key);
        try {
            mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec(key, "HmacSHA256"));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("every JDK has HmacSHA256", e);
        }
    }

    @Override
    public boolean writeToken(ByteBuf out, ByteBuf dcid, InetSocketAddress address) {
        byte[] name = new byte[dcid.readableBytes()];
        dcid.getBytes(dcid.readerIndex(), name);
        long nowNs = clock.getAsLong();
        out.writeLong(nowNs).writeBytes(tag(nowNs, address, name)).writeBytes(name);
        return true;
    }

    @Override
    public int validateToken(ByteBuf token, InetSocketAddress address) {
        int bytes = token.readableBytes();
        if (bytes < HEAD_BYTES || bytes > maxTokenLength()) {
            return -1;
        }
        int start = token.readerIndex();
        long madeNs = token.getLong(start);
        byte[] tag = new byte[TAG_BYTES];
        byte[] name = new byte[bytes - HEAD_BYTES];
        token.getBytes(start + TIME_BYTES, tag).getBytes(start + HEAD_BYTES, name);
        long ageNs = clock.getAsLong() - madeNs;
        boolean isGood = MessageDigest.isEqual(tag, tag(madeNs, address, name)) && ageNs >= 0 && ageNs <= LIFE_NS;
        return isGood && admission.test(address) ? HEAD_BYTES : -1;
    }

    private byte[] tag(long timeNs, InetSocketAddress address, byte[] name) {
        mac.update(ByteBuffer.allocate(TIME_BYTES + Short.BYTES)
                .putLong(timeNs)
                .putShort((short) address.getPort())
                .flip());
        mac.update(address.getAddress().getAddress());
        return Arrays.copyOf(mac.doFinal(name), TAG_BYTES);
    }

    @Override
    public int maxTokenLength() {
        return HEAD_BYTES + Quic.MAX_CONN_ID_LEN;
    }
}
