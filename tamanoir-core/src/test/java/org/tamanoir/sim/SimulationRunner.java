package org.tamanoir.sim;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/** Plays many seeds, on as many threads as there are processors: each seed has threads and a network of its own. */
final class SimulationRunner {
    private static final AtomicLong TRACES = new AtomicLong();

    private SimulationRunner() {}

    /** Returns the hashes of all traces of the last run, mixed so that their order is no matter. */
    static long traces() {
        return TRACES.get();
    }

    /** Plays these seeds, and returns those that failed; ends early when there are as many as asked for. */
    static List<Schedule.Outcome> run(long first, int count, int mostFailures) throws Exception {
        TRACES.set(0);
        AtomicLong next = new AtomicLong(first);
        List<Schedule.Outcome> failures = new ArrayList<>();
        List<Thread> threads = new ArrayList<>();
        Runnable ending = Journal.begin();
        try {
            for (int i = 0; i < Math.max(2, Runtime.getRuntime().availableProcessors()); i++) {
                Thread thread = new Thread(() -> play(next, first + count, failures, mostFailures), "simulations " + i);
                threads.add(thread);
                thread.start();
            }
            for (Thread thread : threads) {
                thread.join();
            }
        } finally {
            ending.run();
        }
        return failures;
    }

    private static void play(AtomicLong next, long end, List<Schedule.Outcome> failures, int mostFailures) {
        long seed;
        while ((seed = next.getAndIncrement()) < end) {
            Schedule.Outcome outcome = new Schedule(seed).run();
            TRACES.addAndGet(outcome.hash() * (2 * seed + 1));
            synchronized (failures) {
                if (outcome.failure() != null) {
                    failures.add(outcome);
                }
                if (failures.size() >= mostFailures) {
                    return;
                }
            }
        }
    }

    /** Plays seeds from the command line: the first, how many, and after how many failures to end. */
    public static void main(String[] arguments) throws Exception {
        long beganNs = System.nanoTime();
        List<Schedule.Outcome> failures =
                run(Long.parseLong(arguments[0]), Integer.parseInt(arguments[1]), Integer.parseInt(arguments[2]));
        failures.forEach(failure -> System.out.println(failure.text()));
        System.out.println(arguments[1] + " seeds in " + (System.nanoTime() - beganNs) / 1_000_000 + " ms, "
                + failures.size() + " failures, traces " + Long.toHexString(TRACES.get()));
        System.exit(0);
    }
}
