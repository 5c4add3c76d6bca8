package org.tamanoir.benchmarks.soak;

import java.util.ArrayList;
import java.util.List;

/** Collects what went wrong, in the order in which it was found. Any thread. */
final class Faults {
    /** The first one counts: what follows from it may be without end. */
    private static final int MAX_KEPT = 20;

    private final List<String> kept = new ArrayList<>();
    private long found;

    /** Keeps a fault. */
    synchronized void add(String fault) {
        found++;
        if (kept.size() < MAX_KEPT) {
            kept.add(fault);
        }
    }

    /** Returns whether something went wrong; the run then ends early. */
    synchronized boolean any() {
        return found > 0;
    }

    /** Returns the faults, the first ones only where there are many. */
    synchronized List<String> all() {
        List<String> all = new ArrayList<>(kept);
        if (found > kept.size()) {
            all.add(found - kept.size() + " more");
        }
        return all;
    }
}
