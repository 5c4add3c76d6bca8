package org.tamanoir.services.morph.expression;

import com.google.common.primitives.UnsignedLong;
import dev.cel.common.ast.CelExpr;
import dev.cel.common.types.CelKind;
import dev.cel.common.values.CelByteString;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.tamanoir.format.Format;
import org.tamanoir.format.RecordView;
import org.tamanoir.services.morph.expression.Closures.Bool;
import org.tamanoir.services.morph.expression.Closures.Floating;
import org.tamanoir.services.morph.expression.Closures.Text;
import org.tamanoir.services.morph.expression.Closures.Whole;

/**
 * A CEL expression over the records of one format, compiled once. Each top field is a variable; so is the record, by its
 * structure's name, unless a field has it. What the closures cover allocates nothing, but for {@code matches}, which
 * copies a text; what runs on dev.cel's runtime ({@link #isClosures} tells) allocates some hundred bytes and takes some
 * hundred nanoseconds.
 *
 * <p>All evaluations throw {@link EvaluationException} where the expression has no value for the record, and {@link
 * org.tamanoir.format.FormatException} where the record is damaged.
 *
 * <p>Thread contract: one thread at a time.
 */
public final class Expression {
    /** Characters of a text. */
    public static final int CHARACTERS = 4_096;
    /** Elements that all loops of an evaluation may look at. */
    public static final int ITERATIONS = 10_000;

    private final Checked checked;
    private final ResultType type;
    private final ClosureCompiler.Loops loops = new ClosureCompiler.Loops();
    private @Nullable Bool bool;
    private @Nullable Whole whole;
    private @Nullable Floating floating;
    private @Nullable Text text;
    private @Nullable RuntimeProgram program;

    /** How an expression is run. */
    enum Means {
        /** Code generated for the format, as far as it gains; else closures; else the runtime. */
        BEST,
        CLOSURES,
        RUNTIME
    }

    Expression(Checked checked, Means means) {
        this.checked = checked;
        CelKind kind = checked.tree().getResultType().kind();
        type = type(kind);
        if (means == Means.RUNTIME || !compile(means)) {
            program = new RuntimeProgram(checked);
        }
    }

    /**
     * Compiles an expression; off the path of packets.
     *
     * @throws ExpressionException if it is none over this format
     */
    public static Expression compile(String text, Format format) {
        return new Expression(Checked.of(text, format), Means.BEST);
    }

    /** Compiles an expression for closures alone, which generated code is compared with. */
    public static Expression compileForClosures(String text, Format format) {
        return new Expression(Checked.of(text, format), Means.CLOSURES);
    }

    /** Compiles an expression for dev.cel's runtime alone, which the rest is compared with. */
    public static Expression compileForRuntime(String text, Format format) {
        return new Expression(Checked.of(text, format), Means.RUNTIME);
    }

    private boolean compile(Means means) {
        ClosureCompiler compiler = new ClosureCompiler(checked.tree(), checked.types(), loops);
        try {
            switch (type) {
                case BOOL -> {
                    bool = compiler.bool(checked.tree().getExpr());
                    Bool generated = means == Means.BEST ? PredicateGenerator.generate(checked, compiler) : null;
                    bool = generated == null ? bool : generated;
                }
                case INT, UINT -> whole = compiler.whole(checked.tree().getExpr());
                case DOUBLE -> floating = compiler.floating(checked.tree().getExpr());
                case STRING, BYTES -> text = compiler.text(checked.tree().getExpr());
                default -> {
                    return false;
                }
            }
            return true;
        } catch (ClosureCompiler.Uncovered e) {
            return false;
        }
    }

    private static ResultType type(CelKind kind) {
        return switch (kind) {
            case BOOL -> ResultType.BOOL;
            case INT -> ResultType.INT;
            case UINT -> ResultType.UINT;
            case DOUBLE -> ResultType.DOUBLE;
            case STRING -> ResultType.STRING;
            case BYTES -> ResultType.BYTES;
            default -> ResultType.OTHER;
        };
    }

    /** Returns what it results in. */
    public ResultType type() {
        return type;
    }

    /**
     * Returns this expression.
     *
     * @throws ExpressionException if it results in something else
     */
    public Expression require(ResultType wanted) {
        if (type != wanted) {
            throw new ExpressionException(
                    checked.text(),
                    0,
                    "its value is a " + checked.tree().getResultType().name() + ", here it has to be a "
                            + wanted.name().toLowerCase(java.util.Locale.ROOT));
        }
        return this;
    }

    /**
     * Returns the top fields that an expression may read, whatever the format; null where that may be any.
     *
     * @param formats in which the names of fields are looked for
     * @throws ExpressionException if the text is no expression over any format
     */
    public static @Nullable Set<String> reads(String text, Collection<Format> formats) {
        return Checked.reads(text, formats);
    }

    /** Returns the name of the top field that is all of the expression; null for all others. */
    public @Nullable String wholeField() {
        CelExpr expr = checked.tree().getExpr();
        return expr.getKind() == CelExpr.ExprKind.Kind.IDENT && fields().size() == 1
                ? fields().iterator().next()
                : null;
    }

    /** Returns the top fields that it reads. */
    public Set<String> fields() {
        return checked.fields();
    }

    /** Returns whether it runs as closures over the record's bytes and not on dev.cel's runtime. */
    public boolean isClosures() {
        return program == null;
    }

    /** Returns whether code was generated for it. */
    boolean isGenerated() {
        return bool != null && bool.getClass().getSimpleName().startsWith("Predicate");
    }

    /** Returns the truth of an expression of {@link ResultType#BOOL}. */
    public boolean test(RecordView record) {
        loops.begin();
        return bool != null ? bool.test(record) : (Boolean) run(record, ResultType.BOOL);
    }

    /** Returns the whole number of an expression of {@link ResultType#INT} or {@link ResultType#UINT}: all 64 bits. */
    public long getLong(RecordView record) {
        loops.begin();
        if (whole != null) {
            return whole.get(record);
        }
        Object value = run(record, type == ResultType.UINT ? ResultType.UINT : ResultType.INT);
        return value instanceof UnsignedLong unsigned ? unsigned.longValue() : (Long) value;
    }

    /** Returns the number of an expression of {@link ResultType#DOUBLE}. */
    public double getDouble(RecordView record) {
        loops.begin();
        return floating != null ? floating.get(record) : (Double) run(record, ResultType.DOUBLE);
    }

    /** Points the view at the value of an expression of {@link ResultType#STRING} or {@link ResultType#BYTES}. */
    public void getText(RecordView record, TextView into) {
        loops.begin();
        if (text != null) {
            text.get(record, into);
            return;
        }
        Object value = run(record, type == ResultType.BYTES ? ResultType.BYTES : ResultType.STRING);
        byte[] bytes = value instanceof CelByteString some
                ? some.toByteArray()
                : value.toString().getBytes(StandardCharsets.UTF_8);
        into.set(ByteBuffer.wrap(bytes), 0, bytes.length);
    }

    /**
     * Returns the value as an object, of which an encoder of records takes most: Boolean, Long, {@link BigInteger} beyond,
     * Double, String, {@code byte[]}, List, Map.
     */
    public Object value(RecordView record) {
        if (program != null) {
            return program.plain(record);
        }
        switch (type) {
            case BOOL -> {
                return test(record);
            }
            case INT -> {
                return getLong(record);
            }
            case UINT -> {
                long bits = getLong(record);
                return bits >= 0 ? (Object) bits : new BigInteger(Long.toUnsignedString(bits));
            }
            case DOUBLE -> {
                return getDouble(record);
            }
            default -> {
                TextView view = new TextView();
                getText(record, view);
                return type == ResultType.STRING ? view.toString() : view.toBytes();
            }
        }
    }

    private Object run(RecordView record, ResultType wanted) {
        if (program == null || type != wanted) {
            throw new IllegalStateException("the value of " + this + " is of type " + type + ", not " + wanted);
        }
        return program.value(record);
    }

    @Override
    public String toString() {
        return ExpressionException.shown(checked.text());
    }
}
