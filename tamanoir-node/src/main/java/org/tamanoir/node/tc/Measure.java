package org.tamanoir.node.tc;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import org.tamanoir.node.tc.Hysteresis.Level;
import org.tamanoir.sched.QosStatus;

/** Measures the congestion of one rule, from one look to the next. One thread. */
final class Measure {
    private static final double SECOND_NS = 1e9;

    /** What counts up. */
    private record Counts(long nowNs, long served, long waitedNs, long dropped, long sentBytes) {}

    private final TcRule.Trigger when;
    private @Nullable Counts before;

    Measure(TcRule.Trigger when) {
        this.when = when;
    }

    /**
     * What a look found.
     *
     * @param text what was measured, beside its bounds
     * @param sentBytesPerSecond by the HTB class
     */
    record Look(Level level, String text, long sentBytesPerSecond) {}

    /** Looks. Of the first look nothing is known that needs two. */
    Look look(long nowNs, HtbClass htb, QosStatus qos) {
        List<QosStatus.ClassStatus> links = qos.points().stream()
                .filter(point -> !point.name().equals("pre"))
                .flatMap(point -> point.classes().stream())
                .filter(each -> each.name().equals(when.qosClass()))
                .toList();
        long served = 0;
        long waitedNs = 0;
        long waiting = 0;
        long dropped = htb.droppedPackets();
        for (QosStatus.ClassStatus each : links) {
            served +=
                    each.waiting().counts().stream().mapToLong(Long::longValue).sum();
            waitedNs += each.waiting().totalNs();
            waiting += each.waitingPackets();
            dropped += each.dropped().values().stream()
                    .mapToLong(QosStatus.Dropped::packets)
                    .sum();
        }
        Counts now = new Counts(nowNs, served, waitedNs, dropped, htb.sentBytes());
        Counts last = before == null || isBehind(now, before) ? now : before; // A class made anew counts anew.
        before = now;
        double seconds = Math.max(1, nowNs - last.nowNs) / SECOND_NS;
        List<String> texts = new ArrayList<>();
        double most = 0;
        if (when.delayOver() != null) {
            long left = served - last.served;
            double meanNs =
                    left > 0 ? (double) (waitedNs - last.waitedNs) / left : waiting > 0 ? nowNs - last.nowNs : 0;
            double boundNs = when.delayOver().toNanos();
            most = Math.max(most, meanNs / boundNs);
            texts.add(String.format(Locale.ROOT, "delay %.1f ms of %.1f", meanNs / 1e6, boundNs / 1e6));
        }
        if (when.dropsOver() != null) {
            double drops = (dropped - last.dropped) / seconds;
            most = Math.max(most, drops / when.dropsOver());
            texts.add(String.format(Locale.ROOT, "drops %.0f/s of %d", drops, when.dropsOver()));
        }
        if (when.backlogOver() != null) {
            most = Math.max(most, (double) htb.backlogBytes() / when.backlogOver());
            texts.add("backlog " + htb.backlogBytes() + " of " + when.backlogOver() + " bytes");
        }
        if (when.qosClass() != null && links.isEmpty()) {
            texts.add("no class " + when.qosClass() + " at a link of qos");
        }
        return new Look(
                most > 1 ? Level.OVER : most > 0.5 ? Level.BETWEEN : Level.CALM, String.join(", ", texts), (long)
                        ((now.sentBytes - last.sentBytes) / seconds));
    }

    private static boolean isBehind(Counts now, Counts last) {
        return now.served < last.served
                || now.waitedNs < last.waitedNs
                || now.dropped < last.dropped
                || now.sentBytes < last.sentBytes;
    }
}
