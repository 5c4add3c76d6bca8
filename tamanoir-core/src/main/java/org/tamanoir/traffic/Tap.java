package org.tamanoir.traffic;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.service.StreamInfo;

/**
 * Looks into the packet path while it runs: drops as they happen, packets as they come in. Costs one opaque read a
 * packet that comes in, and one a drop, while nobody looks; who looks too slowly misses some, and is told how many.
 *
 * <p>Thread contract: any thread opens; one thread takes from what it opened.
 */
public final class Tap {
    /** Drops that wait in a view, or packets that one captures, at most. */
    private static final int MAX_CAPACITY = 1 << 16;
    /** Copies of packets that may wait in one view, in bytes. */
    private static final long MAX_WAITING_BYTES = 64L << 20;

    private static final DropView[] NO_DROPS = {};
    private static final ArrivalView[] NO_ARRIVALS = {};
    private static final VarHandle DROP_VIEWS;
    private static final VarHandle ARRIVAL_VIEWS;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            DROP_VIEWS = lookup.findVarHandle(Tap.class, "dropViews", DropView[].class);
            ARRIVAL_VIEWS = lookup.findVarHandle(Tap.class, "arrivalViews", ArrivalView[].class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** Written under the lock; null while nobody looks, so that the packet path compares with null alone. */
    private DropView @Nullable [] dropViews;

    private ArrivalView @Nullable [] arrivalViews;

    public Tap() {}

    /**
     * A packet that ended here, or several that ended together.
     *
     * @param service label of the service whose thread had it; {@code reception} before there is one
     * @param peer null where it is not known
     * @param serviceKey that the packet asked for; 0 for none, and where it is not known
     * @param bytes of the packet; 0 where they are not known
     * @param packets how many; of more than one, as were lost with a connection, neither key nor bytes are known
     */
    public record Drop(
            Instant time,
            DropReason reason,
            String service,
            @Nullable InetSocketAddress peer,
            long serviceKey,
            int bytes,
            long packets) {}

    /**
     * A packet as it came in.
     *
     * @param peer its sender
     * @param local this node's end
     * @param bytes a copy of the whole packet
     */
    public record Captured(
            Instant time,
            StreamInfo.Transport transport,
            InetSocketAddress peer,
            InetSocketAddress local,
            byte[] bytes) {}

    /** What is looked at; bounded. */
    public interface View<T> extends AutoCloseable {
        /** The next one; null when the time is up, and at once when no more will come. */
        @Nullable
        T take(Duration timeout) throws InterruptedException;

        /** How many found no room since the last call. */
        long missed();

        /** Ends it. */
        @Override
        void close();
    }

    /** Drops from now on, of which at most {@code capacity} wait. */
    public View<Drop> drops(int capacity) {
        requireInside("drops that wait", capacity);
        DropView view = new DropView(capacity);
        synchronized (this) {
            DropView[] before = dropViews == null ? NO_DROPS : dropViews;
            DropView[] after = Arrays.copyOf(before, before.length + 1);
            after[before.length] = view;
            DROP_VIEWS.setVolatile(this, after);
        }
        return view;
    }

    /**
     * The next {@code packets} packets that come in, at most 65,536, from all streams. While 64 MiB of them wait to be
     * taken, others are missed, and do not count.
     */
    public View<Captured> arrivals(int packets) {
        requireInside("packets to capture", packets);
        ArrivalView view = new ArrivalView(packets);
        synchronized (this) {
            ArrivalView[] before = arrivalViews == null ? NO_ARRIVALS : arrivalViews;
            ArrivalView[] after = Arrays.copyOf(before, before.length + 1);
            after[before.length] = view;
            ARRIVAL_VIEWS.setVolatile(this, after);
        }
        return view;
    }

    private static void requireInside(String what, int value) {
        if (value < 1 || value > MAX_CAPACITY) {
            throw new IllegalArgumentException(what + " " + value + ": must be 1 to " + MAX_CAPACITY);
        }
    }

    private synchronized void remove(DropView view) {
        if (dropViews != null) {
            DropView[] left = Arrays.stream(dropViews).filter(v -> v != view).toArray(DropView[]::new);
            DROP_VIEWS.setVolatile(this, left.length == 0 ? null : left);
        }
    }

    private synchronized void remove(ArrivalView view) {
        if (arrivalViews != null) {
            ArrivalView[] left =
                    Arrays.stream(arrivalViews).filter(v -> v != view).toArray(ArrivalView[]::new);
            ARRIVAL_VIEWS.setVolatile(this, left.length == 0 ? null : left);
        }
    }

    // ---- the packet path's side, any thread -------------------------------------------------------------------------

    public boolean watchesDrops() {
        return DROP_VIEWS.getOpaque(this) != null;
    }

    public boolean watchesArrivals() {
        return ARRIVAL_VIEWS.getOpaque(this) != null;
    }

    public void dropped(
            DropReason reason,
            String service,
            @Nullable InetSocketAddress peer,
            long serviceKey,
            int bytes,
            long packets) {
        DropView[] views = (DropView[]) DROP_VIEWS.getAcquire(this);
        if (views != null && packets > 0) {
            Drop drop = new Drop(Instant.now(), reason, service, peer, serviceKey, bytes, packets);
            for (DropView view : views) {
                view.offer(drop);
            }
        }
    }

    public void arrived(
            StreamInfo.Transport transport,
            @Nullable InetSocketAddress peer,
            InetSocketAddress local,
            ByteBuffer memory,
            int offset,
            int length) {
        ArrivalView[] views = (ArrivalView[]) ARRIVAL_VIEWS.getAcquire(this);
        if (views != null && peer != null) {
            byte[] bytes = new byte[length];
            memory.get(offset, bytes);
            Captured captured = new Captured(Instant.now(), transport, peer, local, bytes);
            for (ArrivalView view : views) {
                view.offer(captured);
            }
        }
    }

    // ---- views -----------------------------------------------------------------------------------------------------

    private final class DropView implements View<Drop> {
        private final LinkedBlockingQueue<Drop> waiting;
        private final AtomicLong missed = new AtomicLong();

        DropView(int capacity) {
            waiting = new LinkedBlockingQueue<>(capacity);
        }

        void offer(Drop drop) {
            if (!waiting.offer(drop)) {
                missed.incrementAndGet();
            }
        }

        @Override
        public @Nullable Drop take(Duration timeout) throws InterruptedException {
            return waiting.poll(timeout.toNanos(), TimeUnit.NANOSECONDS);
        }

        @Override
        public long missed() {
            return missed.getAndSet(0);
        }

        @Override
        public void close() {
            remove(this);
        }
    }

    private final class ArrivalView implements View<Captured> {
        private final LinkedBlockingQueue<Captured> waiting = new LinkedBlockingQueue<>();
        private final AtomicInteger wanted;
        private final AtomicLong waitingBytes = new AtomicLong();
        private final AtomicLong missed = new AtomicLong();
        /** Only the taker's. */
        private int toTake;

        ArrivalView(int packets) {
            wanted = new AtomicInteger(packets);
            toTake = packets;
        }

        void offer(Captured packet) {
            int bytes = packet.bytes().length;
            if (waitingBytes.addAndGet(bytes) > MAX_WAITING_BYTES) {
                waitingBytes.addAndGet(-bytes);
                missed.incrementAndGet();
                return;
            }
            int before = wanted.getAndUpdate(left -> Math.max(0, left - 1));
            if (before > 0) {
                waiting.add(packet);
            } else {
                waitingBytes.addAndGet(-bytes);
            }
            if (before == 1) {
                remove(this);
            }
        }

        @Override
        public @Nullable Captured take(Duration timeout) throws InterruptedException {
            if (toTake == 0) {
                return null;
            }
            Captured packet = waiting.poll(timeout.toNanos(), TimeUnit.NANOSECONDS);
            if (packet != null) {
                waitingBytes.addAndGet(-packet.bytes().length);
                toTake--;
            }
            return packet;
        }

        @Override
        public long missed() {
            return missed.getAndSet(0);
        }

        @Override
        public void close() {
            remove(this);
        }
    }
}
