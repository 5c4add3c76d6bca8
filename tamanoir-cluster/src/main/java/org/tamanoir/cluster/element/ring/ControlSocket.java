package org.tamanoir.cluster.element.ring;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLongArray;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.cluster.element.Token;
import org.tamanoir.transport.BufferPool;
import org.tamanoir.transport.IoLoop;
import org.tamanoir.transport.Transport;
import org.tamanoir.transport.TransportKind;
import org.tamanoir.transport.UdpBatch;
import org.tamanoir.transport.UdpSender;
import org.tamanoir.transport.UdpSocket;
import org.tamanoir.transport.UdpSockets;

/**
 * A party's control socket and its one thread, which hears messages and keeps the time. Sending: any thread, never
 * blocks; what the socket does not take is lost, as on the network.
 */
final class ControlSocket implements Wire, AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(ControlSocket.class);

    private static final long MS = 1_000_000;
    /** Longer waits are made of several. */
    private static final long LONGEST_NS = 3_600_000_000_000L;

    private static final long JOIN_MS = 5_000;

    private final RingSettings settings;
    private final Peers peers;
    private final RingCodec outward;
    private final RingCodec inward;
    private final UdpSocket socket;
    private final UdpSender sender;
    /** What the kernel reads from. */
    private final ByteBuffer out = ByteBuffer.allocateDirect(RingCodec.MAX_BYTES);

    private final IoLoop loop;
    /** Sockets of the JDK wait for whole milliseconds: less would be a busy loop. */
    private final long leastWaitNs;

    private final Thread thread;
    private final long startNs = System.nanoTime();
    private final AtomicLongArray refused = new AtomicLongArray(Refusal.values().length);
    private volatile boolean open = true;
    private @Nullable Party party;

    ControlSocket(RingSettings settings, int me) throws IOException {
        this.settings = settings;
        peers = new Peers(settings.addresses());
        outward = new RingCodec(settings.ringId(), settings.key(), peers);
        inward = new RingCodec(settings.ringId(), settings.key(), peers);
        TransportKind kind = UdpSockets.resolve(TransportKind.AUTO);
        InetSocketAddress address = peers.address(me);
        try {
            socket = UdpSockets.bind(kind, address);
        } catch (IOException e) {
            throw new IOException(
                    "control address " + address + " cannot be used (" + e.getMessage() + "): give a free one", e);
        }
        sender = socket.newSender(this::unsent);
        loop = Transport.of(kind).newLoop(new BufferPool(0));
        leastWaitNs = kind == TransportKind.NATIVE ? 1 : MS;
        thread = new Thread(this::run, "ring-" + (me == RingPlan.DISTRIBUTOR ? "distributor" : me));
        thread.setDaemon(true);
    }

    private void unsent(long high, long low, int port, int packets, int bytes, boolean isFull) {
        LOG.debug("Ring {}: nothing can be sent to port {}: {}", settings.ringId(), port, sender.lastError());
    }

    long nowNs() {
        return System.nanoTime() - startNs;
    }

    void start(Party party) {
        this.party = party;
        thread.start();
    }

    /** Has the thread ask for the deadline again. */
    void wake() {
        if (Thread.currentThread() != thread) {
            loop.wakeup();
        }
    }

    @Override
    public void send(int to, Token token) {
        synchronized (outward) {
            send(outward.encode(token), to);
        }
    }

    @Override
    public void send(int to, Message message) {
        synchronized (outward) {
            send(outward.encode(message), to);
        }
    }

    private void send(ByteBuffer datagram, int to) {
        Peers.Place place = peers.place(to);
        out.put(0, datagram.array(), 0, datagram.limit());
        sender.add(out, 0, datagram.limit(), place.high(), place.low(), place.port());
        sender.flush();
    }

    private void run() {
        Party hearer = Objects.requireNonNull(party);
        loop.own();
        try {
            UdpBatch batch = socket.newBatch();
            ByteBuffer in = ByteBuffer.allocate(RingCodec.MAX_BYTES + 1);
            loop.watch(socket, () -> hear(batch, in, hearer));
            while (open) {
                try {
                    await(hearer);
                    if (hearer.deadlineNs() <= nowNs()) {
                        hearer.expire();
                    }
                } catch (RuntimeException e) {
                    warn(e);
                }
            }
        } catch (IOException e) {
            warn(e);
        } finally {
            socket.close();
            loop.close();
        }
    }

    private void warn(Exception e) {
        LOG.warn("Ring {}: {}", settings.ringId(), e.toString(), e);
    }

    private void await(Party hearer) {
        long leftNs = hearer.deadlineNs() - nowNs();
        if (leftNs > 0) {
            loop.run(Math.max(leastWaitNs, Math.min(leftNs, LONGEST_NS)));
        } else {
            loop.poll();
        }
    }

    private void hear(UdpBatch batch, ByteBuffer in, Party hearer) {
        try {
            int messages = socket.receive(batch);
            for (int message = 0; message < messages; message++) {
                int end = batch.end(message);
                int bytes = Math.max(1, batch.segmentBytes(message));
                int at = batch.start(message);
                do {
                    hear(batch, message, at, Math.min(bytes, end - at), in, hearer);
                    at += bytes;
                } while (at < end);
            }
        } catch (IOException | RuntimeException e) {
            warn(e);
        }
    }

    private void hear(UdpBatch batch, int message, int at, int bytes, ByteBuffer in, Party hearer) {
        InetSocketAddress source =
                peers.listed(batch.addressHigh(message), batch.addressLow(message), batch.port(message));
        int taken = Math.min(bytes, in.capacity()); // One byte more than the longest that is valid.
        in.clear().put(0, batch.buffer(), at, taken).limit(taken);
        Refusal refusal = source == null ? Refusal.ADDRESS : inward.decode(in, source, hearer);
        if (refusal != null) {
            refused.incrementAndGet(refusal.ordinal());
        }
    }

    /** Returns how many datagrams were dropped, by reason; any thread. */
    Map<Refusal, Long> refused() {
        Map<Refusal, Long> counts = new EnumMap<>(Refusal.class);
        for (Refusal refusal : Refusal.values()) {
            counts.put(refusal, refused.get(refusal.ordinal()));
        }
        return counts;
    }

    /** Closes the socket and waits for the thread's end, 5 s at most. */
    @Override
    public void close() {
        open = false;
        if (party == null) {
            socket.close();
            loop.own();
            loop.close();
            return;
        }
        wake();
        try {
            if (Thread.currentThread() != thread) {
                thread.join(JOIN_MS);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
