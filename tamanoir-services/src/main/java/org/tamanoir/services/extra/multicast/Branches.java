package org.tamanoir.services.extra.multicast;

import java.nio.ByteBuffer;
import java.security.GeneralSecurityException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;
import org.tamanoir.services.AddressPrefix;

/**
 * The next hops of a node: those that its operator names, and those that have joined from where the operator allows it.
 *
 * <p>Nobody is sent a stream because somebody else, under a forged address, asked for it. A wish to join is answered at
 * the address that it names, by a token: a keyed hash of address, port and minute, for which nothing is kept. Who shows
 * it is reached there. Reports show it too, so those of anybody else are told apart.
 *
 * <p>Thread contract: one thread.
 */
final class Branches {
    /** A set of these is a {@code long}. */
    static final int MAX = Long.SIZE;

    private static final int SECRET_BYTES = 32;
    private static final long SLOT_NS = 60_000_000_000L;

    private final List<@Nullable Branch> branches = new ArrayList<>();
    private final List<AddressPrefix> allowed;
    private final Mac mac;
    private final int max;
    private final long timeoutNs;
    private final ByteBuffer hashed = ByteBuffer.allocate(16 + 4 + 8);

    /** Begins with those that the operator names. */
    Branches(MulticastConfig config, Random random) {
        allowed = config.join();
        max = config.maxBranches();
        timeoutNs = config.joinTimeoutNs();
        byte[] secret = new byte[SECRET_BYTES];
        random.nextBytes(secret);
        try {
            mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec(secret, "HmacSHA256"));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("every JDK has HmacSHA256", e);
        }
        for (Peer peer : config.branches()) {
            branches.add(new Branch(branches.size(), peer, true, token(peer, 0)));
        }
    }

    /** Returns the token that is shown by who is reached at this address now. */
    long token(Peer peer, long nowNs) {
        hashed.clear().putLong(peer.high()).putLong(peer.low()).putInt(peer.port());
        mac.update(hashed.putLong(nowNs / SLOT_NS).array());
        return ByteBuffer.wrap(mac.doFinal()).getLong() | 1; // Never 0, which is none.
    }

    /** Returns whether the token was made for this address within the last two minutes. */
    boolean isProof(long token, Peer peer, long nowNs) {
        return token == token(peer, nowNs) || nowNs >= SLOT_NS && token == token(peer, nowNs - SLOT_NS);
    }

    /** Returns whether it is a branch, or may be one. */
    boolean mayJoin(Peer peer) {
        return at(peer) != null || allowed.stream().anyMatch(prefix -> prefix.matches(peer.high(), peer.low()));
    }

    /** Returns the branch with this address. */
    @Nullable
    Branch at(Peer peer) {
        for (Branch branch : branches) {
            if (branch != null && branch.peer().is(peer.high(), peer.low(), peer.port())) {
                return branch;
            }
        }
        return null;
    }

    /** Returns the branch that shows this token. */
    @Nullable
    Branch showing(long token) {
        for (Branch branch : branches) {
            if (branch != null && branch.token() == token) {
                return branch;
            }
        }
        return null;
    }

    /** Returns the branch with this index, which is one. */
    Branch get(int index) {
        Branch branch = branches.get(index);
        if (branch == null) {
            throw new IllegalStateException("branch " + index + " has left");
        }
        return branch;
    }

    /** Adds one. Returns null if there are too many. */
    @Nullable
    Branch add(Peer peer, long token) {
        if (size() >= max) {
            return null;
        }
        int index = branches.indexOf(null);
        if (index < 0) {
            index = branches.size();
            branches.add(null);
        }
        Branch branch = new Branch(index, peer, false, token);
        branches.set(index, branch);
        return branch;
    }

    /** Forgets one that has joined. */
    void remove(Branch branch) {
        branches.set(branch.index(), null);
    }

    /** Returns one that has joined and has not wished so for too long; null if there is none. */
    @Nullable
    Branch expired(long nowNs) {
        for (Branch branch : branches) {
            if (branch != null && !branch.isFixed() && nowNs - branch.refreshedNs() >= timeoutNs) {
                return branch;
            }
        }
        return null;
    }

    int size() {
        return Long.bitCount(all());
    }

    /** Returns the set of all. */
    long all() {
        long all = 0;
        for (Branch branch : branches) {
            all |= branch == null ? 0 : branch.bit();
        }
        return all;
    }

    /** Returns whether one can expire. */
    boolean hasJoined() {
        return branches.stream().anyMatch(branch -> branch != null && !branch.isFixed());
    }
}
