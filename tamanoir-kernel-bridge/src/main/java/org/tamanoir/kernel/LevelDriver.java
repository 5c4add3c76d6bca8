package org.tamanoir.kernel;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import org.tamanoir.nodeos.Level;
import org.tamanoir.nodeos.LevelException;

/**
 * One level of this host, in terms of {@code tamanoir_abi.h}: flows, policies, slots. Which flow has which slot is the
 * caller's matter.
 *
 * <p>Thread contract: one thread at a time, but {@link #settled}, {@link #counters}, {@link #state} and {@link #met},
 * which any thread may call.
 */
interface LevelDriver extends AutoCloseable {
    /** Returns which one. */
    Level level();

    /** Returns one line: how it is attached, as in {@code tc on eth0, eth1} or {@code module 0.1.0, netfilter}. */
    String detail();

    /** Returns why no policy can be placed on it for now, as packets have shown or have not yet; null where one can. */
    default @Nullable String whyNot() throws LevelException {
        return null;
    }

    /**
     * Goes on with what packets have shown to be possible, if it waits for that, and with what interfaces are now; from time
     * to time. As {@link #whyNot}, any thread.
     */
    default void proceed() throws LevelException {}

    /**
     * Begins to look at packets, or changes what it looks at.
     *
     * @param hook a {@code struct tmn_hook}
     */
    void attach(ByteBuffer hook) throws LevelException;

    /** Replaces the addresses of this host, 16 bytes each, IPv4 as ::ffff:a.b.c.d. A level that knows does nothing. */
    void locals(ByteBuffer addresses) throws LevelException;

    /**
     * Adds or replaces a policy, at once for all packets.
     *
     * @param flow a {@code struct tmn_flow}
     * @param policy a {@code struct tmn_policy}
     */
    void set(ByteBuffer flow, ByteBuffer policy) throws LevelException;

    /** Removes a policy; none there is no error. */
    void remove(ByteBuffer flow) throws LevelException;

    /** Sets state and counters of a slot, which no policy has, to zero. */
    void clear(int slot) throws LevelException;

    /**
     * Returns a {@code struct tmn_counters} summed over processors; smallest and largest as the least and the greatest.
     */
    ByteBuffer counters(int slot) throws LevelException;

    /** Returns a {@code struct tmn_state}. */
    ByteBuffer state(int slot) throws LevelException;

    /** Adds to a slot's settled packets; must be cheap. */
    void settled(int slot, long packets);

    /** Sums over processors, by {@code enum tmn_met}. */
    long[] met() throws LevelException;

    /** Detaches and frees. Idempotent. */
    @Override
    void close();
}
