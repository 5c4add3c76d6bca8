package org.tamanoir.services.morph;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.tamanoir.format.Format;
import org.tamanoir.format.FormatException;
import org.tamanoir.format.Target;
import org.tamanoir.format.text.Decimals;
import org.tamanoir.message.Effect;
import org.tamanoir.message.MessageHandler;
import org.tamanoir.message.Needs;
import org.tamanoir.service.StreamInfo.Transport;
import org.tamanoir.services.AddressPrefix;
import org.tamanoir.services.morph.handler.HandlerSettings;
import org.tamanoir.services.morph.handler.PlanNames;

/**
 * Reads a plan from its tree, checks all of it, and says all that is wrong at once. Makes each handler once to ask it what
 * it needs, and closes it again.
 *
 * <p>Thread contract: one thread, not a packet's: handlers read files, and services may be fetched.
 */
final class PlanReader {
    private static final List<String> KEYS =
            List.of("formats", "declare", "contexts", "handlers", "paths", "default", "reorder", "emits", "rate");
    static final Set<String> HANDLER_KEYS = Set.of("then", "context", "failure", "revision");
    private static final int MAX_PATHS = 1000;
    private static final int MAX_SHOWN = 100;

    private final Map<String, Object> tree;
    private final Path folder;
    private final HandlerMaker maker;
    private final Map<String, Long> measuredNs;
    private final List<String> problems = new ArrayList<>();
    private final List<String> names = new ArrayList<>();
    private final List<@Nullable MessageHandler> handlers = new ArrayList<>();

    private PlanReader(Map<String, Object> tree, Path folder, HandlerMaker maker, Map<String, Long> measuredNs) {
        this.tree = tree;
        this.folder = folder;
        this.maker = maker;
        this.measuredNs = measuredNs;
    }

    /**
     * Reads a plan.
     *
     * @param folder from which names of files begin
     * @param known returns the object that the node has for a format
     * @param measuredNs times for a message that handlers of these names were seen to take
     * @throws PlanException all that is wrong
     */
    static Plan read(
            Map<String, Object> tree,
            Path folder,
            HandlerMaker maker,
            UnaryOperator<Format> known,
            Map<String, Long> measuredNs) {
        PlanReader reader = new PlanReader(tree, folder, maker, measuredNs);
        try {
            return reader.read(known);
        } finally {
            reader.handlers.forEach(handler -> {
                if (handler != null) {
                    handler.close();
                }
            });
        }
    }

    private Plan read(UnaryOperator<Format> known) {
        tree.keySet().stream()
                .filter(key -> !KEYS.contains(key))
                .forEach(key -> problems.add(key + ": unknown; known: " + String.join(", ", KEYS)));
        PlanFormats formats = new PlanFormats(tree, folder, known, problems);
        PlanNames planNames = new PlanNames(formats.targets(), folder);
        HandlerSettings top = new HandlerSettings("", tree, planNames);
        int emits = (int) number(() -> top.number("emits", 10_000, 1, 1_000_000));
        long rate = number(() -> top.number("rate", 0, 0, 1_000_000_000));
        boolean reorders = Boolean.TRUE.equals(attempt(() -> top.flag("reorder", true)));
        boolean drops = "drop".equals(attempt(() -> top.choice("default", "pass", "drop")));
        List<ContextSpec> contexts = contexts(planNames);
        Map<String, Object> written = section("handlers");
        names.addAll(written.keySet());
        if (names.size() > Plan.MAX_HANDLERS) {
            problems.add("handlers: " + names.size() + ": at most " + Plan.MAX_HANDLERS + " in a plan");
            throw new PlanException(problems);
        }
        List<StageSpec> stages = new ArrayList<>();
        written.forEach((name, value) -> stages.add(stage(name, value, contexts, planNames)));
        List<PathRule> paths = paths(planNames);
        refuse();
        PlanGraph graph = new PlanGraph(stages, paths);
        graph.check(problems);
        refuse();
        return new PlanAssembly(tree, planNames, contexts, this::handler, drops, emits, rate, measuredNs)
                .assemble(graph, reorders);
    }

    private MessageHandler handler(String name) {
        return Objects.requireNonNull(handlers.get(names.indexOf(name)));
    }

    private void refuse() {
        if (!problems.isEmpty()) {
            throw new PlanException(problems.size() <= MAX_SHOWN ? problems : problems.subList(0, MAX_SHOWN));
        }
    }

    private <T> @Nullable T attempt(Supplier<T> reading) {
        try {
            return reading.get();
        } catch (IllegalArgumentException e) {
            problems.addAll(Arrays.asList(String.valueOf(e.getMessage()).split("\n")));
            return null;
        }
    }

    private long number(Supplier<Long> reading) {
        Long number = attempt(reading);
        return number == null ? 1 : number;
    }

    private Map<String, Object> section(String key) {
        Object value = tree.get(key);
        if (value == null) {
            return Map.of();
        }
        if (value instanceof Map<?, ?> map) {
            return PlanTree.keyed(map);
        }
        problems.add(key + ": '" + value + "' stands where a map (name: ...) is wanted");
        return Map.of();
    }

    private List<ContextSpec> contexts(PlanNames planNames) {
        Map<String, Object> written = new LinkedHashMap<>();
        written.put(ContextSpec.RECEIVE, null);
        written.putAll(section("contexts"));
        if (written.size() > Plan.MAX_CONTEXTS + 1) {
            problems.add("contexts: " + (written.size() - 1) + ": at most " + Plan.MAX_CONTEXTS
                    + " besides receive; join some");
        }
        List<ContextSpec> contexts = new ArrayList<>();
        written.forEach((name, value) -> {
            ContextSpec context = attempt(() -> context(name, value, planNames));
            contexts.add(context != null ? context : new ContextSpec(name, Ring.MIN_BYTES, 0, 1));
        });
        return contexts;
    }

    private static ContextSpec context(String name, @Nullable Object value, PlanNames planNames) {
        String path = "contexts." + requireName("contexts", name);
        if (value != null && !(value instanceof Map)) {
            throw new IllegalArgumentException(path + ": '" + value + "' stands where ring, state, share are wanted");
        }
        Map<String, Object> map = value instanceof Map<?, ?> m ? PlanTree.keyed(m) : Map.of();
        HandlerSettings settings = new HandlerSettings(path, map, planNames);
        long ring = settings.bytes("ring", ContextSpec.DEFAULT_RING, Ring.MIN_BYTES, Ring.MAX_BYTES);
        long state = settings.bytes("state", ContextSpec.DEFAULT_STATE, 0, 1L << 40);
        double share = share(settings);
        settings.requireNoOthers();
        return new ContextSpec(name, (int) Long.highestOneBit(2 * ring - 1), state, share);
    }

    private static double share(HandlerSettings settings) {
        String text = settings.text("share", "1");
        try {
            double share = Decimals.floating(text, Double.BYTES);
            if (share > 0 && share <= 1) {
                return share;
            }
        } catch (FormatException e) {
            // The same message as for a number out of bounds.
        }
        throw settings.problem("share", text + " is no share of a processor: more than 0, at most 1");
    }

    private static String requireName(String path, String name) {
        if (!name.matches("[A-Za-z_][A-Za-z0-9_-]{0,63}") || name.equals(Plan.OUT_NAME)) {
            throw new IllegalArgumentException(
                    path + "." + name + ": no name: a letter, then letters, digits, _ and -, at most 64; not 'out'");
        }
        return name;
    }

    private StageSpec stage(String name, @Nullable Object value, List<ContextSpec> contexts, PlanNames planNames) {
        handlers.add(null);
        String path = "handlers." + name;
        StageSpec nothing = new StageSpec(name, "", null, "", 0, List.of(), -1, false, Needs.NONE, Effect.UNKNOWN);
        if (attempt(() -> requireName("handlers", name)) == null) {
            return nothing;
        }
        if (!(value instanceof Map<?, ?> map)) {
            problems.add(path + ": a map is wanted: a kind of handler with its settings, and then");
            return nothing;
        }
        Map<String, Object> keys = PlanTree.keyed(map);
        String kind = kind(path, keys);
        if (kind == null) {
            return nothing;
        }
        MessageHandler handler = attempt(() -> maker.make(path + "." + kind, kind, keys.get(kind), planNames));
        handlers.set(handlers.size() - 1, handler);
        Map<String, Object> rest = new LinkedHashMap<>(keys);
        rest.remove(kind);
        rest.remove("then");
        HandlerSettings settings = new HandlerSettings(path, rest, planNames);
        boolean passes = "pass".equals(attempt(() -> settings.choice("failure", "drop", "pass")));
        long revision = number(() -> settings.number("revision", 0, 0, Long.MAX_VALUE));
        Integer context = attempt(() -> contextOf(settings, contexts));
        int ports = handler == null ? 1 : handler.ports();
        List<List<Integer>> next = next(path + ".then", keys.get("then"), ports);
        return new StageSpec(
                name,
                kind,
                keys.get(kind),
                formatsIn(keys.get(kind), planNames),
                revision,
                next,
                context == null ? -1 : context,
                passes,
                handler == null ? Needs.NONE : handler.needs(),
                handler == null ? Effect.UNKNOWN : handler.effect());
    }

    /** Returns the formats that settings name, so that a handler is made anew where one of them is another. */
    private static String formatsIn(@Nullable Object settings, PlanNames planNames) {
        StringBuilder formats = new StringBuilder();
        if (settings instanceof Map<?, ?> map) {
            map.values().forEach(value -> formats.append(formatsIn(value, planNames)));
        } else if (settings instanceof List<?> list) {
            list.forEach(value -> formats.append(formatsIn(value, planNames)));
        } else {
            Target target = planNames.formats().get(String.valueOf(settings));
            if (target != null) {
                formats.append(target.format().id()).append(new TreeMap<>(target.defaults()));
            }
        }
        return formats.toString();
    }

    private @Nullable String kind(String path, Map<String, Object> keys) {
        List<String> kinds = keys.keySet().stream()
                .filter(key -> maker.kinds().contains(key))
                .toList();
        for (String key : keys.keySet()) {
            if (!kinds.contains(key) && !HANDLER_KEYS.contains(key)) {
                problems.add(path + "." + key + ": neither a kind of handler nor "
                        + String.join(", ", new TreeSet<>(HANDLER_KEYS)) + "; kinds: "
                        + String.join(", ", new TreeSet<>(maker.kinds())));
                return null;
            }
        }
        if (kinds.size() != 1) {
            problems.add(path + ": " + (kinds.isEmpty() ? "no kind" : "several kinds: " + String.join(", ", kinds))
                    + ": one of " + String.join(", ", new TreeSet<>(maker.kinds())) + " is wanted");
            return null;
        }
        return kinds.get(0);
    }

    private static int contextOf(HandlerSettings settings, List<ContextSpec> contexts) {
        if (!settings.has("context")) {
            return -1;
        }
        String name = settings.text("context");
        for (int i = 0; i < contexts.size(); i++) {
            if (contexts.get(i).name().equals(name)) {
                return i;
            }
        }
        throw settings.problem(
                "context",
                "no context '" + name + "'; known: "
                        + String.join(
                                ", ", contexts.stream().map(ContextSpec::name).toList()));
    }

    private List<List<Integer>> next(String path, @Nullable Object then, int ports) {
        List<List<Integer>> next = new ArrayList<>();
        if (then == null) {
            problems.add(path + ": is missing: a handler's name, a list of them, or out");
            return next;
        }
        if (!(then instanceof Map<?, ?> map)) {
            return Collections.nCopies(ports, targets(path, then));
        }
        Map<String, Object> byPort = PlanTree.keyed(map);
        int wanted = ports < Plan.MAX_PORTS ? ports : Math.min(ports, byPort.size());
        for (int port = 0; port < wanted; port++) {
            Object value = byPort.remove(Integer.toString(port));
            if (value == null) {
                problems.add(path + ": port " + port + " leads nowhere: a handler's name or out");
            } else {
                next.add(targets(path + "." + port, value));
            }
        }
        byPort.keySet().forEach(key -> problems.add(path + "." + key + ": no such port: 0 to " + (ports - 1)));
        return next;
    }

    private List<Integer> targets(String path, Object value) {
        List<Integer> targets = new ArrayList<>();
        List<?> items = value instanceof List<?> list ? list : List.of(value);
        if (items.isEmpty()) {
            problems.add(path + ": leads nowhere: a handler's name or out");
        }
        for (Object item : items) {
            int number = names.indexOf(String.valueOf(item));
            if (number < 0 && !Plan.OUT_NAME.equals(item)) {
                problems.add(path + ": no handler '" + item + "'; known: " + String.join(", ", names) + ", out");
            } else if (targets.contains(number)) {
                problems.add(path + ": '" + item + "' stands there twice");
            } else {
                targets.add(number < 0 ? Plan.OUT : number);
            }
        }
        return targets;
    }

    private List<PathRule> paths(PlanNames planNames) {
        Object value = tree.get("paths");
        List<?> items = value == null ? List.of() : value instanceof List<?> list ? list : List.of(value);
        if (items.size() > MAX_PATHS) {
            problems.add("paths: " + items.size() + ": at most " + MAX_PATHS);
            return List.of();
        }
        List<PathRule> rules = new ArrayList<>();
        for (int i = 0; i < items.size(); i++) {
            String path = "paths[" + i + "]";
            if (items.get(i) instanceof Map<?, ?> map) {
                Map<String, Object> keys = PlanTree.keyed(map);
                PathRule rule = attempt(() -> path(path, keys, planNames));
                if (rule != null) {
                    rules.add(rule);
                }
            } else {
                problems.add(path + ": '" + items.get(i) + "' stands where conditions and enter are wanted");
            }
        }
        return rules;
    }

    private PathRule path(String path, Map<String, Object> keys, PlanNames planNames) {
        Object enter = keys.remove("enter");
        if (enter == null) {
            throw new IllegalArgumentException(path + ".enter: is missing: a handler's name, a list of them, or out");
        }
        HandlerSettings settings = new HandlerSettings(path, keys, planNames);
        String format = settings.text("format", "");
        String protocol = settings.choice("protocol", "", "tcp", "udp");
        PathRule rule = new PathRule(
                format.isEmpty() ? null : structureOf(format, planNames),
                prefix(settings, "source"),
                prefix(settings, "destination"),
                protocol.isEmpty() ? null : Transport.valueOf(protocol.toUpperCase(Locale.ROOT)),
                (int) settings.number("port", -1, -1, 65_535),
                (int) settings.number("class", -1, -1, 255),
                targets(path + ".enter", enter));
        settings.requireNoOthers();
        return rule;
    }

    /** Returns what a path compares: of one version among several its identifier, else the structure's name. */
    private static String structureOf(String name, PlanNames planNames) {
        return name.contains("@") && planNames.formats().containsKey(name)
                ? planNames.formats().get(name).format().id().toString()
                : name;
    }

    private static @Nullable AddressPrefix prefix(HandlerSettings settings, String key) {
        String text = settings.text(key, "");
        try {
            return text.isEmpty() ? null : AddressPrefix.parse(text);
        } catch (IllegalArgumentException e) {
            throw settings.problem(key, e.getMessage() + ": 10.0.0.0/8 or 2001:db8::/32 is wanted");
        }
    }
}
