package org.tamanoir.services.morph.expression;

import static org.assertj.core.api.Assertions.assertThat;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Supplier;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.tamanoir.format.Format;
import org.tamanoir.format.Layout;
import org.tamanoir.format.RecordView;
import org.tamanoir.support.Seeds;

/**
 * Closures, generated code and dev.cel's runtime say of random expressions what exact arithmetic says: whole numbers are
 * BigInteger here, comparisons of two kinds are of BigDecimal, texts are compared code point by code point.
 */
@Tag("once")
class ExpressionOracleTest {
    private static final int EXPRESSIONS = 80;
    private static final BigInteger TWO_63 = BigInteger.ONE.shiftLeft(63);
    private static final BigInteger TWO_64 = BigInteger.ONE.shiftLeft(64);
    private static final String[] ORDERS = {"<", "<=", ">", ">=", "==", "!="};
    private static final String[] TEXTS = {
        "", "a", "A", "ab", "12", "-7", "+5", "9223372036854775808", "\uFFFF", "😀", "é", "1e3"
    };
    private static final double[] DOUBLES = {
        0,
        -0.0,
        1,
        -1,
        0.5,
        -0.5,
        0x1p53,
        0x1p53 + 2,
        0x1p63,
        -0x1p63,
        0x1p64,
        0x1.fffffffffffffp62,
        1e300,
        Double.MIN_VALUE,
        Double.NaN,
        Double.POSITIVE_INFINITY,
        Double.NEGATIVE_INFINITY
    };

    private static final Format FORMAT = Format.builder(Layout.X86_64)
            .structure("record")
            .field("i", "integer", 8)
            .field("j", "integer", 4)
            .field("u", "unsigned", 8)
            .field("d", "float", 8)
            .field("f", "float", 4)
            .field("p", "boolean", 4)
            .field("s", "string")
            .field("n", "integer", 4)
            .field("li", "integer[n]", 8)
            .field("ld", "float[n]", 8)
            .build();

    /** An expression has no value. */
    private static final class Fails extends RuntimeException {
        private static final long serialVersionUID = 1;
    }

    /** A text, and what exact arithmetic says of it for the record of the moment. */
    private record Node(String text, Supplier<Object> value) {
        BigInteger whole() {
            return (BigInteger) value.get();
        }

        double floating() {
            return (Double) value.get();
        }

        boolean bool() {
            return (Boolean) value.get();
        }

        String string() {
            return (String) value.get();
        }
    }

    private Random random = new Random(0);
    private final Map<String, Object> fields = new HashMap<>();
    private int variables;

    @Test
    void allMeansSayWhatExactArithmeticSays() {
        for (long seed : Seeds.ofCommit(ExpressionOracleTest.class, EXPRESSIONS)) {
            random = new Random(seed);
            Node node = random.nextInt(3) > 0 ? bool(3) : random.nextBoolean() ? whole(3) : text(2);
            // string(double) has no closure: the whole then runs on dev.cel's runtime.
            String mixed = "string(d) != \"x\" ? " + node.text + " : " + node.text;
            Checked checked = Checked.of(node.text, FORMAT);
            List<Expression> means = List.of(
                    new Expression(checked, Expression.Means.BEST),
                    new Expression(checked, Expression.Means.CLOSURES),
                    new Expression(checked, Expression.Means.RUNTIME),
                    Expression.compile(mixed, FORMAT));
            assertThat(means.get(3).isClosures()).isFalse();
            for (int i = 0; i < 8; i++) {
                RecordView record = record();
                Object expected = outcome(node);
                for (Expression each : means) {
                    assertThat(outcome(each, record))
                            .as("seed %d: %s of %s, by means %d", seed, node.text, fields, means.indexOf(each))
                            .isEqualTo(expected);
                }
            }
        }
    }

    private static Object outcome(Node node) {
        try {
            return plain(node.value.get());
        } catch (Fails e) {
            return "fails";
        }
    }

    private static Object outcome(Expression expression, RecordView record) {
        try {
            return plain(expression.value(record));
        } catch (EvaluationException e) {
            return "fails";
        }
    }

    private static Object plain(Object value) {
        return value instanceof Long whole ? BigInteger.valueOf(whole) : value;
    }

    private RecordView record() {
        fields.clear();
        fields.put("i", signed());
        fields.put("j", random.nextInt(8) - 3);
        fields.put("u", unsigned());
        fields.put("d", DOUBLES[random.nextInt(DOUBLES.length)]);
        fields.put("f", (double) (float) DOUBLES[random.nextInt(DOUBLES.length)]);
        fields.put("p", random.nextInt(2));
        fields.put("s", TEXTS[random.nextInt(TEXTS.length)]);
        List<Object> li = new ArrayList<>();
        List<Object> ld = new ArrayList<>();
        for (int i = random.nextInt(4); i > 0; i--) {
            li.add(signed());
            ld.add(DOUBLES[random.nextInt(DOUBLES.length)]);
        }
        fields.put("li", li);
        fields.put("ld", ld);
        return Records.view(FORMAT, fields);
    }

    private long signed() {
        long[] edges = {0, 1, -1, 7, 1L << 53, (1L << 53) + 1, Long.MAX_VALUE, Long.MIN_VALUE, Long.MAX_VALUE - 1023};
        return edges[random.nextInt(edges.length)];
    }

    private BigInteger unsigned() {
        BigInteger[] edges = {
            BigInteger.ZERO,
            BigInteger.ONE,
            BigInteger.ONE.shiftLeft(53).add(BigInteger.ONE),
            TWO_63.subtract(BigInteger.ONE),
            TWO_63,
            TWO_64.subtract(BigInteger.ONE)
        };
        return edges[random.nextInt(edges.length)];
    }

    private String pick(String... from) {
        return from[random.nextInt(from.length)];
    }

    // ---- numbers ----------------------------------------------------------------------------------------------------

    private static BigInteger within(BigInteger value, BigInteger least, BigInteger beyond) {
        if (value.compareTo(least) < 0 || value.compareTo(beyond) >= 0) {
            throw new Fails();
        }
        return value;
    }

    private static BigInteger computed(String operator, BigInteger a, BigInteger b) {
        if (b.signum() == 0 && (operator.equals("/") || operator.equals("%"))) {
            throw new Fails();
        }
        return switch (operator) {
            case "+" -> a.add(b);
            case "-" -> a.subtract(b);
            case "*" -> a.multiply(b);
            case "/" -> a.divide(b);
            default -> a.remainder(b);
        };
    }

    private Node whole(int depth) {
        if (depth == 0) {
            long constant = signed();
            return switch (random.nextInt(3)) {
                case 0 -> new Node(Long.toString(constant), () -> BigInteger.valueOf(constant));
                case 1 -> new Node("i", () -> BigInteger.valueOf((Long) fields.get("i")));
                default -> new Node("j", () -> BigInteger.valueOf((Integer) fields.get("j")));
            };
        }
        int d = depth - 1;
        return switch (random.nextInt(10)) {
            case 0, 1, 2 -> {
                Node a = whole(d);
                Node b = whole(d);
                String operator = pick("+", "-", "*", "/", "%");
                yield new Node("(" + a.text + " " + operator + " " + b.text + ")", () -> {
                    BigInteger x = a.whole();
                    return within(computed(operator, x, b.whole()), TWO_63.negate(), TWO_63);
                });
            }
            case 3 -> {
                Node a = whole(d);
                yield new Node("-(" + a.text + ")", () -> within(a.whole().negate(), TWO_63.negate(), TWO_63));
            }
            case 4 -> {
                Node a = unsigned(d);
                yield new Node("int(" + a.text + ")", () -> within(a.whole(), TWO_63.negate(), TWO_63));
            }
            case 5 -> {
                Node a = floating(d);
                yield new Node(
                        "int(" + a.text + ")",
                        () -> within(truncated(a.floating()), TWO_63.negate().add(BigInteger.ONE), TWO_63));
            }
            case 6 -> {
                Node a = text(d);
                yield new Node(
                        "int(" + a.text + ")",
                        () -> within(parsed(a.string(), "[+-]?[0-9]+"), TWO_63.negate(), TWO_63));
            }
            case 7 -> {
                Node a = text(d);
                yield new Node(
                        "size(" + a.text + ")",
                        () -> BigInteger.valueOf(a.string().codePoints().count()));
            }
            case 8 -> {
                Node a = whole(0);
                Node b = whole(d);
                yield new Node("{1: " + a.text + ", 7: j}[" + b.text + "]", () -> {
                    BigInteger x = a.whole();
                    return switch (b.whole().toString()) {
                        case "1" -> x;
                        case "7" -> BigInteger.valueOf((Integer) fields.get("j"));
                        default -> throw new Fails();
                    };
                });
            }
            default -> {
                Node condition = bool(d);
                Node a = whole(d);
                Node b = whole(d);
                yield new Node(
                        "(" + condition.text + " ? " + a.text + " : " + b.text + ")",
                        () -> condition.bool() ? a.whole() : b.whole());
            }
        };
    }

    private static BigInteger truncated(double value) {
        if (Double.isNaN(value) || Double.isInfinite(value)) {
            throw new Fails();
        }
        return new BigDecimal(value).toBigInteger();
    }

    private static BigInteger parsed(String text, String pattern) {
        if (!text.matches(pattern)) {
            throw new Fails();
        }
        return new BigInteger(text);
    }

    private Node unsigned(int depth) {
        if (depth == 0) {
            BigInteger constant = unsigned();
            return random.nextBoolean()
                    ? new Node(constant + "u", () -> constant)
                    : new Node("u", () -> fields.get("u"));
        }
        int d = depth - 1;
        return switch (random.nextInt(4)) {
            case 0, 1 -> {
                Node a = unsigned(d);
                Node b = unsigned(d);
                String operator = pick("+", "-", "*", "/", "%");
                yield new Node("(" + a.text + " " + operator + " " + b.text + ")", () -> {
                    BigInteger x = a.whole();
                    return within(computed(operator, x, b.whole()), BigInteger.ZERO, TWO_64);
                });
            }
            case 2 -> {
                Node a = floating(d);
                yield new Node("uint(" + a.text + ")", () -> {
                    double value = a.floating();
                    if (value < 0) {
                        throw new Fails();
                    }
                    return within(truncated(value), BigInteger.ZERO, TWO_64);
                });
            }
            default -> {
                Node a = whole(d);
                yield new Node("uint(" + a.text + ")", () -> within(a.whole(), BigInteger.ZERO, TWO_64));
            }
        };
    }

    private Node floating(int depth) {
        if (depth == 0) {
            double constant = DOUBLES[random.nextInt(DOUBLES.length - 3)];
            return switch (random.nextInt(3)) {
                case 0 -> new Node(Double.toString(constant), () -> constant);
                case 1 -> new Node("d", () -> fields.get("d"));
                default -> new Node("f", () -> fields.get("f"));
            };
        }
        int d = depth - 1;
        return switch (random.nextInt(5)) {
            case 0, 1 -> {
                Node a = floating(d);
                Node b = floating(d);
                String operator = pick("+", "-", "*", "/");
                yield new Node("(" + a.text + " " + operator + " " + b.text + ")", () -> {
                    double x = a.floating();
                    double y = b.floating();
                    return switch (operator) {
                        case "+" -> x + y;
                        case "-" -> x - y;
                        case "*" -> x * y;
                        default -> x / y;
                    };
                });
            }
            case 2 -> {
                Node a = floating(d);
                yield new Node("-(" + a.text + ")", () -> -a.floating());
            }
            case 3 -> {
                Node a = random.nextBoolean() ? whole(d) : unsigned(d);
                yield new Node("double(" + a.text + ")", () -> a.whole().doubleValue());
            }
            default -> {
                Node a = text(d);
                yield new Node("double(" + a.text + ")", () -> {
                    if (!a.string().matches("[+-]?[0-9]+(e[0-9]+)?")) {
                        throw new Fails();
                    }
                    double value = Double.parseDouble(a.string());
                    if (Double.isInfinite(value)) {
                        throw new Fails();
                    }
                    return value;
                });
            }
        };
    }

    // ---- texts ------------------------------------------------------------------------------------------------------

    private Node text(int depth) {
        if (depth == 0) {
            String constant = TEXTS[random.nextInt(TEXTS.length)];
            return random.nextBoolean()
                    ? new Node("\"" + constant + "\"", () -> constant)
                    : new Node("s", () -> fields.get("s"));
        }
        int d = depth - 1;
        return switch (random.nextInt(4)) {
            case 0 -> {
                Node a = text(d);
                Node b = text(d);
                yield new Node("(" + a.text + " + " + b.text + ")", () -> a.string() + b.string());
            }
            case 1 -> {
                Node a = random.nextBoolean() ? whole(d) : unsigned(d);
                yield new Node("string(" + a.text + ")", () -> a.whole().toString());
            }
            case 2 -> {
                Node a = text(d);
                yield new Node("string(bytes(" + a.text + "))", a.value);
            }
            default -> text(0);
        };
    }

    // ---- truth ------------------------------------------------------------------------------------------------------

    private static final int UNORDERED = 2;

    private static boolean holds(String operator, int compared) {
        return switch (operator) {
            case "==" -> compared == 0;
            case "!=" -> compared != 0;
            case "<" -> compared == -1;
            case "<=" -> compared == -1 || compared == 0;
            case ">" -> compared == 1;
            default -> compared == 1 || compared == 0;
        };
    }

    private static int compare(Object a, Object b) {
        if (a instanceof Double x && x.isNaN() || b instanceof Double y && y.isNaN()) {
            return UNORDERED;
        }
        if (a instanceof Double x && x.isInfinite() || b instanceof Double y && y.isInfinite()) {
            return Integer.signum(Double.compare(sign(a), sign(b)));
        }
        return exact(a).compareTo(exact(b));
    }

    /** Of an infinity its sign, of all else 0. */
    private static double sign(Object value) {
        return value instanceof Double x && x.isInfinite() ? Math.signum(x) : 0;
    }

    private static BigDecimal exact(Object value) {
        return value instanceof BigInteger whole ? new BigDecimal(whole) : new BigDecimal((Double) value);
    }

    private Node number(int depth) {
        return switch (random.nextInt(3)) {
            case 0 -> whole(depth);
            case 1 -> unsigned(depth);
            default -> floating(depth);
        };
    }

    private Node bool(int depth) {
        if (depth == 0) {
            return random.nextBoolean() ? new Node("p", () -> fields.get("p").equals(1)) : new Node("true", () -> true);
        }
        int d = depth - 1;
        return switch (random.nextInt(15)) {
            case 13 -> {
                Node a = bool(d);
                Node b = bool(d);
                boolean equal = random.nextBoolean();
                String operator = equal ? "==" : "!=";
                yield new Node(
                        random.nextBoolean()
                                ? "((" + a.text + ") " + operator + " (" + b.text + "))"
                                : "([" + a.text + "] " + operator + " [" + b.text + "])",
                        () -> (a.bool() == b.bool()) == equal);
            }
            case 0, 1, 2, 3 -> {
                Node a = number(d);
                Node b = number(d);
                String operator = ORDERS[random.nextInt(4)];
                yield new Node("(" + a.text + " " + operator + " " + b.text + ")", () -> {
                    Object x = a.value.get();
                    return holds(operator, compare(x, b.value.get()));
                });
            }
            case 4 -> {
                int kind = random.nextInt(3);
                Node a = kind == 0 ? whole(d) : kind == 1 ? unsigned(d) : floating(d);
                Node b = kind == 0 ? whole(d) : kind == 1 ? unsigned(d) : floating(d);
                String operator = ORDERS[random.nextInt(6)];
                yield new Node("(" + a.text + " " + operator + " " + b.text + ")", () -> {
                    Object x = a.value.get();
                    return holds(operator, compare(x, b.value.get()));
                });
            }
            case 5 -> {
                Node a = text(d);
                Node b = text(d);
                String operator = ORDERS[random.nextInt(6)];
                yield new Node(
                        "(" + a.text + " " + operator + " " + b.text + ")",
                        () -> holds(
                                operator,
                                Integer.signum(Arrays.compare(
                                        a.string().codePoints().toArray(),
                                        b.string().codePoints().toArray()))));
            }
            case 6 -> {
                boolean or = random.nextBoolean();
                Node a = bool(d);
                Node b = bool(d);
                yield new Node("(" + a.text + (or ? " || " : " && ") + b.text + ")", () -> joined(or, List.of(a, b)));
            }
            case 7 -> {
                Node a = bool(d);
                yield new Node("!" + (a.text.startsWith("(") ? a.text : "(" + a.text + ")"), () -> !a.bool());
            }
            case 8 -> {
                Node a = floating(d);
                yield new Node("(" + a.text + " in ld)", () -> {
                    double x = a.floating();
                    return doubles().stream().anyMatch(each -> each == x);
                });
            }
            case 9 -> {
                Node a = floating(d);
                Node b = floating(0);
                Node c = floating(0);
                yield new Node("(" + a.text + " in [" + b.text + ", " + c.text + "])", () -> {
                    double x = a.floating();
                    double y = b.floating();
                    return x == y | x == c.floating();
                });
            }
            case 10 -> {
                Node a = floating(0);
                Node b = whole(0);
                yield new Node(
                        "([" + a.text + "] == [d] && [" + b.text + "] != [i])",
                        () -> joined(
                                false,
                                List.of(
                                        new Node("", () -> a.floating() == (Double) fields.get("d")),
                                        new Node(
                                                "",
                                                () -> !b.whole().equals(BigInteger.valueOf((Long) fields.get("i")))))));
            }
            case 11 -> {
                Node bound = number(0);
                boolean all = random.nextBoolean();
                String name = "e" + variables++;
                String operator = ORDERS[random.nextInt(4)];
                yield new Node(
                        "li." + (all ? "all(" : "exists(") + name + ", " + name + " " + operator + " " + bound.text
                                + ")",
                        () -> joined(
                                !all,
                                wholes().stream()
                                        .map(each ->
                                                new Node("", () -> holds(operator, compare(each, bound.value.get()))))
                                        .toList()));
            }
            case 12 -> {
                Node bound = floating(0);
                String name = "e" + variables++;
                String operator = ORDERS[random.nextInt(4)];
                yield new Node(
                        "(ld.filter(" + name + ", " + name + " " + operator + " " + bound.text + ").size() > 1)",
                        () -> doubles().stream()
                                        .filter(each -> holds(operator, compare(each, bound.value.get())))
                                        .count()
                                > 1);
            }
            default -> {
                Node a = text(d);
                Node b = text(0);
                String function = pick("contains", "startsWith", "endsWith");
                yield new Node("(" + a.text + ")." + function + "(" + b.text + ")", () -> {
                    byte[] x = a.string().getBytes(StandardCharsets.UTF_8);
                    byte[] y = b.string().getBytes(StandardCharsets.UTF_8);
                    String whole = new String(x, StandardCharsets.ISO_8859_1);
                    String part = new String(y, StandardCharsets.ISO_8859_1);
                    return switch (function) {
                        case "contains" -> whole.contains(part);
                        case "startsWith" -> whole.startsWith(part);
                        default -> whole.endsWith(part);
                    };
                });
            }
        };
    }

    private List<BigInteger> wholes() {
        return ((List<?>) fields.get("li"))
                .stream().map(each -> BigInteger.valueOf((Long) each)).toList();
    }

    private List<Double> doubles() {
        return ((List<?>) fields.get("ld")).stream().map(each -> (Double) each).toList();
    }

    /** What fails counts only where no other operand decides. */
    private static boolean joined(boolean decides, List<Node> operands) {
        boolean failed = false;
        for (Node each : operands) {
            try {
                if (each.bool() == decides) {
                    return decides;
                }
            } catch (Fails e) {
                failed = true;
            }
        }
        if (failed) {
            throw new Fails();
        }
        return !decides;
    }
}
