package org.tamanoir.ee;

import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Packet;
import org.tamanoir.catalog.Dispatch;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.qdisc.PreProcessing;
import org.tamanoir.service.Service;
import org.tamanoir.service.StreamInfo;
import org.tamanoir.transport.Buffer;
import org.tamanoir.transport.BufferPool;
import org.tamanoir.transport.UdpPort;
import org.tamanoir.transport.UdpSocket;

/**
 * The workers of a service whose UDP packets are dispatched one by one: each a {@link UdpService} with an instance of its
 * own, all of them fed from the same {@link PacketJobs}. A worker that finds nothing ready says so by a bit and rests;
 * who makes a job ready clears one of the bits and wakes that worker.
 *
 * <p>The packets that were held for the first instance are older than all jobs: one worker handles them, and the others
 * begin when they have left.
 *
 * <p>Thread contract: any thread; where a worker is named by its index, that worker's, or that which gives it up.
 */
final class PacketWorkers implements UdpTaker {
    /** As there are bits for. */
    static final int MAX_WORKERS = 64;

    private final NodeContext context;
    private final Instances instances;
    private final UdpIntake intake;
    private final ServiceDefinition definition;
    private final StreamInfo stream;
    private final UdpSocket first;
    private final Consumer<PacketWorkers> drained;
    private final Consumer<PacketWorkers> atEnd;
    private final PacketJobs jobs;
    private final AtomicReferenceArray<@Nullable UdpService> workers = new AtomicReferenceArray<>(MAX_WORKERS);
    /** A bit for each worker that rests since it found nothing ready. */
    private final AtomicLong idle = new AtomicLong();

    private final Queue<UdpIntake.Held> held = new ConcurrentLinkedQueue<>();
    /** Packets that were held have not all left. */
    private volatile boolean holds;
    /** Who handles them. */
    private volatile int holder;
    /** Somebody waits until no job is left. */
    private volatile boolean awaited;
    /** A later version waits for that. */
    private volatile boolean retired;

    private int added;
    private int present;
    /** Workers whose threads have not ended: they may refer to the memory. */
    private int users;

    /**
     * @param drained runs when these were retired and have handled what there was, but for what their service holds, or
     *     when the last worker has left; perhaps more than once, and on the thread that calls {@link #retire}
     * @param atEnd runs when the last worker has ended
     */
    PacketWorkers(
            NodeContext context,
            Instances instances,
            UdpIntake intake,
            ServiceDefinition definition,
            StreamInfo stream,
            UdpSocket first,
            Consumer<PacketWorkers> drained,
            Consumer<PacketWorkers> atEnd) {
        this.context = context;
        this.instances = instances;
        this.intake = intake;
        this.definition = definition;
        this.stream = stream;
        this.first = first;
        this.drained = drained;
        this.atEnd = atEnd;
        this.jobs = jobs(context, definition.dispatch());
    }

    private static PacketJobs jobs(NodeContext context, Dispatch dispatch) {
        int bytes = context.config().inboxBytes();
        Buffer memory = context.pool().take(bytes, bytes);
        Buffer control = null;
        try {
            control = context.pool().take(ControlRing.BYTES, ControlRing.BYTES);
            return new PacketJobs(context.qualityOfService(), memory, control, dispatch);
        } catch (Throwable e) {
            context.pool().give(memory);
            if (control != null) {
                context.pool().give(control);
            }
            throw e;
        }
    }

    /** Returns how many workers there should be: one for each processor that services may use. */
    int wanted() {
        PreProcessing turns = context.qualityOfService().now().config().pre();
        int processors = turns == null ? Runtime.getRuntime().availableProcessors() : turns.processors();
        return Math.min(processors, MAX_WORKERS);
    }

    /** Begins a worker; false when it takes no more, or there is no thread for it. */
    boolean add(Service service) {
        UdpService worker;
        synchronized (this) {
            if (jobs.isClosed() || added == MAX_WORKERS) {
                return false;
            }
            int index = added;
            WorkerInbox inbox = new WorkerInbox(this, jobs, index);
            String name = "udp " + definition.name() + " " + (index + 1);
            try {
                worker = new UdpService(context, intake, definition, service, stream, first, inbox, name);
            } catch (Throwable e) {
                if (added == 0) { // There is no thread that would give the memory back.
                    jobs.close();
                    free(context.pool());
                }
                throw e;
            }
            workers.set(index, worker);
            added++;
            present++;
            users++;
        }
        return instances.begin(worker.handle, this::workerEnded);
    }

    private void workerEnded() {
        boolean last;
        synchronized (this) {
            last = present == 0;
        }
        if (last) {
            atEnd.accept(this);
        }
    }

    /** Takes note that a worker takes no more; returns whether it was the last. */
    boolean leave(int index) {
        boolean last;
        synchronized (this) {
            workers.set(index, null);
            last = --present == 0;
            if (last) {
                jobs.close();
            }
            for (int i = 0; i < added && holder == index; i++) {
                if (workers.get(i) != null) {
                    holder = i;
                }
            }
        }
        if (last) {
            drained.accept(this);
        } else {
            wakeAll();
        }
        return last;
    }

    /** Returns whether a later version has to wait: packets of streams may be here whose order counts. */
    synchronized boolean keepsOrder() {
        return definition.dispatch().ordered() && present > 0;
    }

    /** Gives the memory back when no thread of a worker is left. */
    synchronized void freed(BufferPool pool) {
        if (--users == 0) {
            free(pool);
        }
    }

    private void free(BufferPool pool) {
        pool.give(jobs.memory());
        pool.give(jobs.controlMemory());
    }

    @Override
    public @Nullable DropReason offer(Packet packet, Arrival from) {
        DropReason reason = jobs.offer(packet, from);
        if (reason == null) {
            wakeOne();
        }
        return reason;
    }

    /** Takes note that a worker finds nothing ready, before it looks once more and rests. */
    void idle(int index) {
        change(0, 1L << index);
    }

    /** Takes note that a worker rests no more; returns whether nobody has woken it. */
    boolean busy(int index) {
        return (change(1L << index, 0) & 1L << index) != 0;
    }

    private long change(long without, long with) {
        long before;
        do {
            before = idle.get();
        } while (!idle.compareAndSet(before, before & ~without | with));
        return before;
    }

    boolean isAnyIdle() {
        return idle.get() != 0;
    }

    /** Wakes a worker that rests, if there is one. */
    void wakeOne() {
        long resting = idle.get();
        while (resting != 0) {
            int index = Long.numberOfTrailingZeros(resting);
            if (idle.compareAndSet(resting, resting & resting - 1)) {
                UdpService worker = workers.get(index);
                if (worker != null) {
                    worker.loop.wakeup();
                    return;
                }
            }
            resting = idle.get();
        }
    }

    private void wakeAll() {
        for (int i = 0; i < MAX_WORKERS; i++) {
            UdpService worker = workers.get(i);
            if (worker != null) {
                worker.loop.wakeup();
            }
        }
    }

    /** Takes note that jobs have ended, and so many are ready for other workers. */
    void ended(int ready) {
        for (int i = 0; i < ready; i++) {
            wakeOne();
        }
        if (awaited && jobs.inUse() == 0) {
            wakeAll();
        }
        tellDrained();
    }

    /** Tells that all has been handled, once no more can come: packets behind one that is held need not wait for it. */
    private void tellDrained() {
        if (retired && !holds && jobs.inUse() == 0) {
            drained.accept(this);
        }
    }

    /** Returns whether nothing waits or is being processed; who asks is woken when that is so. */
    boolean isEmpty() {
        awaited = true;
        return held.isEmpty() && jobs.inUse() == 0;
    }

    @Override
    public boolean takeHeld(List<UdpIntake.Held> packets) {
        synchronized (this) {
            if (jobs.isClosed()) {
                return false;
            }
            holds = true;
            held.addAll(packets);
        }
        wakeAll();
        return true;
    }

    /** Returns whether this worker has to handle packets that were held. */
    boolean hasHeld(int index) {
        return index == holder && !held.isEmpty();
    }

    /** Takes out the oldest packet that was held; null when there is none for this worker. */
    byte @Nullable [] nextHeld(int index, Arrival arrival) {
        UdpIntake.Held oldest = index == holder ? held.poll() : null;
        if (oldest == null) {
            return null;
        }
        arrival.set(oldest.from());
        intake.handled(oldest);
        return oldest.bytes();
    }

    /** Returns whether this worker may take jobs: all that was held has left. */
    boolean isOpen(int index) {
        return !holds || (index == holder && opens());
    }

    /** Lets all workers begin, unless more has come that was held. */
    private boolean opens() {
        synchronized (this) {
            holds = !held.isEmpty();
        }
        if (!holds) {
            wakeAll();
            tellDrained();
        }
        return !holds;
    }

    @Override
    public boolean readsPorts() {
        return false; // The reception reads them: a worker may be in its service's code.
    }

    @Override
    public boolean pass(UdpPort port) {
        return false;
    }

    @Override
    public void retire() {
        jobs.close();
        retired = true;
        tellDrained();
        for (int i = 0; i < MAX_WORKERS; i++) {
            UdpService worker = workers.get(i);
            if (worker != null) {
                worker.retire();
            }
        }
    }

    @Override
    public void placeAgain() {
        for (int i = 0; i < MAX_WORKERS; i++) {
            UdpService worker = workers.get(i);
            if (worker != null) {
                worker.thread.placeAgain();
                return;
            }
        }
    }
}
