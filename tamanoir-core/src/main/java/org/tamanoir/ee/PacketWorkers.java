package org.tamanoir.ee;

import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Packet;
import org.tamanoir.catalog.Dispatch;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.qdisc.PreProcessing;
import org.tamanoir.service.Service;
import org.tamanoir.service.StreamInfo;
import org.tamanoir.supervision.Incidents;
import org.tamanoir.supervision.InstanceFactory;
import org.tamanoir.transport.Buffer;
import org.tamanoir.transport.BufferPool;
import org.tamanoir.transport.UdpPort;
import org.tamanoir.transport.UdpSocket;

/**
 * The workers of a service whose UDP packets are dispatched one by one: each a {@link UdpService} with an instance of its
 * own, all of them fed from the same {@link PacketJobs}. One that is given up leaves its jobs to the others, and another is
 * made in its place at once: its service is in quarantine then, so that it is called for no packet before that is over.
 * While there is none, packets wait.
 *
 * <p>The packets that were held for the first instance are older than all jobs: one worker handles them, and the others
 * begin when they have left.
 *
 * <p>Thread contract: any thread; where a worker is named by its index, that worker's, or that which gives it up.
 */
final class PacketWorkers implements UdpTaker {
    private final NodeContext context;
    private final Instances instances;
    private final InstanceFactory maker;
    private final UdpIntake intake;
    private final ServiceDefinition definition;
    private final StreamInfo stream;
    private final UdpSocket first;
    private final Owner owner;
    private final PacketJobs jobs;
    final WorkerPlaces places = new WorkerPlaces();

    private final Queue<UdpIntake.Held> held = new ConcurrentLinkedQueue<>();
    /** Packets that were held have not all left. */
    private volatile boolean holds;
    /** Who handles them. */
    private volatile int holder;
    /** Somebody waits until no job is left. */
    private volatile boolean awaited;
    /** A later version waits for that. */
    private volatile boolean retired;

    private final int wanted;
    private int present;
    /** Workers that are being made. */
    private int expected = 1;
    /** The node stops: no worker is made any more. */
    private volatile boolean stopping;
    /** There is no worker, and none will be. */
    private boolean over;
    /** Workers whose threads have not ended, and this until it is over: they may refer to the memory. */
    private int users = 1;

    /** Who has these workers. */
    interface Owner {
        /**
         * All has been handled since they were retired, but for what their service holds, or the last worker has left;
         * perhaps told more than once, and on the thread that calls {@link #retire}.
         */
        void drained(PacketWorkers workers);

        /** The last worker has ended, and none will come. */
        void ended(PacketWorkers workers);

        /** Counts a packet that no worker will have. */
        void drop(DropReason reason, Arrival from, int bytes);
    }

    /** Makes one that waits for its first worker, {@link #add}. */
    PacketWorkers(
            NodeContext context,
            Instances instances,
            InstanceFactory maker,
            UdpIntake intake,
            ServiceDefinition definition,
            StreamInfo stream,
            UdpSocket first,
            Owner owner) {
        this.context = context;
        this.instances = instances;
        this.maker = maker;
        this.intake = intake;
        this.definition = definition;
        this.stream = stream;
        this.first = first;
        this.owner = owner;
        this.wanted = wanted(context);
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
    private static int wanted(NodeContext context) {
        PreProcessing turns = context.qualityOfService().now().config().pre();
        int processors = turns == null ? Runtime.getRuntime().availableProcessors() : turns.processors();
        return Math.min(processors, WorkerPlaces.MAX_WORKERS);
    }

    /** Begins the worker that was expected; false when it is not wanted any more, or there is no thread for it. */
    boolean add(Service service) {
        UdpService worker;
        synchronized (this) {
            expected--;
            if (over || stopping || jobs.isClosed()) {
                return false;
            }
            int index = places.free();
            WorkerInbox inbox = new WorkerInbox(this, jobs, index);
            String name = "udp " + definition.name() + " " + (index + 1);
            worker = new UdpService(context, intake, definition, service, stream, first, inbox, name);
            worker.onRenewal(worker::leaveToAnother);
            places.put(index, worker);
            if (present++ == 0) {
                holder = index;
            }
            users++;
        }
        boolean begun = instances.begin(worker.handle, this::workerEnded);
        if (retired) {
            worker.retire(); // Since it was looked at.
        }
        if (stopping) {
            worker.nodeStops();
        }
        return begun;
    }

    /** Has as many workers made as are missing. */
    void hire() {
        make(missing());
    }

    private synchronized int missing() {
        int missing = over || stopping || jobs.isClosed() ? 0 : Math.max(0, wanted - present - expected);
        expected += missing;
        return missing;
    }

    private void make(int workers) {
        for (int i = 0; i < workers; i++) {
            maker.make(definition, this::join);
        }
    }

    private void join(@Nullable Service made, @Nullable Throwable failure) {
        Throwable fault = failure;
        try {
            if (made == null) {
                synchronized (this) {
                    expected--;
                }
            } else {
                add(made);
            }
        } catch (Throwable e) {
            fault = e;
        } finally {
            if (made != null) {
                made.dismiss(); // Unless it was attached.
            }
        }
        forsake(DropReason.NO_INSTANCE);
        if (fault != null) {
            context.incidents()
                    .failed(definition, StreamInfo.Transport.UDP, Incidents.CONSTRUCTOR, fault, "one worker less");
        }
    }

    @Override
    public void stop() {
        stopping = true;
        forsake(DropReason.SHUTDOWN);
    }

    /** Drops what is there, if there is no worker for it, and none will come. */
    void forsake(DropReason reason) {
        synchronized (this) {
            if (over || present > 0 || expected > 0 && !stopping && !jobs.isClosed()) {
                return;
            }
            over = true;
        }
        jobs.close();
        UdpIntake.Held oldest;
        while ((oldest = held.poll()) != null) {
            intake.handled(oldest);
            owner.drop(reason, oldest.from(), oldest.bytes().length);
        }
        Arrival from = new Arrival(first);
        int[] job = new int[1];
        while (jobs.take(job, 1) == 1) {
            jobs.arrival(job[0], from);
            owner.drop(reason, from, jobs.length(job[0]));
            jobs.end(job[0]);
        }
        owner.drained(this);
        owner.ended(this);
        freed(context.pool(), false);
    }

    private void workerEnded() {
        boolean last;
        synchronized (this) {
            last = over;
        }
        if (last) {
            owner.ended(this);
        }
    }

    /**
     * Takes note that a worker takes no more.
     *
     * @param isLost whether there is to be another one in its place
     * @return whether it was the last, which handles or drops what is left
     */
    boolean leave(int index, boolean isLost) {
        boolean last;
        int missing;
        synchronized (this) {
            places.remove(index);
            present--;
            missing = isLost ? missing() : 0;
            last = !over && present == 0 && (expected == 0 || stopping || jobs.isClosed());
            over |= last;
            if (holder == index && present > 0) {
                holder = places.any();
            }
        }
        make(missing);
        if (last) {
            jobs.close();
            owner.drained(this);
            freed(context.pool(), false);
        } else {
            places.wakeAll();
        }
        return last;
    }

    @Override
    public synchronized boolean keepsOrder() {
        return definition.dispatch().ordered() && present > 0;
    }

    /**
     * Takes note that a worker's thread has ended; the last that refers to the memory gives it back.
     *
     * @param wasGivenUp whether it did not return: there may be none in its place yet
     */
    void freed(BufferPool pool, boolean wasGivenUp) {
        synchronized (this) {
            if (--users == 0) {
                pool.give(jobs.memory());
                pool.give(jobs.controlMemory());
            }
        }
        if (wasGivenUp) {
            hire();
        }
    }

    @Override
    public @Nullable DropReason offer(Packet packet, Arrival from) {
        DropReason reason = jobs.offer(packet, from);
        if (reason == null) {
            places.wakeOne();
        }
        return reason;
    }

    /** Takes note that jobs have ended, and so many are ready for other workers. */
    void ended(int ready) {
        for (int i = 0; i < ready; i++) {
            places.wakeOne();
        }
        if (awaited && jobs.inUse() == 0) {
            places.wakeAll();
        }
        tellDrained();
    }

    /** Tells that all has been handled, once no more can come: packets behind one that is held need not wait for it. */
    private void tellDrained() {
        if (retired && !holds && jobs.inUse() == 0) {
            owner.drained(this);
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
        places.wakeAll();
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
            places.wakeAll();
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
        forsake(DropReason.SHUTDOWN);
        tellDrained();
        places.forEach(UdpService::retire);
    }

    @Override
    public void renew() {
        places.forEach(UdpService::renew);
    }

    @Override
    public void placeAgain() {
        // Workers are in the JVM.
    }
}
