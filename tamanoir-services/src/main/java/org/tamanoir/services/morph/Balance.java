package org.tamanoir.services.morph;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What became of all messages of some engines: in + made = out + dropped + merged + held + queued. Exact where nobody is
 * at work.
 *
 * @param held in handlers
 * @param queued in rings
 */
record Balance(long in, long made, long out, long dropped, long merged, long held, long queued) {
    /** Nothing yet. */
    static final Balance ZERO = new Balance(0, 0, 0, 0, 0, 0, 0);

    /** Returns the sum over engines. Any thread. */
    static Balance of(List<Engine> engines) {
        Balance sum = ZERO;
        for (Engine engine : engines) {
            sum = sum.plus(of(engine));
        }
        return sum;
    }

    private static Balance of(Engine engine) {
        long made = 0;
        long dropped = 0;
        long merged = 0;
        long held = 0;
        for (StageCounts counts : engine.counts()) {
            made += counts.made.get();
            dropped += counts.dropped.get();
            merged += counts.merged.get();
            held += counts.held.get();
        }
        return new Balance(
                engine.entry.in.get(),
                made,
                engine.left.get(),
                dropped,
                merged,
                held,
                engine.chain().queued());
    }

    Balance plus(Balance other) {
        return new Balance(
                in + other.in,
                made + other.made,
                out + other.out,
                dropped + other.dropped,
                merged + other.merged,
                held + other.held,
                queued + other.queued);
    }

    /** Returns it with all that has not come to an end as dropped: of an instance that is gone. */
    Balance settled() {
        return new Balance(in, made, out, dropped + held + queued, merged, 0, 0);
    }

    /** Returns what cannot be accounted for: 0. */
    long unaccounted() {
        return in + made - out - dropped - merged - held - queued;
    }

    Map<String, Object> tree() {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("in", in);
        tree.put("made", made);
        tree.put("out", out);
        tree.put("dropped", dropped);
        tree.put("merged", merged);
        tree.put("held", held);
        tree.put("queued", queued);
        tree.put("unaccounted", unaccounted());
        return tree;
    }

    @Override
    public String toString() {
        return in + " in + " + made + " made = " + out + " out + " + dropped + " dropped + " + merged + " merged + "
                + held + " held + " + queued + " queued";
    }
}
