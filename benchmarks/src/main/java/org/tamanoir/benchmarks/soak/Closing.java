package org.tamanoir.benchmarks.soak;

import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.tamanoir.benchmarks.Threads;
import tools.jackson.databind.JsonNode;

/** Waits until the node is quiet, ends it, and compares. One thread. */
final class Closing {
    /** Until streams that were cut have ended, and threads of servers and deployments. */
    private static final long QUIET_NS = 75_000_000_000L;

    /** Threads that come with the first use of something, and stay: compilers, HTTP workers, deployment. */
    private static final int MORE_THREADS = 10;

    /** Of HTTP connections that are kept alive. */
    private static final int MORE_DESCRIPTORS = 24;

    private static final double MEGA = 1 << 20;
    private static final double MORE_HEAP = 24 * MEGA;
    private static final double MORE_DIRECT = 64 * MEGA;
    /** Allocators and stacks of hundreds of threads that were there leave gaps; a leak is more in half an hour. */
    private static final double MORE_RESIDENT = 256 * MEGA;

    /** Ends by SIGTERM: 128 + 15. */
    private static final int TERMINATED = 143;

    /** Reasons by which the node may lose datagrams of this traffic. */
    private static final List<String> DATAGRAM_DROPS =
            List.of("TURN_QUEUE_FULL", "QUEUE_FULL", "QUEUE_DELAY", "RATE_EXCEEDED", "INBOX_FULL", "SEND_ERROR");

    /** Lines of the log that belong to what the soak does. */
    private static final List<Pattern> EXPECTED = List.of(
            // Senders, far ends and node share the processors; an API that does not answer is found by asking it.
            Pattern.compile("BlockedThreadChecker"));

    private static final Pattern SENDER = Pattern.compile("127\\.0\\.[23]\\.\\d+:\\d+");

    private static final Pattern COMPLAINT =
            Pattern.compile(" (WARN|ERROR) |^Exception|OutOfMemory|StackOverflow|^\\s+at |#  |LEAK:");

    private static final int MAX_LINES = 10;
    private static final int MAX_LOOKS = 20;
    private static final int LOOK_MS = 500;

    private final Bed bed;
    private final SoakNode node;
    private @Nullable Sample before;
    private @Nullable Sample after;
    private @Nullable JsonNode traffic;

    Closing(Bed bed, SoakNode node) {
        this.bed = bed;
        this.node = node;
    }

    /** Takes the level to which all has to come back. */
    void warmedUp() {
        before = level(null);
    }

    /** Takes the level at the end, when it is that of before, or time is over. */
    void ended() {
        after = level(before);
        try {
            traffic = after == null ? null : settledTraffic();
        } catch (IOException e) {
            bed.faults.add("the node does not answer: " + e.getMessage());
        }
    }

    /** Returns the counts when they change no more: datagrams may wait in the node's socket. */
    private JsonNode settledTraffic() throws IOException {
        JsonNode last = node.api.get("/v1/traffic");
        for (int i = 0; i < MAX_LOOKS; i++) {
            Threads.pause(LOOK_MS / 1e3);
            JsonNode now = node.api.get("/v1/traffic");
            if (now.equals(last)) {
                break;
            }
            last = now;
        }
        return last;
    }

    private @Nullable Sample level(@Nullable Sample wanted) {
        try {
            return quiet(wanted);
        } catch (IOException e) {
            bed.faults.add("the node does not answer: " + e.getMessage());
            return null;
        }
    }

    /** Heap is compared without garbage; where the JDK has no jcmd, with it. */
    private void collectGarbage() {
        try {
            node.jcmd("GC.run");
            node.jcmd("GC.run");
        } catch (IOException e) {
            System.err.println("no garbage collection in the node: " + e.getMessage());
        }
    }

    private @Nullable Sample quiet(@Nullable Sample wanted) throws IOException {
        long deadlineNs = System.nanoTime() + QUIET_NS;
        while (!bed.faults.any()) {
            Sample now = Sample.of(node, 0, 0);
            boolean isQuiet = now.streams() == 0 && now.held() == 0;
            boolean isBack = wanted == null
                    || now.threads() <= wanted.threads() + MORE_THREADS
                            && now.descriptors() <= wanted.descriptors() + MORE_DESCRIPTORS;
            boolean isLate = System.nanoTime() - deadlineNs >= 0;
            if (isQuiet && (isBack || isLate)) {
                collectGarbage();
                return Sample.of(node, 0, 0);
            }
            if (isLate) {
                bed.faults.add("all senders have ended, and " + QUIET_NS / 1_000_000_000 + " s later the node has "
                        + (long) now.streams() + " streams and holds " + (long) now.held() + " packets: "
                        + node.api.ask("GET", "/v1/streams?limit=3", ""));
            }
            Threads.pause(0.1);
        }
        return null;
    }

    /** Ends the node and compares. */
    Verdict verdict(List<String> faults) throws Exception {
        Verdict verdict = new Verdict();
        verdict.check(faults.isEmpty(), "contents", faults.isEmpty() ? "as sent" : faults.get(0));
        faults.stream().skip(1).forEach(verdict::note);
        if (!faults.isEmpty()) {
            explain(verdict, faults.get(0));
        }
        JsonNode counted = traffic;
        Sample first = before;
        Sample last = after;
        if (counted == null || first == null || last == null) {
            complaints(verdict);
            return verdict;
        }
        long inKernel = KernelDrops.of(node.datagramPort());
        for (FarEnd end : bed.ends.subList(0, Bed.PLAIN_ENDS)) {
            inKernel += KernelDrops.of(end.address().getPort());
        }
        int exit = node.stop();
        counts(verdict, counted, inKernel);
        verdict.back("threads", first.threads(), last.threads(), MORE_THREADS, 1);
        verdict.back("descriptors", first.descriptors(), last.descriptors(), MORE_DESCRIPTORS, 1);
        verdict.back("heap after a collection, MiB", first.heapBytes(), last.heapBytes(), MORE_HEAP, MEGA);
        verdict.back("direct memory, MiB", first.directBytes(), last.directBytes(), MORE_DIRECT, MEGA);
        verdict.back("resident memory, MiB", first.residentBytes(), last.residentBytes(), MORE_RESIDENT, MEGA);
        verdict.check(exit == TERMINATED, "the node ends when it is told to", "exit code " + exit);
        complaints(verdict);
        return verdict;
    }

    private void counts(Verdict verdict, JsonNode counted, long inKernel) throws IOException {
        verdict.check(
                Sample.balance(counted) == 0 && counted.path("held").asLong() == 0,
                "in + made = out + dropped + held, held 0",
                counted.path("packetsIn") + " + " + counted.path("packetsMade") + " = " + counted.path("packetsOut")
                        + " + " + counted.path("dropped") + " + " + counted.path("held"));
        JsonNode drops = counted.path("drops");
        verdict.check(drops.path("STARVED").asLong() == 0, "nothing starved", drops.toString());
        StreamLog log = StreamLog.read(node.streamLogs());
        String difference = log.isComplete() ? log.difference(bed.ledger) : null;
        verdict.check(
                difference == null,
                "the node's counts of whole streams are those of senders and far ends",
                difference != null
                        ? difference
                        : log.isComplete()
                                ? bed.ledger.compared() + " addresses compared"
                                : "not compared, the node's log of streams has lost its beginning");
        Datagrams datagrams = bed.datagrams;
        long named = DATAGRAM_DROPS.stream()
                .mapToLong(reason -> drops.path(reason).asLong() - log.drops(reason))
                .sum();
        verdict.check(
                !log.isComplete() || datagrams.sent() == datagrams.arrived() + named + inKernel,
                "datagrams arrived, or were dropped for a reason",
                datagrams.sent() + " sent, " + datagrams.arrived() + " arrived, " + named + " dropped by the node, "
                        + inKernel + " by the kernel");
        long fromEnds = datagrams.arrived() + endDrops();
        verdict.check(
                !log.isComplete() || counted.path("packetsOut").asLong() == log.packetsOut() + fromEnds,
                "what the node says left it is what streams and datagrams brought",
                counted.path("packetsOut") + " out; " + log.packetsOut() + " by " + log.streams() + " streams, "
                        + fromEnds + " datagrams");
    }

    private long endDrops() throws IOException {
        long drops = 0;
        for (FarEnd end : bed.ends.subList(0, Bed.PLAIN_ENDS)) {
            drops += KernelDrops.of(end.address().getPort());
        }
        return drops;
    }

    /** Adds what the node's log says of the sender that the fault names. */
    private void explain(Verdict verdict, String fault) throws IOException {
        Matcher sender = SENDER.matcher(fault);
        if (sender.find()) {
            String end = sender.group() + ":";
            try (Stream<String> lines = Files.lines(node.log())) {
                lines.filter(line -> line.contains(end)).limit(MAX_LINES).forEach(verdict::note);
            }
        }
    }

    private void complaints(Verdict verdict) throws IOException {
        List<String> unexpected = new ArrayList<>();
        try (Stream<String> lines = Files.lines(node.log())) {
            lines.filter(line -> COMPLAINT.matcher(line).find())
                    .filter(line -> EXPECTED.stream()
                            .noneMatch(each -> each.matcher(line).find()))
                    .limit(MAX_LINES)
                    .forEach(unexpected::add);
        }
        verdict.check(
                unexpected.isEmpty(),
                "no warning or error in the node's log",
                unexpected.isEmpty() ? "none" : unexpected.get(0));
        unexpected.stream().skip(1).forEach(verdict::note);
    }
}
