package org.tamanoir.repository;

import com.google.common.collect.HashMultiset;
import com.google.common.collect.Multiset;
import io.netty.channel.Channel;
import io.netty.channel.ChannelOutboundBuffer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.tamanoir.routing.PeerNetwork;

/**
 * The open connections of one listener, bounded in all and for each peer from the moment they are accepted, so that
 * nobody can lock others out by keeping connections. Where a bound is reached, the connection that has been idle for
 * longest makes room; one with a request under way never does. Some places are reserved: strangers cannot have them,
 * only the host itself and those peers that the listener was told of.
 *
 * <p>Thread contract: any thread; the monitor guards the maps, and nothing blocks under it.
 */
final class HttpConnections {
    private final int all;
    private final int perPeer;
    private final int reserved;
    private final Predicate<InetAddress> isReservedFor;
    private final Map<Ends, Connection> open = new HashMap<>();
    /** Those without a request under way, the one that has been so for longest first. */
    private final Set<Connection> idle = new LinkedHashSet<>();

    private final Multiset<InetAddress> byPeer = HashMultiset.create();
    private int strangers;

    /**
     * Both ends of a connection, which tell it apart from all others of its listener.
     *
     * @param local its address here; the port is the listener's
     */
    record Ends(String peer, int peerPort, String local) {
        static Ends of(InetSocketAddress peer, InetSocketAddress local) {
            return new Ends(
                    peer.getAddress().getHostAddress(),
                    peer.getPort(),
                    local.getAddress().getHostAddress());
        }
    }

    /**
     * A connection.
     *
     * @param peer who counts as one: an address, or the network of an IPv6 stranger
     * @param isOwn it comes from this host, which has no bound of its own
     * @param isReserved it may take a reserved place
     */
    private record Connection(Ends ends, Channel channel, InetAddress peer, boolean isOwn, boolean isReserved) {}

    /**
     * No connections yet.
     *
     * @param all at once
     * @param perPeer of one peer that is not this host
     * @param reserved of {@code all}, for this host and for those that follow
     * @param isReservedFor whether an address may take a reserved place beside this host's; must not block
     */
    HttpConnections(int all, int perPeer, int reserved, Predicate<InetAddress> isReservedFor) {
        this.all = all;
        this.perPeer = perPeer;
        this.reserved = reserved;
        this.isReservedFor = isReservedFor;
    }

    /** Takes in a connection that was accepted, as an idle one; false = there is no place, the caller closes it. */
    boolean admit(Channel channel) {
        if (!(channel.remoteAddress() instanceof InetSocketAddress peer)
                || !(channel.localAddress() instanceof InetSocketAddress local)) {
            return false; // It has ended already.
        }
        InetAddress from = peer.getAddress();
        boolean isOwn = from.equals(local.getAddress()); // The kernel takes no such address from a network.
        boolean isReserved = isOwn || isReservedFor.test(from);
        Connection connection = new Connection(
                Ends.of(peer, local), channel, isReserved ? from : PeerNetwork.of(from), isOwn, isReserved);
        Connection leaves;
        synchronized (this) {
            Predicate<Connection> mayLeave = mayLeave(connection);
            leaves = mayLeave == null ? null : longestIdle(mayLeave);
            if (leaves == null && mayLeave != null && isReserved && !isAtItsBound(connection)) {
                leaves = longestIdle(each -> true);
            }
            if (mayLeave != null && leaves == null) {
                return false;
            }
            if (leaves != null) {
                remove(leaves);
            }
            add(connection);
        }
        if (leaves != null) {
            cut(leaves.channel);
        }
        channel.closeFuture().addListener(closed -> remove(connection));
        return true;
    }

    /** Returns which ones may make room for it; null = there is room. */
    private @Nullable Predicate<Connection> mayLeave(Connection comes) {
        if (isAtItsBound(comes)) {
            return each -> each.peer.equals(comes.peer);
        }
        boolean isFull = comes.isReserved ? open.size() >= all : strangers >= all - reserved || open.size() >= all;
        return isFull ? each -> !each.isReserved : null;
    }

    private boolean isAtItsBound(Connection connection) {
        return !connection.isOwn && byPeer.count(connection.peer) >= perPeer;
    }

    private @Nullable Connection longestIdle(Predicate<Connection> mayLeave) {
        for (Connection each : idle) {
            if (mayLeave.test(each) && !isAnswering(each.channel)) {
                return each;
            }
        }
        return null;
    }

    /** Returns whether bytes of an answer still wait for the peer. */
    private static boolean isAnswering(Channel channel) {
        ChannelOutboundBuffer waiting = channel.unsafe().outboundBuffer();
        return waiting != null && waiting.totalPendingWriteBytes() > 0;
    }

    private void add(Connection connection) {
        open.put(connection.ends, connection);
        idle.add(connection);
        byPeer.add(connection.peer);
        strangers += connection.isReserved ? 0 : 1;
    }

    private synchronized void remove(Connection connection) {
        if (open.remove(connection.ends, connection)) {
            idle.remove(connection);
            byPeer.remove(connection.peer);
            strangers -= connection.isReserved ? 0 : 1;
        }
    }

    /** Notes that a request of this connection is under way. */
    synchronized void busy(Ends ends) {
        Connection connection = open.get(ends);
        if (connection != null) {
            idle.remove(connection);
        }
    }

    /** Notes that the last request of this connection was answered. */
    synchronized void idle(Ends ends) {
        Connection connection = open.get(ends);
        if (connection != null) {
            idle.remove(connection); // Its time begins anew.
            idle.add(connection);
        }
    }

    private static void cut(Channel channel) {
        if (channel.isRegistered()) {
            channel.eventLoop()
                    .execute(() -> channel.unsafe().close(channel.unsafe().voidPromise()));
        } else {
            channel.unsafe().closeForcibly(); // Its registration fails then, which ends the rest of it.
        }
    }
}
