package org.tamanoir.auth;

import java.net.InetSocketAddress;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.NodeOptions;
import org.tamanoir.anep.Option;
import org.tamanoir.anep.Packet;

/**
 * Checks and signs the packets of one thread, as the {@link Authentication} that it is of says at that moment.
 *
 * <p>Layout of option 9, behind its head: key id (4), algorithm (4), HMAC (32). One whose key id and algorithm are zero is
 * room that a sender has left, and stands for none.
 *
 * <p>Thread contract: one thread. Nothing is allocated for a packet, but what a growing table of streams needs.
 */
public final class PacketGuard {
    /** HMAC-SHA-256, the only algorithm there is. */
    public static final int HMAC_SHA_256 = 1;

    /** The {@link #proof} of a packet that nobody has judged. */
    public static final int NO_PROOF = 0;

    /** Of what the node makes of itself, or of packets that were all authenticated. */
    private static final int OWN = Integer.MAX_VALUE;

    private final Authentication authentication;
    private final Hmac hmac = new Hmac();
    /** Of packets that a node signs, and that came without a stream and a number: this thread's own. */
    private final int ownStream = ThreadLocalRandom.current().nextInt();

    private long ownSequence;
    /** Of the packet on whose account packets leave now. */
    private int proof = NO_PROOF;
    /** Packets that nobody authenticated have come to the service, which may make of them what it sends later. */
    private boolean hadUnchecked;

    PacketGuard(Authentication authentication) {
        this.authentication = authentication;
    }

    /** Returns why a packet that has come may go no further; null when it may, and its number has come from now on. */
    public @Nullable DropReason check(Packet packet) {
        return check(packet, NO_PROOF);
    }

    /**
     * Returns why a packet, which is as it came, may go no further now, though it might before it waited; null when it may.
     * One comparison, unless rules or keys have changed since.
     *
     * @param before its {@link #proof} of then
     */
    public @Nullable DropReason check(Packet packet, int before) {
        return check(packet, before, true);
    }

    /** Returns why a packet may go no further, while its number has not come yet; null when it may. */
    public @Nullable DropReason peek(Packet packet) {
        return check(packet, NO_PROOF, false);
    }

    /**
     * Returns what is known of the packet that was judged last, to be kept with it wherever it waits: the epoch of the
     * rules by which its MAC held; negative, of those that asked for none; or {@link #NO_PROOF}.
     */
    public int proof() {
        return proof;
    }

    /** Takes note that the packet has come, which {@link #peek} has let pass. */
    public void take(Packet packet) {
        Authentication.State now = authentication.now();
        Authentication.Kept key =
                now != null && now.rules().guards(packet) && packet.isTamanoir() && packet.has(Option.AUTHENTICATION)
                        ? now.key(packet.buffer().getInt(packet.optionOffset(Option.AUTHENTICATION)))
                        : null;
        if (now != null && key != null) {
            isNew(now.rules(), key, packet, true);
        }
    }

    /** Records that the service gets the packet that was judged last. */
    public void begin() {
        hadUnchecked |= proof <= NO_PROOF;
    }

    /** Records that packets have come to the service before there was this guard. */
    public void hadUnchecked() {
        hadUnchecked = true;
    }

    /**
     * Has packets leave that the service has made, be it beside a packet in hand or of itself: on account of all that have
     * come. Ends by {@link #resume}.
     */
    public void beginMade() {
        proof = hadUnchecked ? NO_PROOF : OWN;
    }

    /** Goes on with a packet of which {@link #proof} said this, and which its service may have changed since. */
    public void resume(int before) {
        proof = before;
    }

    private @Nullable DropReason check(Packet packet, int before, boolean takes) {
        Authentication.State now = authentication.now();
        proof = before;
        if (now == null || Math.abs(before) == now.epoch()) {
            return null;
        }
        boolean wasChecked = before > NO_PROOF;
        if (!now.rules().guards(packet)) {
            proof = wasChecked ? before : -now.epoch();
            return null;
        }
        DropReason reason = judge(now, packet, takes, wasChecked);
        proof = reason == null ? now.epoch() : NO_PROOF;
        if (reason != null) {
            authentication.refusals().tell(reason, packet);
        }
        return reason;
    }

    /** @param wasChecked by earlier rules: its number has come, and it was this packet */
    private @Nullable DropReason judge(Authentication.State now, Packet packet, boolean takes, boolean wasChecked) {
        if (!packet.isTamanoir() || !packet.has(Option.AUTHENTICATION)) {
            return DropReason.AUTH_MISSING;
        }
        int at = packet.optionOffset(Option.AUTHENTICATION);
        int id = packet.buffer().getInt(at);
        int algorithm = packet.buffer().getInt(at + 4);
        if (id == 0 && algorithm == 0) {
            return DropReason.AUTH_MISSING;
        }
        if (algorithm != HMAC_SHA_256) {
            return DropReason.AUTH_ALGORITHM;
        }
        Authentication.Kept key = now.key(id);
        if (key == null) {
            return DropReason.AUTH_KEY;
        }
        if (!hmac.holds(key.key(), packet)) {
            return DropReason.AUTH_MAC;
        }
        if (now.rules().windowPackets() == 0) {
            return null;
        }
        if (packet.sequence() < 0) {
            return DropReason.AUTH_SEQUENCE;
        }
        return isNew(now.rules(), key, packet, takes) || wasChecked ? null : DropReason.AUTH_REPLAY;
    }

    private static boolean isNew(AuthRules rules, Authentication.Kept key, Packet packet, boolean takes) {
        boolean hasSource = packet.hasInternetSource();
        return rules.windowPackets() == 0
                || key.seen()
                        .admits(
                                hasSource ? packet.sourceHigh() : 0,
                                hasSource ? packet.sourceLow() : 0,
                                packet.streamId(),
                                packet.sequence(),
                                takes,
                                rules.windowPackets(),
                                rules.streams());
    }

    /**
     * Has a packet ready to leave: signs it where a rule says so, else takes the MAC out that it came with, which held for
     * the way here. A packet without the option gets it and moves, as by {@link Packet#addOption}.
     *
     * <p>Nobody gets a signature by naming an address that he could not send from: a packet that this node would demand a MAC
     * of leaves without one where it is on account of a packet that had to have none, like an answer, whose source is what
     * somebody has named as destination.
     *
     * @param way to its next hop; null where it goes back
     * @return null, or why it cannot leave
     */
    public @Nullable DropReason sign(Packet packet, @Nullable InetSocketAddress way) {
        Authentication.State now = authentication.now();
        if (now == null || !packet.isTamanoir()) {
            return null;
        }
        AuthRules.Signer signer = proof <= NO_PROOF && now.rules().guards(packet)
                ? null
                : now.rules().signer(packet, way);
        if (signer == null) {
            if (packet.has(Option.AUTHENTICATION)) {
                NodeOptions.setAuthentication(packet, 0, 0, null);
            }
            return null;
        }
        Authentication.Kept key = now.key(signer.keyId());
        if (key == null) {
            return DropReason.AUTH_KEY; // Removed, and the rule was left: nothing leaves unsigned.
        }
        if (!packet.has(Option.AUTHENTICATION) && !packet.addOption(Option.AUTHENTICATION)) {
            return DropReason.PACKET_TOO_LONG;
        }
        if (!packet.has(Option.STREAM)) {
            if (!packet.addOption(Option.STREAM)) {
                return DropReason.PACKET_TOO_LONG;
            }
            NodeOptions.setStream(packet, ownStream, ownSequence++);
        }
        sign(hmac, key.key(), packet);
        return null;
    }

    static void sign(Hmac hmac, AuthKey key, Packet packet) {
        NodeOptions.setAuthentication(packet, key.id(), HMAC_SHA_256, null); // What is signed names the key.
        NodeOptions.setAuthentication(packet, key.id(), HMAC_SHA_256, hmac.of(key, packet));
    }
}
