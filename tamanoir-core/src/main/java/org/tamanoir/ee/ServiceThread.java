package org.tamanoir.ee;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Packet;
import org.tamanoir.catalog.InstanceStatus;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.catalog.ServiceHealth;
import org.tamanoir.catalog.Throttle;
import org.tamanoir.catalog.Transit;
import org.tamanoir.format.FormatSource;
import org.tamanoir.nodeos.Flow;
import org.tamanoir.nodeos.LevelException;
import org.tamanoir.nodeos.Offload;
import org.tamanoir.nodeos.Policy;
import org.tamanoir.offload.Outflow;
import org.tamanoir.offload.ServiceOffload;
import org.tamanoir.platform.ServiceGroups;
import org.tamanoir.platform.ThreadRank;
import org.tamanoir.sched.AllotmentView;
import org.tamanoir.sched.CpuGrant;
import org.tamanoir.service.Allotment;
import org.tamanoir.service.Allowance;
import org.tamanoir.service.Checkpoint;
import org.tamanoir.service.Counter;
import org.tamanoir.service.FailurePolicy;
import org.tamanoir.service.Service;
import org.tamanoir.service.ServiceControl;
import org.tamanoir.service.ServiceHost;
import org.tamanoir.service.ServiceStopped;
import org.tamanoir.service.StreamInfo;
import org.tamanoir.service.Suspension;
import org.tamanoir.service.Verdict;
import org.tamanoir.supervision.Abandoned;
import org.tamanoir.supervision.Incidents;
import org.tamanoir.supervision.NodeFault;
import org.tamanoir.supervision.ServiceCall;
import org.tamanoir.supervision.Supervision;
import org.tamanoir.traffic.NamedCounters;
import org.tamanoir.traffic.Traffic;
import org.tamanoir.transport.Backlogs;
import org.tamanoir.transport.DueTasks;
import org.tamanoir.transport.IoLoop;
import org.tamanoir.transport.NoMemoryException;

/**
 * A service's thread and the calls into the service's code: its life from {@code init} to {@code close}, its timers and
 * counters, what its exceptions lead to, and whether it returns. What packets do is the matter of its {@link Body}.
 *
 * <p>Thread contract: the service's thread, but for what is said to be any thread's.
 */
class ServiceThread implements ServiceHost, ServiceOffload.Host, Checkpoint.Keeper {
    /** What runs on the thread. */
    interface Body {
        /** Serves packets until the end. */
        void run();

        /** Sends a packet that the service made to this destination, null: its own; false if it may not leave. */
        boolean emit(Packet made, @Nullable InetSocketAddress destination);

        /** As {@link ServiceHost#allowance}. */
        Allowance allowance();

        /** Has the packet in hand go to this destination. */
        void elsewhere(InetSocketAddress destination);

        /** Counts a packet for which there is no memory, and ends the stream, where there is one. */
        void lacksMemory(NoMemoryException cause);

        /** Returns what becomes of the packet in hand if its service fails; a rule may say it in place of the service. */
        FailurePolicy onFailure();

        /** Has the packet in hand be held, if the verdict that follows says so. */
        Suspension hold(Packet packet, Duration atMost);

        /** Makes the view that packets are given to the service by lead nowhere; before calls that have no packet. */
        void forgetPacket();

        /** Ends the stream, where there is one, because it cannot go on whole. */
        void abort(DropReason reason, String why);

        /** Returns the turn on a processor that the thread has; null when it has none or needs none. */
        @Nullable
        CpuGrant turn();

        /** Gives the turn back in the midst of a packet if it is over, and waits for the next one. */
        void giveWay();

        /** Returns whether packets wait in the instance's queues, between batches. */
        boolean holdsBack();

        /** Returns whether datagrams that were flushed may still be in its sockets' queues. */
        boolean hasUnsent();

        /** Returns whether the thread may wait, before it does; else it has to look for packets first. */
        boolean mayRest();
    }

    final IoLoop loop;
    final Traffic traffic;

    private final NodeContext context;
    private final ServiceDefinition definition;
    private final Supervision supervision;
    private final ServiceHealth health;
    private final StreamInfo stream;
    private final Instant startedAt;
    private final Service service;
    private final NamedCounters counters;
    private final NamedCounters dropReasons;
    private final DueTasks dueTasks;
    private final ServiceOffload levels;
    private final Runnable wait;
    private @Nullable AllotmentView allotment;
    private @Nullable Body body;
    private Runnable atEnd = () -> {};
    /** The thread's own. */
    private ServiceGroups.Member member = ServiceGroups.Member.OF_NONE;

    private volatile boolean cut;
    private boolean initialised;
    private boolean closing;
    /** Initialised, and its gate was open when it was read last, which was in this batch and after the last call. */
    private boolean unhindered;
    /** The thread is in the service's code, which called for what it does. */
    private boolean inService;
    /** Packets that the service has returned, well or not. */
    private long calls;
    /** Of these, those that failed, and those that were told to the service's health. */
    private long callsToldOf;
    /** Why the packet that failed last did. */
    private DropReason failure = DropReason.SERVICE_FAILURE;

    ServiceThread(NodeContext context, ServiceDefinition definition, Service service, StreamInfo stream, String name) {
        this.context = context;
        this.startedAt = context.platform().now();
        this.definition = definition;
        this.stream = stream;
        this.health = definition.health();
        this.counters = new NamedCounters(health.counters());
        this.dropReasons = new NamedCounters(health.dropReasons());
        this.service = service;
        this.levels = new ServiceOffload(
                this, service, definition, context.services(), context.levels().os(), stream.transport());
        this.supervision = new Supervision(context.platform(), definition, service, name);
        this.traffic = new Traffic(context.tap(), definition.label());
        this.loop = service.thread() == service ? context.newLoop() : context.newParkingLoop();
        this.dueTasks = new DueTasks(loop);
        this.wait = loop::run;
    }

    /** Has this run on it. Before its start. */
    final void carry(Body serving) {
        body = serving;
    }

    private Body body() {
        Body there = body;
        if (there == null) {
            throw new IllegalStateException("thread " + supervision.name() + " has nothing to run: carry() first");
        }
        return there;
    }

    /** Returns the turn on a processor that the thread has; null when it has none or needs none. */
    @Nullable
    CpuGrant turn() {
        return body().turn();
    }

    /** Gives the thread what it serves; as {@link Supervision#start}. */
    final void start() {
        context.threads().starter().run(() -> supervision.start(this));
    }

    /** Returns whether this is the service's own thread; on another one none of the service's code may run. */
    boolean isOwnThread() {
        return supervision.isOwnThread();
    }

    /** Initialises the service; when it fails, every packet follows the failure policy. */
    final void initialise() {
        if (!isOwnThread()) {
            return;
        }
        supervision.enter();
        takeRank();
        Checkpoint.keep(this);
        initialised = guard(Incidents.INIT, () -> service.init(definition.config()));
        if (initialised) {
            health.began(stream.transport(), "");
        }
        levels.begin(initialised);
    }

    /** Foreign code alone gives way, and a virtual thread's carrier is not the service's own. */
    private void takeRank() {
        if (service.thread() != service) {
            return;
        }
        ServiceGroups groups = context.threads().groups();
        if (definition == Transit.DEFINITION) {
            groups.stayOut();
            return;
        }
        context.threads().ranks().take(ThreadRank.SERVICE);
        Throttle limits = health.throttle();
        member = groups.join(definition.label(), limits == null ? 0 : limits.processors());
    }

    /**
     * Returns whether the service is in quarantine, so that {@link #call} must not be. Costs one plain read while nothing is
     * known to be wrong: the service's life is asked after each call, and anew once a batch.
     */
    final boolean isQuarantined() {
        return !unhindered && lookForQuarantine();
    }

    /** Returns whether it may be called for the next packet too, without being asked. */
    final boolean isUnhindered() {
        return unhindered && !cut;
    }

    private boolean lookForQuarantine() {
        if (!health.isOpen() && health.isQuarantined()) {
            return true;
        }
        unhindered = initialised && health.isOpen();
        return false;
    }

    /** Gives the service a packet; null when it failed, or has not been initialised. */
    final @Nullable Verdict call(Packet packet) {
        Verdict verdict = null;
        if (unhindered || initialised) {
            try {
                verdict = process(packet);
            } catch (Abandoned | NodeFault | NoMemoryException e) {
                throw e;
            } catch (Throwable e) {
                failedProcess(e);
            } finally {
                leaveProcess();
            }
        }
        return verdict;
    }

    /**
     * Gives a service that {@link #isUnhindered} a packet, where what it throws is caught around many: it ends in {@link
     * #failedProcess} then, while the thread {@link #isInService}, and in {@link #leaveProcess}.
     */
    final @Nullable Verdict process(Packet packet) throws Exception {
        inService = true;
        Verdict verdict = service.process(packet);
        boolean isOpen = health.isOpen();
        if (!isOpen) {
            supervision.rethrowStop();
        }
        inService = false;
        calls++;
        if (verdict == null) {
            callsToldOf++;
            failed("process", new IllegalStateException("it returned null instead of a verdict"));
        }
        if (!isOpen) {
            returned();
        }
        return verdict;
    }

    /** Takes note of what {@link #process} has thrown, and not of the node's own. */
    final void failedProcess(Throwable failure) {
        Throwable read = Incidents.read(failure); // First: what it says of itself counts for the packet's budget.
        leaveProcess();
        failed("process", read);
        comeBack();
    }

    /** The thread is not in the service's code, whatever was thrown; what is charged to that call ends with it. */
    final void leaveProcess() {
        if (inService) {
            inService = false;
            calls++;
            callsToldOf++;
        }
    }

    final void endOfStream() {
        if (initialised) {
            body().forgetPacket();
            guardStream("endOfStream", service::endOfStream);
        }
    }

    final void closeService() {
        closing = true;
        if (isOwnThread()) {
            if (!isAbandoned()) {
                levels.finish();
                body().forgetPacket();
                guard("close", service::close);
            }
            supervision.meter().readOwn();
        }
    }

    /**
     * Returns whether the thread is in the service's code: then alone it may wait in place, with a packet in hand. Any
     * thread, as a guess.
     */
    final boolean isInService() {
        return inService;
    }

    /** Returns whether the service may no longer send packets. */
    final boolean isClosing() {
        return closing;
    }

    /** Returns whether packets follow the failure policy because the service could not be initialised; its own thread. */
    final boolean isFaulty() {
        return isOwnThread() && !initialised;
    }

    final boolean isTaskDue() {
        return !dueTasks.isEmpty();
    }

    /** Runs the tasks that timers have made due; false when there were none. */
    final boolean runDueTasks() {
        if (dueTasks.isEmpty()) {
            return false;
        }
        body().forgetPacket();
        Runnable task;
        while ((task = dueTasks.poll()) != null) {
            guardStream("timer", task::run);
        }
        return true;
    }

    /** Calls the service's code; false when it has thrown. */
    @Override
    public final boolean guard(String where, ServiceCall step) {
        boolean done = false;
        boolean before = inService;
        boolean besideBefore = supervision.beside(true);
        inService = true;
        try {
            step.run();
            supervision.rethrowStop();
            done = true;
        } catch (Abandoned | NodeFault e) {
            throw e;
        } catch (NoMemoryException e) {
            body().lacksMemory(e);
        } catch (Throwable e) {
            failed(where, e);
        } finally {
            inService = before;
            supervision.beside(besideBefore);
        }
        comeBack();
        return done;
    }

    /** Calls the service where no packet is at fault, but the stream may no longer be what it should. */
    private void guardStream(String where, ServiceCall step) {
        if (!guard(where, step) && definition.failurePolicy() == FailurePolicy.CLOSE) {
            body().abort(DropReason.SERVICE_FAILURE, "service " + definition.name() + " failed");
        }
    }

    /** Counts a failure of the service, and logs the first of its kind. */
    final void failed(String where, Throwable thrown) {
        counter("failures").add(1);
        tellSuccesses();
        DropReason stopped = supervision.takeStopped();
        failure = stopped == null ? DropReason.SERVICE_FAILURE : stopped;
        boolean counts = stopped == DropReason.SERVICE_FAILURE && !isAbandoned(); // Given up, it was counted then.
        int weight = counts ? ServiceHealth.STUCK_WEIGHT : 1;
        context.incidents()
                .failed(definition, stream.transport(), where, thrown, "failure policy " + body().onFailure(), weight);
    }

    /** Returns what the packet that failed last may be dropped for. */
    final DropReason failure() {
        return failure;
    }

    /** Returns how many packets the service has returned: the same while it is in one. Any thread, as a guess. */
    final long calls() {
        return calls;
    }

    @Override
    public final @Nullable ServiceStopped atCheckpoint() {
        ServiceStopped stop = supervision.atCheckpoint(calls);
        if (stop == null && inService && !closing) {
            body().giveWay();
        }
        return stop;
    }

    private void tellSuccesses() {
        if (calls > callsToldOf && health.hasFailed()) {
            health.succeeded(calls - callsToldOf);
        }
        callsToldOf = calls;
    }

    /** Tells of what the service did, and has its life asked anew before the next packet; once a batch. */
    final void account() {
        tellSuccesses();
        unhindered = false;
    }

    /** Sees to it that the service is handled where its operator wants it. Any thread. */
    final void placeAgain() {
        loop.execute(() -> dueTasks.add(levels::keepPlaced));
    }

    /** Runs a task of the node between packets, beside those of the service's timers. */
    @Override
    public final void due(Duration delay, Runnable task) {
        dueTasks.add(delay, task);
    }

    /** Returns whether the service is over its limits: then nothing of it runs until the watchdog wakes the loop. */
    final boolean isPaused() {
        return health.isPaused();
    }

    /** Waits in the loop, where no code of the service runs. */
    final void rest() {
        try {
            if (body().mayRest()) {
                supervision.rest(wait);
            } else {
                loop.poll();
            }
        } finally {
            unhindered = false;
        }
    }

    /** Returns whether an instance of the service is suspected not to return, or the service is in quarantine. */
    final boolean isSuspected() {
        return !health.isOpen();
    }

    /** Takes note that the thread is back, for a while, from the service's code. */
    final void comeBack() {
        if (!health.isOpen()) {
            returned();
        }
    }

    /** Takes note of that while an instance of the service is suspected not to return. */
    private void returned() {
        unhindered = false;
        ServiceStopped stop = inService && !supervision.isGivenUp() ? supervision.atCheckpoint(calls) : null;
        if (stop != null) {
            throw stop; // It calls the node from there, and is not back.
        }
        if (supervision.back() && !closing) {
            throw new Abandoned();
        }
    }

    final Supervision supervision() {
        return supervision;
    }

    /** Returns whether the instance was given up. Any thread. */
    final boolean isAbandoned() {
        return supervision.isGivenUp();
    }

    /** Has this called when the instance has ended. Before its start. */
    final void atEnd(Runnable told) {
        atEnd = told;
    }

    /** Tells that the instance has ended; the last that it does. */
    final void reportEnd() {
        member.leave();
        supervision.ended();
        atEnd.run();
    }

    /** Has the service's totals keep what was counted here, since the instance has ended. Idempotent. Any thread. */
    final void endCounts() {
        counters.end();
        dropReasons.end();
        levels.endCounts();
    }

    /** Ends the instance as soon as it looks, whatever still waits. Any thread. */
    final void cut() {
        cut = true;
        loop.wakeup();
        context.platform()
                .unpark(supervision.thread()); // In the midst of a packet it waits for a turn without its loop.
    }

    /** Does the same when the thread is known not to look; levels below do nothing for it any more. Any thread. */
    final void cutUnseen() {
        cut = true;
        levels.end();
    }

    final boolean isCut() {
        return cut;
    }

    /** Returns the name of its thread, as the node gave it. */
    final String name() {
        return supervision.name();
    }

    final Service service() {
        return service;
    }

    final NodeContext context() {
        return context;
    }

    final ServiceDefinition definition() {
        return definition;
    }

    final void wake() {
        loop.wakeup();
    }

    final InstanceStatus status() {
        Traffic.Sum sum = new Traffic.Sum();
        traffic.addTo(sum);
        return new InstanceStatus(
                definition,
                startedAt,
                supervision.name(),
                stream,
                supervision.processorNs(),
                sum.ofInstance(),
                counters.values(),
                dropReasons.values(),
                levels.counters());
    }

    @Override
    public final long packets() {
        return isPaused() ? -1 : status().traffic().packetsIn();
    }

    @Override
    public final boolean holdsBack() {
        return body().holdsBack();
    }

    @Override
    public final Outflow outflow() {
        return new Outflow(() -> body().hasUnsent(), context.platform()::nanoTime, new Backlogs());
    }

    @Override
    public final void run(Service service) {
        body().run();
    }

    @Override
    public final boolean emit(Packet made, @Nullable InetSocketAddress destination) {
        return body().emit(made, destination);
    }

    @Override
    public final Allowance allowance() {
        return body().allowance();
    }

    @Override
    public final void elsewhere(InetSocketAddress destination) {
        body().elsewhere(destination);
    }

    @Override
    public final Suspension hold(Packet packet, Duration atMost) {
        return body().hold(packet, atMost);
    }

    @Override
    public final Allotment allotment() {
        AllotmentView view = allotment;
        if (view == null) {
            view = new AllotmentView();
            allotment = view;
        }
        view.look(body().turn(), context.qualityOfService().now(), supervision.budgetRestNs(calls));
        return view;
    }

    @Override
    public final StreamInfo stream() {
        return stream;
    }

    @Override
    public final Counter counter(String name) {
        return counters.get(name);
    }

    @Override
    public final Counter counter(String name, Counter.Kind kind) {
        return counters.get(name, kind);
    }

    @Override
    public final void dropping(String reason) {
        dropReasons.get(reason).add(1);
    }

    @Override
    public final Offload offload(Flow flow, Policy policy) throws LevelException {
        comeBack();
        return levels.ask(flow, policy);
    }

    @Override
    public final boolean isOffloaded() {
        return levels.isActive();
    }

    @Override
    public final void droppedBelow(String reason, long packets) {
        dropReasons.get(reason).add(packets);
    }

    @Override
    public final long nanoTime() {
        return context.platform().nanoTime();
    }

    @Override
    public final void schedule(Duration delay, Runnable task) {
        dueTasks.addBounded(delay, task);
    }

    @Override
    public final boolean execute(Runnable task) {
        return dueTasks.handIn(() -> {
            if (initialised) {
                task.run();
            }
        });
    }

    @Override
    public final FormatSource formats() {
        return context.formats().source();
    }

    @Override
    public final @Nullable ServiceControl control() {
        return definition.control().get();
    }
}
