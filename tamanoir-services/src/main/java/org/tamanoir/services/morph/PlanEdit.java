package org.tamanoir.services.morph;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Changes of a plan's tree: each gives another tree, which is then read as any plan is.
 *
 * <p>Thread contract: one thread.
 */
final class PlanEdit {
    private static final String HANDLERS = "handlers";
    private static final String THEN = "then";
    private final Map<String, Object> tree;

    private PlanEdit(Map<String, Object> tree) {
        this.tree = copy(tree);
    }

    /**
     * Returns the tree that an operation makes of another.
     *
     * @throws IllegalArgumentException if arguments are missing, or name what is not there
     */
    static Map<String, Object> of(Map<String, Object> tree, String operation, Map<String, Object> arguments) {
        PlanEdit edit = new PlanEdit(tree);
        switch (operation) {
            case "set" -> edit.set(text(arguments, "handler"), map(arguments, "settings"));
            case "insert" -> edit.insert(arguments);
            case "replace" -> edit.replace(text(arguments, "handler"), map(arguments, "definition"));
            case "remove" -> edit.remove(text(arguments, "handler"));
            case "reload" -> edit.reload(text(arguments, "handler"));
            case "place" -> edit.place(arguments);
            default ->
                throw new IllegalArgumentException("operation '" + operation + "' is unknown; known: "
                        + String.join(", ", MorphControl.OPERATIONS));
        }
        return edit.tree;
    }

    private void set(String name, Map<String, Object> settings) {
        Map<String, Object> handler = handler(name);
        settings.forEach((key, value) -> {
            if (key.equals(THEN) || key.equals("context") || key.equals("failure")) {
                handler.put(key, value);
            } else {
                setOfKind(name, handler, key, value);
            }
        });
    }

    private static void setOfKind(String name, Map<String, Object> handler, String key, @Nullable Object value) {
        String kind = kind(name, handler);
        if (key.equals(kind)) {
            handler.put(kind, value);
        } else if (handler.get(kind) instanceof Map<?, ?> map) {
            Map<String, Object> changed = PlanTree.keyed(map);
            changed.put(key, value);
            handler.put(kind, changed);
        } else {
            throw new IllegalArgumentException("settings." + key + ": handler " + name + " has " + kind + ": "
                    + handler.get(kind) + " alone: set " + kind + " to a map, or to another value");
        }
    }

    private static String kind(String name, Map<String, Object> handler) {
        return handler.keySet().stream()
                .filter(key -> !PlanReader.HANDLER_KEYS.contains(key))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("handler " + name + " has no kind"));
    }

    private void insert(Map<String, Object> arguments) {
        String name = text(arguments, "handler");
        if (handlers().containsKey(name) || name.equals(Plan.OUT_NAME)) {
            throw new IllegalArgumentException("handler: there is one named " + name + ": take another name");
        }
        Map<String, Object> definition = new LinkedHashMap<>(map(arguments, "definition"));
        Object before = arguments.get("before");
        Object after = arguments.get("after");
        if ((before == null) == (after == null)) {
            throw new IllegalArgumentException("before or after: one of them is wanted, with the name of a handler");
        }
        if (before != null) {
            String target = String.valueOf(before);
            if (!target.equals(Plan.OUT_NAME)) {
                handler(target);
            }
            redirect(names ->
                    names.stream().map(one -> one.equals(target) ? name : one).toList());
            definition.putIfAbsent(THEN, target);
        } else {
            Map<String, Object> first = handler(String.valueOf(after));
            String port = String.valueOf(arguments.getOrDefault("port", 0));
            definition.putIfAbsent(THEN, takePort(first, port, name));
        }
        handlers().put(name, definition);
    }

    /** Has a port lead to the name alone, and returns where it led before. */
    private static Object takePort(Map<String, Object> handler, String port, String name) {
        Object then = handler.get(THEN);
        if (then instanceof Map<?, ?> map) {
            Map<String, Object> ports = PlanTree.keyed(map);
            Object before = ports.put(port, name);
            handler.put(THEN, ports);
            if (before == null) {
                throw new IllegalArgumentException("port: " + port + " leads nowhere; known: " + map.keySet());
            }
            return before;
        }
        if (!port.equals("0") || then == null) {
            throw new IllegalArgumentException("port: " + port + " leads nowhere; known: 0");
        }
        handler.put(THEN, name);
        return then;
    }

    private void replace(String name, Map<String, Object> definition) {
        Map<String, Object> before = handler(name);
        Map<String, Object> after = new LinkedHashMap<>(definition);
        for (String key : PlanReader.HANDLER_KEYS) {
            if (before.containsKey(key)) {
                after.putIfAbsent(key, before.get(key));
            }
        }
        handlers().put(name, after);
    }

    private void remove(String name) {
        Object then = handler(name).get(THEN);
        Object first = then instanceof Map<?, ?> map ? PlanTree.keyed(map).get("0") : then;
        List<String> behind = names(first);
        handlers().remove(name);
        redirect(names -> names.stream()
                .flatMap(one -> one.equals(name) ? behind.stream() : Stream.of(one))
                .distinct()
                .toList());
    }

    private void reload(String name) {
        Map<String, Object> handler = handler(name);
        Object revision = handler.get("revision");
        handler.put("revision", revision instanceof Number number ? number.longValue() + 1 : 1L);
    }

    private void place(Map<String, Object> arguments) {
        if (arguments.containsKey("contexts")) {
            tree.put("contexts", map(arguments, "contexts"));
        }
        if (arguments.containsKey(HANDLERS)) {
            map(arguments, HANDLERS).forEach((name, context) -> {
                if (context == null) {
                    handler(name).remove("context");
                } else {
                    handler(name).put("context", context);
                }
            });
        }
    }

    /** Changes where all ports and paths lead. */
    private void redirect(UnaryOperator<List<String>> change) {
        handlers().forEach((name, value) -> {
            if (value instanceof Map<?, ?>) {
                Map<String, Object> handler = handler(name);
                handler.put(THEN, redirected(handler.get(THEN), change));
            }
        });
        if (tree.get("paths") instanceof List<?> paths) {
            List<Object> changed = new ArrayList<>();
            for (Object path : paths) {
                if (path instanceof Map<?, ?> map) {
                    Map<String, Object> keys = PlanTree.keyed(map);
                    keys.put("enter", redirected(keys.get("enter"), change));
                    changed.add(keys);
                } else {
                    changed.add(path);
                }
            }
            tree.put("paths", changed);
        }
    }

    private static @Nullable Object redirected(@Nullable Object then, UnaryOperator<List<String>> change) {
        if (then instanceof Map<?, ?> map) {
            Map<String, Object> ports = PlanTree.keyed(map);
            ports.replaceAll((port, names) -> redirected(names, change));
            return ports;
        }
        List<String> names = change.apply(names(then));
        return then == null ? null : names.size() == 1 ? names.get(0) : names;
    }

    private static List<String> names(@Nullable Object then) {
        return then instanceof List<?> list
                ? list.stream().map(String::valueOf).toList()
                : then == null ? List.of() : List.of(String.valueOf(then));
    }

    @SuppressWarnings("unchecked") // The tree is this object's copy, with texts as keys.
    private Map<String, Object> handlers() {
        return (Map<String, Object>) tree.computeIfAbsent(HANDLERS, key -> new LinkedHashMap<>());
    }

    @SuppressWarnings("unchecked")
    private Map<String, Object> handler(String name) {
        Object handler = handlers().get(name);
        if (handler instanceof Map<?, ?>) {
            return (Map<String, Object>) handler;
        }
        throw new IllegalArgumentException("handler: there is none named " + name + "; known: "
                + String.join(", ", handlers().keySet()));
    }

    static String text(Map<String, Object> arguments, String key) {
        Object value = arguments.get(key);
        if (value instanceof String text) {
            return text;
        }
        throw new IllegalArgumentException(key + ": a text is wanted; given: " + arguments.keySet());
    }

    static Map<String, Object> map(Map<String, Object> arguments, String key) {
        if (arguments.get(key) instanceof Map<?, ?> map) {
            return PlanTree.keyed(map);
        }
        throw new IllegalArgumentException(key + ": a map is wanted; given: " + arguments.keySet());
    }

    private static Map<String, Object> copy(Map<String, Object> from) {
        Map<String, Object> copy = new LinkedHashMap<>();
        from.forEach((key, value) -> copy.put(key, value instanceof Map<?, ?> map ? copy(PlanTree.keyed(map)) : value));
        return copy;
    }
}
