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
import java.util.function.Consumer;
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
import org.tamanoir.service.Service;
import org.tamanoir.service.StreamInfo;
import org.tamanoir.tls.TlsContext;
import org.tamanoir.transport.Buffer;
import org.tamanoir.transport.BufferPool;
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

    /** To open a stream with a service that is replaced each time. */
    private static final int MAX_ATTEMPTS = 10;

    private final ExecutionEnvironment environment;
    private final IoLoop loop;
    private final Traffic traffic;
    private final Packet packet;
    private final Thread thread;
    private final List<TcpListener> listeners = new ArrayList<>();
    private final Set<Newcomer> newcomers = new LinkedHashSet<>();
    /** Those whose service is being fetched, or its instance made. */
    private final Set<Newcomer> held = new LinkedHashSet<>();

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
        List.copyOf(held).forEach(newcomer -> newcomer.abandon(DropReason.SHUTDOWN));
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

    /** Closes those that have not sent a whole header in time, and ends waits for code and constructors. */
    private void sweep() {
        environment.missing().sweep();
        environment.maker().sweep();
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

    /** A connection whose first header is not whole yet, or whose service is not there yet. */
    private final class Newcomer {
        final TcpConnection connection;
        final long acceptedNs = System.nanoTime();
        private long key;
        private int attempts;
        private @Nullable Consumer<ServiceSource.Answer> fetching;

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
                    key = Framing.serviceKey(
                            input.nio(), start, environment.config().typeId());
                    admit();
                    return;
                }
            }
            if (connection.inputEnded() || connection.failure() != null) {
                newcomers.remove(this);
                leave();
            }
        }

        private void admit() {
            ServiceDefinition definition = key == ServiceKey.NONE
                    ? Transit.DEFINITION
                    : environment.services().find(key);
            if (definition != null) {
                open(definition);
                return;
            }
            DropReason refusal = environment.missing().refusal(key);
            if (refusal != null) {
                unknown(refusal);
            } else {
                fetch();
            }
        }

        /** Waits for code. Next to nothing is read meanwhile, so that the sender waits as well. */
        private void fetch() {
            hold();
            if (!held.contains(this)) {
                return;
            }
            Buffer input = connection.input();
            Origin origin = new Origin(
                    connection.remoteAddress().getAddress(),
                    input == null
                            ? null
                            : Framing.previousNode(
                                    input.nio(),
                                    connection.start(),
                                    environment.config().typeId()));
            Consumer<ServiceSource.Answer> then = answer -> loop.execute(() -> answered(answer));
            fetching = then;
            environment.missing().streamWaits();
            environment.missing().request(key, origin, then);
        }

        private void hold() {
            held.add(this);
            connection.onChange(this::lookAfterPeer);
            lookAfterPeer();
        }

        /**
         * A sender that has ended still gets what it sent through; one whose connection broke does not. Only who reads
         * learns of that, so a little is read.
         */
        private void lookAfterPeer() {
            if (connection.failure() != null) {
                LOG.info("TCP {}: gone while it waited for its service", connection.remoteAddress());
                abandon(DropReason.PEER_GONE);
            } else {
                connection.wantInput(
                        !connection.inputEnded() && connection.end() - connection.start() < BufferPool.SMALL_OCTETS);
            }
        }

        private void answered(ServiceSource.Answer answer) {
            endFetch();
            if (!held.contains(this)) {
                return;
            }
            ServiceDefinition definition = answer.service();
            if (definition != null) {
                open(definition);
            } else {
                unknown(answer.refusal() == null ? DropReason.UNKNOWN_SERVICE : answer.refusal());
            }
        }

        private void endFetch() {
            Consumer<ServiceSource.Answer> then = fetching;
            if (then != null) {
                fetching = null;
                environment.missing().forget(key, then);
                environment.missing().streamWaitsNoMore();
            }
        }

        private void unknown(DropReason reason) {
            if (environment.config().unknownService() == FailurePolicy.CLOSE) {
                LOG.info("TCP {}: refused: {}", connection.remoteAddress(), reason);
                abandon(reason);
            } else {
                // Its packets are dropped, or passed, one by one: later ones may ask for another service.
                open(Transit.DEFINITION);
            }
        }

        private void open(ServiceDefinition found) {
            ServiceDefinition definition = ExecutionEnvironment.entrance(found);
            if (definition == Transit.DEFINITION) {
                made(definition, new Transit(), null);
                return;
            }
            hold();
            if (!held.contains(this)) {
                return;
            }
            environment
                    .maker()
                    .make(definition, (service, failure) -> loop.execute(() -> made(definition, service, failure)));
        }

        private void made(ServiceDefinition definition, @Nullable Service service, @Nullable Throwable failure) {
            if (definition != Transit.DEFINITION && !held.contains(this)) {
                return;
            }
            if (service == null) {
                if (failure != null) {
                    environment.incidents().failed(definition, "its constructor", failure, "stream closed");
                }
                abandon(DropReason.NO_INSTANCE);
            } else if (environment.openStream(connection, definition, key, service)) {
                held.remove(this); // From here on it is the stream's.
            } else if (++attempts < MAX_ATTEMPTS) {
                admit(); // The service was replaced or taken away meanwhile.
            } else {
                abandon(DropReason.NO_INSTANCE);
            }
        }

        private void refuse(int octets, DropReason reason) {
            LOG.info("TCP {}: refused: {}{}", connection.remoteAddress(), reason, beginsTls() ? TLS_ON_PLAIN : "");
            traffic.in(octets);
            traffic.drop(reason, connection.remoteAddress(), ServiceKey.NONE, octets);
            connection.consumed(connection.end());
            close();
        }

        /** Ends with packets that were not handled. */
        void abandon(DropReason reason) {
            held.remove(this);
            endFetch();
            TcpInput.drop(connection, traffic, reason, environment.config().typeId());
            connection.onChange(() -> {}); // Its end would come as news.
            connection.reset();
            environment.leave();
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
                        deliver(port, batch, message, batch.buffer(), start, Math.min(segment, end - start));
                if (service != null) {
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
            UdpPort port, UdpBatch batch, int message, ByteBuffer octets, int offset, int length) {
        UdpSocket socket = port.socket();
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
        UdpService service = null;
        if (fault == null) {
            long high = batch.addressHigh(message);
            long low = batch.addressLow(message);
            int from = batch.port(message);
            service = environment.udp().running(key);
            fault = service == null ? null : service.offer(packet, socket, high, low, from);
            if (service == null || fault == DropReason.SHUTDOWN) {
                service = null;
                fault = environment.udp().deliver(key, packet, socket, high, low, from);
            }
            if (fault != null
                    && MissingServices.isRefusal(fault)
                    && environment.config().unknownService() == FailurePolicy.PASS) {
                fault = environment.udp().deliver(ServiceKey.NONE, packet, socket, high, low, from);
            }
            if (service != null || fault == null) {
                port.usedBy(key);
            }
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
            List.copyOf(held).forEach(newcomer -> newcomer.abandon(DropReason.SHUTDOWN));
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
