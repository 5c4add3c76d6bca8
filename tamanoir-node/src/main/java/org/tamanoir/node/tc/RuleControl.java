package org.tamanoir.node.tc;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.tamanoir.sched.QosStatus;

/** One rule and what became of its class. One thread. */
final class RuleControl {
    private static final int REMEMBERED = 5;

    final TcRule rule;
    private final boolean dryRun;
    private final Measure measure;
    private final Hysteresis hysteresis;
    private final Deque<String> last = new ArrayDeque<>();
    /** What the class had; null = it has that. */
    private @Nullable HtbClass found;

    private @Nullable HtbClass given;
    private String unusable = "";
    /** The rule is unusable because a wish was not fulfilled. */
    private boolean isRefused;

    private String measured = "not looked at yet";
    private long changes;

    RuleControl(TcRule rule, boolean dryRun) {
        this.rule = rule;
        this.dryRun = dryRun;
        measure = new Measure(rule.when());
        hysteresis = new Hysteresis(rule.after().toNanos(), rule.hold().toNanos());
    }

    /** What a rule wants of its class. */
    record Wish(HtbClass now, HtbClass wanted, boolean isBack) {
        boolean lowers() {
            return wanted.rateBytesPerSecond() < now.rateBytesPerSecond();
        }
    }

    /** Looks at the class, and returns what it should become; null = what it is. */
    @Nullable
    Wish look(long nowNs, HtbClass now, QosStatus qos) {
        Measure.Look look = measure.look(nowNs, now, qos);
        HtbClass had = found;
        // What it takes beyond what it had would be congested again at once.
        boolean needed = had != null && look.sentBytesPerSecond() > had.rateBytesPerSecond();
        Hysteresis.Level level =
                needed && look.level() == Hysteresis.Level.CALM ? Hysteresis.Level.BETWEEN : look.level();
        measured = look.text()
                + (needed && had != null
                        ? "; it sends " + HtbClass.rateText(look.sentBytesPerSecond()) + ", more than it had"
                        : "");
        boolean wants = hysteresis.wants(nowNs, level, had != null);
        if (wants == (had != null)) {
            unusable = isRefused && level == Hysteresis.Level.OVER ? unusable : ""; // It is the hold after a refusal.
            return null;
        }
        return had != null ? new Wish(now, back(now, had), true) : new Wish(now, given(now), false);
    }

    private HtbClass given(HtbClass now) {
        Long ceil = rule.ceilBytesPerSecond();
        return now.with(
                rule.rateBytesPerSecond(),
                ceil != null ? ceil : Math.max(now.ceilBytesPerSecond(), rule.rateBytesPerSecond()));
    }

    /** Returns what a class becomes that gets back what it had, at the place that it has now. */
    static HtbClass back(HtbClass now, HtbClass had) {
        return new HtbClass(
                now.id(),
                now.parent(),
                HtbClass.merged(now.kept(), had.kept()),
                now.unkept(),
                had.rateBytesPerSecond(),
                had.ceilBytesPerSecond(),
                now.sentBytes(),
                now.droppedPackets(),
                now.backlogBytes());
    }

    /** Notes that the class became what was wished, and returns the line that says so. */
    String done(long nowNs, Wish wish) {
        hysteresis.tried(nowNs);
        found = wish.isBack() ? null : wish.now();
        given = wish.isBack() ? null : wish.wanted();
        unusable = "";
        changes++;
        String line = rule.name() + (dryRun ? " would be " : " is ") + (wish.isBack() ? "back at " : "now at ")
                + wish.wanted().shares() + ", from " + wish.now().shares() + ": " + measured;
        if (last.size() == REMEMBERED) {
            last.removeFirst();
        }
        last.addLast(Instant.now().truncatedTo(ChronoUnit.SECONDS) + " " + line);
        return line;
    }

    /** Notes why a wish was not fulfilled; it is tried again when as much time has passed as between changes. */
    @Nullable
    String refused(long nowNs, String why) {
        hysteresis.tried(nowNs);
        String line = unusable(why);
        isRefused = true;
        return line;
    }

    /** Notes why the rule cannot be used, and returns the line that says so, once; null = it was said. */
    @Nullable
    String unusable(String why) {
        boolean isNew = !why.equals(unusable);
        unusable = why;
        isRefused = false;
        return isNew ? rule.name() + " is left as it is: " + why : null;
    }

    /** Returns the line that says that somebody else changed the class, which is theirs then; null = nobody did. */
    @Nullable
    String takenOver(@Nullable HtbClass now) {
        HtbClass gave = given;
        if (dryRun || gave == null || now != null && now.isLike(gave)) {
            return null;
        }
        found = null;
        given = null;
        return rule.name()
                + (now == null
                        ? " is gone while it was changed: nothing is left to give back"
                        : " was changed by somebody else to " + now.shares() + ": it stays so");
    }

    /** Returns what the file of changes says; null = the class has what it had. */
    LeftChanges.@Nullable Left left() {
        return dryRun || found == null || given == null ? null : new LeftChanges.Left(rule.device(), found, given);
    }

    /** Tells whether the class has less than it had. */
    boolean wasLowered() {
        return found != null && given != null && given.rateBytesPerSecond() < found.rateBytesPerSecond();
    }

    TcStatus.Rule status() {
        Long ceil = rule.ceilBytesPerSecond();
        return new TcStatus.Rule(
                rule.device(),
                rule.classId(),
                state(),
                unusable.isEmpty() ? measured : unusable,
                found == null ? null : found.shares(),
                HtbClass.rateText(rule.rateBytesPerSecond())
                        + (ceil == null ? "" : ", ceil " + HtbClass.rateText(ceil)),
                changes,
                List.copyOf(last));
    }

    private TcStatus.State state() {
        if (!unusable.isEmpty()) {
            return TcStatus.State.UNUSABLE;
        }
        return found == null ? TcStatus.State.AS_FOUND : TcStatus.State.CHANGED;
    }

    static String missing(String id, Map<String, HtbClass> tree) {
        return "no class " + id + " of HTB: correct the number, or add the class; there are "
                + (tree.isEmpty() ? "none" : String.join(", ", tree.keySet()));
    }
}
