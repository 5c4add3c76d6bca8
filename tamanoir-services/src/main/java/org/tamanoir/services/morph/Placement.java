package org.tamanoir.services.morph;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/**
 * Places handlers in contexts by what they need and contexts have (M18 of the data morphing paper): one after the other in
 * the order in which they run, each where fewest edges lead from one context to another, the first context of several. A
 * handler whose context is written stays there. Contexts may not lead to each other in a circle, and nothing leads back to
 * {@code receive} but the way out, so that full rings cannot block one another.
 */
final class Placement {
    private static final double NS_PER_SECOND = 1e9;

    private final List<ContextSpec> contexts;
    private final PlanGraph graph;
    private final Map<String, Long> measuredNs;
    private final long rate;
    private final List<StageSpec> placed;
    private final List<String> problems = new ArrayList<>();

    private Placement(List<ContextSpec> contexts, PlanGraph graph, Map<String, Long> measuredNs, long rate) {
        this.contexts = contexts;
        this.graph = graph;
        this.measuredNs = measuredNs;
        this.rate = rate;
        this.placed = new ArrayList<>(graph.stages());
    }

    /**
     * Places all handlers.
     *
     * @param graph sorted
     * @param rate messages a second that are expected; 0: not known, and processor time is not checked
     * @throws PlanException if that cannot be: the numbers, and what would fit
     */
    static Placement of(List<ContextSpec> contexts, PlanGraph graph, Map<String, Long> measuredNs, long rate) {
        Placement placement = new Placement(contexts, graph, measuredNs, rate);
        placement.place();
        if (!placement.problems.isEmpty()) {
            throw new PlanException(placement.problems);
        }
        return placement;
    }

    PlanGraph graph() {
        return new PlanGraph(List.copyOf(placed), graph.paths());
    }

    private void place() {
        checkWritten();
        for (int i = 0; i < placed.size() && problems.isEmpty(); i++) {
            if (placed.get(i).context() < 0) {
                placeOne(i);
            }
        }
    }

    private void checkWritten() {
        for (int context = 0; context < contexts.size(); context++) {
            String fault = shortage(context);
            if (!fault.isEmpty()) {
                problems.add("contexts." + contexts.get(context).name() + ": " + fault);
            }
        }
        if (problems.isEmpty()) {
            String circle = circle();
            if (!circle.isEmpty()) {
                problems.add("handlers: " + circle);
            }
        }
    }

    private void placeOne(int stage) {
        int best = -1;
        int bestCrossings = Integer.MAX_VALUE;
        List<String> refusals = new ArrayList<>();
        StageSpec unplaced = placed.get(stage);
        for (int context = 0; context < contexts.size(); context++) {
            placed.set(stage, unplaced.withContext(context));
            String shortage = shortage(context);
            String why = shortage.isEmpty() ? circle() : shortage;
            int crossings = crossings(stage);
            if (!why.isEmpty()) {
                refusals.add(contexts.get(context).name() + ": " + why);
            } else if (crossings < bestCrossings) {
                best = context;
                bestCrossings = crossings;
            }
        }
        placed.set(stage, unplaced.withContext(best));
        if (best < 0) {
            problems.add("handlers." + unplaced.name() + ": fits in no context; " + String.join("; ", refusals)
                    + "; raise one of them, or declare another context");
        }
    }

    /** Returns how many edges of a stage lead from one context to another, as far as both ends are placed. */
    private int crossings(int stage) {
        int context = placed.get(stage).context();
        int crossings = graph.isEntered(stage) && context != Plan.RECEIVE ? 1 : 0;
        crossings +=
                placed.get(stage).next().stream().anyMatch(port -> port.contains(Plan.OUT)) && context != Plan.RECEIVE
                        ? 1
                        : 0;
        List<Integer> neighbours = new ArrayList<>(graph.predecessors(stage));
        neighbours.addAll(graph.successors(stage));
        for (int other : neighbours) {
            int there = placed.get(other).context();
            crossings += there >= 0 && there != context ? 1 : 0;
        }
        return crossings;
    }

    /** Returns what handlers in a context need beyond what it has; empty if it has enough. */
    private String shortage(int context) {
        ContextSpec spec = contexts.get(context);
        long state = stateBytes(context);
        if (state > spec.stateBytes()) {
            return "its handlers need " + state + " bytes of state, it has " + spec.stateBytes() + ": state: " + state
                    + " would fit";
        }
        double needed = nsPerMessage(context) * (double) rate / NS_PER_SECOND;
        if (needed > spec.share()) {
            return String.format(
                    Locale.ROOT,
                    "its handlers need %d ns a message, at %d a second %.2f of a processor, it has %.2f: %s",
                    nsPerMessage(context),
                    rate,
                    needed,
                    spec.share(),
                    needed > 1
                            ? String.format(
                                    Locale.ROOT,
                                    "a rate of %.0f would fit",
                                    spec.share() * NS_PER_SECOND / nsPerMessage(context))
                            : String.format(Locale.ROOT, "share: %.2f would fit", Math.ceil(needed * 100) / 100));
        }
        return "";
    }

    private long stateBytes(int context) {
        return placed.stream()
                .filter(stage -> stage.context() == context)
                .mapToLong(stage -> stage.needs().stateBytes())
                .reduce(0, (a, b) -> a + b < 0 ? Long.MAX_VALUE : a + b);
    }

    private long nsPerMessage(int context) {
        return placed.stream()
                .filter(stage -> stage.context() == context)
                .mapToLong(this::nsPerMessage)
                .sum();
    }

    private long nsPerMessage(StageSpec stage) {
        long declared = stage.needs().nsPerMessage();
        return declared > 0 ? declared : measuredNs.getOrDefault(stage.name(), 0L);
    }

    /** Returns which contexts lead to each other in a circle, as far as handlers are placed; empty if none do. */
    private String circle() {
        List<Integer> order = order(placed, contexts.size(), graph);
        if (order.size() == contexts.size() && !leadsTo(Plan.RECEIVE)) {
            return "";
        }
        List<String> names = new ArrayList<>();
        for (int i = 0; i < contexts.size(); i++) {
            if (!order.contains(i) || i == Plan.RECEIVE) {
                names.add(contexts.get(i).name());
            }
        }
        return "contexts " + String.join(", ", names)
                + " would lead back to each other; behind another context no handler is in " + ContextSpec.RECEIVE
                + ": put those that follow into the same context or a further one";
    }

    private boolean leadsTo(int context) {
        for (int i = 0; i < placed.size(); i++) {
            for (int next : graph.successors(i)) {
                if (placed.get(next).context() == context
                        && placed.get(i).context() >= 0
                        && placed.get(i).context() != context) {
                    return true;
                }
            }
        }
        return false;
    }

    /** Returns the contexts, each behind those that lead to it; those of circles are missing. */
    static List<Integer> order(List<StageSpec> stages, int contexts, PlanGraph graph) {
        Map<Integer, List<Integer>> from = new TreeMap<>();
        for (int i = 0; i < stages.size(); i++) {
            for (int next : graph.successors(i)) {
                int one = stages.get(i).context();
                int other = stages.get(next).context();
                if (one >= 0 && other >= 0 && one != other) {
                    from.computeIfAbsent(other, key -> new ArrayList<>()).add(one);
                }
            }
        }
        List<Integer> order = new ArrayList<>();
        boolean grows = true;
        while (grows) {
            grows = false;
            for (int i = 0; i < contexts && !grows; i++) {
                if (!order.contains(i) && order.containsAll(from.getOrDefault(i, List.of()))) {
                    order.add(i);
                    grows = true;
                }
            }
        }
        return Collections.unmodifiableList(order);
    }

    /** Returns what each context has and its handlers need. */
    List<Map<String, Object>> admission() {
        List<Map<String, Object>> rows = new ArrayList<>();
        for (int context = 0; context < contexts.size(); context++) {
            ContextSpec spec = contexts.get(context);
            int number = context;
            long ns = nsPerMessage(context);
            Map<String, Object> row = new LinkedHashMap<>();
            row.put("context", spec.name());
            row.put(
                    "handlers",
                    placed.stream()
                            .filter(stage -> stage.context() == number)
                            .map(StageSpec::name)
                            .toList());
            row.put("stateBytes", stateBytes(context));
            row.put("ofStateBytes", spec.stateBytes());
            row.put("nsPerMessage", ns);
            row.put("share", spec.share());
            row.put("messagesPerSecond", ns == 0 ? null : (long) (spec.share() * NS_PER_SECOND / ns));
            rows.add(row);
        }
        return rows;
    }
}
