package org.tamanoir.benchmarks.soak;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.tamanoir.benchmarks.NodeJvm;
import org.tamanoir.benchmarks.Processes;
import org.tamanoir.benchmarks.Threads;
import org.tamanoir.tls.TlsFiles;

/** One run: a warm-up, a pause, the traffic itself, the end of the node, the verdict. One thread. */
final class Run {
    private static final double WARM_UP_PART = 0.2;
    private static final double MAX_WARM_UP_S = 30;
    private static final long PROGRESS_S = 10;
    private static final long CHANGE_MS = 5000;
    private static final int MIN_CHANGES = 9;
    /** A short run is looked at more often than each second, so that its plots have lines. */
    private static final int MIN_SAMPLES = 12;
    /** A stream may wait for a class that comes last for a change, for a far end that stalls, for a busy machine. */
    private static final long STANDS_NS = 60_000_000_000L;

    /** A shorter run need not come by all disciplines on a busy machine. */
    private static final double ALL_WALKED_S = 60;

    private static final long SECOND_NS = 1_000_000_000L;

    private final long seed;
    private final double seconds;
    private final int streams;
    private final NodeJvm jvm;
    private final @Nullable Path out;
    private final Samples samples = new Samples();
    private final Set<String> walked = new TreeSet<>();
    private int deployments;
    private int step;
    private long beganNs;
    private long nextSampleNs;
    private long nextProgressNs;

    Run(long seed, double minutes, int streams, NodeJvm jvm, @Nullable Path out) {
        this.seed = seed;
        this.seconds = minutes * 60;
        this.streams = streams;
        this.jvm = jvm;
        this.out = out;
    }

    /** Runs all of it. */
    Verdict run() throws Exception {
        double warmUp = Math.min(MAX_WARM_UP_S, seconds * WARM_UP_PART);
        try (Processes processes = new Processes()) {
            TlsFiles files = Certificate.make(processes.folder());
            try (Repository repository = new Repository(processes.folder());
                    Bed bed = new Bed(seed, files.context())) {
                SoakNode node = new SoakNode(processes, jvm, bed, files, repository);
                Random random = new Random(seed);
                Closing closing = new Closing(bed, node);
                beganNs = System.nanoTime();
                nextSampleNs = beganNs;
                nextProgressNs = beganNs + PROGRESS_S * SECOND_NS;
                phase(bed, node, warmUp, random);
                closing.warmedUp();
                phase(bed, node, seconds - warmUp, random);
                closing.ended();
                List<String> faults = bed.faults.all();
                if (!faults.isEmpty()) {
                    keep(node);
                }
                Verdict verdict = closing.verdict(faults);
                verdict.check(
                        walked.size() == Scheduling.BEFORE.size() || !faults.isEmpty() || seconds < ALL_WALKED_S,
                        "disciplines that were at work before processing",
                        walked.toString());
                verdict.note(summary(bed));
                return verdict;
            } finally {
                if (out != null) {
                    samples.write(out);
                }
            }
        }
    }

    private String summary(Bed bed) {
        return ("%,d MB verified; %,d whole streams, %,d cut, %,d of those to be cut refused; %,d datagrams; %d deployments; %d "
                        + "changes of scheduling; at most %.0f threads, %.0f descriptors, %.0f packets held, %.0f MB resident")
                .formatted(
                        bed.flows.verifiedBytes() / 1_000_000,
                        bed.ledger.streams(),
                        bed.ledger.streamsCut(),
                        bed.ledger.streamsRefused(),
                        bed.datagrams.sent(),
                        deployments,
                        step,
                        samples.most(Sample::threads),
                        samples.most(Sample::descriptors),
                        samples.most(Sample::held),
                        samples.most(Sample::residentBytes) / 1e6);
    }

    /** Has traffic flow for a while, and finish. */
    private void phase(Bed bed, SoakNode node, double forSeconds, Random random) throws Exception {
        if (bed.faults.any()) {
            return;
        }
        bed.ending(false);
        long everyMs = Math.min(CHANGE_MS, (long) (forSeconds * 1000 / MIN_CHANGES));
        Senders senders = new Senders(bed);
        Scheduling scheduling = new Scheduling(bed, node.api, everyMs, step, new Random(random.nextLong()));
        Deployments changes = new Deployments(bed, node.api, senders, new Random(random.nextLong()));
        senders.start(streams, new Random(random.nextLong()));
        bed.datagrams.start(new Random(random.nextLong()));
        Thread scheduler = Threads.start("scheduling", scheduling::run);
        Thread deployer = Threads.start("deployments", changes::run);
        long endNs = System.nanoTime() + (long) (forSeconds * SECOND_NS);
        while (System.nanoTime() - endNs < 0 && !bed.faults.any()) {
            look(bed, node, scheduling);
        }
        bed.ending(true);
        while (!bed.faults.any() && !(senders.join(100) && !scheduler.isAlive() && !deployer.isAlive())) {
            look(bed, node, scheduling);
        }
        if (!bed.faults.any()) {
            bed.datagrams.join();
        }
        step = scheduling.step();
        walked.addAll(scheduling.walked());
        deployments += changes.count();
    }

    private void look(Bed bed, SoakNode node, Scheduling scheduling) {
        long now = System.nanoTime();
        for (Connection each : bed.whole) {
            if (each.standsNs(now) > STANDS_NS) {
                String missing = each.onItsWay();
                bed.faults.add(each.mix().name + " from " + each.local() + " stands still for "
                        + STANDS_NS / SECOND_NS + " s with " + scheduling.now() + ": "
                        + (missing == null ? "all arrived, but the node does not end it" : missing));
                return;
            }
        }
        if (now - nextSampleNs < 0) {
            Threads.pause(0.05);
            return;
        }
        nextSampleNs = now + Math.min(SECOND_NS, (long) (seconds * SECOND_NS / MIN_SAMPLES));
        try {
            node.requireAlive();
            Sample sample = Sample.of(node, (now - beganNs) / 1e9, bed.flows.verifiedBytes());
            samples.add(sample);
            bed.nodeStreams((int) sample.streams());
            node.api.get("/v1/streams?limit=20");
            node.api.get("/v1/qos/status");
            if (now - nextProgressNs >= 0) {
                nextProgressNs = now + PROGRESS_S * SECOND_NS;
                progress(bed, scheduling, sample);
            }
        } catch (IOException e) {
            bed.faults.add("the node does not answer: " + e.getMessage());
        }
    }

    private void progress(Bed bed, Scheduling scheduling, Sample sample) {
        long second = Math.round(sample.second());
        System.out.printf(
                "[%d:%02d] %,d MB verified · %,d streams whole, %,d cut · %s · heap %.0f, direct %.0f, resident %.0f MB · "
                        + "%.0f threads · %.0f descriptors · %.0f streams · %.0f held%n",
                second / 60,
                second % 60,
                bed.flows.verifiedBytes() / 1_000_000,
                bed.ledger.streams(),
                bed.ledger.streamsCut(),
                scheduling.now(),
                sample.heapBytes() / 1e6,
                sample.directBytes() / 1e6,
                sample.residentBytes() / 1e6,
                sample.threads(),
                sample.descriptors(),
                sample.streams(),
                sample.held());
    }

    /** Keeps what tells why: the node's log and its threads. */
    private void keep(SoakNode node) throws IOException {
        Path to = out;
        if (to == null) {
            return;
        }
        Files.createDirectories(to);
        Files.copy(node.log(), to.resolve("node.log"), StandardCopyOption.REPLACE_EXISTING);
        try {
            Files.writeString(to.resolve("threads.txt"), node.jcmd("Thread.print"));
        } catch (IOException e) {
            System.err.println("no threads of the node: " + e.getMessage());
        }
    }
}
