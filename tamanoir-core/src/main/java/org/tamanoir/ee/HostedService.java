package org.tamanoir.ee;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Queue;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.DropReason;
import org.tamanoir.anep.Packet;
import org.tamanoir.nodeos.Flow;
import org.tamanoir.nodeos.LevelException;
import org.tamanoir.nodeos.Offload;
import org.tamanoir.nodeos.Policy;
import org.tamanoir.service.Counter;
import org.tamanoir.service.FailurePolicy;
import org.tamanoir.service.Service;
import org.tamanoir.service.ServiceHost;
import org.tamanoir.service.StreamInfo;
import org.tamanoir.service.Verdict;
import org.tamanoir.transport.IoLoop;

/**
 * A service's thread and the calls into the service's code: its life from {@code init} to {@code close}, its timers and
 * counters, what its exceptions lead to, and whether it returns. What packets do is the subclass's matter.
 *
 * <p>Thread contract: the service's thread, but for what is said to be any thread's.
 */
abstract class HostedService implements ServiceHost {
    /** Timers that one instance may have waiting. */
    private static final int MAX_TIMERS = 1024;

    private static final VarHandle RESTING;

    static {
        try {
            RESTING = MethodHandles.lookup().findVarHandle(HostedService.class, "resting", boolean.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    final IoLoop loop;

    private final ExecutionEnvironment environment;
    private final ServiceDefinition definition;
    private final ServiceLife life;
    private final Meter meter;
    private final Supervision supervision;
    private final StreamInfo stream;
    private final Instant startedAt = Instant.now();
    private final Service service;
    private final NamedCounters counters = new NamedCounters();
    private final NamedCounters dropReasons = new NamedCounters();
    private final Queue<Runnable> dueTasks = new ArrayDeque<>();
    private final LevelWork levels;
    private int timers;
    private boolean initialised;
    /** Initialised, and its gate was open when it was read last, which was in this batch and after the last call. */
    private boolean unhindered;

    private boolean closing;
    private volatile boolean cut;
    /** Processed without an exception, and not yet told to the service's life. */
    private long successes;
    /** Inside the loop, where no code of the service runs. Written by the service's thread alone, read by any. */
    private boolean resting;

    HostedService(
            ExecutionEnvironment environment,
            ServiceDefinition definition,
            Service service,
            StreamInfo stream,
            String name) {
        this.environment = environment;
        this.definition = definition;
        this.stream = stream;
        this.life = definition.life();
        this.meter = new Meter(life);
        this.service = service;
        this.levels = new LevelWork(this, definition, environment, stream);
        this.supervision = new Supervision(life, service);
        service.attach(this);
        this.loop = environment.newLoop();
        service.setName(name);
        service.setDaemon(true);
    }

    // ---- life ------------------------------------------------------------------------------------------------------

    /** Starts the thread. */
    final void start() {
        service.start();
    }

    /** Initialises the service; when it fails, every packet follows the failure policy. */
    final void initialise() {
        initialised = guard("init", () -> service.init(definition.config()));
        levels.begin(initialised);
    }

    /**
     * Whether the service is in quarantine, so that {@link #call} must not be. Costs one plain read while nothing is
     * known to be wrong: the service's life is asked after each call, and anew once a batch.
     */
    final boolean isQuarantined() {
        return !unhindered && lookForQuarantine();
    }

    private boolean lookForQuarantine() {
        if (!life.isOpen() && life.isQuarantined()) {
            return true;
        }
        unhindered = initialised && life.isOpen();
        return false;
    }

    /** Gives the service a packet; null when it failed, or has not been initialised. */
    final @Nullable Verdict call(Packet packet) {
        Verdict verdict = null;
        if (unhindered || initialised) {
            try {
                verdict = service.process(packet);
                successes++;
            } catch (Abandoned e) {
                throw e;
            } catch (Throwable e) {
                failed("process", e);
            }
            comeBack();
        }
        return verdict;
    }

    final void endOfStream() {
        if (initialised) {
            guardStream("endOfStream", service::endOfStream);
        }
    }

    final void closeService() {
        closing = true;
        if (!isAbandoned()) {
            levels.finish();
            guard("close", service::close);
        }
        if (Thread.currentThread() == service) {
            meter.readOwn();
        }
    }

    /** Whether the service may no longer send packets. */
    final boolean isClosing() {
        return closing;
    }

    final boolean isTaskDue() {
        return !dueTasks.isEmpty();
    }

    /** Runs the tasks that timers have made due; false when there were none. */
    final boolean runDueTasks() {
        if (dueTasks.isEmpty()) {
            return false;
        }
        Runnable task;
        while ((task = dueTasks.poll()) != null) {
            timers--;
            Runnable due = task;
            guardStream("timer", due::run);
        }
        return true;
    }

    /** Calls the service's code; false when it has thrown. */
    final boolean guard(String where, Step step) {
        boolean done = false;
        try {
            step.run();
            done = true;
        } catch (Abandoned e) {
            throw e;
        } catch (Throwable e) {
            failed(where, e);
        }
        comeBack();
        return done;
    }

    /** No packet is at fault here, but the stream may no longer be what it should. */
    private void guardStream(String where, Step step) {
        if (!guard(where, step) && definition.failurePolicy() == FailurePolicy.CLOSE) {
            abort(DropReason.SERVICE_FAILURE, "service " + definition.name() + " failed");
        }
    }

    /** A call into the service's code. */
    interface Step {
        void run() throws Exception;
    }

    private void failed(String where, Throwable failure) {
        counter("failures").add(1);
        tellSuccesses();
        environment.incidents().failed(definition, where, failure, "failure policy " + definition.failurePolicy());
    }

    private void tellSuccesses() {
        if (successes > 0 && life.hasFailed()) {
            life.succeeded(successes);
        }
        successes = 0;
    }

    /** Ends the stream, where there is one, because it cannot go on whole. */
    abstract void abort(DropReason reason, String why);

    // ---- between batches -------------------------------------------------------------------------------------------

    /** Tells of what the service did, and has its life asked anew before the next packet; once a batch. */
    final void account() {
        tellSuccesses();
        unhindered = false;
    }

    /** Sees to it that the service is handled where its operator wants it. Any thread. */
    final void placeAgain() {
        loop.execute(() -> {
            timers++;
            dueTasks.add(levels::keepPlaced);
        });
    }

    /** Runs a task of the node between packets, beside those of the service's timers. */
    final void due(Duration delay, Runnable task) {
        timers++;
        loop.schedule(delay, () -> dueTasks.add(task));
    }

    /** Whether the service is over its limits: then nothing of it runs until the watchdog wakes the loop. */
    final boolean isPaused() {
        return life.isPaused();
    }

    /** Before the thread waits: whether it may, or has to look for packets first. */
    abstract boolean mayRest();

    /** Waits in the loop, where no code of the service runs. */
    final void rest() {
        if (!mayRest()) {
            loop.poll();
            unhindered = false;
            return;
        }
        RESTING.setOpaque(this, true);
        try {
            loop.run();
        } finally {
            RESTING.setOpaque(this, false);
            unhindered = false;
        }
    }

    // ---- services that do not return -------------------------------------------------------------------------------

    /** Back, for a while, from the service's code. */
    final void comeBack() {
        if (!life.isOpen()) {
            returned();
        }
    }

    /** Back from the service's code while an instance of the service is suspected not to return. */
    private void returned() {
        unhindered = false;
        if (supervision.back() && !closing) {
            throw new Abandoned();
        }
    }

    final Supervision supervision() {
        return supervision;
    }

    /** Any thread. */
    final boolean isAbandoned() {
        return supervision.isGivenUp();
    }

    /** Any thread: a guess. */
    final boolean isResting() {
        return (boolean) RESTING.getOpaque(this);
    }

    /** Ends the instance as soon as it looks, whatever still waits. Any thread. */
    final void cut() {
        cut = true;
        loop.wakeup();
    }

    /** The same when its thread is known not to look; what levels below did for it they do no more. Any thread. */
    final void cutUnseen() {
        cut = true;
        levels.end();
    }

    final boolean isCut() {
        return cut;
    }

    // ---- what it is; any thread ------------------------------------------------------------------------------------

    final boolean isAlive() {
        return service.isAlive();
    }

    final Service service() {
        return service;
    }

    final Thread thread() {
        return service;
    }

    final ExecutionEnvironment environment() {
        return environment;
    }

    final ServiceDefinition definition() {
        return definition;
    }

    final Meter meter() {
        return meter;
    }

    /** Any thread. */
    abstract InstanceStatus status();

    final InstanceStatus status(TrafficSnapshot traffic) {
        return new InstanceStatus(
                definition,
                startedAt,
                service.getName(),
                stream,
                meter.processorNs(),
                traffic,
                counters.values(),
                dropReasons.values(),
                levels.counters());
    }

    // ---- the service's side ----------------------------------------------------------------------------------------

    @Override
    public final StreamInfo stream() {
        return stream;
    }

    @Override
    public final Counter counter(String name) {
        return counters.get(name);
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
    public final void schedule(Duration delay, Runnable task) {
        if (timers >= MAX_TIMERS) {
            throw new IllegalStateException(
                    "timer " + (MAX_TIMERS + 1) + ": a service may have " + MAX_TIMERS + " waiting; use every()");
        }
        due(delay, task);
    }
}
