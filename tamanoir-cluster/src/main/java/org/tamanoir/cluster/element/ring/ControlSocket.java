package org.tamanoir.cluster.element.ring;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.cluster.element.Token;
import org.tamanoir.platform.Causes;
import org.tamanoir.platform.ThreadRank;
import org.tamanoir.platform.ThreadRanks;
import org.tamanoir.routing.Addresses;

/**
 * A party's control socket and its one thread, which hears messages and keeps the time. Sending: any thread, never
 * blocks; what the socket does not take is lost, as on the network.
 */
final class ControlSocket implements Wire, AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(ControlSocket.class);

    /** Datagrams between two looks at the time. */
    private static final int BATCH = 64;

    private static final long MS = 1_000_000;
    /** A selector waits for whole milliseconds; for less it is woken this often, and then has to look at the socket. */
    private static final long NAP_NS = 50_000;

    private static final long JOIN_MS = 5_000;

    private final RingSettings settings;
    private final Peers peers;
    private final RingCodec outward;
    private final RingCodec inward;
    private final DatagramChannel channel;
    private final Selector selector;
    private final Thread thread;
    private final long startNs = System.nanoTime();
    private final AtomicLongArray refused = new AtomicLongArray(Refusal.values().length);
    private volatile boolean open = true;
    private @Nullable Party party;
    private ThreadRanks ranks = ThreadRanks.NONE;

    ControlSocket(RingSettings settings, int me) throws IOException {
        this.settings = settings;
        peers = new Peers(settings.addresses());
        outward = new RingCodec(settings.ringId(), settings.key(), peers);
        inward = new RingCodec(settings.ringId(), settings.key(), peers);
        InetSocketAddress address = peers.address(me);
        channel = DatagramChannel.open();
        try {
            channel.bind(address).configureBlocking(false);
            selector = Selector.open();
            channel.register(selector, SelectionKey.OP_READ);
        } catch (IOException e) {
            channel.close();
            throw new IOException(
                    "control address " + Addresses.text(address) + " cannot be used (" + Causes.text(e)
                            + "): give a free one",
                    e);
        }
        thread = new Thread(this::run, "ring-" + (me == RingPlan.DISTRIBUTOR ? "distributor" : me));
        thread.setDaemon(true);
    }

    long nowNs() {
        return System.nanoTime() - startNs;
    }

    void start(Party party, ThreadRanks ranks) {
        this.party = party;
        this.ranks = ranks;
        thread.start();
    }

    /** Has the thread ask for the deadline again. */
    void wake() {
        if (Thread.currentThread() != thread) {
            selector.wakeup();
            LockSupport.unpark(thread);
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
        try {
            channel.send(datagram, peers.address(to));
        } catch (IOException e) {
            LOG.debug("Ring {}: nothing can be sent to {}: {}", settings.ringId(), to, e.getMessage());
        }
    }

    private void run() {
        Party hearer = Objects.requireNonNull(party);
        ranks.take(ThreadRank.CONTROL);
        ByteBuffer in = ByteBuffer.allocate(RingCodec.MAX_BYTES + 1);
        while (open) {
            try {
                await(hearer);
                hear(in, hearer);
                if (hearer.deadlineNs() <= nowNs()) {
                    hearer.expire();
                }
            } catch (IOException | RuntimeException e) {
                if (open) {
                    LOG.warn("Ring {}: {}", settings.ringId(), e.toString(), e);
                }
            }
        }
    }

    private void await(Party hearer) throws IOException {
        long leftNs = hearer.deadlineNs() - nowNs();
        if (leftNs >= MS) {
            // Late by a millisecond at most, and without naps behind it.
            selector.select(Math.min(leftNs / MS + 1, Integer.MAX_VALUE));
        } else {
            while (leftNs > 0 && leftNs < MS && selector.selectNow() == 0 && open) {
                LockSupport.parkNanos(Math.min(leftNs, NAP_NS));
                leftNs = hearer.deadlineNs() - nowNs(); // it may have come nearer meanwhile
            }
        }
        selector.selectedKeys().clear();
    }

    private void hear(ByteBuffer in, Party hearer) throws IOException {
        for (int i = 0; i < BATCH; i++) {
            InetSocketAddress source = (InetSocketAddress) channel.receive(in.clear());
            if (source == null) {
                return;
            }
            Refusal refusal = inward.decode(in.flip(), source, hearer);
            if (refusal != null) {
                refused.incrementAndGet(refusal.ordinal());
            }
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
    public void close() throws IOException {
        open = false;
        wake();
        try {
            if (Thread.currentThread() != thread) {
                thread.join(JOIN_MS);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        selector.close();
        channel.close();
    }
}
