package org.tamanoir.services.morph.expression;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableSet;
import com.google.common.primitives.UnsignedLong;
import dev.cel.common.Operator;
import dev.cel.common.values.CelByteString;
import dev.cel.runtime.CelFunctionBinding;
import dev.cel.runtime.CelStandardFunctions;
import dev.cel.runtime.CelStandardFunctions.StandardFunction;
import dev.cel.runtime.standard.AddOperator.AddOverload;
import dev.cel.runtime.standard.CelStandardOverload;
import dev.cel.runtime.standard.IndexOperator.IndexOverload;
import dev.cel.runtime.standard.SubtractOperator.SubtractOverload;
import dev.cel.runtime.standard.TimestampFunction.TimestampOverload;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.tamanoir.format.text.Decimals;

/**
 * Operators that take the place of dev.cel's own on its runtime, so that an expression means there what it means in
 * closures. dev.cel compares numbers of two kinds after it has rounded one, texts by their units of UTF-16, takes NaN for a
 * member of what holds NaN, and reads numbers as Java writes them in programs; an index beyond 32 bits and a time beyond
 * the year 9999 fail there without a reason.
 *
 * <p>Stateless; any thread.
 */
final class Operators {
    private static final List<String> NUMBERS = List.of("int64", "uint64", "double");
    private static final List<String> OTHERS = List.of("bool", "string", "bytes", "timestamp", "duration");
    /** Numbers that {@code string} makes of a double, and that are no decimal. */
    private static final Set<String> NO_DECIMALS = Set.of("NaN", "Infinity", "-Infinity");

    private static final Set<StandardFunction> REPLACED = Set.of(
            StandardFunction.LESS,
            StandardFunction.LESS_EQUALS,
            StandardFunction.GREATER,
            StandardFunction.GREATER_EQUALS,
            StandardFunction.EQUALS,
            StandardFunction.NOT_EQUALS,
            StandardFunction.IN,
            StandardFunction.INT,
            StandardFunction.UINT,
            StandardFunction.DOUBLE);

    private static final Set<CelStandardOverload> REPLACED_OVERLOADS = Set.of(
            IndexOverload.INDEX_LIST,
            AddOverload.ADD_TIMESTAMP_DURATION,
            AddOverload.ADD_DURATION_TIMESTAMP,
            SubtractOverload.SUBTRACT_TIMESTAMP_DURATION,
            SubtractOverload.SUBTRACT_TIMESTAMP_TIMESTAMP,
            TimestampOverload.INT64_TO_TIMESTAMP);

    /** What a timestamp of CEL's can be. */
    private static final Instant FIRST = Instant.parse("0001-01-01T00:00:00Z");

    private static final Instant LAST = Instant.parse("9999-12-31T23:59:59.999999999Z");

    private static final Map<String, Operator> ORDERS = Map.of(
            "less", Operator.LESS,
            "less_equals", Operator.LESS_EQUALS,
            "greater", Operator.GREATER,
            "greater_equals", Operator.GREATER_EQUALS);

    private Operators() {}

    /** dev.cel's functions but for those that {@link #bindings} replace. */
    static CelStandardFunctions others() {
        return CelStandardFunctions.newBuilder()
                .filterFunctions(
                        (function, overload) -> !REPLACED.contains(function) && !REPLACED_OVERLOADS.contains(overload))
                .build();
    }

    static ImmutableSet<CelFunctionBinding> bindings() {
        ImmutableSet.Builder<CelFunctionBinding> all = ImmutableSet.builder();
        ORDERS.forEach((name, operator) -> all.addAll(order(name, operator)));
        all.addAll(CelFunctionBinding.fromOverloads(
                Operator.EQUALS.getFunction(),
                CelFunctionBinding.from("equals", Object.class, Object.class, Operators::equal)));
        all.addAll(CelFunctionBinding.fromOverloads(
                Operator.NOT_EQUALS.getFunction(),
                CelFunctionBinding.from("not_equals", Object.class, Object.class, (a, b) -> !equal(a, b))));
        all.addAll(CelFunctionBinding.fromOverloads(
                Operator.IN.getFunction(),
                CelFunctionBinding.from(
                        "in_list",
                        Object.class,
                        List.class,
                        (a, list) -> ((List<?>) list).stream().anyMatch(each -> equal(a, each))),
                CelFunctionBinding.from("in_map", Object.class, Map.class, (a, map) -> map.containsKey(a))));
        all.addAll(CelFunctionBinding.fromOverloads(
                "int",
                CelFunctionBinding.from("int64_to_int64", Long.class, a -> a),
                CelFunctionBinding.from("uint64_to_int64", UnsignedLong.class, a -> Numbers.otherSign(a.longValue())),
                CelFunctionBinding.from("double_to_int64", Double.class, Numbers::toInt),
                CelFunctionBinding.from("string_to_int64", String.class, a -> Numbers.parse(view(a), true)),
                CelFunctionBinding.from("timestamp_to_int64", Instant.class, Instant::getEpochSecond)));
        all.addAll(CelFunctionBinding.fromOverloads(
                "uint",
                CelFunctionBinding.from("uint64_to_uint64", UnsignedLong.class, a -> a),
                CelFunctionBinding.from("int64_to_uint64", Long.class, a -> unsigned(Numbers.otherSign(a))),
                CelFunctionBinding.from("double_to_uint64", Double.class, a -> unsigned(Numbers.toUint(a))),
                CelFunctionBinding.from(
                        "string_to_uint64", String.class, a -> unsigned(Numbers.parse(view(a), false)))));
        all.addAll(CelFunctionBinding.fromOverloads(
                "double",
                CelFunctionBinding.from("double_to_double", Double.class, a -> a),
                CelFunctionBinding.from("int64_to_double", Long.class, Long::doubleValue),
                CelFunctionBinding.from(
                        "uint64_to_double", UnsignedLong.class, a -> Numbers.unsignedToDouble(a.longValue())),
                CelFunctionBinding.from("string_to_double", String.class, Operators::decimal)));
        all.add(CelFunctionBinding.from(
                "subtract_timestamp_timestamp", Instant.class, Instant.class, Operators::between));
        all.add(CelFunctionBinding.from(
                "add_timestamp_duration", Instant.class, Duration.class, (time, by) -> time(() -> time.plus(by))));
        all.add(CelFunctionBinding.from(
                "add_duration_timestamp", Duration.class, Instant.class, (by, time) -> time(() -> time.plus(by))));
        all.add(CelFunctionBinding.from(
                "subtract_timestamp_duration",
                Instant.class,
                Duration.class,
                (time, by) -> time(() -> time.minus(by))));
        all.add(CelFunctionBinding.from(
                "int64_to_timestamp", Long.class, seconds -> time(() -> Instant.ofEpochSecond(seconds))));
        all.add(CelFunctionBinding.from("index_list", List.class, Long.class, Operators::element));
        return all.build();
    }

    private static Instant time(Supplier<Instant> computed) {
        try {
            Instant time = computed.get();
            if (!time.isBefore(FIRST) && !time.isAfter(LAST)) {
                return time;
            }
        } catch (ArithmeticException | DateTimeException e) {
            // Beyond what even Java's has.
        }
        throw EvaluationException.OVERFLOW;
    }

    private static Object element(List<?> list, long index) {
        if (index < 0 || index >= list.size()) {
            throw EvaluationException.INDEX;
        }
        return list.get((int) index);
    }

    /** Returns the time between two, which CEL bounds by 64 bits of nanoseconds: 292 years. */
    private static Duration between(Instant later, Instant earlier) {
        try {
            return Duration.ofNanos(Duration.between(earlier, later).toNanos());
        } catch (ArithmeticException e) {
            throw EvaluationException.OVERFLOW;
        }
    }

    private static ImmutableSet<CelFunctionBinding> order(String name, Operator operator) {
        ImmutableList.Builder<CelFunctionBinding> all = ImmutableList.builder();
        for (String kind : OTHERS) {
            all.add(order(name + "_" + kind, operator, of(kind), of(kind)));
        }
        for (String a : NUMBERS) {
            for (String b : NUMBERS) {
                all.add(order(name + "_" + a + (a.equals(b) ? "" : "_" + b), operator, of(a), of(b)));
            }
        }
        return CelFunctionBinding.fromOverloads(operator.getFunction(), all.build());
    }

    private static CelFunctionBinding order(String id, Operator operator, Class<?> a, Class<?> b) {
        return CelFunctionBinding.from(id, ImmutableList.of(a, b), operands -> {
            int compared = compare(operands[0], operands[1]);
            return switch (operator) {
                case LESS -> compared < 0 && compared != Comparisons.UNORDERED;
                case LESS_EQUALS -> compared <= 0 && compared != Comparisons.UNORDERED;
                case GREATER -> compared > 0;
                default -> compared >= 0;
            };
        });
    }

    private static Class<?> of(String kind) {
        return switch (kind) {
            case "int64" -> Long.class;
            case "uint64" -> UnsignedLong.class;
            case "double" -> Double.class;
            case "bool" -> Boolean.class;
            case "string" -> String.class;
            case "bytes" -> CelByteString.class;
            case "timestamp" -> Instant.class;
            default -> Duration.class;
        };
    }

    @SuppressWarnings("unchecked") // Both are of one kind, which has an order.
    private static int compare(Object a, Object b) {
        if (a instanceof Number x && b instanceof Number y) {
            return compare(x, y);
        }
        if (a instanceof String x && b instanceof String y) {
            return Arrays.compareUnsigned(x.getBytes(StandardCharsets.UTF_8), y.getBytes(StandardCharsets.UTF_8));
        }
        if (a instanceof CelByteString x && b instanceof CelByteString y) {
            return Arrays.compareUnsigned(x.toByteArray(), y.toByteArray());
        }
        return ((Comparable<Object>) a).compareTo(b);
    }

    private static int compare(Number a, Number b) {
        if (a instanceof Double x) {
            if (b instanceof Double y) {
                return x.isNaN() || y.isNaN() ? Comparisons.UNORDERED : x < y ? -1 : x > y ? 1 : 0;
            }
            int mirrored = compare(b, a);
            return mirrored == Comparisons.UNORDERED ? mirrored : -mirrored;
        }
        boolean signed = a instanceof Long;
        if (b instanceof Double y) {
            return y.isNaN()
                    ? Comparisons.UNORDERED
                    : signed ? Numbers.compareIntDouble(a.longValue(), y) : Numbers.compareUintDouble(a.longValue(), y);
        }
        if (signed == b instanceof Long) {
            return signed
                    ? Long.compare(a.longValue(), b.longValue())
                    : Long.compareUnsigned(a.longValue(), b.longValue());
        }
        return signed
                ? Numbers.compareIntUint(a.longValue(), b.longValue())
                : -Numbers.compareIntUint(b.longValue(), a.longValue());
    }

    /** Returns whether two values of one kind are equal: NaN is equal to nothing, 0.0 to -0.0, at any depth. */
    static boolean equal(@Nullable Object a, @Nullable Object b) {
        if (a instanceof Double x && b instanceof Double y) {
            return x.doubleValue() == y.doubleValue();
        }
        if (a instanceof byte[] x && b instanceof byte[] y) {
            return Arrays.equals(x, y);
        }
        if (a instanceof List<?> x && b instanceof List<?> y) {
            if (x.size() != y.size()) {
                return false;
            }
            for (int i = 0; i < x.size(); i++) {
                if (!equal(x.get(i), y.get(i))) {
                    return false;
                }
            }
            return true;
        }
        if (a instanceof Map<?, ?> x && b instanceof Map<?, ?> y) {
            return x.size() == y.size()
                    && x.entrySet().stream()
                            .allMatch(each ->
                                    y.containsKey(each.getKey()) && equal(each.getValue(), y.get(each.getKey())));
        }
        return a == null ? b == null : a.equals(b);
    }

    private static double decimal(String text) {
        if (!Decimals.isNumber(text) && !NO_DECIMALS.contains(text)) {
            throw EvaluationException.CONVERSION;
        }
        double value = Double.parseDouble(text);
        if (Double.isInfinite(value) && !text.endsWith("y")) {
            throw EvaluationException.OVERFLOW;
        }
        return value;
    }

    private static UnsignedLong unsigned(long bits) {
        return UnsignedLong.fromLongBits(bits);
    }

    private static TextView view(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        TextView view = new TextView();
        view.set(ByteBuffer.wrap(bytes), 0, bytes.length);
        return view;
    }
}
