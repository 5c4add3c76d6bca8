package org.tamanoir.sim;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.tamanoir.transport.BufferPool;
import org.tamanoir.transport.IoLoop;
import org.tamanoir.transport.TcpConnection;
import org.tamanoir.transport.TcpListener;
import org.tamanoir.transport.Transport;
import org.tamanoir.transport.UdpSocket;

/**
 * The network of a simulation: the node's sockets, and far ends that are no threads but answer to events.
 *
 * <p>Thread contract: whoever has the baton.
 */
final class SimNet implements Transport {
    private final Simulation simulation;
    private final Map<InetSocketAddress, Listening> listeners = new HashMap<>();
    private final Map<InetSocketAddress, FarListener> farListeners = new HashMap<>();
    private final Map<InetSocketAddress, SimUdpSocket> sockets = new HashMap<>();
    private final Map<InetSocketAddress, FarDatagrams> farSockets = new HashMap<>();
    private final Map<String, Integer> open = new TreeMap<>();
    private final List<String> leaks = new ArrayList<>();
    private final Set<InetSocketAddress> blackHoles = new HashSet<>();
    private int nextPort = 20_000;
    /** Nothing goes wrong, and nothing is slow. */
    boolean isCalm;
    /** Senders can be told to stop, as over QUIC; these send what they have, and then end. */
    boolean stopsSenders;

    private boolean outOfSockets;
    private long lastDatagramNs;
    /** Datagrams that found a queue full, or nobody. */
    long lostBefore;

    long lostBehind;

    SimNet(Simulation simulation) {
        this.simulation = simulation;
    }

    /** Takes connections of the node; null: refuses. */
    interface FarListener {
        @Nullable
        FarEnd accept(SimPipe toFar, SimPipe toNode);
    }

    /** A far end of a connection. */
    interface FarEnd {}

    /** Takes datagrams of the node. */
    interface FarDatagrams {
        void take(byte[] datagram);
    }

    private final class Listening implements TcpListener, SimLoop.Source {
        final SimLoop loop;
        final InetSocketAddress address;
        final Consumer<TcpConnection> accepted;
        final List<SimConnection> waiting = new ArrayList<>();

        Listening(SimLoop loop, InetSocketAddress address, Consumer<TcpConnection> accepted) {
            this.loop = loop;
            this.address = address;
            this.accepted = accepted;
        }

        @Override
        public boolean isReady() {
            return !waiting.isEmpty();
        }

        @Override
        public void serve() {
            List<SimConnection> now = new ArrayList<>(waiting);
            waiting.clear();
            now.forEach(connection -> {
                connection.join(loop);
                accepted.accept(connection);
            });
        }

        @Override
        public InetSocketAddress localAddress() {
            return address;
        }

        @Override
        public boolean isTranslating() {
            return false;
        }

        @Override
        public String acceptInTransit() {
            return "simulated";
        }

        @Override
        public void close() {
            listeners.remove(address);
            loop.remove(this);
            closed("listener");
            waiting.forEach(SimConnection::reset);
        }
    }

    // ---- the node's side -------------------------------------------------------------------------------------------

    @Override
    public IoLoop newLoop(BufferPool pool) {
        return new SimLoop(simulation, this, pool);
    }

    @Override
    public UdpSocket bind(InetSocketAddress wanted) throws IOException {
        InetSocketAddress address =
                wanted.getPort() == 0 ? new InetSocketAddress(wanted.getAddress(), nextPort++) : wanted;
        if (sockets.containsKey(address)) {
            throw new IOException("cannot bind UDP " + address + ": taken");
        }
        SimUdpSocket socket = new SimUdpSocket(simulation, this, address);
        sockets.put(address, socket);
        opened("UDP socket");
        return socket;
    }

    @Override
    public String explain() {
        return "simulated";
    }

    TcpListener listen(SimLoop loop, InetSocketAddress address, Consumer<TcpConnection> accepted) {
        Listening listening = new Listening(loop, address, accepted);
        listeners.put(address, listening);
        loop.add(listening);
        opened("listener");
        return listening;
    }

    TcpConnection connect(SimLoop loop, InetSocketAddress address, Duration timeout) {
        SimPipe toFar = new SimPipe(simulation, this, window());
        SimPipe toNode = new SimPipe(simulation, this, window());
        SimConnection connection =
                new SimConnection(simulation, this, loop.pool(), toNode, toFar, at("10.0.0.1", nextPort++), address);
        connection.join(loop);
        long patienceNs = timeout.toNanos();
        FarListener far = farListeners.get(address);
        if (blackHoles.contains(address) || (!isCalm && simulation.random.nextInt(20) == 0)) {
            simulation.at(patienceNs, () -> connection.connected("connection timed out"));
        } else if (far == null) {
            simulation.at(latencyNs(), () -> connection.connected("Connection refused"));
        } else {
            simulation.at(latencyNs(), () -> {
                if (!toFar.isCut()) {
                    connection.connected(far.accept(toFar, toNode) == null ? "Connection refused" : null);
                }
            });
        }
        return connection;
    }

    void closed(SimUdpSocket socket) {
        sockets.remove(socket.localAddress());
        closed("UDP socket");
    }

    /** A datagram of the node's leaves. */
    void send(byte[] datagram, InetSocketAddress to) {
        inOrder(() -> {
            FarDatagrams far = farSockets.get(to);
            if (far == null) {
                lostBehind++;
            } else {
                far.take(datagram);
            }
        });
    }

    /** Datagrams do not overtake each other here, so that what the node does can be told from what the network does. */
    private void inOrder(Runnable arrival) {
        lastDatagramNs = Math.max(lastDatagramNs + 10, simulation.nanoTime() + latencyNs() / 4);
        simulation.at(lastDatagramNs - simulation.nanoTime(), arrival);
    }

    /** Returns how many datagrams the node has not read. */
    int unread() {
        return sockets.values().stream().mapToInt(SimUdpSocket::waiting).sum();
    }

    boolean isOutOfSockets() {
        return outOfSockets;
    }

    void outOfSockets(boolean isOut) {
        outOfSockets = isOut;
    }

    // ---- the far side ----------------------------------------------------------------------------------------------

    void listen(InetSocketAddress address, FarListener far) {
        farListeners.put(address, far);
    }

    /** Lets nobody answer for this address. */
    void swallow(InetSocketAddress address) {
        blackHoles.add(address);
    }

    void receive(InetSocketAddress address, FarDatagrams far) {
        farSockets.put(address, far);
    }

    /** Connects a far end to the node; false when nobody listens. */
    boolean connectToNode(InetSocketAddress node, InetSocketAddress local, BufferPool pool, SimPipe in, SimPipe out) {
        Listening listening = listeners.get(node);
        if (listening == null) {
            return false;
        }
        SimConnection connection = new SimConnection(simulation, this, pool, out, in, node, local);
        connection.accepted();
        simulation.at(latencyNs(), () -> {
            if (listeners.get(node) == listening) {
                listening.waiting.add(connection);
                listening.loop.signal();
            } else {
                connection.reset();
            }
        });
        return true;
    }

    /** Sends a datagram to the node. */
    void sendToNode(byte[] datagram, InetSocketAddress from, InetSocketAddress node) {
        inOrder(() -> {
            SimUdpSocket socket = sockets.get(node);
            if (socket == null || !socket.arrive(datagram, from)) {
                lostBefore++;
            }
        });
    }

    // ---- the weather -----------------------------------------------------------------------------------------------

    long latencyNs() {
        return !isCalm && simulation.random.nextInt(8) == 0
                ? simulation.random.nextInt(5_000_000)
                : 10_000 + simulation.random.nextInt(100_000);
    }

    /** A window: small ones make the writer wait. */
    int window() {
        return switch (isCalm ? 3 : simulation.random.nextInt(4)) {
            case 0 -> 256 + simulation.random.nextInt(1024);
            case 1 -> 4096;
            default -> 64 * 1024;
        };
    }

    // ---- what is open ----------------------------------------------------------------------------------------------

    void opened(String what) {
        open.merge(what, 1, Integer::sum);
    }

    void closed(String what) {
        open.merge(what, -1, Integer::sum);
    }

    void leaked(String what) {
        leaks.add(what);
    }

    /** Returns what the node has not closed. */
    List<String> leaks() {
        List<String> all = new ArrayList<>(leaks);
        open.forEach((what, count) -> {
            if (count != 0) {
                all.add(count + " " + what + " open");
            }
        });
        return all;
    }

    static InetSocketAddress at(String host, int port) {
        try {
            return new InetSocketAddress(InetAddress.getByName(host), port);
        } catch (UnknownHostException e) {
            throw new IllegalArgumentException(host, e);
        }
    }
}
