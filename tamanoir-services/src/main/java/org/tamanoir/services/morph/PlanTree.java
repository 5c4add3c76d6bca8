package org.tamanoir.services.morph;

import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.api.lowlevel.Parse;
import org.snakeyaml.engine.v2.events.CollectionStartEvent;
import org.snakeyaml.engine.v2.events.Event;
import org.snakeyaml.engine.v2.events.ScalarEvent;
import org.snakeyaml.engine.v2.exceptions.Mark;
import org.snakeyaml.engine.v2.exceptions.MarkedYamlEngineException;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;
import org.tamanoir.format.FormatException;
import org.tamanoir.format.text.Decimals;
import org.tamanoir.format.text.StrictUtf8;
import org.tamanoir.platform.Causes;

/** Reads a plan's tree from YAML 1.2, in which JSON is contained. */
final class PlanTree {
    static final long MAX_BYTES = 1 << 20;
    private static final int MAX_DEPTH = 50;

    private PlanTree() {}

    /**
     * Reads a file.
     *
     * @throws IllegalArgumentException in one line, if it cannot be read or is no mapping
     */
    static Map<String, Object> read(Path file) {
        try {
            if (Files.exists(file) && !Files.isRegularFile(file)) {
                throw new IllegalArgumentException(
                        "plan " + file + " is no regular file: name one; a pipe or a device may never end");
            }
            long bytes = Files.size(file);
            if (bytes > MAX_BYTES) {
                throw new IllegalArgumentException(
                        "plan " + file + " has " + bytes + " bytes: at most " + MAX_BYTES + " are read");
            }
            return parse(file.toString(), StrictUtf8.decode(Files.readAllBytes(file)));
        } catch (CharacterCodingException e) {
            throw new IllegalArgumentException("plan " + file + " cannot be read: " + Causes.text(e), e);
        } catch (IOException e) {
            throw new IllegalArgumentException("plan " + file + " cannot be read: " + Causes.text(e), e);
        }
    }

    /** Reads a text, as {@link #read}. */
    static Map<String, Object> parse(String name, String text) {
        LoadSettings settings = LoadSettings.builder()
                .setLabel(name)
                .setAllowDuplicateKeys(false)
                .setMaxAliasesForCollections(1)
                .setAllowRecursiveKeys(false)
                .setCodePointLimit((int) MAX_BYTES)
                .build();
        Object tree;
        try {
            new Parse(settings).parseString(text).forEach(event -> requireExact(name, event));
            tree = new Load(settings).loadFromString(text);
        } catch (MarkedYamlEngineException e) {
            String line = e.getProblemMark()
                    .map(Mark::getLine)
                    .map(l -> " line " + (l + 1))
                    .orElse("");
            throw new IllegalArgumentException("plan " + name + line + ": no valid YAML: " + line(e.getProblem()), e);
        } catch (YamlEngineException | StackOverflowError e) {
            throw new IllegalArgumentException("plan " + name + ": no valid YAML: " + line(e.getMessage()), e);
        } catch (NumberFormatException e) { // Of digits that are not there, or too large for an int.
            throw new IllegalArgumentException(
                    "plan " + name + ": no valid YAML: behind \\x, \\u or \\U the number of a character is wanted", e);
        }
        if (tree instanceof Map<?, ?> map) {
            requireShallow(name, map, 0);
            return keyed(map);
        }
        throw new IllegalArgumentException("plan " + name + ": no mapping: keys such as handlers and paths are wanted");
    }

    /** Returns what the parser says, which may quote the end of a line, as one line. */
    private static String line(@Nullable String said) {
        return String.valueOf(said).replaceAll("[\\s\\p{Cntrl}]+", " ");
    }

    /** Refuses what would become something else: tags, numbers that no double holds, and half a character. */
    private static void requireExact(String name, Event event) {
        String line = event.getStartMark()
                .map(mark -> " line " + (mark.getLine() + 1))
                .orElse("");
        boolean isTagged =
                event instanceof ScalarEvent scalar && scalar.getTag().isPresent()
                        || event instanceof CollectionStartEvent collection
                                && collection.getTag().isPresent();
        if (isTagged) {
            throw new IllegalArgumentException(
                    "plan " + name + line + ": tags (!) are not allowed: put a text into quotes instead");
        }
        if (event instanceof ScalarEvent scalar && !StrictUtf8.isText(scalar.getValue())) {
            throw new IllegalArgumentException("plan " + name + line + ": a surrogate stands alone");
        }
        if (event instanceof ScalarEvent scalar
                && scalar.isPlain()
                && Decimals.isNumber(scalar.getValue())
                && !Decimals.isWhole(scalar.getValue())) {
            try {
                Decimals.floating(scalar.getValue(), Double.BYTES);
            } catch (FormatException e) {
                throw new IllegalArgumentException("plan " + name + line + ": " + e.getMessage(), e);
            }
        }
    }

    /** Refuses what is deeper than any plan is, such as an alias that leads to itself. */
    private static void requireShallow(String name, @Nullable Object part, int depth) {
        if (depth > MAX_DEPTH) {
            throw new IllegalArgumentException("plan " + name + ": more than " + MAX_DEPTH
                    + " maps and lists in one another: does an alias lead to itself?");
        }
        if (part instanceof Map<?, ?> map) {
            map.values().forEach(value -> requireShallow(name, value, depth + 1));
        } else if (part instanceof List<?> list) {
            list.forEach(value -> requireShallow(name, value, depth + 1));
        }
    }

    /** Returns the map with its keys as texts. */
    static Map<String, Object> keyed(Map<?, ?> map) {
        Map<String, Object> keyed = new LinkedHashMap<>();
        map.forEach((key, value) -> {
            String name = String.valueOf(key);
            if (keyed.containsKey(name)) {
                throw new IllegalArgumentException("key '" + key + "' stands twice, as a number and as a text");
            }
            keyed.put(name, value);
        });
        return keyed;
    }
}
