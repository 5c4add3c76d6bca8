package org.tamanoir.services.morph;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import org.tamanoir.message.Effect;

/**
 * Puts handlers that commute into the order in which fewest bytes go through them: filters first (M43 of the data morphing
 * paper). Two handlers commute if one alone follows the other and the one passes messages on unchanged, or drops them, by
 * fields that the other leaves as they are. Where formats are not known beforehand, both have to pass messages on unchanged:
 * whether one can take the other's input could not be checked.
 */
final class Reordering {
    /** Of the bytes that go into a filter that says nothing of itself, these go out. */
    private static final double USUAL_FILTER = 0.5;

    private PlanGraph graph;
    private final List<String> reasons = new ArrayList<>();

    private final boolean formatsKnown;

    private Reordering(PlanGraph graph, boolean formatsKnown) {
        this.graph = graph;
        this.formatsKnown = formatsKnown;
    }

    /** The graph in its new order, and a line for each exchange. */
    record Result(PlanGraph graph, List<String> reasons) {}

    static Result of(PlanGraph written, boolean formatsKnown) {
        Reordering work = new Reordering(written, formatsKnown);
        // Each exchange lets fewer bytes through; the bound is for effects that contradict themselves.
        int most = written.stages().size() * written.stages().size();
        for (int i = 0; i < most && work.exchangeOne(); i++) {
            // Until nothing changes.
        }
        return new Result(work.graph, List.copyOf(work.reasons));
    }

    private boolean exchangeOne() {
        for (int first = 0; first < graph.stages().size(); first++) {
            int second = onlyFollower(first);
            if (second >= 0 && commute(first, second) && isLess(second, first)) {
                reasons.add(reason(first, second));
                graph = graph.swapped(first, second);
                return true;
            }
        }
        return false;
    }

    /** Returns the stage that follows this one and no other, in the same context; -1 if there is none. */
    private int onlyFollower(int of) {
        StageSpec first = graph.stages().get(of);
        if (first.next().size() != 1 || first.next().get(0).size() != 1) {
            return -1;
        }
        int follower = first.next().get(0).get(0);
        if (follower == Plan.OUT
                || graph.predecessors(follower).size() != 1
                || graph.isEntered(follower)
                || graph.stages().get(follower).next().size() != 1
                || graph.stages().get(follower).context() != first.context()) {
            return -1;
        }
        return follower;
    }

    private boolean commute(int one, int other) {
        Effect first = effect(one);
        Effect second = effect(other);
        return first.passes() && second.passes() || formatsKnown && (isApart(first, second) || isApart(second, first));
    }

    /** Returns whether one lets messages pass by fields that the other leaves as they are. */
    private static boolean isApart(Effect one, Effect other) {
        Set<String> reads = one.reads();
        return one.passes() && reads != null && other.leaves(reads);
    }

    private boolean isLess(int one, int other) {
        return ratio(effect(one)) < ratio(effect(other));
    }

    private static double ratio(Effect effect) {
        if (Double.isNaN(effect.bytesOutPerIn())) {
            return effect.passes() ? USUAL_FILTER : 1;
        }
        return effect.bytesOutPerIn();
    }

    private Effect effect(int stage) {
        return graph.stages().get(stage).effect();
    }

    private String reason(int first, int second) {
        String before = graph.stages().get(first).name();
        String after = graph.stages().get(second).name();
        Effect passing = effect(second).passes() ? effect(second) : effect(first);
        String why = effect(first).passes() && effect(second).passes()
                ? "both pass messages unchanged"
                : (effect(second).passes() ? after : before) + " reads "
                        + String.join(", ", passing.reads() == null ? Set.of() : new TreeSet<>(passing.reads()))
                        + ", which the other leaves as it is";
        return String.format(
                Locale.ROOT,
                "written %s, %s; runs %s, %s: %s, and %s lets %.2f of the bytes through, %s %.2f",
                before,
                after,
                after,
                before,
                why,
                after,
                ratio(effect(second)),
                before,
                ratio(effect(first)));
    }
}
