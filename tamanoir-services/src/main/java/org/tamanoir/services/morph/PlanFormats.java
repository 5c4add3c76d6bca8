package org.tamanoir.services.morph;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.tamanoir.format.FfsReader;
import org.tamanoir.format.Format;
import org.tamanoir.format.FormatBuilder;
import org.tamanoir.format.FormatException;
import org.tamanoir.format.FormatFault;
import org.tamanoir.format.ItemKind;
import org.tamanoir.format.Layout;
import org.tamanoir.format.Target;
import org.tamanoir.platform.Causes;

/**
 * Reads the formats that a plan names: those of FFS files, and those that it declares. A name is the structure's, or with
 * {@code @} and a version behind it where several formats have the same structure's name.
 *
 * <p>Thread contract: one thread.
 */
final class PlanFormats {
    private static final int MAX_FORMATS = 1000;
    /** A type, and the bytes of a leaf: {@code integer(8)}, {@code float(4)[3]}. */
    private static final Pattern TYPE = Pattern.compile("([^()]+)(?:\\((\\d{1,9})\\))?(.*)");

    private final Map<String, Target> targets = new LinkedHashMap<>();
    private final UnaryOperator<Format> known;
    private final List<String> problems;

    PlanFormats(Map<String, Object> tree, Path folder, UnaryOperator<Format> known, List<String> problems) {
        this.known = known;
        this.problems = problems;
        files(tree.get("formats"), folder);
        if (tree.get("declare") instanceof Map<?, ?> map && map.size() > MAX_FORMATS) {
            problems.add("declare: " + map.size() + " formats: at most " + MAX_FORMATS);
        } else if (tree.get("declare") instanceof Map<?, ?> map) {
            declare(PlanTree.keyed(map));
        } else if (tree.get("declare") != null) {
            problems.add("declare: a map (name: {field: type}) is wanted");
        }
    }

    /** Returns the formats by their names in the plan. */
    Map<String, Target> targets() {
        return targets;
    }

    private void files(@Nullable Object value, Path folder) {
        List<?> items = value == null ? List.of() : value instanceof List<?> list ? list : List.of(value);
        for (int i = 0; i < items.size(); i++) {
            String path = "formats[" + i + "]";
            try {
                if (items.get(i) instanceof Map<?, ?> map) {
                    file(path, String.valueOf(map.get("file")), "@" + map.get("version"), folder);
                } else {
                    file(path, String.valueOf(items.get(i)), "", folder);
                }
            } catch (IOException | FormatException | InvalidPathException e) {
                problems.add(path + ": " + items.get(i) + " cannot be read: " + Causes.text(e));
            }
        }
    }

    private void file(String path, String name, String version, Path folder) throws IOException {
        Path file = folder.resolve(name).normalize();
        if (!file.startsWith(folder.normalize())) {
            problems.add(path + ": " + name + " leads out of the plan's folder: put the file beside the plan");
            return;
        }
        if (!Files.isRegularFile(file)) {
            problems.add(path + ": " + name + " is no file beside the plan");
            return;
        }
        try (InputStream in = new BufferedInputStream(Files.newInputStream(file));
                FfsReader reader = FfsReader.ofFile(in)) {
            for (ItemKind kind = reader.next(); kind != null; kind = reader.next()) {
                if (kind == ItemKind.FORMAT) {
                    add(path, reader.format().name() + version, Target.of(known.apply(reader.format())));
                }
            }
        }
    }

    private void add(String path, String name, Target target) {
        Target before = targets.putIfAbsent(name, target);
        if (before != null && before.format() != target.format()) {
            problems.add(path + ": there are two formats '" + name
                    + "': give one a version: {file: ..., version: 2}, or name@2 where it is declared");
        }
        if (targets.size() > MAX_FORMATS) {
            throw new FormatException(FormatFault.DESCRIPTION, targets.size() + " formats: at most " + MAX_FORMATS);
        }
    }

    private void declare(Map<String, Object> declared) {
        declared.keySet().forEach(name -> {
            try {
                add("declare." + name, name, target(name, declared));
            } catch (FormatException | IllegalArgumentException e) {
                problems.add("declare." + name + ": " + e.getMessage());
            }
        });
    }

    private Target target(String name, Map<String, Object> declared) {
        FormatBuilder builder = Format.builder(Layout.X86_64);
        structure(builder, name, declared, new HashSet<>());
        Target target = builder.target();
        return new Target(known.apply(target.format()), target.defaults());
    }

    private static void structure(FormatBuilder builder, String name, Map<String, Object> declared, Set<String> begun) {
        if (!begun.add(structureName(name))) {
            return;
        }
        if (!(declared.get(name) instanceof Map<?, ?> map) || map.isEmpty()) {
            throw new IllegalArgumentException("fields are wanted: {delay: integer, hub: string}");
        }
        builder.structure(structureName(name));
        Set<String> named = new HashSet<>();
        PlanTree.keyed(map).forEach((field, value) -> {
            Matcher type = TYPE.matcher(String.valueOf(value).strip());
            if (!type.matches()) {
                throw new IllegalArgumentException("type '" + value + "' of " + field + ": integer(8) is an example");
            }
            String text = type.group(1).strip() + type.group(3);
            builder.field(field, text, type.group(2) == null ? -1 : Integer.parseInt(type.group(2)));
            declared.keySet().stream()
                    .filter(other -> text.matches("\\W*" + Pattern.quote(other) + "\\W.*|\\W*" + Pattern.quote(other)))
                    .forEach(named::add);
        });
        named.forEach(other -> structure(builder, other, declared, begun));
    }

    private static String structureName(String name) {
        int at = name.indexOf('@');
        return at < 0 ? name : name.substring(0, at);
    }
}
