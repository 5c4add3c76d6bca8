package org.tamanoir.benchmarks.soak;

import java.io.IOException;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.StringJoiner;
import java.util.TreeSet;
import org.tamanoir.benchmarks.Threads;
import org.tamanoir.benchmarks.netns.NodeApi;

/**
 * Walks through all disciplines, before processing and on links, while traffic flows. Runs on a thread of its own; the
 * name of the present step is read by any.
 */
final class Scheduling {
    /** Those that order turns. */
    static final List<String> BEFORE = List.of("fifo", "pq", "wfq", "fq", "scfq", "stfq", "wf2q+", "drr");
    /** Those that order departures. */
    static final List<String> LINKS =
            List.of("drr", "fq-codel", "fifo", "wfq", "codel", "pq", "stfq", "scfq", "wf2q+", "fq");

    private final Bed bed;
    private final NodeApi api;
    private final long everyMs;
    private final Random random;
    private final Set<String> walked = new TreeSet<>();
    private volatile String now = "off";
    private volatile int step;

    /** @param first step to begin with */
    Scheduling(Bed bed, NodeApi api, long everyMs, int first, Random random) {
        this.bed = bed;
        this.api = api;
        this.everyMs = everyMs;
        this.random = random;
        this.step = first;
    }

    @SuppressWarnings("NonAtomicVolatileUpdate") // One writer.
    void run() {
        while (!bed.isEnding()) {
            long began = System.nanoTime();
            try {
                change();
            } catch (IOException e) {
                bed.faults.add("quality of service is not changed: " + e.getMessage());
                return;
            }
            step++;
            while (!bed.isEnding() && System.nanoTime() - began < everyMs * 1_000_000) {
                Threads.pause(0.02);
            }
        }
    }

    /** Each ninth step is off. */
    private void change() throws IOException {
        int round = BEFORE.size() + 1;
        int at = step % round;
        if (at == BEFORE.size()) {
            now = "off";
            api.ask("DELETE", "/v1/qos", "");
            return;
        }
        String before = BEFORE.get(at);
        String narrow = LINKS.get(step % LINKS.size());
        String wide = LINKS.get((step / round + at) % LINKS.size());
        now = before + "/" + narrow + "/" + wide;
        api.ask("PUT", "/v1/qos", config(before, narrow, wide));
        synchronized (walked) {
            walked.add(before);
        }
    }

    private String config(String before, String narrow, String wide) {
        StringJoiner classes = new StringJoiner(",");
        for (int i = 0; i < Bed.CLASSES; i++) {
            classes.add("{\"name\":\"c%d\",\"class-of-service\":[%1$d],\"weight\":%d,\"limit-packets\":%d}"
                    .formatted(i, 1 + random.nextInt(9), 50 + random.nextInt(1000)));
        }
        String pre = "{\"discipline\":\"%s\",\"processors\":%d,\"quantum\":\"%dus\"}"
                .formatted(before, 1 + random.nextInt(2), 50 + random.nextInt(950));
        return "{\"classes\":[%s],\"pre\":%s,\"links\":[%s,%s]}"
                .formatted(
                        classes,
                        pre,
                        link("narrow", 1, 100 + random.nextInt(200), narrow),
                        link("wide", 2, 200 + random.nextInt(600), wide));
    }

    private static String link(String name, int end, int megabits, String discipline) {
        return "{\"name\":\"%s\",\"next-hops\":[\"127.0.1.%d/32\"],\"rate\":\"%dMbit/s\",\"discipline\":\"%s\"}"
                .formatted(name, end + 1, megabits, discipline);
    }

    /** Names the disciplines at work: before processing, and on both links. */
    String now() {
        return now;
    }

    int step() {
        return step;
    }

    /** Returns the disciplines before processing that were at work. */
    Set<String> walked() {
        synchronized (walked) {
            return new TreeSet<>(walked);
        }
    }
}
