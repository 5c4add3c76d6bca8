package org.tamanoir.services.morph.expression;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.tamanoir.format.Format;
import org.tamanoir.format.RecordView;
import org.tamanoir.support.Seeds;

/** Generated code and closures say what dev.cel's runtime says, of random expressions over random records of random formats. */
@Tag("once")
class ExpressionDifferentialTest {
    private static final int EXPRESSIONS = Seeds.scaled(500);
    private static final int RECORDS = 12;
    private static final String[] COMPARISONS = {"==", "!=", "<", "<=", ">", ">="};

    private final long seed = Seeds.ofCommit(ExpressionDifferentialTest.class);
    private final Random random = new Random(seed);
    private int variables;

    @Test
    void closuresAndRuntimeAgree() {
        int covered = 0;
        Format format = Records.random(random);
        for (int i = 0; i < EXPRESSIONS; i++) {
            if (i % 50 == 0) {
                format = Records.random(random);
            }
            String text = any(3);
            Checked checked = Checked.of(text, format); // Once: it takes longer than all means together.
            Expression generated = new Expression(checked, Expression.Means.BEST);
            Expression closures = new Expression(checked, Expression.Means.CLOSURES);
            Expression runtime = new Expression(checked, Expression.Means.RUNTIME);
            covered += closures.isClosures() ? 1 : 0;
            for (int j = 0; j < RECORDS; j++) {
                RecordView record = Records.record(format, random);
                assertThat(outcome(closures, record))
                        .as("seed %d: %s", seed, text)
                        .isEqualTo(outcome(generated, record))
                        .isEqualTo(outcome(runtime, record));
            }
        }
        assertThat(covered).as("expressions that have closures, seed %d", seed).isGreaterThan(EXPRESSIONS * 9 / 10);
    }

    private static Object outcome(Expression expression, RecordView record) {
        try {
            Object value = expression.value(record);
            return value instanceof byte[] bytes ? java.util.HexFormat.of().formatHex(bytes) : value;
        } catch (EvaluationException e) {
            return "fails";
        }
    }

    private String any(int depth) {
        return switch (random.nextInt(8)) {
            case 0 -> whole(depth, "");
            case 1 -> floating(depth, "");
            case 2 -> text(depth, "");
            case 3 -> unsigned(depth, "");
            default -> bool(depth, "");
        };
    }

    private String pick(String... from) {
        return from[random.nextInt(from.length)];
    }

    /** A field of the top structure, of one in it, of an element, or of what a loop is at. */
    private String field(String owner, String... names) {
        String name = pick(names);
        if (!owner.isEmpty() && random.nextBoolean()) {
            return owner + "." + name;
        }
        return switch (random.nextInt(6)) {
            case 0 -> "inner." + name;
            case 1 -> "parts[" + random.nextInt(3) + "]." + name;
            case 2 -> "record." + name;
            default -> name;
        };
    }

    private String bool(int depth, String owner) {
        if (depth == 0) {
            return random.nextInt(4) == 0 ? pick("true", "false") : field(owner, "b0");
        }
        int d = depth - 1;
        return switch (random.nextInt(17)) {
            case 0, 1 -> "(" + bool(d, owner) + " && " + bool(d, owner) + ")";
            case 2, 3 -> "(" + bool(d, owner) + " || " + bool(d, owner) + ")";
            case 4 -> "!(" + bool(d, owner) + ")";
            case 5 -> "(" + bool(d, owner) + " ? " + bool(d, owner) + " : " + bool(d, owner) + ")";
            case 6 -> "(" + whole(d, owner) + " " + pick(COMPARISONS) + " " + whole(d, owner) + ")";
            case 7 -> "(" + floating(d, owner) + " " + pick(COMPARISONS) + " " + floating(d, owner) + ")";
            case 8 -> "(" + text(d, owner) + " " + pick(COMPARISONS) + " " + text(d, owner) + ")";
            case 9 -> "(" + unsigned(d, owner) + " " + pick(COMPARISONS) + " " + unsigned(d, owner) + ")";
            case 10 -> text(d, owner) + pick(".startsWith(", ".endsWith(", ".contains(") + text(d, owner) + ")";
            case 11 ->
                "(" + whole(d, owner) + " in " + pick("[1, 2, -1]", field(owner, "li"), "[" + whole(d, owner) + "]")
                        + ")";
            case 12 -> "(" + text(d, owner) + " in " + pick("[\"ATL\", \"a\"]", field(owner, "ls")) + ")";
            case 13 -> pick("isnull(", "!isnull(") + field(owner, "s0", "s1", "li", "i0") + ")";
            case 14 -> text(d, owner) + ".matches('" + pick("^A", "T", "[0-9]+", "n.?$") + "')";
            case 15 -> "(" + bool(d, owner) + " " + pick(COMPARISONS) + " " + bool(d, owner) + ")";
            default -> {
                String name = "v" + variables++;
                yield random.nextBoolean()
                        ? "parts" + pick(".exists(", ".all(") + name + ", " + bool(d, name) + ")"
                        : field(owner, "li") + pick(".exists(", ".all(") + name + ", " + name + " " + pick(COMPARISONS)
                                + " " + whole(0, owner) + ")";
            }
        };
    }

    private String whole(int depth, String owner) {
        if (depth == 0) {
            return random.nextInt(3) == 0
                    ? pick("0", "1", "-1", "7", "9223372036854775807")
                    : field(owner, "i0", "i1", "i2", "m");
        }
        int d = depth - 1;
        return switch (random.nextInt(9)) {
            case 0, 1, 2 -> "(" + whole(d, owner) + pick(" + ", " - ", " * ", " / ", " % ") + whole(d, owner) + ")";
            case 3 -> "-(" + whole(d, owner) + ")";
            case 4 -> "size(" + pick(text(d, owner), field(owner, "y0", "li", "ls", "ld"), "parts") + ")";
            case 5 -> "int(" + pick(floating(d, owner), unsigned(d, owner), text(d, owner)) + ")";
            case 6 -> field(owner, "li") + "[" + whole(d, owner) + "]";
            case 7 -> "(" + bool(d, owner) + " ? " + whole(d, owner) + " : " + whole(d, owner) + ")";
            default -> whole(0, owner);
        };
    }

    private String unsigned(int depth, String owner) {
        if (depth == 0) {
            return random.nextInt(3) == 0 ? pick("0u", "1u", "18446744073709551615u") : field(owner, "u0");
        }
        int d = depth - 1;
        return switch (random.nextInt(4)) {
            case 0, 1 -> "(" + unsigned(d, owner) + pick(" + ", " - ", " * ", " / ", " % ") + unsigned(d, owner) + ")";
            case 2 -> "uint(" + pick(floating(d, owner), whole(d, owner), text(d, owner)) + ")";
            default -> unsigned(0, owner);
        };
    }

    private String floating(int depth, String owner) {
        if (depth == 0) {
            return random.nextInt(3) == 0 ? pick("0.0", "1.5", "-2.25", "1e300") : field(owner, "d0", "d1");
        }
        int d = depth - 1;
        return switch (random.nextInt(6)) {
            case 0, 1 -> "(" + floating(d, owner) + pick(" + ", " - ", " * ", " / ") + floating(d, owner) + ")";
            case 2 -> "-(" + floating(d, owner) + ")";
            case 3 -> "double(" + pick(whole(d, owner), unsigned(d, owner)) + ")";
            case 4 -> field(owner, "ld") + "[" + whole(d, owner) + "]";
            default -> "(" + bool(d, owner) + " ? " + floating(d, owner) + " : " + floating(d, owner) + ")";
        };
    }

    private String text(int depth, String owner) {
        if (depth == 0) {
            return random.nextInt(3) == 0 ? pick("\"\"", "\"A\"", "\"ü\"", "\"12\"") : field(owner, "s0", "s1");
        }
        int d = depth - 1;
        return switch (random.nextInt(5)) {
            case 0 -> "(" + text(d, owner) + " + " + text(d, owner) + ")";
            case 1 -> "string(" + whole(d, owner) + ")";
            case 2 -> field(owner, "ls") + "[" + whole(d, owner) + "]";
            case 3 -> "(" + bool(d, owner) + " ? " + text(d, owner) + " : " + text(d, owner) + ")";
            default -> text(0, owner);
        };
    }
}
