package org.tamanoir.offload;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.anep.PlainGenerations;
import org.tamanoir.nodeos.LevelException;
import org.tamanoir.nodeos.NodeOs;
import org.tamanoir.plain.PlainRule;
import org.tamanoir.plain.PlainRules;
import org.tamanoir.plain.PlainTraffic;
import org.tamanoir.transport.TransportKind;
import org.tamanoir.transport.UdpSocket;
import org.tamanoir.transport.UdpSockets;

/**
 * The sockets that plain datagrams come to, one for IPv4 and one for IPv6, whatever the rules are. They are bound to loopback
 * addresses, so that nothing from outside reaches them but what a rule has sent up.
 *
 * <p>Thread contract: any thread; {@link #stage} and what it returns one at a time.
 */
final class PlainSockets implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(PlainSockets.class);

    private final PlainTraffic plain;
    private final int typeId;
    private final PlainGenerations generations;
    private final @Nullable PlainListeners listeners;
    private final List<UdpSocket> all;
    private int generation;

    private PlainSockets(
            PlainTraffic plain,
            int typeId,
            PlainGenerations generations,
            @Nullable PlainListeners listeners,
            List<UdpSocket> all) {
        this.plain = plain;
        this.typeId = typeId;
        this.generations = generations;
        this.listeners = listeners;
        this.all = all;
    }

    /** Returns none, of plain IP that does not come up. */
    static PlainSockets none(PlainTraffic plain) {
        return new PlainSockets(plain, 0, new PlainGenerations(), null, List.of());
    }

    /** Opens them and has plain datagrams come up; none, with the reason in the log, where that cannot be. */
    static PlainSockets attach(PlainTraffic plain, TransportKind kind, int typeId, Levels.Listener listener) {
        List<PlainRule> rules = plain.rules().rules();
        PlainGenerations generations = new PlainGenerations();
        generations.put(0, plain.rules().headers(typeId));
        UdpSocket v4 = null;
        UdpSocket v6 = null;
        PlainListeners listeners = null;
        try {
            v4 = open(kind, "127.0.0.1", generations, plain.upMark());
            v6 = openIpv6(kind, generations, plain.upMark());
            listeners = new PlainListeners(listener, v6 != null, typeId, plain.sentMark());
            listeners.open(rules);
            plain.attach(v4.localAddress(), v6 == null ? null : v6.localAddress(), listeners.ports(rules));
            return new PlainSockets(
                    plain,
                    typeId,
                    generations,
                    listeners,
                    Stream.of(v4, v6).filter(Objects::nonNull).toList());
        } catch (IOException | LevelException | RuntimeException e) {
            String why = String.valueOf(e.getMessage());
            LOG.warn("plain IP: nothing comes up, all goes on: {}", why);
            plain.notAttached(why);
            if (listeners != null) {
                listeners.close(rules);
            }
            close(v4);
            close(v6);
            return none(plain);
        }
    }

    private static @Nullable UdpSocket openIpv6(TransportKind kind, PlainGenerations generations, int mark) {
        try {
            return open(kind, "::1", generations, mark);
        } catch (IOException e) {
            LOG.info("plain IP: of IPv4 alone: {}", e.getMessage());
            return null;
        }
    }

    private static UdpSocket open(TransportKind kind, String address, PlainGenerations generations, int mark)
            throws IOException {
        UdpSocket socket = UdpSockets.bind(kind, new InetSocketAddress(InetAddress.getByName(address), 0));
        try {
            socket.receivePlain(generations, mark & NodeOs.UP_MASK);
            return socket;
        } catch (IOException e) {
            socket.close();
            throw e;
        }
    }

    private static void close(@Nullable UdpSocket socket) {
        if (socket != null) {
            socket.close();
        }
    }

    /** Returns those that there are. */
    List<UdpSocket> all() {
        return all;
    }

    /** Returns the headers of what comes to them. */
    PlainGenerations generations() {
        return generations;
    }

    /** Makes other rules ready, as {@link Levels#stage}. */
    PlainChange stage(PlainRules rules, int alertsPerSecond) throws LevelException {
        int next = (generation + 1) % PlainGenerations.COUNT;
        PlainListeners listening = listeners;
        if (listening == null) {
            return change(plain.stage(rules, alertsPerSecond, next, PlainTraffic.Listening.NONE), () -> {}, () -> {});
        }
        List<PlainRule> fresh;
        try {
            fresh = listening.open(rules.rules());
        } catch (IOException e) {
            throw new LevelException("plain IP: " + e.getMessage(), e);
        }
        try {
            PlainTraffic.Staged staged = plain.stage(rules, alertsPerSecond, next, listening.ports(rules.rules()));
            generations.put(next, rules.headers(typeId)); // Before a datagram comes up by them.
            return change(
                    staged,
                    () -> {
                        generation = next;
                        listening.inForce(rules.rules());
                    },
                    () -> listening.close(fresh));
        } catch (LevelException | RuntimeException e) {
            listening.close(fresh);
            throw e;
        }
    }

    private static PlainChange change(PlainTraffic.Staged staged, Runnable committed, Runnable abandoned) {
        return new PlainChange() {
            @Override
            public void commit() throws LevelException {
                try {
                    staged.commit();
                } catch (LevelException | RuntimeException e) {
                    abandoned.run();
                    throw e;
                }
                committed.run();
            }

            @Override
            public void abandon() {
                abandoned.run();
            }
        };
    }

    @Override
    public void close() {
        all.forEach(UdpSocket::close);
    }
}
