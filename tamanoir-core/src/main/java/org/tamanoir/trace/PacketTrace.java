package org.tamanoir.trace;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.routing.Addresses;

/**
 * Takes down the way of one packet, which the threads that have the packet tell it. What comes after its end, and steps
 * beyond {@value #MAX_STEPS}, are not taken down.
 *
 * <p>Thread contract: any thread; {@link #await} is its maker's.
 */
public final class PacketTrace {
    private static final int MAX_STEPS = 64;
    private static final int MAX_FRAMES = 3;

    private final int number;
    private final LongSupplier nanoTime;
    private final long beganNs;
    private final CountDownLatch over = new CountDownLatch(1);
    private final List<Noted> steps = new ArrayList<>();
    private Stage stage = Stage.RECEPTION;
    private String place = "the reception";
    private long sinceNs;
    /** The thread that has the packet in a service's code; null while it lies somewhere. */
    private @Nullable Thread holder;

    private TraceResult.@Nullable Outcome outcome;
    private @Nullable DropReason dropReason;
    private long endedNs;

    /** A step whose reason is asked for at the end, where that could make the packet wait. */
    private record Noted(Stage stage, long afterNs, String decision, Supplier<String> reason) {}

    PacketTrace(int number, LongSupplier nanoTime) {
        this.number = number;
        this.nanoTime = nanoTime;
        this.beganNs = nanoTime.getAsLong();
        this.sinceNs = beganNs;
    }

    /** Returns what stands for it beside the packet; never 0. */
    public int number() {
        return number;
    }

    /** Takes down what was decided. */
    public void step(Stage stage, String decision, String reason) {
        step(stage, decision, () -> reason);
    }

    /** Takes down what was decided, for a reason that {@link #await}'s caller works out. */
    public synchronized void step(Stage stage, String decision, Supplier<String> reason) {
        if (outcome == null && steps.size() < MAX_STEPS) {
            steps.add(new Noted(stage, nanoTime.getAsLong() - beganNs, decision, reason));
        }
    }

    /** Says where the packet waits from now on; completes "it waits ...". */
    public synchronized void waits(Stage at, String where) {
        stage = at;
        place = where;
        holder = null;
        sinceNs = nanoTime.getAsLong();
    }

    /** Takes down that the packet waits no more, but is in the calling thread's hands; returns the stage of its wait. */
    public synchronized Stage taken(String service) {
        Stage before = stage;
        step(before, "taken", "after " + millis(nanoTime.getAsLong() - sinceNs) + " " + place);
        waits(
                Stage.PROCESS,
                "in the hands of service " + service + ", thread '"
                        + Thread.currentThread().getName() + "'");
        holder = Thread.currentThread();
        return before;
    }

    /** Takes down that the packet was handed to the operating system. */
    public synchronized void sent(String how) {
        end(TraceResult.Outcome.SENT, null, "sent", how);
    }

    /** Takes down that the packet has ended in the node. */
    public synchronized void ended(DropReason reason, String why) {
        boolean isConsumed = reason == DropReason.CONSUMED;
        TraceResult.Outcome now = isConsumed ? TraceResult.Outcome.CONSUMED : TraceResult.Outcome.DROPPED;
        end(now, reason, isConsumed ? "consumed" : "dropped", reason + ": " + why);
    }

    private void end(TraceResult.Outcome now, @Nullable DropReason reason, String decision, String why) {
        if (outcome == null) {
            steps.add(new Noted(Stage.END, nanoTime.getAsLong() - beganNs, decision, () -> why));
            outcome = now;
            dropReason = reason;
            endedNs = nanoTime.getAsLong();
            over.countDown();
        }
    }

    /** Waits for the packet's end, so long at most, and returns its way until then. */
    public TraceResult await(int bytes, Duration atMost) throws InterruptedException {
        boolean isOver = over.await(atMost.toNanos(), TimeUnit.NANOSECONDS);
        List<Noted> noted;
        String waits;
        long ns;
        synchronized (this) {
            noted = new ArrayList<>(steps);
            ns = (outcome == null ? nanoTime.getAsLong() : endedNs) - beganNs;
            waits = isOver ? null : whereItIs();
            outcome = outcome == null ? TraceResult.Outcome.WAITING : outcome;
        }
        noted.sort(Comparator.comparingLong(Noted::afterNs)); // Two threads may have told at once.
        List<Step> told = noted.stream()
                .map(each -> new Step(
                        each.stage(),
                        each.afterNs(),
                        each.decision(),
                        each.reason().get()))
                .toList();
        return new TraceResult(outcome, dropReason, waits, bytes, ns, told);
    }

    private String whereItIs() {
        String where = place + ", for " + millis(nanoTime.getAsLong() - sinceNs);
        Thread in = holder;
        if (in == null) {
            return where;
        }
        StringBuilder text = new StringBuilder(where);
        StackTraceElement[] frames = in.getStackTrace();
        for (int i = 0; i < Math.min(MAX_FRAMES, frames.length); i++) {
            text.append(i == 0 ? ", at " : " < ").append(frames[i]);
        }
        return text.toString();
    }

    /** Returns an address as {@code 10.0.0.1:3322} or {@code [::1]:3322}. */
    public static String at(InetSocketAddress address) {
        return Addresses.text(address);
    }

    /** Returns a time as {@code 12.345 ms}. */
    public static String millis(long ns) {
        long micros = ns / 1000;
        return micros / 1000 + "." + String.format(Locale.ROOT, "%03d", micros % 1000) + " ms";
    }
}
