package org.tamanoir.services.morph.handler;

import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.tamanoir.format.Format;
import org.tamanoir.format.Target;
import org.tamanoir.format.text.Decimals;

/**
 * A handler's settings while it is made: a part of the plan's tree of maps, lists, texts, numbers and booleans, read by
 * key. What is asked for is known; {@link #requireNoOthers} refuses the rest. All methods throw {@link
 * IllegalArgumentException} with path, value, bound and remedy in one line.
 *
 * <p>Thread contract: one thread.
 */
public final class HandlerSettings {
    private static final Pattern NUMBER_AND_UNIT = Pattern.compile("(\\d{1,18})\\s*([A-Za-z]*)");
    private static final Map<String, Long> NANOS = Map.of(
            "ns",
            1L,
            "us",
            1_000L,
            "ms",
            1_000_000L,
            "s",
            1_000_000_000L,
            "m",
            60_000_000_000L,
            "h",
            3_600_000_000_000L);
    private static final Map<String, Long> BYTES = Map.of(
            "", 1L, "k", 1L << 10, "KiB", 1L << 10, "M", 1L << 20, "MiB", 1L << 20, "G", 1L << 30, "GiB", 1L << 30);

    private final String path;
    private final Map<String, Object> tree;
    private final PlanNames names;
    private final Set<String> asked = new TreeSet<>();
    private final List<HandlerSettings> inner = new ArrayList<>();

    /** Makes settings of a map; null values count as absent. */
    public HandlerSettings(String path, Map<String, ?> tree, PlanNames names) {
        this.path = path;
        this.tree = new LinkedHashMap<>();
        tree.forEach((key, value) -> {
            if (value != null) {
                this.tree.put(key, value);
            }
        });
        this.names = names;
    }

    /** Makes settings of a map, or of the value of the main setting alone. */
    static HandlerSettings of(String path, String main, @Nullable Object value, PlanNames names) {
        if (value instanceof Map<?, ?> map) {
            return new HandlerSettings(path, keyed(map), names);
        }
        if (value == null) {
            return new HandlerSettings(path, Map.of(), names);
        }
        if (main.isEmpty()) {
            throw new IllegalArgumentException(
                    path + ": '" + value + "' stands where settings (key: value) are wanted");
        }
        return new HandlerSettings(path, Map.of(main, value), names);
    }

    private static Map<String, Object> keyed(Map<?, ?> map) {
        Map<String, Object> keyed = new LinkedHashMap<>();
        map.forEach((key, value) -> keyed.put(String.valueOf(key), value));
        return keyed;
    }

    /** Returns where in the plan the settings stand. */
    public String path() {
        return path;
    }

    /** Returns what names in the settings stand for. */
    public PlanNames names() {
        return names;
    }

    /** Returns whether the setting is there. */
    public boolean has(String key) {
        return find(key) != null;
    }

    /** Returns a refusal for what is wrong with a setting. */
    public IllegalArgumentException problem(String key, @Nullable String what) {
        return new IllegalArgumentException(at(key) + ": " + what);
    }

    /** Returns the settings that were asked for, those of items inside too. */
    Set<String> known() {
        Set<String> known = new TreeSet<>(asked);
        inner.forEach(item -> known.addAll(item.known()));
        return known;
    }

    /** Refuses settings that nobody asked for, those of maps and lists inside too. */
    public void requireNoOthers() {
        for (String key : tree.keySet()) {
            if (!asked.contains(key)) {
                throw problem(key, "unknown setting; known: " + String.join(", ", asked));
            }
        }
        inner.forEach(HandlerSettings::requireNoOthers);
    }

    /** Returns a text that has to be there; numbers and booleans are texts too. */
    public String text(String key) {
        return scalar(key, require(key, "a text"));
    }

    /** Returns a text. */
    public String text(String key, String absent) {
        Object value = find(key);
        return value == null ? absent : scalar(key, value);
    }

    /** Returns one of several words; the first one if the setting is absent. */
    public String choice(String key, String... words) {
        String word = text(key, words[0]);
        if (!List.of(words).contains(word)) {
            throw problem(key, "'" + word + "' is none of " + String.join(", ", words));
        }
        return word;
    }

    /** Returns true or false. */
    public boolean flag(String key, boolean absent) {
        String text = text(key, Boolean.toString(absent));
        if (!text.equals("true") && !text.equals("false")) {
            throw problem(key, "'" + text + "' is neither true nor false");
        }
        return text.equals("true");
    }

    /** Returns a whole number. */
    public long number(String key, long absent, long min, long max) {
        String text = text(key, Long.toString(absent));
        try {
            return Decimals.whole(text, min, max);
        } catch (NumberFormatException e) {
            throw problem(key, String.valueOf(e.getMessage()));
        }
    }

    /** Returns a number of bytes, such as {@code 16MiB}; {@code k}, {@code M}, {@code G} are powers of 1024 too. */
    public long bytes(String key, String absent, long min, long max) {
        return quantity(key, absent, BYTES, "number of bytes, such as 16MiB", min, max);
    }

    /** Returns a duration in ns, such as {@code 5s}: a whole number with ns, us, ms, s, m or h. */
    public long durationNs(String key, String absent, long minNs, long maxNs) {
        return quantity(key, absent, NANOS, "duration, such as 5s or 200ms", minNs, maxNs);
    }

    private long quantity(String key, String absent, Map<String, Long> units, String wanted, long min, long max) {
        String text = text(key, absent);
        Matcher matcher = NUMBER_AND_UNIT.matcher(text);
        Long unit = matcher.matches() ? units.get(matcher.group(2)) : null;
        if (unit == null) {
            throw problem(key, "'" + text + "' is no " + wanted);
        }
        long number = Long.parseLong(matcher.group(1));
        long value = number > Long.MAX_VALUE / unit ? Long.MAX_VALUE : number * unit;
        if (value < min || value > max) {
            throw problem(key, text + " is out of bounds: " + min + " to " + max + " are allowed");
        }
        return value;
    }

    /** Returns the format of this name, which has to be there. */
    public Format format(String key) {
        return target(key).format();
    }

    /** Returns the format of this name with its fields' defaults, which has to be there. */
    public Target target(String key) {
        return targetOf(key, text(key));
    }

    /** Returns the format of a name that a setting has among others. */
    public Target targetOf(String key, String name) {
        Target target = names.formats().get(name);
        if (target == null) {
            String known = String.join(", ", new TreeSet<>(names.formats().keySet()));
            throw problem(
                    key, "no format '" + name + "'; " + (known.isEmpty() ? "none are declared" : "known: " + known));
        }
        return target;
    }

    /** Returns texts; a single one may stand without a list. None if the setting is absent. */
    public List<String> texts(String key) {
        List<String> texts = new ArrayList<>();
        for (Object item : list(key)) {
            texts.add(scalar(key + "[" + texts.size() + "]", item));
        }
        return texts;
    }

    /** Returns a list; a single value may stand without one. Empty if the setting is absent. */
    public List<Object> list(String key) {
        Object value = find(key);
        if (value instanceof List<?> list) {
            if (list.stream().anyMatch(Objects::isNull)) {
                throw problem(key, "nothing stands where a value is wanted: " + list);
            }
            return List.copyOf(list);
        }
        return value == null ? List.of() : List.of(value);
    }

    /** Returns the settings of each item of a list; one that is no map stands for its main setting. */
    public List<HandlerSettings> items(String key, String main) {
        List<HandlerSettings> items = new ArrayList<>();
        for (Object item : list(key)) {
            HandlerSettings settings = of(at(key + "[" + items.size() + "]"), main, item, names);
            inner.add(settings);
            items.add(settings);
        }
        return items;
    }

    /** Returns the settings behind a key, or the main one alone; empty if the setting is absent. */
    public HandlerSettings section(String key, String main) {
        HandlerSettings settings = of(at(key), main, find(key), names);
        inner.add(settings);
        return settings;
    }

    /** Returns the keys that are there. */
    public Set<String> keys() {
        return tree.keySet();
    }

    /** Returns a value as it stands in the plan; null if the setting is absent. */
    public @Nullable Object value(String key) {
        return find(key);
    }

    /** Returns a map of texts in its order; empty if the setting is absent. */
    public Map<String, String> textMap(String key) {
        Map<String, String> texts = new LinkedHashMap<>();
        map(key).forEach((name, value) -> texts.put(name, scalar(key + "." + name, value)));
        return texts;
    }

    /** Returns a map in its order; empty if the setting is absent. */
    public Map<String, Object> map(String key) {
        Object value = find(key);
        if (value == null) {
            return Map.of();
        }
        if (!(value instanceof Map<?, ?> map)) {
            throw problem(key, "'" + value + "' stands where a map (key: value) is wanted");
        }
        return keyed(map);
    }

    /** Returns the place of a file, whose name begins at the plan's folder, and which has to be within it. */
    public Path file(String key) {
        String name = text(key);
        try {
            Path folder = names.folder().toAbsolutePath().normalize();
            Path file = folder.resolve(name).normalize();
            if (file.startsWith(folder)) {
                return file;
            }
        } catch (InvalidPathException e) {
            throw problem(key, "'" + name + "' is no name of a file: " + e.getReason());
        }
        throw problem(key, "'" + name + "' leads out of the plan's folder: put the file beside the plan");
    }

    private @Nullable Object find(String key) {
        asked.add(key);
        return tree.get(key);
    }

    private Object require(String key, String what) {
        Object value = find(key);
        if (value == null) {
            String found = tree.isEmpty() ? "nothing" : String.join(", ", tree.keySet());
            throw problem(key, "is missing: " + what + " is wanted; found: " + found);
        }
        return value;
    }

    private String scalar(String key, Object value) {
        if (value instanceof String || value instanceof Number || value instanceof Boolean) {
            return value.toString();
        }
        String what = value instanceof Map ? "a map" : value instanceof List ? "a list" : "nothing";
        throw problem(key, what + " stands where one value is wanted");
    }

    private String at(String key) {
        return path.isEmpty() ? key : path + "." + key;
    }
}
