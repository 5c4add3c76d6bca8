package org.tamanoir.services.morph;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
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

    private final Object lock = new Object();
    private final List<Engine> engines = new CopyOnWriteArrayList<>();
    private final Map<String, StageCounts> endedCounts = new LinkedHashMap<>();
    private Balance ended = Balance.ZERO;
    private String service = "";
    private Path folder = Path.of(".");
    private @Nullable HandlerMaker maker;
    private @Nullable ControlHost host;
    private volatile @Nullable Plan plan;
    private volatile long generation;
    private long engineNumber;

    /** For the node; {@link #init} follows. */
    public MorphControl() {}

    @Override
    public void init(ServiceConfig config, ControlHost node) {
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
        plan = read(tree);
    }

    private Plan read(Map<String, Object> tree) {
        ControlHost node = host();
        return PlanReader.read(tree, folder, maker(), node.formats().known()::add, measuredNs());
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
        synchronized (lock) {
            String name = "morph " + service + " " + ++engineNumber;
            Engine engine = new Engine(name, plan(), generation, maker(), transport, host()::nanoTime, waker, true);
            engines.add(engine);
            return engine;
        }
    }

    /** Ends an instance's engine; what it has counted stays. */
    public void close(Engine engine) {
        engine.close();
        synchronized (lock) {
            if (engines.remove(engine)) {
                ended = ended.plus(Balance.of(List.of(engine)).settled());
                PlanView.addCounts(engine, endedCounts);
            }
        }
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
        synchronized (lock) {
            next = read(edited(operation, arguments));
            changing = List.copyOf(engines);
            List<Engine.Prepared> prepared = prepare(next, changing);
            plan = next;
            generation++;
            for (int i = 0; i < changing.size(); i++) {
                changing.get(i).propose(prepared.get(i));
            }
        }
        long changed = awaitChange(changing);
        Map<String, Object> answer = answer(next);
        answer.put("generation", generation);
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
    private List<Engine.Prepared> prepare(Plan next, List<Engine> changing) {
        List<Engine.Prepared> prepared = new ArrayList<>();
        try {
            for (Engine engine : changing) {
                prepared.add(engine.prepare(next, generation + 1));
            }
        } catch (RuntimeException | Error e) {
            prepared.forEach(Engine.Prepared::close);
            throw e;
        }
        return prepared;
    }

    private static long awaitChange(List<Engine> changing) {
        long untilNs = System.nanoTime() + ADOPTION_NS;
        while (changing.stream().anyMatch(engine -> engine.isChanging() && !engine.isClosed())
                && System.nanoTime() - untilNs < 0) {
            LockSupport.parkNanos(POLL_NS);
        }
        return changing.stream().filter(engine -> !engine.isChanging()).count();
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
