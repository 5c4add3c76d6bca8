package org.tamanoir.benchmarks.soak;

import java.io.IOException;
import java.util.Random;
import org.tamanoir.benchmarks.Threads;
import org.tamanoir.benchmarks.netns.NodeApi;

/**
 * Deploys services of the repository and takes them away again while traffic flows: by an operator, and on demand of a
 * stream. Runs on a thread of its own; the count is read by any.
 */
final class Deployments {
    private static final int BATCHES = 5;
    private static final int HOST = 200;
    private static final int MIN_PAUSE_MS = 1000;
    private static final int MAX_PAUSE_MS = 3000;

    private final Bed bed;
    private final NodeApi api;
    private final Senders senders;
    private final Random random;
    private volatile int count;

    Deployments(Bed bed, NodeApi api, Senders senders, Random random) {
        this.bed = bed;
        this.api = api;
        this.senders = senders;
        this.random = random;
    }

    @SuppressWarnings("NonAtomicVolatileUpdate") // One writer.
    void run() {
        for (int round = 0; !bed.isEnding(); round++) {
            String name = Repository.NAMES.get(round % Repository.NAMES.size());
            try {
                if (round % 2 == 0) {
                    api.ask("POST", "/v1/services/" + name + "/deploy", "{}");
                }
                Mix mix = Mix.by(bed, name, random, "stream by " + name + ", deployment " + round);
                if (!senders.whole(mix, 0, HOST, random, BATCHES)) {
                    return;
                }
                api.ask("POST", "/v1/services/" + name + "/undeploy", "{\"block\": false}");
                count++;
            } catch (IOException e) {
                bed.faults.add("deployment " + round + " of " + name + ": " + e.getMessage());
                return;
            }
            long pauseMs = MIN_PAUSE_MS + random.nextInt(MAX_PAUSE_MS - MIN_PAUSE_MS);
            for (long ms = 0; ms < pauseMs && !bed.isEnding(); ms += 50) {
                Threads.pause(0.05);
            }
        }
    }

    int count() {
        return count;
    }
}
