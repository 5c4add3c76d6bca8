package org.tamanoir.ee;

import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.routing.Addresses;
import org.tamanoir.transport.QuicAddress;

/**
 * The connections of one service's thread to TCP next hops, in the order of their last opening. Beyond {@link #MAX} the
 * oldest with nothing waiting retires: its next hop sees the end of what it gets, and what it sends back still comes.
 *
 * <p>Thread contract: the service's thread.
 *
 * @param <E> how packets leave by one of them
 */
final class Connections<E extends Connections.Way> {
    /** Connections kept at once; as many more may have retired. */
    static final int MAX = 64;

    /** A way out by a connection of its own. */
    interface Way extends Egress {
        /** Returns whether no packet would be lost if it were closed now. */
        default boolean isIdle() {
            return held() == 0;
        }

        /**
         * Ends its connection in order, to make room for another: it is {@linkplain #isClosed closed} for packets from
         * then on, and what the far side sends back still comes. To be called when it is idle.
         */
        void retire();

        /** Returns whether one that has {@linkplain #retire retired} can be closed: nothing more comes back in time. */
        boolean isSpent();
    }

    /** Makes connections. */
    interface Connector<E extends Way> {
        /** Makes a way to a TCP next hop; null when it cannot be reached, or is not there yet. */
        @Nullable
        E connect(InetSocketAddress address, boolean isTls);

        /** Returns whether what was asked for last is being made: who wants it waits, and asks again. */
        default boolean isConnecting() {
            return false;
        }

        /** Returns whether who finds no room for a connection may wait for it. */
        default boolean waitsForRoom() {
            return false;
        }
    }

    private final Connector<E> connector;
    private final List<E> all = new ArrayList<>();
    /** Where each leads; null of one that has retired. */
    private final List<@Nullable Target> targets = new ArrayList<>();

    private @Nullable InetSocketAddress latest;
    private boolean mayCome;

    /**
     * One end of a connection; of a link-local address its interface is part of it, with TLS and QUIC the name that its
     * certificate was checked against; the end of a gateway is another one than that of packets.
     */
    private record Target(
            InetSocketAddress address, int scope, @Nullable String tlsName, Class<?> kind) {
        static Target of(InetSocketAddress address, boolean isTls) {
            boolean isQuic = address instanceof QuicAddress;
            int scope = Addresses.scope(address.getAddress());
            return new Target(address, scope, isTls || isQuic ? address.getHostString() : null, address.getClass());
        }
    }

    Connections(Connector<E> connector) {
        this.connector = connector;
    }

    /** Returns those that there are. */
    List<E> all() {
        return all;
    }

    /**
     * Returns the connection to a next hop, made if there is none; null when it cannot be reached, or not yet: then it
     * {@linkplain #mayCome may come}.
     */
    @Nullable
    E towards(InetSocketAddress address, boolean isTls) {
        Target target = Target.of(address, isTls);
        int known = targets.indexOf(target);
        if (known >= 0) {
            if (!all.get(known).isClosed()) {
                return all.get(known);
            }
            forget(known);
        }
        if (all.size() >= MAX && !makeRoom()) {
            mayCome = connector.waitsForRoom();
            return null;
        }
        E made = connector.connect(address, isTls);
        mayCome = connector.isConnecting();
        if (made != null) {
            all.add(made);
            targets.add(target);
            latest = address;
        }
        return made;
    }

    /** Returns where the connection that was opened last leads; null if there was none. */
    @Nullable
    InetSocketAddress latest() {
        return latest;
    }

    /** Returns whether the connection that could not be had is there later: for who asks again. */
    boolean mayCome() {
        return mayCome;
    }

    /** Makes room for another one; returns false while packets, or what comes back, wait for all of them. */
    private boolean makeRoom() {
        flush();
        int retired = 0;
        for (int i = all.size() - 1; i >= 0; i--) {
            if (targets.get(i) == null && all.get(i).isSpent()) {
                all.get(i).close(DropReason.NEXT_HOP_LOST);
                forget(i);
            } else if (targets.get(i) == null) {
                retired++;
            }
        }
        return all.size() - retired < MAX || (retired < MAX && retireIdle());
    }

    private boolean retireIdle() {
        for (int i = 0; i < all.size(); i++) {
            if (targets.get(i) != null && all.get(i).isIdle()) {
                all.get(i).retire();
                targets.set(i, null);
                return true;
            }
        }
        return false;
    }

    private void forget(int index) {
        all.remove(index);
        targets.remove(index);
    }

    void flush() {
        for (int i = 0; i < all.size(); i++) {
            all.get(i).flush();
        }
    }

    /** Returns how many packets wait to leave. */
    long held() {
        long held = 0;
        for (int i = 0; i < all.size(); i++) {
            held += all.get(i).held();
        }
        return held;
    }

    /** Breaks all. Another thread: {@link Egress#resetFromOutside}. */
    void resetFromOutside() {
        all.forEach(Egress::resetFromOutside);
    }

    /** Closes all, and sends nothing more. */
    void close(DropReason reason) {
        all.forEach(each -> each.close(reason));
        all.clear();
        targets.clear();
    }
}
