package org.tamanoir.testkit;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.Anep;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketLoan;
import org.tamanoir.anep.ParseFault;
import org.tamanoir.format.FormatSource;
import org.tamanoir.nodeos.Flow;
import org.tamanoir.nodeos.LevelException;
import org.tamanoir.nodeos.Offload;
import org.tamanoir.nodeos.Policy;
import org.tamanoir.service.Allotment;
import org.tamanoir.service.Counter;
import org.tamanoir.service.Service;
import org.tamanoir.service.ServiceControl;
import org.tamanoir.service.ServiceHost;
import org.tamanoir.service.StreamInfo;
import org.tamanoir.service.Verdict;

/**
 * The service's side of the harness: its thread takes one call after the other from the test and records what the
 * service did.
 *
 * <p>Thread contract: the service's thread, but for {@link #offer} and for reading what was recorded.
 */
final class HarnessHost implements ServiceHost {
    /** Bound of the wait for a test that neither goes on nor closes its harness. */
    private static final long ABANDONED_AFTER_MINUTES = 10;

    /** As many names as a node lets a service have; later ones are counted together. */
    private static final int MAX_COUNTERS = 64;

    /** As many as a node lets other threads have waiting. */
    private static final int MAX_HANDED_IN = 1024;

    private static final String REST = "others";
    private static final String NO_REASON = "no reason given";

    /** Drops of one call by a level below that are shown; a level counts packets by the million. */
    private static final int MAX_DROPS_BELOW = 10_000;

    /** Room before and behind packets, whose place changes. */
    private static final int GUARD_BYTES = 16;

    private static final byte JUNK = (byte) 0xEE;
    private static final byte[] JUNK_BYTES = new byte[Anep.MAX_PACKET_OCTETS + 2 * GUARD_BYTES];

    static {
        Arrays.fill(JUNK_BYTES, JUNK);
    }

    /** What the test wants done on the service's thread. */
    record Call(String step, Action action, CountDownLatch done) {
        Call(String step, Action action) {
            this(step, action, new CountDownLatch(1));
        }
    }

    /** A piece of work that may throw. */
    interface Action {
        void run() throws Exception;
    }

    final List<Output> outputs = Collections.synchronizedList(new ArrayList<>());
    final List<Verdict> endings = Collections.synchronizedList(new ArrayList<>());
    final List<String> drops = Collections.synchronizedList(new ArrayList<>());
    final List<Throwable> failures = Collections.synchronizedList(new ArrayList<>());
    final Counter consumed = new Counter("consumed");

    private final StreamInfo stream;
    private final FormatSource formats;
    private final BlockingQueue<Call> calls = new ArrayBlockingQueue<>(1 + MAX_HANDED_IN);
    private final AtomicInteger handedIn = new AtomicInteger();
    private final ConcurrentHashMap<String, Counter> counters = new ConcurrentHashMap<>();
    private final HandTimers timers = new HandTimers();
    private final ByteBuffer received = ByteBuffer.allocateDirect(JUNK_BYTES.length);
    private final OutputMemory memory = new OutputMemory();
    private final PacketLoan loan = new PacketLoan(Anep.DEFAULT_TYPE_ID, memory);
    private final Packet view = loan.packet();
    private @Nullable HarnessLevels levels;
    private volatile @Nullable Allotment allotment;
    private volatile @Nullable ServiceControl control;
    private @Nullable Thread thread;
    private @Nullable InetSocketAddress elsewhere;
    private String dropReason = NO_REASON;
    private volatile int given;
    private boolean closing;
    private volatile boolean ended;

    HarnessHost(StreamInfo stream, FormatSource formats) {
        this.stream = stream;
        this.formats = formats;
        received.put(0, JUNK_BYTES);
    }

    // ---- for the harness ----------------------------------------------------------------------------------------

    /** Before the thread starts. */
    HarnessLevels levels(HarnessLevels there) {
        levels = there;
        return there;
    }

    /** Before the service is initialised. */
    void control(ServiceControl there) {
        control = there;
    }

    void allotment(Allotment there) {
        allotment = there;
    }

    @Override
    public Allotment allotment() {
        Allotment seen = allotment;
        if (seen == null) {
            throw new IllegalStateException("the service looks at its allotment: say by allotment(...) what it sees");
        }
        return seen;
    }

    /** The test's thread. False if calls are not taken any more. */
    boolean offer(Call call) {
        return calls.offer(call);
    }

    /** Any thread: the service's ends when the call in hand is done. */
    void end() {
        ended = true;
    }

    /** Any thread. */
    Map<String, Long> counters() {
        Map<String, Long> values = new TreeMap<>();
        counters.forEach((name, counter) -> values.put(name, counter.get()));
        return values;
    }

    /** Any thread: packets so far, the one in hand among them. */
    int given() {
        return given;
    }

    @Override
    public void run(Service service) {
        thread = Thread.currentThread();
        while (!ended) {
            Call call = next();
            if (call != null) {
                guard(call.action());
                runHandedIn();
                call.done().countDown();
            }
        }
    }

    /** Runs what was handed in during a call, so that a test sees it as part of that. */
    private void runHandedIn() {
        for (int left = calls.size(); left > 0 && !ended; left--) {
            Call call = calls.remove();
            guard(call.action());
            call.done().countDown();
        }
    }

    private @Nullable Call next() {
        try {
            Call call = calls.poll(ABANDONED_AFTER_MINUTES, TimeUnit.MINUTES);
            ended |= call == null;
            return call;
        } catch (InterruptedException e) {
            return null; // The service interrupted itself, or the harness gave it up and ended is set.
        }
    }

    private void guard(Action action) {
        try {
            action.run();
        } catch (Throwable e) {
            failures.add(e);
        }
    }

    void close(Service service) throws Exception {
        closing = true;
        ended = true;
        if (levels != null) {
            levels.close();
        }
        service.close();
    }

    void advance(Duration time) {
        timers.advance(time.toNanos(), task -> guard(task::run));
    }

    // ---- the way of a packet ------------------------------------------------------------------------------------

    /** One packet from junk to junk; its place changes, so that no alignment can be relied on. */
    void process(Service service, byte[] bytes) {
        int offset = GUARD_BYTES / 2 + given % (GUARD_BYTES / 2);
        given++;
        received.put(offset, bytes);
        ParseFault fault = view.parse(received, offset, bytes.length);
        if (fault != null) {
            throw new IllegalStateException("the harness lets good packets through alone, not " + fault);
        }
        memory.clear();
        elsewhere = null;
        dropReason = NO_REASON;
        guard(() -> record(call(service)));
        forget(offset, bytes.length);
    }

    private @Nullable Verdict call(Service service) throws Exception {
        loan.lend();
        Verdict verdict;
        ParseFault fault;
        try {
            verdict = service.process(view);
        } finally {
            fault = loan.takeBack();
        }
        if (fault != null) {
            throw new IllegalStateException("a packet that was good is not any more: " + fault);
        }
        return verdict;
    }

    private void record(@Nullable Verdict verdict) {
        if (verdict == null) {
            throw new IllegalStateException("process returned null: return a Verdict");
        }
        switch (verdict) {
            case FORWARD -> outputs.add(new Output(verdict, false, null, view.copy()));
            case FORWARD_ELSEWHERE -> {
                if (elsewhere == null) {
                    throw new IllegalStateException("FORWARD_ELSEWHERE without an address: return forwardTo(...)");
                }
                outputs.add(new Output(verdict, false, elsewhere, view.copy()));
            }
            case REPLY -> {
                view.swapEnds();
                outputs.add(new Output(verdict, false, null, view.copy()));
            }
            case DROP -> drops.add(dropReason);
            case CONSUME -> consumed.add(1);
            case CLOSE, RESET -> {
                drops.add(dropReason);
                endings.add(verdict);
            }
            case HELD -> throw new IllegalStateException("HELD: the harness holds no packets, a node does");
        }
    }

    /** What a service kept of the packet shows junk from now on. */
    private void forget(int offset, int bytes) {
        received.put(offset - GUARD_BYTES / 2, JUNK_BYTES, 0, bytes + GUARD_BYTES);
        overwriteKept(offset, bytes);
        view.parse(received, offset, 0);
    }

    /** Bytes that the service asked for lie in memory of its own, where the next packet of the same length comes. */
    private void overwriteKept(int offset, int bytes) {
        received.putLong(offset, (long) Anep.VERSION << 56 | (long) Anep.MIN_HEADER_WORDS << 16 | bytes);
        if (view.parse(received, offset, bytes) == null) {
            loan.lend();
            view.payload();
            loan.takeBack();
        }
        received.put(offset, JUNK_BYTES, 0, Anep.BASIC_HEADER_OCTETS);
    }

    // ---- for the service ----------------------------------------------------------------------------------------

    @Override
    public StreamInfo stream() {
        return stream;
    }

    @Override
    public Counter counter(String name) {
        Counter counter = counters.get(name);
        return counter(name, counter == null ? Counter.Kind.SUM : counter.kind());
    }

    @Override
    public Counter counter(String name, Counter.Kind kind) {
        requireThread("counter");
        Counter counter = counters.get(name);
        if (counter == null) {
            counter = counters.computeIfAbsent(
                    counters.size() < MAX_COUNTERS ? name : REST, own -> new Counter(own, kind));
        } else if (counter.kind() != kind) {
            throw new IllegalArgumentException("counter " + name + ": is a " + counter.kind()
                    + " already, and cannot be a " + kind + ": use another name");
        }
        return counter;
    }

    @Override
    public boolean emit(Packet packet, @Nullable InetSocketAddress destination) {
        requireThread("emit");
        if (closing) {
            throw new IllegalStateException("the instance closes: send packets in endOfStream() at the latest");
        }
        outputs.add(new Output(Verdict.FORWARD, true, destination, packet.copy()));
        return true;
    }

    @Override
    public void elsewhere(InetSocketAddress destination) {
        requireThread("forwardTo");
        elsewhere = destination;
    }

    @Override
    public void dropping(String reason) {
        requireThread("drop");
        dropReason = reason;
    }

    @Override
    public Offload offload(Flow flow, Policy policy) throws LevelException {
        requireThread("offload");
        return Objects.requireNonNull(levels).offload(flow, policy);
    }

    @Override
    public boolean isOffloaded() {
        return levels != null && levels.isActive();
    }

    @Override
    public void droppedBelow(String reason, long packets) {
        requireThread("droppedBelow");
        drops.addAll(Collections.nCopies((int) Math.min(packets, MAX_DROPS_BELOW), reason));
    }

    @Override
    public long nanoTime() {
        requireThread("nanoTime");
        return timers.nowNs();
    }

    @Override
    public void schedule(Duration delay, Runnable task) {
        requireThread("after or every");
        timers.set(delay, task);
    }

    @Override
    public boolean execute(Runnable task) {
        if (handedIn.incrementAndGet() <= MAX_HANDED_IN && !ended) {
            return calls.offer(new Call("a task handed in", () -> {
                handedIn.decrementAndGet();
                task.run();
            }));
        }
        handedIn.decrementAndGet();
        return false;
    }

    @Override
    public FormatSource formats() {
        return formats;
    }

    @Override
    public @Nullable ServiceControl control() {
        return control;
    }

    private void requireThread(String method) {
        if (Thread.currentThread() != thread) {
            throw new IllegalStateException(method + " was called on thread "
                    + Thread.currentThread().getName() + ": a service's methods may be called on its own thread alone");
        }
    }
}
