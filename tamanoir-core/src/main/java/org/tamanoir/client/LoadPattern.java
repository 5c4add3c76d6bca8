package org.tamanoir.client;

import java.nio.ByteBuffer;
import java.util.SplittableRandom;
import org.tamanoir.anep.Anep;
import org.tamanoir.anep.Packet;

/**
 * The payload of generated load, so that a receiver can verify it without having it: packet n carries the bytes
 * of one fixed pseudo-random sequence from place {@code (n mod 4) * 61} on. Four variants, so that a batch of any
 * multiple of four packets can be sent again with new sequence numbers alone; 61 is prime to the word size.
 *
 * <p>Thread contract: an instance belongs to one thread.
 */
public final class LoadPattern {
    /** Packets after which payloads repeat. */
    public static final int VARIANTS = 4;

    private static final int STEP_BYTES = 61;
    private static final long SEED = 0x544D_414E_4F49_5221L;
    private static final ByteBuffer PATTERN = pattern();

    private final ByteBuffer expected = PATTERN.duplicate();
    private ByteBuffer actual = ByteBuffer.allocate(0);
    private ByteBuffer actualOf = actual;

    private static ByteBuffer pattern() {
        byte[] bytes = new byte[Anep.MAX_PACKET_OCTETS + VARIANTS * STEP_BYTES];
        new SplittableRandom(SEED).nextBytes(bytes);
        ByteBuffer direct = ByteBuffer.allocateDirect(bytes.length).put(bytes);
        return direct.clear().asReadOnlyBuffer();
    }

    /** Returns the payload of packet {@code sequence}, from position to limit; the same object each time. */
    public ByteBuffer payload(long sequence, int bytes) {
        int start = (int) (sequence & (VARIANTS - 1)) * STEP_BYTES;
        return expected.limit(start + bytes).position(start);
    }

    /** Returns true if the packet's payload is what its sequence number says. */
    public boolean matches(Packet packet) {
        ByteBuffer buffer = packet.buffer();
        if (actualOf != buffer) {
            actual = buffer.duplicate();
            actualOf = buffer;
        }
        int start = packet.payloadOffset();
        actual.limit(start + packet.payloadLength()).position(start);
        return payload(packet.sequence(), packet.payloadLength()).mismatch(actual) < 0;
    }
}
