package org.tamanoir.services.morph.handler;

import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.tamanoir.format.Accessor;
import org.tamanoir.format.Field;
import org.tamanoir.format.Format;
import org.tamanoir.format.FormatException;
import org.tamanoir.format.FormatFault;
import org.tamanoir.format.Kind;
import org.tamanoir.format.RecordView;

/**
 * A field of a summary: what is done with a field of many records. Sums of whole numbers are exact in 64 bits with a sign;
 * sums and means of floats, and all means, are doubles, added in the order in which records come. What is no number
 * (NaN) makes a sum and a mean so, and is passed over by the least and the greatest where any other came.
 *
 * <p>The state is a cell of 64 bits: a whole number, or the bits of a double.
 *
 * <p>Thread contract: one thread.
 */
final class Aggregate {
    private static final Pattern TEXT = Pattern.compile("\\s*([a-z]+)\\s*(?:\\(\\s*(\\S+)\\s*\\)\\s*)?");
    private static final double NONE = Double.NaN;

    /** What is done. */
    enum Function {
        COUNT,
        SUM,
        AVG,
        MIN,
        MAX,
        FIRST,
        LAST
    }

    /**
     * What a plan says.
     *
     * @param name of the field in the summary
     * @param source field of the records; empty for a count
     */
    record Wish(String name, Function function, String source) {
        /** Reads {@code count} or a function of a field, such as {@code sum(fuel)}. */
        static Wish of(HandlerSettings settings, String name, String text) {
            Matcher matcher = TEXT.matcher(text);
            if (matcher.matches()) {
                String source = matcher.group(2) == null ? "" : matcher.group(2);
                for (Function function : Function.values()) {
                    boolean known = function.name().toLowerCase(Locale.ROOT).equals(matcher.group(1));
                    if (known && source.isEmpty() == (function == Function.COUNT)) {
                        return new Wish(name, function, source);
                    }
                }
            }
            throw settings.problem(
                    "fields." + name,
                    "'" + text + "' is none of count, sum(f), avg(f), min(f), max(f), first(f), last(f)");
        }
    }

    private final Wish wish;
    private final @Nullable Accessor source;
    private final Accessor target;
    private final boolean floating;
    private final boolean signed;

    /** Binds a wish to a format, and to a summary's that has its field. */
    Aggregate(Wish wish, Format input, Format output) {
        this.wish = wish;
        source = wish.function == Function.COUNT ? null : input.accessor(wish.source);
        target = output.accessor(wish.name);
        Kind kind = source == null ? Kind.INTEGER : source.kind();
        floating = wish.function == Function.AVG || kind == Kind.FLOAT;
        signed = kind == Kind.INTEGER;
        if (isNumeric() && source != null && !isNumber(source)) {
            throw notSummed(wish, source);
        }
        boolean fits = isNumber(target) && (target.kind() == Kind.FLOAT) == floating;
        int bytes = isWide(wish.function) || source == null
                ? Long.BYTES
                : source.type().bytes();
        if (isNumeric() && (!fits || target.type().bytes() < bytes)) {
            throw new FormatException(
                    FormatFault.CONVERSION,
                    "field " + wish.name + " holds " + wish.function.name().toLowerCase(Locale.ROOT) + ": a "
                            + (floating ? "float" : "whole number") + " of " + bytes + " bytes or more is wanted");
        }
    }

    private static boolean isWide(Function function) {
        return function == Function.COUNT || function == Function.SUM || function == Function.AVG;
    }

    private static boolean isNumber(Accessor field) {
        Kind kind = field.kind();
        return !field.isArray()
                && kind != Kind.STRING
                && kind != Kind.STRUCTURE
                && field.type().isLeaf()
                && field.type().bytes() <= Long.BYTES;
    }

    /** Adds a wish's field to a summary's format. */
    static void describe(Wish wish, Format input, DerivedFormat summary) {
        if (wish.function == Function.COUNT) {
            summary.add(wish.name, "integer", Long.BYTES);
            return;
        }
        Field field = input.top().field(wish.source);
        if (field == null) {
            throw new FormatException(
                    FormatFault.CONVERSION,
                    "format " + input.name() + " has no field '" + wish.source + "'; it has: "
                            + input.top().fields());
        }
        Accessor source = input.accessor(wish.source);
        boolean number = isNumber(source);
        boolean text = source.kind() == Kind.STRING && !source.isArray();
        if (!number && !(text && wish.function == Function.FIRST)) {
            throw notSummed(wish, source);
        }
        switch (wish.function) {
            case AVG -> summary.add(wish.name, "double", Double.BYTES);
            case SUM -> summary.add(wish.name, source.kind() == Kind.FLOAT ? "double" : "integer", Long.BYTES);
            default -> summary.add(wish.name, field.typeText(), text ? -1 : field.size());
        }
    }

    private static FormatException notSummed(Wish wish, Accessor source) {
        return new FormatException(
                FormatFault.CONVERSION,
                wish.function.name().toLowerCase(Locale.ROOT) + "(" + wish.source + "): the field is "
                        + (source.isArray() ? "an array of " : "") + source.kind()
                        + "; numbers of up to 8 bytes have all functions, strings first alone");
    }

    /** Returns whether the field lies in a summary from its first record on, and stays. */
    boolean isFirst() {
        return wish.function == Function.FIRST;
    }

    /** Returns whether the state is in the cell. */
    private boolean isNumeric() {
        return wish.function != Function.FIRST;
    }

    Wish wish() {
        return wish;
    }

    /** Returns whether the record's number can be added to this state: a sum of whole numbers may grow too large. */
    boolean fits(long state, RecordView record) {
        if (wish.function != Function.SUM || floating || source == null) {
            return true;
        }
        long value = source.getLong(record);
        long sum = state + value;
        return (signed || value >= 0) && ((state ^ sum) & (value ^ sum)) >= 0;
    }

    /** Returns the state before the first record. */
    long begin() {
        boolean extreme = wish.function == Function.MIN || wish.function == Function.MAX;
        return floating ? Double.doubleToRawLongBits(extreme ? NONE : 0) : 0;
    }

    /** Returns the state with a record. */
    long with(long state, RecordView record, boolean first) {
        if (source == null) {
            return state + 1;
        }
        if (floating) {
            double value = source.getDouble(record);
            return Double.doubleToRawLongBits(with(Double.longBitsToDouble(state), value));
        }
        return isNumeric() ? with(state, source.getLong(record), first) : state;
    }

    private double with(double state, double value) {
        return switch (wish.function) {
            case MIN -> Double.isNaN(state) || value < state ? value : state;
            case MAX -> Double.isNaN(state) || value > state ? value : state;
            case LAST -> value;
            default -> state + value;
        };
    }

    private long with(long state, long value, boolean first) {
        return switch (wish.function) {
            case MIN -> first || isLess(value, state) ? value : state;
            case MAX -> first || isLess(state, value) ? value : state;
            case LAST -> value;
            default -> state + value;
        };
    }

    private boolean isLess(long one, long other) {
        return signed ? one < other : Long.compareUnsigned(one, other) < 0;
    }

    /** Writes the result into a summary. */
    void end(RecordView summary, long state, long records) {
        if (floating) {
            double value = Double.longBitsToDouble(state);
            target.setDouble(summary, 0, wish.function == Function.AVG ? value / records : value);
        } else {
            target.setLong(summary, 0, state);
        }
    }
}
