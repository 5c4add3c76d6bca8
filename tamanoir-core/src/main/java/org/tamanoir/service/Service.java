package org.tamanoir.service;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.Packet;
import org.tamanoir.format.FormatSource;
import org.tamanoir.nodeos.Flow;
import org.tamanoir.nodeos.LevelCounters;
import org.tamanoir.nodeos.LevelException;
import org.tamanoir.nodeos.Offload;
import org.tamanoir.nodeos.Policy;

/**
 * A program that a node runs on packets in transit. Users extend this class and write {@link #process}; one class
 * serves TCP and UDP.
 *
 * <p>A service <em>is</em> a thread, as in the Tamanoir paper (2003): each TCP stream has an instance and thread of
 * its own, and all UDP traffic of a service shares one. Every method below that the node calls is called on that
 * thread, so an instance needs no locks; what instances share (static fields) does.
 *
 * <pre>{@code
 * public final class Shout extends Service {
 *     public Verdict process(Packet packet) {
 *         ByteBuffer payload = packet.payload();
 *         for (int i = payload.position(); i < payload.limit(); i++) {
 *             payload.put(i, (byte) Character.toUpperCase(payload.get(i)));
 *         }
 *         return Verdict.FORWARD;
 *     }
 * }
 * }</pre>
 *
 * <p>What a thread says of itself and has done to it is final here: the node asks its services' threads from threads of
 * its own, where no code of a service may run.
 *
 * <p>An exception from any of these methods is counted and logged once per kind and follows the service's
 * {@link FailurePolicy}; it does not reach other streams.
 */
public abstract class Service extends Thread {
    /** A thread that nobody attached ends after this time: its stream is gone, for instance. */
    private static final Duration HOST_PATIENCE = Duration.ofSeconds(30);

    private static final int NEW = 0;
    private static final int ATTACHING = 1;
    private static final int ATTACHED = 2;
    private static final int GONE = 3;
    private static final VarHandle STATE;

    static {
        try {
            STATE = MethodHandles.lookup().findVarHandle(Service.class, "attachment", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** Written before {@link #attachment} says so. */
    private @Nullable ServiceHost host;

    private volatile int attachment;
    /** This, or a virtual thread that runs it. */
    private volatile Thread thread = this;

    /** For the node; instances are made with no arguments. */
    protected Service() {}

    // ---- what a service does --------------------------------------------------------------------------------

    /**
     * Before the first packet.
     *
     * @throws Exception if the settings do not fit; the stream then follows the failure policy
     */
    public void init(ServiceConfig config) throws Exception {}

    /**
     * Handles one packet: reads it, marks it in place, replaces its payload, and says what becomes of it.
     *
     * @param packet valid until this method returns; {@link Packet#copy} keeps it
     */
    public abstract Verdict process(Packet packet) throws Exception;

    /** TCP: the sender has ended the stream, and packets can still be {@linkplain #emit sent}. UDP: at shutdown. */
    public void endOfStream() throws Exception {}

    /** Last call: free what {@link #init} took. Packets can no longer be sent. */
    public void close() throws Exception {}

    // ---- what becomes of a packet ---------------------------------------------------------------------------

    /** Sends the packet along the route of {@code destination} in place of its own; routes still decide. */
    protected final Verdict forwardTo(InetAddress destination, int port) {
        host().elsewhere(new InetSocketAddress(destination, port));
        return Verdict.FORWARD_ELSEWHERE;
    }

    /**
     * Drops the packet.
     *
     * @param reason a few words that stay the same for the same cause: drops are counted by them
     */
    protected final Verdict drop(String reason) {
        host().dropping(reason);
        return Verdict.DROP;
    }

    /**
     * Drops the packet and ends its TCP stream as if its sender had ended it before this packet: {@link Verdict#CLOSE}.
     *
     * @param reason as of {@link #drop}
     */
    protected final Verdict closeStream(String reason) {
        host().dropping(reason);
        return Verdict.CLOSE;
    }

    /**
     * Drops the packet and breaks its TCP stream: {@link Verdict#RESET}.
     *
     * @param reason as of {@link #drop}
     */
    protected final Verdict resetStream(String reason) {
        host().dropping(reason);
        return Verdict.RESET;
    }

    /**
     * Puts the packet in hand aside; {@link #process} then returns {@link Verdict#HELD}, and other packets go on. It is
     * kept as it is then, and goes on where it would have gone, by what {@link Suspension#resume} says. On a TCP stream
     * those behind it wait, and so do timers and tasks of the service: another thread resumes it. Over UDP at most 64
     * packets and 4 MiB of an instance are held; one more is dropped, {@code HOLD_FULL}. They leave in the order in which
     * they are resumed.
     *
     * @param packet that {@link #process} was given
     * @param atMost for how long, at most 10 minutes; then it is dropped, {@code HOLD_EXPIRED}
     */
    protected final Suspension hold(Packet packet, Duration atMost) {
        return host().hold(packet, atMost);
    }

    /**
     * Sends a packet of the service's own along its route, behind what was sent before. May wait for the next hop
     * to take it. The packet is the caller's again when this returns.
     *
     * @return false if the node drops it because the datagram in hand has caused too much already: {@code limits.udp-growth}
     */
    protected final boolean emit(Packet packet) {
        return host().emit(packet, null);
    }

    /**
     * Sends a packet of the service's own along the route of {@code destination} in place of its own, as {@link #emit};
     * so one packet goes to many.
     */
    protected final boolean emitTo(InetAddress destination, int port, Packet packet) {
        return host().emit(packet, new InetSocketAddress(destination, port));
    }

    /**
     * What may still leave on account of the packet in hand, for frames of services that keep what datagrams brought, as
     * {@link org.tamanoir.message.MessageService} is one. In tasks, and over TCP, nothing is bounded.
     */
    protected final Allowance allowance() {
        return host().allowance();
    }

    // ---- levels below the Java virtual machine ----------------------------------------------------------------

    /**
     * What a level below can do in place of {@link #process}, byte for byte; asked after {@link #init}. The node places
     * services by it that an operator wants on another level.
     *
     * @return null, the default, if nothing can
     * @throws LevelException if nothing can, with the reason for the operator: what of the settings, and what would help
     */
    public @Nullable Policy policy() throws LevelException {
        return null;
    }

    /**
     * What levels below have done with UDP packets under this instance's policies since the last call, for the service's
     * own counters: called between packets, at least twice a second while it grows, and once before {@link #close}.
     * Policies for TCP, which count connections, are asked for theirs by {@link Offload#counters}.
     *
     * @param since counts of now less those of the last call; smallest and largest are of now
     */
    public void counted(LevelCounters since) {}

    /**
     * Has a level below handle packets of this service from now on, as far as the policy says; what goes up still
     * comes here. At most 64 at once; they end with the instance.
     *
     * @throws LevelException why no level can; the packets come here as before
     */
    protected final Offload offload(Flow flow, Policy policy) throws LevelException {
        return host().offload(flow, policy);
    }

    /**
     * Whether a level below may handle packets of this service now, so that this instance sees only part of them. From
     * the first packet after that ended it sees all again.
     */
    protected final boolean isOffloaded() {
        return host().isOffloaded();
    }

    /** Counts packets that a level below has dropped for this reason; see {@link #drop}. */
    protected final void droppedBelow(String reason, long packets) {
        host().droppedBelow(reason, packets);
    }

    /**
     * Passes a checkpoint, where the node can stop a service whose packet has used up its budget or that does not return,
     * and where a packet that takes long waits while others have their turn on the processor. To be called in long loops; classes that are deployed have checkpoints already.
     *
     * @throws ServiceStopped when the service is to stop: not to be caught
     */
    protected static void checkpoint() {
        Checkpoint.poll();
    }

    /**
     * Looks what of the node's resources is allotted to this thread and its class of traffic now. Costs some tens of
     * nanoseconds and allocates nothing; to be called in {@link #process}, where the thread has a turn.
     *
     * @return the same view each time, which shows this turn until the next call; to be asked within this packet
     */
    protected final Allotment allotment() {
        return host().allotment();
    }

    // ---- time, counters, context ----------------------------------------------------------------------------

    /** The node's clock, in ns: for differences alone, as {@link System#nanoTime}. Tests and simulations give their own. */
    protected final long nanoTime() {
        return host().nanoTime();
    }

    /** Runs {@code task} on this service's thread, once, after {@code delay}. */
    protected final void after(Duration delay, Runnable task) {
        host().schedule(delay, task);
    }

    /** Runs {@code task} on this service's thread every {@code period}, until the instance ends. */
    protected final void every(Duration period, Runnable task) {
        if (period.isZero() || period.isNegative()) {
            throw new IllegalArgumentException("period " + period + ": must be positive");
        }
        host().schedule(period, () -> {
            try {
                task.run();
            } finally {
                every(period, task);
            }
        });
    }

    /**
     * Runs {@code task} on this service's thread soon, between packets, as timers run: not while the thread is in {@code
     * process} or waits in {@link #emit}. Any thread may call, those of others too.
     *
     * @return false if it will not run: 1,024 wait already, nobody runs the instance, or it has ended. What was taken runs
     *     unless the instance ends before
     */
    public final boolean execute(Runnable task) {
        ServiceHost attached = attachment == ATTACHED ? host : null;
        return attached != null && attached.execute(task);
    }

    /** The formats that the node knows, and how it asks for others. */
    protected final FormatSource formats() {
        return host().formats();
    }

    /**
     * The control that all instances of this service's definition share.
     *
     * @throws IllegalStateException if there is none of this type
     */
    protected final <T extends ServiceControl> T control(Class<T> type) {
        ServiceControl control = host().control();
        if (!type.isInstance(control)) {
            throw new IllegalStateException(getClass().getName() + " has "
                    + (control == null ? "no control" : "a control of " + control.getClass())
                    + ", not one of " + type + ": name it in @ControlledBy on the service's class");
        }
        return type.cast(control);
    }

    /**
     * A count under this name that operators see; the same counter each time. At most 64 a service. What all instances
     * have counted is added up, also when they have ended, for as long as the node has this version of the service.
     */
    protected final Counter counter(String name) {
        return host().counter(name);
    }

    /**
     * As {@link #counter(String)}, of a kind that says what the counts of all instances come to: the largest that was
     * set, the smallest, or a state that is gone with its instance.
     *
     * @throws IllegalArgumentException if the service has a counter of this name that is of another kind
     */
    protected final Counter counter(String name, Counter.Kind kind) {
        return host().counter(name, kind);
    }

    /** What this instance serves. */
    protected final StreamInfo stream() {
        return host().stream();
    }

    // ---- for the node ---------------------------------------------------------------------------------------

    /**
     * Gives the instance to the environment that runs it, once, before {@link #start} or up to 30 s after it. Any thread:
     * takes no lock and runs no code of the service.
     *
     * @throws IllegalStateException if it has one, or its thread has ended for want of one
     */
    public final void attach(ServiceHost host) {
        if (!STATE.compareAndSet(this, NEW, ATTACHING)) {
            throw new IllegalStateException(
                    attachment == GONE
                            ? getName() + " has waited too long for a host: make an instance when there is one"
                            : getName() + " is attached already: make an instance for each stream");
        }
        this.host = host;
        attachment = ATTACHED;
        LockSupport.unpark(thread);
    }

    /** Ends the instance's thread where nobody will attach it. Any thread; does nothing to one that is attached. */
    public final void dismiss() {
        if (STATE.compareAndSet(this, NEW, GONE)) {
            LockSupport.unpark(thread);
        }
    }

    /**
     * Has a virtual thread run the instance in place of its own, which then is not started; once, before {@link #start},
     * for the node. What a thread has done to it that can be told from outside goes there, but for what is final in
     * {@link Thread}: names, {@code isAlive} and {@code join} are those of {@link #thread}.
     *
     * @throws IllegalStateException if it runs, or has such a thread; if the other is started, or is not virtual
     */
    public final void runOn(Thread other) {
        if (thread != this || super.getState() != State.NEW || other.getState() != State.NEW || !isVirtual(other)) {
            throw new IllegalStateException(getName() + " cannot run on " + other.getName()
                    + ": once, before its start, it takes a virtual thread that is not started; the node sees to it");
        }
        thread = other;
    }

    private static boolean isVirtual(Thread thread) {
        try {
            return (boolean) Thread.class.getMethod("isVirtual").invoke(thread);
        } catch (ReflectiveOperationException e) {
            return false; // Before Java 21 none is.
        }
    }

    /** Returns the thread that runs the instance: itself, but for virtual threads. Any thread. */
    public final Thread thread() {
        return thread;
    }

    /** The thread's body; the node starts it, and attaches it then or before. */
    @Override
    public final void run() {
        long deadlineNs = System.nanoTime() + HOST_PATIENCE.toNanos();
        while (attachment != ATTACHED) {
            long leftNs = deadlineNs - System.nanoTime();
            if (attachment == GONE || leftNs <= 0 && STATE.compareAndSet(this, NEW, GONE)) {
                return;
            }
            LockSupport.parkNanos(this, Math.max(1, leftNs));
            boolean ignored = Thread.interrupted();
        }
        host().run(this);
    }

    // ---- what a thread is, for the node and all others -----------------------------------------------------------

    @Override
    public final void start() {
        if (thread == this) {
            super.start();
        } else {
            thread.start();
        }
    }

    @Override
    public final void interrupt() {
        if (thread == this) {
            super.interrupt();
        } else {
            thread.interrupt();
        }
    }

    @Override
    public final boolean isInterrupted() {
        return thread == this ? super.isInterrupted() : thread.isInterrupted();
    }

    @Override
    public final StackTraceElement[] getStackTrace() {
        return thread == this ? super.getStackTrace() : thread.getStackTrace();
    }

    @Override
    public final State getState() {
        return thread == this ? super.getState() : thread.getState();
    }

    @Override
    @SuppressWarnings("deprecation") // Since 19, which has the final threadId.
    public final long getId() {
        return super.getId();
    }

    @Override
    public final @Nullable ClassLoader getContextClassLoader() {
        return super.getContextClassLoader();
    }

    @Override
    public final void setContextClassLoader(@Nullable ClassLoader loader) {
        super.setContextClassLoader(loader);
    }

    @Override
    public final @Nullable UncaughtExceptionHandler getUncaughtExceptionHandler() {
        return super.getUncaughtExceptionHandler();
    }

    @Override
    public final void setUncaughtExceptionHandler(@Nullable UncaughtExceptionHandler handler) {
        super.setUncaughtExceptionHandler(handler);
    }

    @Override
    public final String toString() {
        return super.toString();
    }

    @Override
    public final boolean equals(@Nullable Object other) {
        return super.equals(other);
    }

    @Override
    public final int hashCode() {
        return super.hashCode();
    }

    /** Does nothing, so that no service holds up the JVM's finalizer by a method of its own. */
    @Override
    @SuppressWarnings({"deprecation", "removal", "Finalize"})
    protected final void finalize() {}

    private ServiceHost host() {
        ServiceHost attached = host;
        if (attached == null) {
            throw new IllegalStateException("a service runs in a node: it is not attached to one");
        }
        return attached;
    }
}
