package org.tamanoir.services.extra.multicast;

import java.nio.ByteBuffer;
import java.util.Random;

/**
 * A node's own place below another: it joins that one, shows what it was offered, and does so again and again. It
 * believes an offer only if that repeats the random number of its last wish, and data only with a token it has shown.
 *
 * <p>Thread contract: one thread.
 */
final class Membership {
    private static final long WISH_AGAIN_NS = 1_000_000_000L;
    private static final long REFRESH_NS = 5_000_000_000L;

    private final Peer own;
    private final Random random;
    private long nonce;
    private long shown;
    private long shownBefore;
    private long dueNs;

    /** Makes one that wishes to join at once. @param own address that this node is reached at */
    Membership(Peer own, Random random) {
        this.own = own;
        this.random = random;
    }

    long dueNs() {
        return dueNs;
    }

    /** Writes a wish to join. */
    void writeJoin(ByteBuffer target, long nowNs) {
        nonce = random.nextLong();
        dueNs = nowNs + (shown == 0 ? WISH_AGAIN_NS : REFRESH_NS);
        MulticastHeader.write(target, MulticastHeader.JOIN, 0, nonce, shown, 0);
        target.putLong(own.high())
                .putLong(own.low())
                .putShort((short) own.port())
                .putShort((short) 0);
    }

    /**
     * Takes an offer; one that brings another token is shown at once.
     *
     * @return false if it answers no wish of this node
     */
    boolean offered(MulticastHeader offer, long nowNs) {
        if (offer.session() != nonce || offer.token() == 0) {
            return false;
        }
        if (offer.token() != shown) {
            shownBefore = shown;
            shown = offer.token();
            dueNs = nowNs;
        }
        return true;
    }

    /** Returns whether what has this token comes from the node above. */
    boolean accepts(long token) {
        return token != 0 && (token == shown || token == shownBefore);
    }

    /** Returns the token that was shown last; 0 for none. */
    long shown() {
        return shown;
    }
}
