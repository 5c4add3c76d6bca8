package org.tamanoir.ee;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.anep.Anep;
import org.tamanoir.anep.DropReason;
import org.tamanoir.anep.Framing;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketSpace;
import org.tamanoir.anep.ServiceKey;
import org.tamanoir.service.FailurePolicy;
import org.tamanoir.service.StreamInfo;
import org.tamanoir.tls.TlsContext;
import org.tamanoir.transport.Buffer;
import org.tamanoir.transport.IoLoop;
import org.tamanoir.transport.TcpConnection;
import org.tamanoir.transport.TcpListener;
import org.tamanoir.transport.UdpBatch;
import org.tamanoir.transport.UdpSocket;

/**
 * The one thread that new traffic meets: accepts TCP connections and reads them until the first ANEP header is
 * whole, which names the service that gets the stream; reads UDP ports that several services share.
 *
 * <p>Thread contract: its own thread, but for what is said to be any thread's.
 */
final class Reception implements Runnable {
    private static final Logger LOG = LoggerFactory.getLogger(ExecutionEnvironment.class);
    private static final Duration SWEEP = Duration.ofMillis(500);
    /** Batches taken from a UDP port when the node stops; see {@link UdpService}. */
    private static final int LAST_BATCHES = 64;

    private static final String TLS_ON_PLAIN = " (it begins TLS, but this address speaks plain TCP)";

    private final ExecutionEnvironment environment;
    private final IoLoop loop;
    private final Traffic traffic;
    private final Packet packet;
    private final Thread thread;
    private final List<TcpListener> listeners = new ArrayList<>();
    private final Set<Newcomer> newcomers = new LinkedHashSet<>();
    private final Map<UdpSocket, UdpBatch> batches = new HashMap<>();
    private final Set<UdpPort> ports = new LinkedHashSet<>();
    private boolean stopping;
    private volatile boolean stopped;

    Reception(ExecutionEnvironment environment, Traffic traffic) {
        this.environment = environment;
        this.traffic = traffic;
        this.loop = environment.newLoop();
        this.packet = new Packet(environment.config().typeId(), PacketSpace.HEAP);
        this.thread = new Thread(this, "reception");
        thread.setDaemon(true);
    }

    /** Any thread. */
    void start() {
        thread.start();
    }

    @Override
    public void run() {
        loop.own();
        loop.schedule(SWEEP, this::sweep);
        while (!stopped) {
            loop.run();
            traffic.publish();
        }
        newcomers.forEach(newcomer -> newcomer.connection.close());
        newcomers.clear();
        ports.forEach(UdpPort::release);
        traffic.publish();
        loop.close();
    }

    // ---- TCP -------------------------------------------------------------------------------------------------------

    /** Listens, with TLS or, with null, without; returns the address with the real port. Any thread. */
    InetSocketAddress listen(InetSocketAddress address, @Nullable TlsContext tls) throws IOException {
        CompletableFuture<InetSocketAddress> bound = new CompletableFuture<>();
        loop.execute(() -> {
            try {
                TcpListener listener = TcpListener.bind(loop, address, tls, this::accept);
                listeners.add(listener);
                bound.complete(listener.localAddress());
            } catch (IOException | RuntimeException e) {
                bound.completeExceptionally(e);
            }
        });
        try {
            return bound.get();
        } catch (ExecutionException e) {
            throw new IOException(
                    String.valueOf(e.getCause() == null ? e : e.getCause().getMessage()), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while listening on TCP " + address, e);
        }
    }

    private void accept(TcpConnection connection) {
        if (!environment.admit()) {
            connection.reset();
            return;
        }
        Newcomer newcomer = new Newcomer(connection);
        newcomers.add(newcomer);
        connection.onChange(newcomer::look);
    }

    /** Closes those that have not sent a whole header in time. */
    private void sweep() {
        long oldest =
                System.nanoTime() - environment.config().firstPacketTimeout().toNanos();
        Iterator<Newcomer> each = newcomers.iterator();
        while (each.hasNext()) {
            Newcomer newcomer = each.next();
            if (newcomer.acceptedNs - oldest > 0) {
                break; // They stand in the order in which they came.
            }
            each.remove();
            newcomer.leave();
        }
        if (!stopped) {
            loop.schedule(SWEEP, this::sweep);
        }
    }

    /** A connection whose first header is not whole yet. */
    private final class Newcomer {
        final TcpConnection connection;
        final long acceptedNs = System.nanoTime();

        Newcomer(TcpConnection connection) {
            this.connection = connection;
        }

        /** Looks whether the first header has come whole. */
        void look() {
            Buffer input = connection.input();
            int octets = connection.end() - connection.start();
            if (input != null && octets >= Anep.BASIC_HEADER_OCTETS) {
                int start = connection.start();
                DropReason fault = Framing.fault(input.nio(), start);
                if (fault != null) {
                    newcomers.remove(this);
                    refuse(octets, fault);
                    return;
                }
                if (octets >= Framing.claimedHeaderLength(input.nio(), start)) {
                    newcomers.remove(this);
                    admit(Framing.serviceKey(
                            input.nio(), start, environment.config().typeId()));
                    return;
                }
            }
            if (connection.inputEnded() || connection.failure() != null) {
                newcomers.remove(this);
                leave();
            }
        }

        private void admit(long key) {
            ServiceDefinition definition = key == ServiceKey.NONE
                    ? Transit.DEFINITION
                    : environment.services().find(key);
            if (definition == null) {
                if (environment.config().unknownService() == FailurePolicy.CLOSE) {
                    refuse(connection.end() - connection.start(), DropReason.UNKNOWN_SERVICE);
                    return;
                }
                // Its packets are dropped, or passed, one by one: later ones may ask for another service.
                definition = Transit.DEFINITION;
            }
            connection.onChange(() -> {}); // From here on it is the stream's.
            environment.openStream(connection, definition);
        }

        private void refuse(int octets, DropReason reason) {
            LOG.info("TCP {}: refused: {}{}", connection.remoteAddress(), reason, beginsTls() ? TLS_ON_PLAIN : "");
            traffic.in(octets);
            traffic.drop(reason, connection.remoteAddress(), ServiceKey.NONE, octets);
            connection.consumed(connection.end());
            close();
        }

        /** Whether what came could be the first octets of TLS: a handshake record (RFC 8446, section 5.1). */
        private boolean beginsTls() {
            Buffer input = connection.input();
            int start = connection.start();
            return input != null
                    && connection.end() - start >= 2
                    && input.nio().get(start) == 22
                    && input.nio().get(start + 1) == 3;
        }

        /** Ends without a header. */
        void leave() {
            if (!connection.isConnected()) {
                String failure = connection.failure();
                LOG.info(
                        "TCP {}: refused: {}",
                        connection.remoteAddress(),
                        failure == null ? "TLS handshake: not over in time" : failure);
            }
            int octets = connection.end() - connection.start();
            if (octets > 0) {
                refuse(octets, DropReason.TRUNCATED);
            } else {
                close();
            }
        }

        private void close() {
            connection.onChange(() -> {}); // Its end would come as news.
            connection.close();
            environment.leave();
        }
    }

    // ---- UDP -------------------------------------------------------------------------------------------------------

    /** Reads a port from now on. Any thread. */
    void adopt(UdpPort port) {
        loop.execute(() -> {
            if (stopping) {
                return;
            }
            ports.add(port);
            port.watch(loop, () -> read(port));
        });
    }

    /** Reads a batch; false when nothing waited. */
    private boolean read(UdpPort port) {
        UdpSocket socket = port.socket();
        UdpBatch batch = batches.computeIfAbsent(socket, UdpSocket::newBatch);
        int messages;
        try {
            messages = socket.receive(batch);
        } catch (IOException e) {
            LOG.warn("UDP {}: {}", socket.localAddress(), e.getMessage());
            return false;
        }
        UdpService only = null;
        for (int message = 0; message < messages; message++) {
            int segment = Math.max(1, batch.segmentOctets(message));
            int start = batch.start(message);
            int end = batch.end(message);
            do {
                UdpService service =
                        deliver(socket, batch, message, batch.buffer(), start, Math.min(segment, end - start));
                if (service != null) {
                    if (only != null && only != service) {
                        port.share();
                    }
                    only = service;
                }
                start += segment;
            } while (start < end);
        }
        if (only != null && !port.isShared() && !stopping) {
            ports.remove(port);
            port.release();
            UdpService reader = only;
            if (!reader.loop.execute(() -> reader.adopt(port))) {
                adopt(port);
            }
        }
        return messages > 0;
    }

    /** Reads what waits, but no flood without end, then leaves the port alone. */
    private void readLast(UdpPort port) {
        int batches = 0;
        while (batches < LAST_BATCHES && read(port)) {
            batches++;
        }
        port.release();
    }

    private static InetSocketAddress peer(UdpBatch batch, int message) {
        return new InetSocketAddress(
                Forwarder.toAddress(batch.addressHigh(message), batch.addressLow(message)), batch.port(message));
    }

    private @Nullable UdpService deliver(
            UdpSocket socket, UdpBatch batch, int message, ByteBuffer octets, int offset, int length) {
        Tap tap = environment.tap();
        if (tap.watchesArrivals()) {
            tap.arrived(StreamInfo.Transport.UDP, peer(batch, message), socket.localAddress(), octets, offset, length);
        }
        DropReason fault = packet.parse(octets, offset, length);
        long key = fault == null ? packet.serviceKey() : ServiceKey.NONE;
        traffic.in(packet.length());
        if (fault == null && !packet.isTamanoir() && packet.discardIfUnknownType()) {
            fault = DropReason.TYPE_ID;
        }
        ServiceDefinition definition = Transit.DEFINITION;
        if (fault == null && packet.serviceKey() != ServiceKey.NONE) {
            ServiceDefinition known = environment.services().find(packet.serviceKey());
            if (known != null) {
                definition = known;
            } else if (environment.config().unknownService() != FailurePolicy.PASS) {
                fault = DropReason.UNKNOWN_SERVICE;
            }
        }
        UdpService service = fault == null ? environment.udpService(definition, socket) : null;
        if (fault == null && service == null) {
            fault = environment.whyNoInstance();
        } else if (service != null) {
            fault = service.offer(
                    packet, socket, batch.addressHigh(message), batch.addressLow(message), batch.port(message));
        }
        if (fault != null) {
            traffic.drop(fault, tap.watchesDrops() ? peer(batch, message) : null, key, packet.length());
        } else {
            if (packet.hasTrailer() || packet.hasRepeatedOption()) {
                traffic.anomaly();
            }
            traffic.handed();
        }
        return service;
    }

    // ---- end -------------------------------------------------------------------------------------------------------

    /** Accepts and reads no more. Any thread; returns when it is so. */
    void closeListeners() {
        CompletableFuture<Void> done = new CompletableFuture<>();
        boolean running = loop.execute(() -> {
            stopping = true;
            listeners.forEach(TcpListener::close);
            listeners.clear();
            newcomers.forEach(Newcomer::leave);
            newcomers.clear();
            ports.forEach(this::readLast);
            ports.clear();
            done.complete(null);
        });
        if (running) {
            done.join();
        }
    }

    /** Ends the thread. Any other thread; returns when it is so. */
    void stop() throws InterruptedException {
        stopped = true;
        loop.wakeup();
        thread.join();
    }
}
