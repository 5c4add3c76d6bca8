package org.tamanoir.client;

import java.io.IOException;
import java.nio.ByteBuffer;
import org.tamanoir.routing.Addresses;
import org.tamanoir.transport.StreamCodec;

/**
 * The SAPF of a {@link BlockingConnection}: whole packets on its user's side, selectors on the socket's.
 *
 * <p>Thread contract: the connection's thread.
 */
final class SapfLayer implements Layer {
    /** Holds any packet with what goes in front of it. */
    private static final int OCTETS = 128 * 1024;

    private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

    private final StreamCodec codec;
    private final BlockingConnection connection;
    /** From its position to its limit: came and was not translated. */
    private final ByteBuffer arrived = ByteBuffer.allocateDirect(OCTETS).limit(0);

    private final ByteBuffer leaving = ByteBuffer.allocateDirect(OCTETS);
    private boolean socketEnded;

    SapfLayer(StreamCodec codec, BlockingConnection connection) {
        this.codec = codec;
        this.connection = connection;
    }

    @Override
    public void shakeHands(long timeoutNs) throws IOException {
        long deadlineNs = System.nanoTime() + timeoutNs;
        leaving.clear();
        say();
        connection.writeBytes(leaving.flip(), () -> false);
        while (!codec.isEstablished()) {
            long leftNs = deadlineNs - System.nanoTime();
            if (leftNs <= 0 || fill(leftNs) == 0 || socketEnded) {
                throw new IOException("no SAPF from " + Addresses.text(connection.peer()) + " in answer");
            }
            decode(NOTHING);
        }
    }

    @Override
    public void write(ByteBuffer packets, BlockingConnection.Input input) throws IOException {
        // What the node says of selectors may stand behind its packets, which wait for who reads them.
        if (!input.readable() && !socketEnded) {
            fill(0);
            decode(NOTHING);
        }
        while (packets.hasRemaining()) {
            leaving.clear();
            say();
            int octets = codec.encodedOctets(packets, packets.position());
            while (octets <= leaving.remaining()) {
                packets.position(
                        packets.position() + codec.encode(packets, packets.position(), leaving, leaving.position()));
                leaving.position(leaving.position() + octets);
                octets = packets.hasRemaining() ? codec.encodedOctets(packets, packets.position()) : OCTETS + 1;
            }
            connection.writeBytes(leaving.flip(), input);
        }
    }

    private void say() {
        int octets = codec.saidOctets();
        codec.say(leaving, leaving.position());
        leaving.position(leaving.position() + octets);
    }

    @Override
    public int read(ByteBuffer target, long timeoutNs) throws IOException {
        long deadlineNs = System.nanoTime() + timeoutNs;
        int before = target.position();
        while (true) {
            decode(target);
            if (target.position() > before) {
                return target.position() - before;
            }
            if (socketEnded) {
                return -1;
            }
            if (fill(timeoutNs == 0 ? 0 : Math.max(0, deadlineNs - System.nanoTime())) == 0) {
                return 0;
            }
        }
    }

    /** Translates what came, as far as its packets have room. */
    private void decode(ByteBuffer target) throws IOException {
        while (true) {
            int at = arrived.position();
            int octets = codec.decodedOctets(arrived, at, arrived.limit());
            if (octets > target.remaining()) {
                return;
            }
            int unit = octets == 0
                    ? codec.takenOctets(arrived, at, arrived.limit())
                    : codec.decode(arrived, at, arrived.limit(), target, target.position());
            if (octets == 0 && unit == 0) {
                return;
            }
            target.position(target.position() + octets);
            arrived.position(at + unit);
        }
    }

    /** Reads more; returns how many octets came, 0 when the time is up, -1 at the end. */
    private int fill(long timeoutNs) throws IOException {
        arrived.compact();
        try {
            int octets = connection.readBytes(arrived, timeoutNs);
            if (octets < 0) {
                socketEnded = true;
                codec.unitsEnd();
            }
            return octets;
        } finally {
            arrived.flip();
        }
    }

    /**
     * The end of the socket says it. What the node still has to answer is read before, unless it stands behind packets that
     * nobody takes: where it finds the socket closed, the system throws away what is on its way.
     */
    @Override
    public void end(BlockingConnection.Input input) throws IOException {
        long deadlineNs = System.nanoTime() + connection.stallTimeout().toNanos();
        do {
            decode(NOTHING);
            input.readable();
        } while (codec.awaitsAnswer()
                && codec.decodedOctets(arrived, arrived.position(), arrived.limit()) == 0
                && !socketEnded
                && deadlineNs - System.nanoTime() > 0
                && fill(Math.max(1, deadlineNs - System.nanoTime())) != 0);
    }
}
