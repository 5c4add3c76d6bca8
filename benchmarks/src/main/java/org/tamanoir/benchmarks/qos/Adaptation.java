package org.tamanoir.benchmarks.qos;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.zip.Deflater;
import org.tamanoir.arena.Arena;
import org.tamanoir.benchmarks.report.Rows;
import org.tamanoir.benchmarks.report.Section;
import org.tamanoir.qdisc.QosConfig;
import org.tamanoir.sched.AllotmentView;
import org.tamanoir.sched.CpuGrant;
import org.tamanoir.sched.Preemption;
import org.tamanoir.sched.ProcessorUse;
import org.tamanoir.sched.QosSnapshot;
import org.tamanoir.sched.QosTimer;
import org.tamanoir.sched.QualityOfService;
import org.tamanoir.sched.TurnOwner;
import org.tamanoir.services.AdaptiveLevel;

/**
 * A service that compresses, beside one that always has work: its class's delay at a fixed level and where it adapts the
 * level to its allotment. Simulated time by the node's own scheduler; what a level costs is measured just before.
 */
final class Adaptation {
    private static final int PACKET_BYTES = 8192;
    private static final int HIGHEST = 6;
    private static final int BURST_PACKETS = 64;
    private static final int BURSTS = 400;
    /** Of bursts before those that count. */
    private static final int WARM_UP_BURSTS = 20;
    /** What the class asks for of the processor at the highest level. */
    private static final double LOAD = 0.7;

    private static final long OTHER_NS = 100_000;
    private static final int LIMIT_PACKETS = 1000;
    private static final Duration QUANTUM = Duration.ofMillis(1);
    private static final String[] WORDS = {"packet", "stream", "node", "service", "the", "of", "active", "network"};
    private static final int ROUNDS = 400;

    private long nowNs;
    private final long[] costNs;
    private final long periodNs;

    private Adaptation(long[] costNs) {
        this.costNs = costNs;
        this.periodNs = (long) (BURST_PACKETS * costNs[HIGHEST] / LOAD);
    }

    static void run(Settings settings, Section section) throws IOException {
        long[] costNs = new long[HIGHEST + 1];
        for (int level = 1; level <= HIGHEST; level++) {
            costNs[level] = costNs(level);
        }
        double alone = new Adaptation(costNs).delayMs(HIGHEST, false);
        double fixed = new Adaptation(costNs).delayMs(HIGHEST, true);
        double adaptive = new Adaptation(costNs).delayMs(1, true);
        section.say(
                "Simulated time, the node's own scheduler (stfq, equal weights, one processor, quantum %d ms). A class "
                        + "that compresses packets of %,d bytes, which come in bursts of %d and ask for %.0f %% of the "
                        + "processor at level %d, beside a class that always has work. Costs of levels 1 to %d, "
                        + "measured just before, medians of %d: %s µs a packet.",
                QUANTUM.toMillis(), PACKET_BYTES, BURST_PACKETS, 100 * LOAD, HIGHEST, HIGHEST, ROUNDS, micros(costNs));
        Rows table = new Rows("| mean delay, ms | of that alone");
        table.row("level %d alone | %.2f | 1", HIGHEST, alone);
        table.row("level %d, the other class busy | %.2f | %.1f", HIGHEST, fixed, fixed / alone);
        table.row("levels 1 to %d, the other class busy | %.2f | %.1f", HIGHEST, adaptive, adaptive / alone);
        section.table(table);
        section.find("delay at level 6 beside a busy class, of that alone", "≥ 10", "%.1f", fixed / alone);
        section.find("the same where the level adapts", "≤ 2", "%.1f", adaptive / alone);
    }

    private static String micros(long[] costNs) {
        return String.join(
                ", ",
                Arrays.stream(costNs)
                        .skip(1)
                        .mapToObj(each -> "%.0f".formatted(each / 1e3))
                        .toList());
    }

    /** Returns the median cost of a packet of text. */
    private static long costNs(int level) {
        Random random = new Random(1);
        StringBuilder text = new StringBuilder();
        while (text.length() < PACKET_BYTES) {
            text.append(WORDS[random.nextInt(WORDS.length)])
                    .append(random.nextInt(100))
                    .append(' ');
        }
        byte[] in = Arrays.copyOf(text.toString().getBytes(StandardCharsets.US_ASCII), PACKET_BYTES);
        byte[] out = new byte[2 * PACKET_BYTES];
        Deflater deflater = new Deflater(level, true);
        long[] tookNs = new long[ROUNDS];
        for (int i = 0; i < ROUNDS; i++) {
            long beganNs = System.nanoTime();
            deflater.reset();
            deflater.setInput(in);
            deflater.finish();
            deflater.deflate(out);
            tookNs[i] = System.nanoTime() - beganNs;
        }
        deflater.end();
        Arrays.sort(tookNs);
        return tookNs[ROUNDS / 2];
    }

    /** Returns the mean delay of what was not dropped, from arrival to the end of processing. */
    private double delayMs(int least, boolean isOtherBusy) {
        QualityOfService quality = new QualityOfService(
                () -> NO_TIMER,
                () -> nowNs,
                () -> nowNs,
                Preemption.NONE,
                1 << 16,
                Duration.ofSeconds(10),
                new Arena());
        QosConfig config = Setup.pre(
                List.of(
                        Setup.trafficClass("text", 0, 1, LIMIT_PACKETS),
                        Setup.trafficClass("other", 1, 1, LIMIT_PACKETS)),
                Setup.turns("stfq", 1, QUANTUM));
        quality.change(config);
        QosSnapshot now = quality.now();
        CpuGrant text = turn(now);
        CpuGrant other = turn(now);
        AdaptiveLevel level = new AdaptiveLevel(least, HIGHEST);
        AllotmentView view = new AllotmentView();
        long arrived = 0;
        long served = 0;
        long delayNs = 0;
        long counted = 0;
        long[] queue = new long[LIMIT_PACKETS];
        int waiting = 0;
        int first = 0;
        while (served < (long) BURSTS * BURST_PACKETS || waiting > 0) {
            for (; arrived < (long) BURSTS * BURST_PACKETS && arrived / BURST_PACKETS * periodNs <= nowNs; arrived++) {
                if (waiting < LIMIT_PACKETS) {
                    queue[(first + waiting++) % LIMIT_PACKETS] = arrived / BURST_PACKETS * periodNs;
                } else {
                    served++; // Dropped.
                }
            }
            if (waiting > 0 && text.isIdle()) {
                text.request(0);
            }
            if (isOtherBusy && other.isIdle()) {
                other.request(1);
            }
            if (text.isGranted() && waiting > 0) {
                text.begin();
                if (text.continueQuantum() || text.goOn()) {
                    view.look(text, now, Long.MAX_VALUE);
                    level.look(view);
                    nowNs += costNs[level.level()];
                    text.serves(PACKET_BYTES);
                    long since = queue[first];
                    first = (first + 1) % LIMIT_PACKETS;
                    waiting--;
                    if (served++ >= WARM_UP_BURSTS * BURST_PACKETS) {
                        delayNs += nowNs - since;
                        counted++;
                    }
                }
            } else if (text.isGranted()) {
                text.release();
            } else if (other.isGranted()) {
                other.begin();
                if (other.continueQuantum() || other.goOn()) {
                    nowNs += OTHER_NS;
                    other.serves(PACKET_BYTES);
                }
            } else {
                nowNs = arrived / BURST_PACKETS * periodNs;
            }
        }
        quality.close();
        return delayNs / 1e6 / counted;
    }

    private static CpuGrant turn(QosSnapshot now) {
        return new CpuGrant(Objects.requireNonNull(now.turns()), new TurnOwner(() -> {}, ProcessorUse.UNKNOWN));
    }

    private static final QosTimer NO_TIMER = new QosTimer() {
        @Override
        public void at(Task task, long timeNs) {}

        @Override
        public void add(Task task) {}

        @Override
        public void remove(Task task) {}

        @Override
        public void close() {}
    };
}
