package org.tamanoir.cluster.element.ring;

import com.google.common.hash.HashFunction;
import com.google.common.hash.Hashing;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.tamanoir.cluster.element.RingMember;
import org.tamanoir.cluster.element.Token;

/**
 * The ring's messages as datagrams (section 5 of the distributed element's specification); big-endian, and at the end 8
 * bytes of SipHash-2-4 under the ring's key, in that function's own order of bytes.
 *
 * <pre>
 * FCT1  48  ring 4, serial 8, round 8, minHead 8, round trip in us 4, holdBudget 2, zero 1, origin 1
 * FCTW  28  ring 4, unit 2, zero 2, head round 8
 * FCTP  56  ring 4, unit 2, master of its view + 1 (0 = none) 1, flags 1 (1 joins,
 *           2 leaves, 4 drained, 8 stuck), last serial 8, round 8, queued 4, sent 8, nonce 8
 * FCTQ  56  as FCTP, the answer to it
 * FCTR 48+  ring 4, epoch 2, count 1, master 1, round 8, count times: unit 2, address 16, port 2
 * FCTA  20  ring 4, epoch 2, unit 2
 * </pre>
 *
 * Thread contract: one thread at a time.
 */
final class RingCodec {
    static final int MAX_BYTES = 20 + 20 * RingPlan.MAX_UNITS + 8;

    private static final int TOKEN = 0x46435431;
    private static final int WAKE = 0x46435457;
    private static final int PING = 0x46435450;
    private static final int PONG = 0x46435451;
    private static final int RING = 0x46435452;
    private static final int TAKEN = 0x46435441;

    private static final int TAG_BYTES = 8;
    private static final int KEY_BYTES = 16;
    private static final int MEMBER_BYTES = 20;

    private final int ring;
    private final HashFunction tags;
    private final Peers peers;
    private final ByteBuffer out = ByteBuffer.allocate(MAX_BYTES);

    RingCodec(int ring, byte[] key, Peers peers) {
        if (key.length != KEY_BYTES) {
            throw new IllegalArgumentException(
                    "the ring's key has " + key.length + " bytes, but it must have " + KEY_BYTES + ": make another");
        }
        ByteBuffer halves = ByteBuffer.wrap(key).order(ByteOrder.LITTLE_ENDIAN);
        this.ring = ring;
        this.tags = Hashing.sipHash24(halves.getLong(), halves.getLong());
        this.peers = peers;
    }

    /** Returns the datagram, in a buffer that holds until the next one. */
    ByteBuffer encode(Token token) {
        begin(TOKEN).putLong(token.serial()).putLong(token.round()).putLong(token.minHead());
        out.putInt(token.roundTripUs()).putShort((short) token.holdBudget());
        out.putShort((short) token.origin());
        return sealed();
    }

    /** Returns the datagram, in a buffer that holds until the next one. */
    ByteBuffer encode(Message message) {
        if (message instanceof Message.Report report) {
            RingMember.State state = report.state();
            begin(report.answer() ? PONG : PING)
                    .putShort((short) report.unit())
                    .put((byte) (report.master() + 1))
                    .put((byte) report.flags());
            out.putLong(state.lastSerial())
                    .putLong(state.round())
                    .putInt(state.queued())
                    .putLong(state.newest())
                    .putLong(report.nonce());
        } else if (message instanceof Message.Ring proposed) {
            putRing(proposed.view());
        } else if (message instanceof Message.Taken taken) {
            begin(TAKEN).putShort((short) taken.epoch()).putShort((short) taken.unit());
        } else if (message instanceof Message.Wake wake) {
            begin(WAKE).putShort((short) wake.unit()).putShort((short) 0).putLong(wake.headRound());
        }
        return sealed();
    }

    private void putRing(RingView view) {
        begin(RING).putShort((short) view.epoch()).put((byte) view.units().size());
        out.put((byte) view.master()).putLong(view.round());
        for (int unit : view.units()) {
            InetSocketAddress address = peers.address(unit);
            out.putShort((short) unit).put(Peers.mapped(address)).putShort((short) address.getPort());
        }
    }

    private ByteBuffer begin(int magic) {
        return out.clear().order(ByteOrder.BIG_ENDIAN).putInt(magic).putInt(ring);
    }

    private ByteBuffer sealed() {
        long tag = tag(out, out.position());
        return out.order(ByteOrder.LITTLE_ENDIAN).putLong(tag).flip();
    }

    long tag(ByteBuffer datagram, int bytes) {
        return tags.hashBytes(datagram.array(), datagram.arrayOffset(), bytes).asLong();
    }

    /**
     * Gives a datagram, from the start of this buffer with an array to its limit, to a party.
     *
     * @return why it was dropped; null if it was not
     */
    @Nullable
    Refusal decode(ByteBuffer in, InetSocketAddress source, Party to) {
        Integer from = peers.party(source);
        if (from == null) {
            return Refusal.ADDRESS;
        }
        int tagAt = in.limit() - TAG_BYTES;
        if (tagAt < 12) {
            return Refusal.FORM;
        }
        in.order(ByteOrder.BIG_ENDIAN).position(8);
        int magic = in.getInt(0);
        int bytes = bytes(magic, in);
        if (bytes != in.limit()) {
            return Refusal.FORM;
        }
        if (in.getInt(4) != ring) {
            return Refusal.RING;
        }
        long tag = in.order(ByteOrder.LITTLE_ENDIAN).getLong(tagAt);
        in.order(ByteOrder.BIG_ENDIAN);
        if (tag != tag(in, tagAt)) {
            return Refusal.TAG;
        }
        return magic == TOKEN ? token(in, from, to) : message(magic, in, from, to);
    }

    private static int bytes(int magic, ByteBuffer in) {
        return switch (magic) {
            case TOKEN -> 48;
            case PING, PONG -> 56;
            case WAKE -> 28;
            case TAKEN -> 20;
            case RING -> {
                int count = in.get(10) & 0xFF;
                yield count == 0 || count > RingPlan.MAX_UNITS ? 0 : 20 + count * MEMBER_BYTES + TAG_BYTES;
            }
            default -> 0;
        };
    }

    private static @Nullable Refusal token(ByteBuffer in, int from, Party to) {
        long serial = in.getLong();
        long round = in.getLong();
        long minHead = in.getLong();
        int roundTripUs = in.getInt();
        int holdBudget = in.getShort() & 0xFFFF;
        to.token(from, new Token(serial, round, minHead, roundTripUs, holdBudget, in.getShort() & 0xFF));
        return null;
    }

    private @Nullable Refusal message(int magic, ByteBuffer in, int from, Party to) {
        int first = in.getShort() & 0xFFFF;
        Message message;
        int speaker = first;
        switch (magic) {
            case WAKE -> {
                in.getShort();
                message = new Message.Wake(first, in.getLong());
            }
            case TAKEN -> {
                speaker = in.getShort() & 0xFFFF;
                message = new Message.Taken(first, speaker);
            }
            case RING -> {
                RingView view = view(first, in);
                if (view == null) {
                    return Refusal.ADDRESS;
                }
                speaker = view.master();
                message = new Message.Ring(view);
            }
            default -> message = report(magic == PONG, first, in);
        }
        if (speaker != from) {
            return Refusal.ADDRESS;
        }
        to.message(from, message);
        return null;
    }

    private static Message report(boolean answer, int unit, ByteBuffer in) {
        int master = (in.get() & 0xFF) - 1 & 0xFFFF;
        int flags = in.get() & 0xFF;
        RingMember.State state = new RingMember.State(
                in.getLong(), in.getLong(), in.getInt(), in.getLong(), (flags & Message.Report.DRAINED) != 0);
        return new Message.Report(answer, unit, flags, master, in.getLong(), state);
    }

    /** Returns the view, or null if it names a unit that is not listed here with this address. */
    private @Nullable RingView view(int epoch, ByteBuffer in) {
        int count = in.get() & 0xFF;
        int master = in.get() & 0xFF;
        long round = in.getLong();
        List<Integer> units = new ArrayList<>(count);
        byte[] address = new byte[16];
        for (int i = 0; i < count; i++) {
            int unit = in.getShort() & 0xFFFF;
            in.get(address);
            int port = in.getShort() & 0xFFFF;
            if (!peers.is(unit, address, port)) {
                return null;
            }
            units.add(unit);
        }
        return new RingView(epoch, master, round, units);
    }
}
