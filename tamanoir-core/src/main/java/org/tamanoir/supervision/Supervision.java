package org.tamanoir.supervision;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.catalog.ServiceHealth;
import org.tamanoir.catalog.Transit;
import org.tamanoir.platform.Platform;
import org.tamanoir.service.Checkpoint;
import org.tamanoir.service.Service;
import org.tamanoir.service.ServiceHost;
import org.tamanoir.service.ServiceStopped;

/**
 * The thread of one instance, and whether it comes back from its service's code. The watchdog suspects it, interrupts
 * it, and gives the instance up at last; a thread that comes back meanwhile ends the suspicion.
 *
 * <p>The interrupt is an {@link Interruption}: a thread that comes back while it lasts waits for its end.
 *
 * <p>While the suspicion lasts every instance of the service asks {@link #back} when it leaves the service's code. So
 * an interrupt cannot hit the node's own system calls, which would close the JDK's channels; and whoever gives the
 * instance up may touch what is the thread's, which waits in {@link #back} until that is done.
 *
 * <p>It may also have the service stopped at its next checkpoint, in the one call that it is in; suspicion ends that too.
 *
 * <p>Thread contract: {@link #enter}, {@link #rest}, {@link #back} and what says so the instance's thread, all else any
 * other.
 */
public final class Supervision {
    private static final VarHandle RESTING;

    /** Returns the processor time that this call may still use, in ns, as the watchdog saw it last; the maximum = any. */
    public long budgetRestNs(long call) {
        long budgetNs = definition.health().packetBudgetNs();
        return budgetNs == 0 ? Long.MAX_VALUE : watch.call == call ? watch.leftNs : budgetNs;
    }

    /** What the watchdog saw last; of its thread alone, but for what is volatile. */
    static final class Watch {
        long progress = -1;
        long sinceNs;
        /** What the thread had waited for turns by then. */
        long waitedNs;

        boolean interrupted;
        long interruptedNs;
        /** In which {@link Budgets} saw it last, and what the thread had used of a processor by then. */
        volatile long call = -1;

        long usedNs;
        /** What was left then of that call's budget, in ns. */
        volatile long leftNs;
    }

    /** That the service is to stop. @param call in which; in another one it goes on */
    private record Stop(DropReason reason, long call, ServiceStopped thrown) {}

    static {
        try {
            RESTING = MethodHandles.lookup().findVarHandle(Supervision.class, "resting", boolean.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** Between two looks whether an interrupt is over, whose end wakes the thread. */
    private static final long LOOK_NS = 1_000_000_000;

    private final Platform platform;
    private final ServiceDefinition definition;
    private final ServiceHealth health;
    private final Service service;
    private final Thread thread;
    private final String name;
    private final Meter meter;
    final Watch watch = new Watch();
    /** The thread has what it serves. */
    private volatile boolean started;
    /** The thread is past what the service could hold it up with before its own code runs. */
    private volatile boolean entered;
    /** Inside the loop, where no code of the service runs. Written by the service's thread alone, read by any. */
    private boolean resting;
    /** Waits for turns in the midst of packets. Written by the service's thread alone. */
    private volatile long waitedNs;

    private boolean suspected;
    private boolean interrupting;
    private volatile boolean givenUp;
    private volatile @Nullable Stop stop;
    private boolean isReminded;
    /** What was thrown at a checkpoint since the service was called. The thread's. */
    private @Nullable Stop thrown;
    /** The thread is in a call that is for no packet. */
    private volatile boolean beside;

    /**
     * @param service is the thread, or has one that runs it
     * @param name of the thread, from {@link #enter} on
     */
    public Supervision(Platform platform, ServiceDefinition definition, Service service, String name) {
        this.platform = platform;
        this.definition = definition;
        this.health = definition.health();
        this.service = service;
        this.thread = service.thread();
        this.name = name;
        this.meter = new Meter(health, platform, thread);
    }

    /**
     * Gives the thread what it serves: nothing of the service's runs on it, and no monitor is taken that the service
     * could hold.
     *
     * @throws IllegalStateException if the thread could not be started, or does not wait any more
     */
    public void start(ServiceHost host) {
        boolean isVirtual = thread != service;
        if (!isVirtual && service.getState() == Thread.State.NEW) {
            if (definition != Transit.DEFINITION) {
                throw new IllegalStateException("no thread was to be had for it");
            }
            service.setDaemon(true);
            service.start();
        }
        service.attach(host);
        if (isVirtual) {
            thread.start();
        }
        started = true;
        platform.unpark(thread);
    }

    /** Returns whether this is the instance's own thread; on another one none of the service's code may run. */
    public boolean isOwnThread() {
        return Thread.currentThread() == thread;
    }

    /** Names the thread, for which it takes the thread's monitor: the instance's, but for a virtual one. */
    public void enter() {
        thread.setName(name);
        meter.works();
        entered = true;
    }

    /** Runs a wait of the thread, in which no code of the service runs. */
    public void rest(Runnable wait) {
        RESTING.setOpaque(this, true);
        meter.rests();
        try {
            wait.run();
        } finally {
            meter.works();
            RESTING.setOpaque(this, false);
        }
    }

    /**
     * Waits in the midst of a packet, until the thread is unparked, or so long at most. It is in the service's code all the
     * same, but for the time that counts against it. The thread.
     */
    public void waitInMidst(long ns) {
        long beganNs = platform.nanoTime();
        meter.rests();
        try {
            platform.park(this, ns);
        } finally {
            meter.works();
            waitedNs += platform.nanoTime() - beganNs;
        }
    }

    /** Returns how long the thread has waited in the midst of packets, in ns. */
    long waitedNs() {
        return waitedNs;
    }

    /** Returns whether the thread waits in its loop: a guess. */
    public boolean isResting() {
        return (boolean) RESTING.getOpaque(this);
    }

    public boolean isAlive() {
        return thread.isAlive();
    }

    /** Returns whether the thread has ended, in order or not. */
    public boolean isDead() {
        return started && !thread.isAlive();
    }

    /** Returns whether the thread cannot begin, since the service holds the monitor of its instance. */
    boolean isLockedOut() {
        return started && !entered && thread.getState() == Thread.State.BLOCKED;
    }

    /** Returns the name of the thread, as the node gave it. */
    public String name() {
        return name;
    }

    public Service service() {
        return service;
    }

    public Thread thread() {
        return thread;
    }

    public ServiceDefinition definition() {
        return definition;
    }

    public Meter meter() {
        return meter;
    }

    /** Returns the processor time that the thread has used until now, in ns, and charges it to the service. */
    public long processorNs() {
        meter.read();
        return meter.processorNs();
    }

    /** Notes that the thread has come back; returns true when the instance was given up. */
    public boolean back() {
        while (!endSuspicion()) {
            platform.park(this, LOOK_NS);
            boolean ignored = Thread.interrupted(); // That is what it waits for.
        }
        thrown = null;
        return givenUp;
    }

    /** Ends the suspicion; returns false while the thread is being interrupted. */
    private synchronized boolean endSuspicion() {
        if (interrupting && !givenUp) {
            return false;
        }
        if (suspected) {
            suspected = false;
            health.cleared();
            boolean ignored = Thread.interrupted();
        }
        goOn();
        return true;
    }

    private void goOn() {
        if (stop != null) {
            stop = null;
            Checkpoint.want(this, false);
        }
    }

    /**
     * Has the service stopped at its next checkpoint, if that comes in this call and the thread, which was suspected, has
     * not come back since.
     *
     * @param why for the log
     */
    synchronized void stop(DropReason reason, long call, String why) {
        if (suspected && !givenUp && stop == null) {
            stop = new Stop(reason, call, new ServiceStopped(why));
            Checkpoint.want(this, true);
        }
    }

    /** Lets the service go on if it has come to another call since it was to stop. */
    synchronized void forgetStop(long call) {
        Stop now = stop;
        if (now != null && now.call != call) {
            clear();
        }
    }

    /** Takes note that the thread has ended. The thread. */
    public synchronized void ended() {
        goOn();
    }

    /** Has one that was given up look now and then whether it is to stop: it may have come by a checkpoint again. */
    synchronized void remind(boolean on) {
        if (stop != null) {
            isReminded = on && !isReminded;
            Checkpoint.want(this, isReminded);
        }
    }

    /** Returns what stops the service in this call; null = nothing. The thread. */
    public @Nullable ServiceStopped atCheckpoint(long call) {
        Stop now = stop;
        if (now == null || now.call != call) {
            return null;
        }
        if (thrown != now) {
            now.thrown
                    .fillInStackTrace(); // It was made on the watchdog's thread: the log is to show where this one was.
            thrown = now;
        }
        return now.thrown;
    }

    /** Throws again what stopped the service, which has caught it. The thread. */
    public void rethrowStop() {
        if (thrown != null) {
            throw thrown.thrown;
        }
    }

    /** Returns for what the service's last call was stopped, and forgets it; null = it was not. The thread. */
    public @Nullable DropReason takeStopped() {
        Stop before = thrown;
        thrown = null;
        return before == null ? null : before.reason;
    }

    /** Notes whether the thread is in a call that is for no packet; returns what it was before. The thread. */
    public boolean beside(boolean now) {
        boolean before = beside;
        beside = now;
        return before;
    }

    boolean isBeside() {
        return beside;
    }

    /** Has the thread report from now on when it comes back. */
    synchronized void suspect() {
        if (!suspected) {
            suspected = true;
            health.suspected();
        }
    }

    /** Ends a suspicion that was wrong. */
    synchronized void clear() {
        if (suspected && !givenUp) {
            suspected = false;
            health.cleared();
            goOn();
        }
    }

    /** Interrupts the thread, unless it has come back. */
    synchronized void interrupt() {
        if (suspected && !interrupting) {
            interrupting = Interruption.begin(platform, thread, this::interrupted);
        }
    }

    private synchronized void interrupted() {
        interrupting = false;
        platform.unpark(thread);
    }

    /** Returns whether an interrupt has not returned: the service has a channel that does not close. */
    synchronized boolean isInterrupting() {
        return interrupting;
    }

    /** Gives the instance up, unless its thread has come back; {@code leave} takes from it what is to be taken. */
    public synchronized boolean giveUp(Runnable leave) {
        if (!suspected || givenUp) {
            return false;
        }
        givenUp = true;
        platform.unpark(thread);
        leave.run();
        return true;
    }

    public boolean isGivenUp() {
        return givenUp;
    }
}
