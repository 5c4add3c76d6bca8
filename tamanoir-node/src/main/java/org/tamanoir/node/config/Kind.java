package org.tamanoir.node.config;

import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * A kind of value that a setting has, with its bounds.
 *
 * @param unit what users may write, as the documentation says it
 * @param reader takes the value of a key from a section of the file; null when it is absent or wrong
 * @param parser makes it from the text of an option; throws {@link IllegalArgumentException} in one line
 * @param writer makes data of it that {@code reader} takes for the same: texts, numbers, booleans, lists, maps
 * @param words that it is one of; empty where there are too many
 */
public record Kind<T>(
        String unit,
        BiFunction<Section, String, @Nullable T> reader,
        Function<String, T> parser,
        Function<T, Object> writer,
        List<String> words) {
    private Kind(
            String unit,
            BiFunction<Section, String, @Nullable T> reader,
            Function<String, T> parser,
            Function<T, Object> writer) {
        this(unit, reader, parser, writer, List.of());
    }

    /** One of some words. */
    public static <T> Kind<T> choice(Map<String, T> words) {
        List<String> sorted = words.keySet().stream().sorted().toList();
        Map<T, String> texts = new HashMap<>();
        words.forEach((word, value) -> texts.put(value, word));
        return new Kind<>(
                "`" + String.join("`, `", sorted) + "`",
                (section, key) -> section.value(key, text -> Choice.of(text, words)),
                text -> Choice.of(text, words),
                value -> Objects.requireNonNull(texts.get(value)),
                sorted);
    }

    public static <T> Kind<T> of(String unit, Function<String, T> parser, Function<T, Object> writer) {
        return new Kind<>(unit, (section, key) -> section.value(key, parser), parser, writer);
    }

    public static <T> Kind<List<T>> list(String unit, Function<String, T> parser) {
        return list(unit, parser, String::valueOf);
    }

    /** A list in which no value stands twice. */
    public static <T> Kind<List<T>> list(String unit, Function<String, T> parser, Function<T, String> text) {
        return list(unit, false, parser, text, value -> false);
    }

    private static <T> Kind<List<T>> list(
            String unit,
            boolean mayBeOne,
            Function<String, T> parser,
            Function<T, String> text,
            Predicate<T> mayRepeat) {
        return new Kind<>(
                unit,
                (section, key) -> {
                    Set<T> seen = new HashSet<>();
                    Function<String, T> once = word -> {
                        T value = parser.apply(word);
                        if (!mayRepeat.test(value) && !seen.add(value)) {
                            throw new IllegalArgumentException(repeated(text.apply(value)));
                        }
                        return value;
                    };
                    return !section.has(key)
                            ? null
                            : mayBeOne ? section.valuesOrOne(key, once) : section.values(key, once);
                },
                each -> List.of(parser.apply(each)),
                list -> list.stream().map(text).toList());
    }

    /** Says that a value of a list stands there twice. */
    static String repeated(Object value) {
        return value + " stands here a second time; remove one";
    }

    /** A list where one text may stand in place of a list of one. */
    public static <T> Kind<List<T>> listOrOne(String unit, Function<String, T> parser) {
        return list(unit, true, parser, String::valueOf, value -> false);
    }

    /** Socket addresses to listen on: port 0 is another one each time. */
    public static Kind<List<InetSocketAddress>> addresses(int defaultPort) {
        return list(
                "list of addresses",
                false,
                text -> Endpoint.listening(text, defaultPort),
                Endpoint::toString,
                address -> address.getPort() == 0);
    }

    /** A socket address, or {@code off}: empty. */
    public static Kind<Optional<InetSocketAddress>> addressOrOff(int defaultPort) {
        return of(
                "address, or `off`",
                text -> text.equals("off") ? Optional.empty() : Optional.of(Endpoint.listening(text, defaultPort)),
                address -> address.map(Endpoint::toString).orElse("off"));
    }

    public static Kind<Integer> number(String what, int min, int max) {
        return of(what + min + " to " + max, text -> Quantity.number(text, min, max), number -> number);
    }

    public static Kind<Duration> duration(Duration min, Duration max) {
        return of(
                "duration, " + Quantity.toString(min) + " to " + Quantity.toString(max),
                text -> Quantity.duration(text, min, max),
                Quantity::toString);
    }

    /** A duration that may be as short as microseconds. */
    public static Kind<Duration> shortDuration(Duration min, Duration max) {
        return of(
                "duration, " + Quantity.shortText(min) + " to " + Quantity.shortText(max),
                text -> Quantity.shortDuration(text, min, max),
                Quantity::shortText);
    }

    public static Kind<Long> size(long min, long max) {
        return of(
                "size, " + Quantity.toString(min) + " to " + Quantity.toString(max),
                text -> Quantity.bytes(text, min, max),
                Quantity::bytesText);
    }

    /** A size that must fit half of the heap. */
    static Kind<Long> memory(long min, long max) {
        return of(
                "size, " + Quantity.toString(min) + " to " + Quantity.toString(max) + ", half of the heap at most",
                text -> Quantity.memoryBytes(text, min, max),
                Quantity::bytesText);
    }

    public static Kind<Boolean> flag() {
        return choice(Choice.FLAGS);
    }

    public static Kind<Path> path(String what) {
        return of(what, Path::of, Path::toString);
    }

    public static Kind<String> text(String what, Function<String, String> parser) {
        return of(what, parser, text -> text);
    }

    /** A value that its section's reader puts together: this one writes data as it is. */
    static Kind<Object> written(String unit) {
        return structured(unit, (section, key) -> null, data -> data);
    }

    /** A value that options cannot give. */
    public static <T> Kind<T> structured(
            String unit, BiFunction<Section, String, @Nullable T> reader, Function<T, Object> writer) {
        return new Kind<>(
                unit,
                (section, key) -> section.has(key) ? reader.apply(section, key) : null,
                text -> {
                    throw new IllegalArgumentException("'" + text + "': only a file can say this");
                },
                writer);
    }
}
