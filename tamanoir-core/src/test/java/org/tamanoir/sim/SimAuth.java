package org.tamanoir.sim;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.Option;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.auth.AuthKey;
import org.tamanoir.auth.AuthRules;
import org.tamanoir.auth.PacketSigner;
import org.tamanoir.ee.ExecutionEnvironment;

/**
 * Authentication in a schedule: some senders sign, the others are strangers; at some time the node demands that of every
 * packet and signs what it sends, perhaps from its start on, perhaps for a while only. Nothing of a stranger may ever leave
 * signed. Draws lots of its own, so that schedules without it stay as they are.
 *
 * <p>Thread contract: whoever has the baton.
 */
final class SimAuth {
    private static final AuthKey SENDERS = AuthKey.of(7, "07".repeat(32));
    private static final AuthKey NODE = AuthKey.of(9, "09".repeat(32));
    private static final List<AuthKey> KEYS = List.of(SENDERS, NODE);

    private static final AuthRules RULES = new AuthRules(
            AuthRules.ALL.from(),
            List.of(),
            List.of(new AuthRules.Signer(AuthRules.Guarded.of("any"), null, NODE.id())),
            AuthRules.DEFAULT_WINDOW,
            AuthRules.DEFAULT_STREAMS);

    /** When rules come, go, come again and so on, in ns; the first is 0 where they are there before the node starts. */
    private final long[] changesNs;

    private final int signers;
    private final PacketSigner sender = new PacketSigner(SENDERS);
    private final PacketSigner node = new PacketSigner(NODE);

    private SimAuth(SplittableRandom lots) {
        signers = lots.nextInt();
        changesNs = new long[1 + (lots.nextInt(3) == 0 ? lots.nextInt(4) : 0)];
        boolean isAlways = changesNs.length == 1 && lots.nextInt(4) == 0;
        long atNs = isAlways ? 0 : 1 + lots.nextInt(lots.nextBoolean() ? 30_000_000 : 300_000_000);
        for (int i = 0; i < changesNs.length; i++) {
            changesNs[i] = atNs;
            atNs += 1 + lots.nextInt(100_000_000);
        }
    }

    /** Returns that of a schedule; null for two of three, in which nothing is authenticated. */
    static @Nullable SimAuth of(long seed) {
        SplittableRandom lots = new SplittableRandom(~seed);
        return lots.nextInt(3) == 0 ? new SimAuth(lots) : null;
    }

    /** Has rules come when it is time. */
    void begin(Simulation simulation, ExecutionEnvironment node) {
        node.authentication().change(AuthRules.NONE, List.of(), KEYS);
        for (int i = 0; i < changesNs.length; i++) {
            AuthRules rules = i % 2 == 0 ? RULES : AuthRules.NONE;
            if (changesNs[i] == 0) {
                change(node, rules);
            } else {
                simulation.at(changesNs[i], () -> change(node, rules));
            }
        }
    }

    private static void change(ExecutionEnvironment node, AuthRules rules) {
        node.authentication().change(rules, KEYS, KEYS);
    }

    /** Returns whether nobody signs the packets of a stream. */
    boolean isStranger(int stream) {
        return (signers >>> stream % 31 & 1) != 0;
    }

    /** Builds a packet, signed if its stream's sender signs. */
    ByteBuffer packet(PacketBuilder builder, Content content, ByteBuffer payload) {
        if (isStranger(content.stream())) {
            return builder.build(payload).buffer().duplicate().rewind();
        }
        Packet packet =
                builder.authentication().nextSequence(content.sequence()).build(payload);
        sender.sign(packet);
        return packet.buffer().duplicate().rewind();
    }

    /** Says what is wrong with the signature of a packet that came out; null when nothing is. */
    @Nullable
    String fault(Packet packet, Content content) {
        boolean isSigned = isSigned(packet);
        if (isSigned && isStranger(content.stream())) {
            return "is a stranger's, and signed";
        }
        // What services make may be on account of a stranger's packet, and a far end's answers are nobody's to sign.
        boolean isToBe = changesNs[0] == 0 && content.made() == 0;
        return isToBe && !isSigned ? "is not signed" : null;
    }

    /** Returns whether the packet has the MAC that the node would give it. */
    private boolean isSigned(Packet packet) {
        if (!packet.has(Option.AUTHENTICATION)) {
            return false;
        }
        byte[] bytes = new byte[packet.length()];
        packet.buffer().get(packet.offset(), bytes);
        Packet again = new Packet();
        if (again.parse(ByteBuffer.wrap(bytes), 0, bytes.length) != null) {
            return false;
        }
        int at = packet.optionOffset(Option.AUTHENTICATION) - packet.offset();
        ByteBuffer before = ByteBuffer.wrap(bytes.clone()).position(at).limit(at + 40);
        node.sign(again);
        return again.buffer().slice(at, 40).equals(before);
    }
}
