package org.tamanoir.services.morph;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.tamanoir.format.Format;
import org.tamanoir.format.FormatException;
import org.tamanoir.message.Bound;
import org.tamanoir.message.MessageHandler;
import org.tamanoir.services.morph.handler.PlanNames;

/**
 * Orders the handlers of a plan that has been read, places them, and checks that the types of ends agree.
 *
 * <p>Thread contract: one thread.
 */
final class PlanAssembly {
    /** The most ways of a format through a handler that are checked beforehand. */
    private static final int MAX_ROWS = 10_000;

    private final Map<String, Object> tree;
    private final PlanNames names;
    private final List<ContextSpec> contexts;
    private final Function<String, MessageHandler> handlers;
    private final boolean drops;
    private final int emits;
    private final long rate;
    private final Map<String, Long> measuredNs;

    PlanAssembly(
            Map<String, Object> tree,
            PlanNames names,
            List<ContextSpec> contexts,
            Function<String, MessageHandler> handlers,
            boolean drops,
            int emits,
            long rate,
            Map<String, Long> measuredNs) {
        this.tree = tree;
        this.names = names;
        this.contexts = contexts;
        this.handlers = handlers;
        this.drops = drops;
        this.emits = emits;
        this.rate = rate;
        this.measuredNs = measuredNs;
    }

    /**
     * Makes the plan.
     *
     * @throws PlanException if handlers fit in no context, or do not fit each other
     */
    Plan assemble(PlanGraph written, boolean reorders) {
        if (reorders) {
            Reordering.Result better = Reordering.of(written, formatsKnown(written));
            if (!better.reasons().isEmpty()) {
                try {
                    return assemble(better.graph(), better.reasons());
                } catch (PlanException e) {
                    // What is wrong is said of the order that was written.
                }
            }
        }
        return assemble(written, List.of());
    }

    private boolean formatsKnown(PlanGraph graph) {
        return graph.paths().stream()
                .allMatch(path -> path.enter().equals(List.of(Plan.OUT))
                        || !formats(path.format()).isEmpty());
    }

    private Plan assemble(PlanGraph graph, List<String> order) {
        Placement placement = Placement.of(contexts, graph.sorted(), measuredNs, rate);
        PlanGraph placed = placement.graph();
        List<String> notes = new ArrayList<>();
        Plan plan = plan(placed, order, placement, new PathTable(List.of()), notes);
        return plan(placed, order, placement, table(plan, notes), notes);
    }

    private Plan plan(PlanGraph graph, List<String> order, Placement placement, PathTable table, List<String> notes) {
        return new Plan(
                tree,
                names,
                contexts,
                graph.stages(),
                graph.paths(),
                drops,
                emits,
                order,
                placement.admission(),
                table,
                List.copyOf(notes));
    }

    /** A format that comes to a stage, and from where, for messages. */
    private record Arrival(int stage, Format format, String from) {}

    private PathTable table(Plan plan, List<String> notes) {
        List<Arrival> waiting = new ArrayList<>();
        for (int i = 0; i < plan.paths().size(); i++) {
            PathRule path = plan.paths().get(i);
            String from = "paths[" + i + "]";
            List<Format> formats = formats(path.format());
            if (formats.isEmpty() && !path.enter().equals(List.of(Plan.OUT))) {
                notes.add(from + ": "
                        + (path.format() == null
                                ? "no format"
                                : "format " + path.format() + ", which is not known here")
                        + ": what its handlers make of messages is checked when the first comes");
            }
            for (Format format : formats) {
                path.enter().stream()
                        .filter(stage -> stage != Plan.OUT)
                        .forEach(stage -> waiting.add(new Arrival(stage, format, from)));
            }
        }
        List<String> problems = new ArrayList<>();
        List<PathTable.Row> rows = new ArrayList<>();
        Set<List<Object>> seen = new HashSet<>();
        while (!waiting.isEmpty() && rows.size() < MAX_ROWS) {
            Arrival arrival = waiting.remove(0);
            if (seen.add(List.of(arrival.stage, arrival.format))) {
                try {
                    rows.add(row(plan, arrival, waiting));
                } catch (RuntimeException | LinkageError e) {
                    problems.add("handlers." + plan.nameOf(arrival.stage) + ": cannot take " + arrival.format.name()
                            + " from " + arrival.from + ": " + why(e));
                }
            }
        }
        if (!problems.isEmpty()) {
            throw new PlanException(problems);
        }
        rows.sort((a, b) -> Integer.compare(a.stage(), b.stage()));
        return new PathTable(List.copyOf(rows));
    }

    private static @Nullable String why(Throwable e) {
        return e instanceof IllegalArgumentException || e instanceof FormatException
                ? e.getMessage()
                : Failures.text(e);
    }

    private List<Format> formats(@Nullable String name) {
        return name == null
                ? List.of()
                : names.formats().entrySet().stream()
                        .sorted(Map.Entry.comparingByKey())
                        .map(entry -> entry.getValue().format())
                        .filter(format -> name.equals(format.name())
                                || name.equalsIgnoreCase(format.id().toString()))
                        .distinct()
                        .toList();
    }

    private PathTable.Row row(Plan plan, Arrival arrival, List<Arrival> waiting) {
        StageSpec spec = plan.stages().get(arrival.stage);
        MessageHandler handler = handlers.apply(spec.name());
        Entrance entrance = Entrance.of(handler, arrival.format);
        Bound bound = entrance.bound();
        List<Format> outputs = new ArrayList<>();
        for (int port = 0; port < spec.next().size(); port++) {
            Format output = bound.output(port);
            outputs.add(output);
            Stream<Integer> next = spec.next().get(port).stream().filter(stage -> stage != Plan.OUT);
            next.forEach(stage -> waiting.add(new Arrival(stage, output, spec.name())));
        }
        Format converted =
                entrance.conversion() == null ? null : entrance.conversion().target();
        return PathTable.row(plan, arrival.stage, arrival.format, converted, outputs);
    }
}
