package org.tamanoir.qdisc;

import java.util.ArrayList;
import java.util.List;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.function.BiConsumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The queueing disciplines that there are: those of this package, and those that ServiceLoader finds. */
public final class Disciplines {
    private static final String STFQ = "stfq";
    private static final String WFQ = "wfq";
    private static final String FQ = "fq";

    private Disciplines() {}

    /** Looked up once, when it is first asked for. */
    private static final class Found {
        static final DisciplineRegistry REGISTRY =
                new DisciplineRegistry(BuiltInDisciplines.all(), Disciplines.class.getClassLoader());
    }

    /** Names of all disciplines. */
    public static SortedSet<String> names() {
        return new TreeSet<>(Found.REGISTRY.providers().keySet());
    }

    /** Names of those that may order turns. */
    public static SortedSet<String> namesForTurns() {
        SortedSet<String> names = new TreeSet<>(Found.REGISTRY.forTurns().keySet());
        if (names.contains(STFQ)) {
            names.add(WFQ);
            names.add(FQ);
        }
        return names;
    }

    /** Providers on the class path that cannot be used, and why, a line each. */
    public static List<String> problems() {
        return Found.REGISTRY.problems();
    }

    /**
     * Makes a discipline. When it throws, so does whatever was called.
     *
     * @throws IllegalArgumentException in one line, if there is none of this name, which lists those that there are, or
     *     its settings cannot be used
     */
    public static GuardedDiscipline create(String name, DisciplineConfig config, Drops drops) {
        return create(name, config, drops, null);
    }

    /**
     * Makes a discipline.
     *
     * @param failures is told, in a line and with its cause, when the discipline fails: what stands in it, and what
     *     comes after that, is served in the order of arrival then
     * @throws IllegalArgumentException in one line, if there is none of this name, which lists those that there are, or
     *     its settings cannot be used
     */
    public static GuardedDiscipline create(
            String name, DisciplineConfig config, Drops drops, @Nullable BiConsumer<String, Throwable> failures) {
        DisciplineProvider provider = Found.REGISTRY.providers().get(name);
        if (provider == null) {
            throw new IllegalArgumentException(unknown(name, names()));
        }
        return make(name, config, drops, failures, guarded -> provider.create(config, guarded));
    }

    /**
     * Makes a discipline for turns; {@code wfq} and {@code fq} are {@code stfq} here, since what a turn costs is known
     * only afterwards. With {@code fq} all weights are equal.
     *
     * @throws IllegalArgumentException in one line, as {@link #create}
     */
    public static GuardedDiscipline createForTurns(String name, DisciplineConfig config) {
        return createForTurns(name, config, null);
    }

    /**
     * Makes a discipline for turns.
     *
     * @param failures as {@link #create(String, DisciplineConfig, Drops, BiConsumer)}
     * @throws IllegalArgumentException in one line, as {@link #create}
     */
    public static GuardedDiscipline createForTurns(
            String name, DisciplineConfig config, @Nullable BiConsumer<String, Throwable> failures) {
        boolean fair = name.equals(WFQ) || name.equals(FQ);
        DisciplineProvider provider = Found.REGISTRY.forTurns().get(fair ? STFQ : name);
        if (provider == null) {
            String line = names().contains(name)
                    ? "discipline " + name + " cannot order turns: use one of " + String.join(", ", namesForTurns())
                    : unknown(name, namesForTurns());
            throw new IllegalArgumentException(line);
        }
        DisciplineConfig used = name.equals(FQ) ? withEqualWeights(config) : config;
        Drops none = (item, reason) -> {
            throw new IllegalStateException("discipline " + name + " dropped a turn: " + reason);
        };
        return make(
                name,
                used,
                none,
                failures,
                guarded -> provider instanceof BuiltInDisciplines.BuiltIn builtIn
                        ? builtIn.makerForTurns().apply(used, guarded)
                        : provider.create(used, guarded));
    }

    /** Returns the weights by which a discipline shares turns between flows; empty if it gives them in an order. */
    static long[] turnWeights(String name, List<FlowConfig> flows) {
        return switch (name) {
            case Fifo.NAME, PriorityQueueing.NAME -> new long[0];
            case FQ -> flows.stream().mapToLong(flow -> 1).toArray();
            default -> flows.stream().mapToLong(FlowConfig::weight).toArray();
        };
    }

    /** What a failure says, in one line. */
    static String line(Throwable failure) {
        StringBuilder line = new StringBuilder();
        for (Throwable at = failure; at != null && line.length() < 1000; at = at.getCause()) {
            String message =
                    at instanceof IllegalArgumentException && at.getMessage() != null ? at.getMessage() : at.toString();
            if (line.indexOf(message) < 0) {
                line.append(line.isEmpty() ? "" : ": ").append(message);
            }
        }
        return line.toString().replaceAll("\\s+", " ");
    }

    private static GuardedDiscipline make(
            String name,
            DisciplineConfig config,
            Drops drops,
            @Nullable BiConsumer<String, Throwable> failures,
            Function<Drops, QueueingDiscipline> maker) {
        GuardedDiscipline guard = new GuardedDiscipline(name, config, drops, failures);
        QueueingDiscipline made;
        try {
            made = maker.apply(guard::dropped);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(line(e), e);
        } catch (RuntimeException | LinkageError e) {
            throw new IllegalArgumentException("discipline " + name + " could not be made: " + line(e), e);
        }
        if (made == null) {
            throw new IllegalArgumentException("discipline " + name + " could not be made: its provider gave null");
        }
        guard.guard(made);
        return guard;
    }

    private static String unknown(String name, SortedSet<String> names) {
        List<String> problems = problems();
        return "discipline '" + name + "': there is none of this name; use one of " + String.join(", ", names)
                + (problems.isEmpty() ? "" : "; " + String.join("; ", problems));
    }

    private static DisciplineConfig withEqualWeights(DisciplineConfig config) {
        List<FlowConfig> flows = new ArrayList<>();
        for (FlowConfig flow : config.flows()) {
            flows.add(new FlowConfig(1, flow.limitPackets(), flow.limitBytes()));
        }
        return new DisciplineConfig(flows, config.rate(), config.options());
    }
}
