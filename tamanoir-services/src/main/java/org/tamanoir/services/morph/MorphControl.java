package org.tamanoir.services.morph;

import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.tamanoir.format.Format;
import org.tamanoir.format.FormatId;
import org.tamanoir.format.FormatRegistry;
import org.tamanoir.format.FormatSource;
import org.tamanoir.message.MessageService;
import org.tamanoir.service.ControlHost;
import org.tamanoir.service.ServiceConfig;
import org.tamanoir.service.ServiceControl;
import org.tamanoir.service.StreamInfo.Transport;

/**
 * The plan of a service of the class Morph: reads it, shows it, and changes it while messages pass.
 *
 * <table><caption>Operations of {@link #change}; each makes another plan of the one that runs, which is checked as a whole
 * and gone over to by each instance between two messages, or refused with all that is wrong</caption>
 * <tr><th>operation</th><th>arguments</th><th>does</th></tr>
 * <tr><td>{@code apply}</td><td>{@code plan}: a tree, or its text in YAML</td><td>replaces the whole plan</td></tr>
 * <tr><td>{@code check}</td><td>{@code plan}, or any operation as {@code operation} with its arguments</td><td>says what
 * would be, and changes nothing</td></tr>
 * <tr><td>{@code set}</td><td>{@code handler}, {@code settings}: a map of settings of its kind, or {@code then}, {@code
 * context}, {@code failure}, or the kind's name with a new value</td><td>changes one handler</td></tr>
 * <tr><td>{@code insert}</td><td>{@code handler}, {@code definition}, {@code before} or {@code after} (and {@code port})
 * </td><td>puts a handler on the edges that lead to one, or behind a port</td></tr>
 * <tr><td>{@code replace}</td><td>{@code handler}, {@code definition}</td><td>puts another kind, or other code, into its
 * place; {@code then} and the like stay unless given</td></tr>
 * <tr><td>{@code remove}</td><td>{@code handler}</td><td>takes it out: what led to it leads to what is behind its port 0
 * </td></tr>
 * <tr><td>{@code reload}</td><td>{@code handler}</td><td>makes it anew: reads its files, takes the newest version of a
 * service</td></tr>
 * <tr><td>{@code place}</td><td>{@code contexts}: all of them; {@code handlers}: contexts by handler, null: any</td><td>
 * splits and joins contexts</td></tr>
 * </table>
 *
 * <p>A change answers {@code generation}, {@code instances}, {@code changed} (of them, within 5 s), {@code order}, {@code
 * notes}, {@code admission}; {@code check} the last three and {@code formats}.
 *
 * <table><caption>The tree of {@link #view}</caption>
 * <tr><th>key</th><th>what</th></tr>
 * <tr><td>{@code service}, {@code generation}, {@code plan}</td><td>name, number of the plan, the plan as written</td></tr>
 * <tr><td>{@code handlers}</td><td>list in run order: {@code handler}, {@code kind}, {@code context}, {@code then} (a list
 * of names for each port), {@code failure}, {@code in}, {@code made}, {@code out}, {@code dropped}, {@code merged}, {@code
 * held}, {@code failed}, {@code droppedBy} (reason: count), {@code lastFailure}, {@code heldBytes}, {@code nsPerMessage};
 * the first row is the classification, named {@code (paths)}; {@code (gone)} sums up handlers that were removed</td></tr>
 * <tr><td>{@code contexts}</td><td>list: {@code context}, {@code ringBytes}, {@code filledBytes} and {@code queued} over
 * all instances, {@code waits}, {@code waitMs} (for room behind it), {@code stalled} (a text for each instance that has
 * been in one handler for more than a second)</td></tr>
 * <tr><td>{@code formats}</td><td>the path table: list of {@code format}, {@code id}, {@code handler}, {@code context},
 * {@code converted} (a name or null), {@code ports} (list of {@code format}, {@code queues} (bitmap, bit 0 leaves, bit n is
 * context n), {@code next}); of formats known beforehand, then of those that came</td></tr>
 * <tr><td>{@code order}</td><td>lines: what runs in another order than written, and why</td></tr>
 * <tr><td>{@code notes}</td><td>lines: what could not be checked beforehand</td></tr>
 * <tr><td>{@code admission}</td><td>list: {@code context}, {@code handlers}, {@code stateBytes}, {@code ofStateBytes},
 * {@code nsPerMessage}, {@code share}, {@code messagesPerSecond} (null: not known)</td></tr>
 * <tr><td>{@code messages}</td><td>{@code in}, {@code made}, {@code out}, {@code dropped}, {@code merged}, {@code held},
 * {@code queued}, {@code unaccounted}</td></tr>
 * <tr><td>{@code conservation}</td><td>the same as a line</td></tr>
 * <tr><td>{@code instances}</td><td>list, at most 100: {@code instance}, {@code generation}, {@code changing}, {@code
 * problem} (a text or null)</td></tr>
 * </table>
 *
 * <p>Thread contract: any threads.
 */
public final class MorphControl implements ServiceControl {
    static final List<String> OPERATIONS =
            List.of("apply", "check", "set", "insert", "replace", "remove", "reload", "place");
    private static final long ADOPTION_NS = 5_000_000_000L;
    private static final long POLL_NS = 1_000_000;

    /** For what takes no time. */
    private final Object lock = new Object();
    /** One change at a time: handlers are made, which may read files and fetch services. Before {@link #lock}. */
    private final Object changes = new Object();

    private final List<Engine> engines = new CopyOnWriteArrayList<>();
    private final Map<String, StageCounts> endedCounts = new LinkedHashMap<>();
    private Balance ended = Balance.ZERO;
    private String service = "";
    private Path folder = Path.of(".");
    private @Nullable HandlerMaker maker;
    private @Nullable ControlHost host;
    private volatile @Nullable Plan plan;
    /** Those of the plan, by identifier. */
    private volatile Map<FormatId, Format> formats = Map.of();

    private volatile long generation;
    private long engineNumber;

    /** For the node; {@link #init} follows. */
    public MorphControl() {}

    @Override
    public void init(ServiceConfig config, ControlHost node) {
        MessageService.requireSettings(config, "plan");
        String file = config.text("plan", "");
        Map<String, Object> tree = Map.of();
        if (!file.isEmpty()) {
            Path path = Path.of(file).toAbsolutePath().normalize();
            folder = path.getParent() == null ? path : path.getParent();
            tree = PlanTree.read(path);
        }
        init(node, new PlanKinds(node), tree);
    }

    /** Begins with a plan, of these kinds of handlers. */
    void init(ControlHost node, HandlerMaker kinds, Map<String, Object> tree) {
        host = node;
        maker = kinds;
        service = node.serviceName();
        generation = 1;
        Plan first = read(tree);
        plan = first;
        introduce(first);
    }

    private Plan read(Map<String, Object> tree) {
        FormatRegistry known = host().formats().known();
        return PlanReader.read(
                tree,
                folder,
                maker(),
                format -> Objects.requireNonNullElse(known.find(format.id()), format),
                measuredNs());
    }

    /** Makes the formats of a plan known, that it declares and that follow from its handlers: receivers ask for them. */
    private void introduce(Plan accepted) {
        FormatRegistry known = host().formats().known();
        Map<FormatId, Format> all = new HashMap<>();
        accepted.names()
                .formats()
                .values()
                .forEach(target -> all.put(target.format().id(), target.format()));
        accepted.table()
                .rows()
                .forEach(
                        row -> row.ports().forEach(port -> all.put(port.format().id(), port.format())));
        all.values().forEach(known::add);
        formats = Map.copyOf(all);
    }

    /** Returns the sources of a node's formats with the plan's own before them: what others bring pushes none of these out. */
    public FormatSource formats(FormatSource node) {
        return new FormatSource() {
            @Override
            public FormatRegistry known() {
                return node.known();
            }

            @Override
            public boolean takesDescriptions() {
                return node.takesDescriptions();
            }

            @Override
            public void request(
                    FormatId id, @Nullable InetSocketAddress previousNode, Consumer<@Nullable Format> then) {
                Format own = formats.get(id);
                if (own == null) {
                    node.request(id, previousNode, then);
                } else {
                    then.accept(node.known().add(own));
                }
            }
        };
    }

    private Map<String, Long> measuredNs() {
        Map<String, Long> measured = new HashMap<>();
        for (Engine engine : engines) {
            for (Stage stage : engine.chain().stages()) {
                measured.merge(stage.spec.name(), stage.counts.nsPerMessage.get(), Math::max);
            }
        }
        return measured;
    }

    /**
     * Begins an engine for an instance.
     *
     * @param waker has {@link Engine#expire} called on the service's thread soon; false if that cannot be. Any thread
     */
    public Engine open(Transport transport, BooleanSupplier waker) {
        String name;
        Plan running;
        long number;
        synchronized (lock) {
            name = "morph " + service + " " + ++engineNumber;
            running = plan();
            number = generation;
        }
        Engine engine = new Engine(name, running, number, maker(), transport, host()::nanoTime, waker, true);
        synchronized (lock) {
            engines.add(engine);
            if (generation != number) {
                engine.propose(new Engine.Prepared(plan(), generation, Map.of()));
            }
        }
        return engine;
    }

    /** Ends an instance's engine; what it has counted stays. */
    public void close(Engine engine) {
        engine.close();
        synchronized (lock) {
            if (engines.remove(engine)) {
                ended = ended.plus(Balance.of(List.of(engine)).settled());
                addEnded(engine);
            }
        }
    }

    /** Keeps the counts of an engine that is gone: what it held is dropped, handlers that no plan has any more are one. */
    private void addEnded(Engine engine) {
        Map<String, StageCounts> counts = new LinkedHashMap<>();
        PlanView.addCounts(engine, counts);
        counts.forEach((name, count) -> {
            count.settle();
            endedCounts
                    .computeIfAbsent(PlanView.nameOf(name, plan()), key -> new StageCounts())
                    .add(count);
        });
    }

    @Override
    public Map<String, Object> view() {
        synchronized (lock) {
            return new PlanView(service, plan(), generation, List.copyOf(engines), host().nanoTime())
                    .tree(ended, endedCounts);
        }
    }

    @Override
    public Map<String, Object> change(String operation, Map<String, Object> arguments) {
        if (operation.equals("check")) {
            Object other = arguments.get("operation");
            Plan would = read(edited(other == null ? "apply" : String.valueOf(other), arguments));
            Map<String, Object> answer = answer(would);
            answer.put("formats", would.table().tree());
            return answer;
        }
        List<Engine> changing;
        Plan next;
        long number;
        synchronized (changes) {
            next = read(edited(operation, arguments));
            Map<Engine, Engine.Prepared> prepared = prepare(next, engines);
            synchronized (lock) {
                plan = next;
                introduce(next);
                number = ++generation;
                // Those that came meanwhile make what they need themselves; those that went close what they are given.
                engines.forEach(
                        engine -> prepared.computeIfAbsent(engine, key -> new Engine.Prepared(next, number, Map.of())));
                prepared.forEach(Engine::propose);
                changing = List.copyOf(prepared.keySet());
            }
        }
        long changed = awaitChange(changing, number);
        Map<String, Object> answer = answer(next);
        answer.put("generation", number);
        answer.put("instances", changing.size());
        answer.put("changed", changed);
        return answer;
    }

    private Map<String, Object> edited(String operation, Map<String, Object> arguments) {
        if (!operation.equals("apply")) {
            return PlanEdit.of(plan().tree(), operation, arguments);
        }
        return arguments.get("plan") instanceof String text
                ? PlanTree.parse("given", text)
                : PlanEdit.map(arguments, "plan");
    }

    /** Makes all that all instances need; if one cannot, nothing has changed. */
    private Map<Engine, Engine.Prepared> prepare(Plan next, List<Engine> changing) {
        Map<Engine, Engine.Prepared> prepared = new LinkedHashMap<>();
        try {
            for (Engine engine : changing) {
                prepared.put(engine, engine.prepare(next, generation + 1));
            }
        } catch (RuntimeException | Error e) {
            prepared.values().forEach(Engine.Prepared::close);
            throw e;
        }
        return prepared;
    }

    /** Returns how many instances have gone over to a generation, or a later one. */
    private static long awaitChange(List<Engine> changing, long generation) {
        long untilNs = System.nanoTime() + ADOPTION_NS;
        while (changing.stream().anyMatch(engine -> engine.isChanging() && !engine.isClosed())
                && System.nanoTime() - untilNs < 0) {
            LockSupport.parkNanos(POLL_NS);
        }
        return changing.stream()
                .filter(engine -> engine.chain().generation >= generation)
                .count();
    }

    private static Map<String, Object> answer(Plan of) {
        Map<String, Object> answer = new LinkedHashMap<>();
        answer.put("order", of.order());
        answer.put("notes", of.notes());
        answer.put("admission", of.admission());
        return answer;
    }

    private Plan plan() {
        return required(plan);
    }

    private HandlerMaker maker() {
        return required(maker);
    }

    private ControlHost host() {
        return required(host);
    }

    private static <T> T required(@Nullable T part) {
        if (part == null) {
            throw new IllegalStateException("the control has no plan: init comes first");
        }
        return part;
    }
}
