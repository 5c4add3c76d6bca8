package org.tamanoir.sim;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.Packet;

/**
 * A payload that says what it is and what its service is to do with it; all its bytes follow from that.
 *
 * @param stream that it belongs to
 * @param sequence in its stream
 * @param action of its service
 * @param argument of the action
 * @param made 0 = by the sender; n = the n-th that the service emitted for it, 100 = a far end's answer
 * @param isMarked whether the service has rewritten it
 */
record Content(int stream, int sequence, Action action, int argument, int made, boolean isMarked) {
    static final int HEAD = 12;
    static final int ANSWER = 100;

    /** What a service does with a packet. */
    enum Action {
        FORWARD,
        MARK,
        GROW,
        SHRINK,
        REPLY,
        CONSUME,
        DROP,
        EMIT,
        ELSEWHERE,
        SLOW,
        THROW,
        STUCK,
        PACE,
        HOLD,
        CLOSE,
        RESET
    }

    /** Returns what tells it from others. */
    long number() {
        return stream * 1_000_000L + sequence * 1000L + made * 2L + (isMarked ? 1 : 0);
    }

    Content made(int number) {
        return new Content(stream, sequence, action, argument, number, isMarked);
    }

    /** Returns this, or in every second schedule now and then a packet that ends its stream in its place. */
    Content ending(long seed) {
        int lot = Math.floorMod((int) (seed ^ seed >>> 32) * 0x9E37_79B9 + filler(), 64);
        boolean ends = seed % 2 == 0 && lot < 2;
        return ends
                ? new Content(stream, sequence, lot == 0 ? Action.CLOSE : Action.RESET, argument, made, isMarked)
                : this;
    }

    Content held() {
        return new Content(stream, sequence, Action.HOLD, argument, made, isMarked);
    }

    Content marked() {
        return new Content(stream, sequence, action, argument, made, true);
    }

    /** Fills a payload, from its position to its limit. */
    void write(ByteBuffer payload) {
        int at = payload.position();
        payload.putInt(at, stream);
        payload.putInt(at + 4, sequence);
        payload.put(at + 8, (byte) action.ordinal());
        payload.put(at + 9, (byte) argument);
        payload.put(at + 10, (byte) made);
        payload.put(at + 11, (byte) (isMarked ? 1 : 0));
        int mix = filler();
        for (int i = at + HEAD; i < payload.limit(); i++) {
            payload.put(i, (byte) (mix >>> ((i - at) % 23)));
        }
    }

    private int filler() {
        return (stream * 31 + sequence) * 0x9E37_79B9 + made * 77 + (isMarked ? 0x5555 : 0);
    }

    /** Reads the head. */
    static Content read(ByteBuffer payload) {
        int at = payload.position();
        int action = payload.get(at + 8);
        Action[] all = Action.values();
        return new Content(
                payload.getInt(at),
                payload.getInt(at + 4),
                all[Math.floorMod(action, all.length)],
                payload.get(at + 9),
                payload.get(at + 10),
                payload.get(at + 11) == 1);
    }

    /** Reads the head where the packet lies, so that packets like it may be with it in one run. */
    static Content read(Packet packet) {
        ByteBuffer head = ByteBuffer.allocate(HEAD);
        for (int i = 0; i < HEAD; i++) {
            head.put(i, (byte) packet.payloadOctet(i));
        }
        return read(head);
    }

    /** Says what is wrong with a payload; null when every byte is what it should be. */
    static @Nullable String fault(ByteBuffer payload) {
        int at = payload.position();
        if (payload.remaining() < HEAD) {
            return "a payload of " + payload.remaining() + " bytes";
        }
        Content content = read(payload);
        ByteBuffer expected = ByteBuffer.allocate(payload.remaining());
        content.write(expected);
        int different = payload.slice().mismatch(expected);
        return different < 0 ? null : "byte " + different + " of " + payload.remaining() + " is not that of " + content;
    }
}
