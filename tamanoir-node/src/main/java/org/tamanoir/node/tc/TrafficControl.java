package org.tamanoir.node.tc;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.tamanoir.platform.Causes;
import org.tamanoir.sched.QosStatus;

/**
 * Gives classes of the host's HTB another rate while they are congested, by rules of the operator, and gives back what
 * they had when they are calm again and at the end. Packets never wait for it: it looks at counters, and runs {@code tc}.
 *
 * <p>Invariant: a class is changed only while the file of changes says what it had.
 *
 * <p>Thread contract: {@link #run} is one thread's, which has the network namespace of the host's interfaces; {@link
 * #status} and {@link #close} are any thread's.
 */
public final class TrafficControl implements Runnable, AutoCloseable {
    private static final long LOOK_NS = TimeUnit.MILLISECONDS.toNanos(500);
    /** After interfaces that could not be looked at. */
    private static final long LOOK_AGAIN_NS = TimeUnit.SECONDS.toNanos(10);
    /** More than tc may take, for each of some rules. */
    private static final long END_S = 60;

    private final Map<String, List<RuleControl>> rules = new LinkedHashMap<>();
    private final boolean dryRun;
    private final HtbControl host;
    private final LeftChanges file;
    private final Supplier<QosStatus> qos;
    private final Consumer<String> report;
    private final Map<String, Long> failedNs = new LinkedHashMap<>();
    /** Of a node that crashed, and not given back yet. */
    private List<LeftChanges.Left> stale = List.of();

    private final Set<LeftChanges.Left> saidOfStale = new HashSet<>();
    private boolean isRecovered;
    /** When that was tried last; null = before the first look. */
    private @Nullable Long recoveredNs;

    private final CountDownLatch closing = new CountDownLatch(1);
    private final CountDownLatch ended = new CountDownLatch(1);
    private volatile boolean isRunning;
    private volatile TcStatus status;

    /**
     * One that does not run.
     *
     * @param file says what is changed, for the node after this one
     * @param report takes a line for each change, and for each thing that is wrong
     */
    public TrafficControl(
            List<TcRule> rules, boolean dryRun, Path file, Supplier<QosStatus> qos, Consumer<String> report) {
        this(rules, dryRun, new TcProgram(), file, qos, report);
    }

    TrafficControl(
            List<TcRule> rules,
            boolean dryRun,
            HtbControl host,
            Path file,
            Supplier<QosStatus> qos,
            Consumer<String> report) {
        rules.forEach(rule -> this.rules
                .computeIfAbsent(rule.device(), device -> new ArrayList<>())
                .add(new RuleControl(rule, dryRun)));
        this.dryRun = dryRun;
        this.host = host;
        this.file = new LeftChanges(file);
        this.qos = qos;
        this.report = report;
        status = newStatus();
    }

    @Override
    public void run() {
        isRunning = true;
        try {
            do {
                survive(() -> {
                    recover();
                    look(System.nanoTime());
                });
            } while (!isClosed());
            survive(() -> giveBack(System.nanoTime()));
        } finally {
            ended.countDown();
        }
    }

    /** Does a step that may fail, for want of memory too: the rules say so, and the thread goes on. */
    private void survive(Runnable step) {
        try {
            step.run();
        } catch (Throwable e) {
            try {
                controls().forEach(each -> say(each.unusable("a fault of the node, which tries again: " + e)));
                status = newStatus();
            } catch (Throwable again) {
                return; // Not even a line could be made; the next look finds whether that lasts.
            }
        }
    }

    /** Waits until the next look. Interrupts are ignored: the node interrupts nobody here, but services of the JVM can. */
    private boolean isClosed() {
        long endNs = System.nanoTime() + LOOK_NS;
        while (true) {
            try {
                return closing.await(endNs - System.nanoTime(), TimeUnit.NANOSECONDS);
            } catch (InterruptedException e) {
                continue;
            }
        }
    }

    /** Reads what a node before this one could not give back, once, and gives it back. */
    void recover() {
        if (isRecovered) {
            return;
        }
        isRecovered = true;
        try {
            stale = file.read();
        } catch (IOException | RuntimeException e) {
            report.accept("what a node before this one changed is not known: " + e.getMessage());
            return;
        }
        giveBackStale();
    }

    /** Gives back what a node before this one left, as far as that can be done now. */
    private void giveBackStale() {
        List<LeftChanges.Left> kept = new ArrayList<>();
        for (LeftChanges.Left each : stale) {
            String what = "class " + each.found().id() + " of " + each.device() + " was left at "
                    + each.given().shares() + " by a node that did not end in order; it had "
                    + each.found().shares();
            try {
                HtbClass now = host.show(each.device()).get(each.found().id());
                if (now == null || !now.isLike(each.given())) {
                    report.accept(
                            what + "; now it is " + (now == null ? "gone" : "at " + now.shares()) + ", and stays so");
                } else if (dryRun) {
                    report.accept(what + ", and would get that back");
                    kept.add(each);
                } else {
                    host.change(each.device(), RuleControl.back(now, each.found()));
                    report.accept(what + ", and has that again");
                }
            } catch (HostException e) {
                if (saidOfStale.add(each)) {
                    report.accept(what + ", and cannot get that back: " + e.getMessage() + "; tried again");
                }
                kept.add(each);
            }
        }
        boolean isLess = kept.size() < stale.size();
        stale = kept;
        if (isLess) {
            remember();
        }
    }

    /** Returns whether a class has what a node before this one gave it: what it had then is not what it has now. */
    private boolean isStale(TcRule rule) {
        return !dryRun
                && stale.stream()
                        .anyMatch(each -> each.device().equals(rule.device())
                                && each.found().id().equals(rule.classId()));
    }

    /** Looks at all classes once, and changes what is to be changed: what makes room first. */
    void look(long nowNs) {
        if (recoveredNs == null) {
            recoveredNs = nowNs;
        } else if (!stale.isEmpty() && !dryRun && nowNs - recoveredNs >= LOOK_AGAIN_NS) {
            recoveredNs = nowNs;
            giveBackStale();
        }
        QosStatus now = qos.get();
        rules.forEach((device, ofDevice) -> {
            Long failed = failedNs.get(device);
            if (failed != null && nowNs - failed < LOOK_AGAIN_NS) {
                return;
            }
            try {
                look(nowNs, device, ofDevice, now);
                failedNs.remove(device);
            } catch (HostException e) {
                failedNs.put(device, nowNs);
                ofDevice.forEach(each -> say(each.unusable(String.valueOf(e.getMessage()))));
            }
        });
        status = newStatus();
    }

    private void look(long nowNs, String device, List<RuleControl> ofDevice, QosStatus now) throws HostException {
        Map<String, HtbClass> tree = new LinkedHashMap<>(host.show(device));
        Map<RuleControl, RuleControl.Wish> wishes = new LinkedHashMap<>();
        for (RuleControl each : ofDevice) {
            if (isStale(each.rule)) {
                say(each.unusable("what a node before this one gave it cannot be taken back yet"));
                continue;
            }
            HtbClass htb = tree.get(each.rule.classId());
            String taken = each.takenOver(htb);
            if (taken != null) {
                say(taken);
                remember();
            }
            RuleControl.Wish wish = htb == null ? null : each.look(nowNs, htb, now);
            if (htb == null) {
                say(each.unusable(RuleControl.missing(each.rule.classId(), tree)));
            } else if (wish != null) {
                wishes.put(each, wish);
            }
        }
        wishes.entrySet().stream()
                .sorted(Comparator.comparing(wish -> !wish.getValue().lowers()))
                .forEach(wish -> fulfil(nowNs, wish.getKey(), wish.getValue(), tree));
    }

    private void fulfil(long nowNs, RuleControl each, RuleControl.Wish wish, Map<String, HtbClass> tree) {
        String whyNot = wish.wanted().whyNot(tree);
        if (!whyNot.isEmpty()) {
            say(each.refused(nowNs, whyNot));
            return;
        }
        try {
            if (!dryRun) {
                if (!wish.isBack() && !remember(new LeftChanges.Left(each.rule.device(), wish.now(), wish.wanted()))) {
                    say(each.refused(nowNs, "what it had cannot be written down for the node after this one"));
                    return;
                }
                host.change(each.rule.device(), wish.wanted());
            }
            tree.put(wish.wanted().id(), wish.wanted());
            say(each.done(nowNs, wish));
        } catch (HostException e) {
            say(each.refused(nowNs, String.valueOf(e.getMessage())));
        }
        remember();
    }

    /** Writes down what is changed now. */
    private void remember() {
        write(left());
    }

    /** Writes down what is changed now, and what is about to be. @return whether that went well */
    private boolean remember(LeftChanges.Left next) {
        List<LeftChanges.Left> left = left();
        left.add(next);
        return write(left);
    }

    private List<LeftChanges.Left> left() {
        List<LeftChanges.Left> left = new ArrayList<>(stale);
        for (RuleControl each : controls()) {
            LeftChanges.Left known = each.left();
            if (known != null) {
                left.add(known);
            }
        }
        return left;
    }

    private boolean write(List<LeftChanges.Left> left) {
        try {
            if (!dryRun) {
                file.write(left);
            }
            return true;
        } catch (IOException e) {
            report.accept("cannot write down what is changed: " + Causes.text(e) + "; make the folder writable");
            return false;
        }
    }

    /** Gives back all that is changed: what makes room first. */
    void giveBack(long nowNs) {
        if (!stale.isEmpty() && !dryRun) {
            giveBackStale();
        }
        List<RuleControl> changed = controls().stream()
                .filter(each -> each.left() != null)
                .sorted(Comparator.comparing(RuleControl::wasLowered))
                .toList();
        for (RuleControl each : changed) {
            LeftChanges.Left left = Objects.requireNonNull(each.left());
            try {
                HtbClass now = host.show(left.device()).get(left.found().id());
                String taken = each.takenOver(now);
                if (taken != null || now == null) {
                    say(taken);
                } else {
                    HtbClass wanted = RuleControl.back(now, left.found());
                    host.change(left.device(), wanted);
                    each.done(nowNs, new RuleControl.Wish(now, wanted, true));
                    say(each.rule.name() + " is back at " + wanted.shares() + ": the node ends");
                }
            } catch (HostException e) {
                say(each.rule.name() + " does not get back " + left.found().shares() + ": " + e.getMessage());
            }
        }
        if (!changed.isEmpty()) {
            remember();
        }
        status = newStatus();
    }

    private void say(@Nullable String line) {
        if (line != null) {
            report.accept(line);
        }
    }

    private List<RuleControl> controls() {
        return rules.values().stream().flatMap(List::stream).toList();
    }

    private TcStatus newStatus() {
        return new TcStatus(dryRun, controls().stream().map(RuleControl::status).toList());
    }

    public TcStatus status() {
        return status;
    }

    /** Ends the looks, and waits until classes have what they had. */
    @Override
    public void close() {
        closing.countDown();
        try {
            if (isRunning && !ended.await(END_S, TimeUnit.SECONDS)) {
                report.accept(
                        "classes have not got back what they had in " + END_S + " s; the node after this one does it");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
