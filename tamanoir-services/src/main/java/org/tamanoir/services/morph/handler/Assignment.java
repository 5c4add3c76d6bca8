package org.tamanoir.services.morph.handler;

import java.util.stream.Collectors;
import org.tamanoir.format.Dimension;
import org.tamanoir.format.Field;
import org.tamanoir.format.Format;
import org.tamanoir.format.FormatException;
import org.tamanoir.format.FormatFault;
import org.tamanoir.format.Kind;
import org.tamanoir.format.RecordView;
import org.tamanoir.format.RecordWriter;
import org.tamanoir.format.Type;
import org.tamanoir.services.morph.expression.EvaluationException;
import org.tamanoir.services.morph.expression.Expression;
import org.tamanoir.services.morph.expression.TextView;

/**
 * Writes the value of an expression into a field of a record that is begun; without allocation, as far as the expression
 * does.
 *
 * <p>Thread contract: one thread.
 */
interface Assignment {
    /** @throws EvaluationException if there is no value, or it does not fit the field */
    void write(RecordView from, RecordWriter into);

    /** @throws FormatException if the field takes no values of the expression's type */
    static Assignment of(Field field, Expression expression) {
        Type type = field.type();
        if (isChars(type)) {
            return chars(field, expression);
        }
        if (!type.isLeaf() || type.kind() == Kind.STRUCTURE || field.size() > Long.BYTES) {
            throw refused(field, expression);
        }
        return switch (expression.type()) {
            case BOOL -> {
                require(type.kind() != Kind.STRING && type.kind() != Kind.FLOAT, field, expression);
                yield (from, into) -> into.putLong(field, 0, expression.test(from) ? 1 : 0);
            }
            case INT, UINT -> {
                require(type.kind() != Kind.STRING, field, expression);
                yield whole(field, expression);
            }
            case DOUBLE -> {
                require(type.kind() == Kind.FLOAT, field, expression);
                yield (from, into) -> into.putDouble(field, 0, expression.getDouble(from));
            }
            case STRING -> {
                require(type.kind() == Kind.STRING, field, expression);
                TextView text = new TextView();
                yield (from, into) -> {
                    expression.getText(from, text);
                    into.putText(into.slot(field, 0), text.memory(), text.at(), text.length());
                };
            }
            default -> throw refused(field, expression);
        };
    }

    private static boolean isChars(Type type) {
        return type.isArray()
                && type.kind() == Kind.CHAR
                && type.target().isLeaf()
                && type.dimensions().size() == 1
                && type.dimensions().get(0).control() == null;
    }

    /** Fills what the text leaves of an array of chars with 0. */
    private static Assignment chars(Field field, Expression expression) {
        switch (expression.type()) {
            case STRING, BYTES -> {
                Dimension dimension = field.type().dimensions().get(0);
                TextView text = new TextView();
                return (from, into) -> {
                    expression.getText(from, text);
                    if (text.length() > dimension.count()) {
                        throw EvaluationException.OVERFLOW;
                    }
                    into.putBytes(field.offset(), text.memory(), text.at(), text.length());
                };
            }
            default -> throw refused(field, expression);
        }
    }

    private static Assignment whole(Field field, Expression expression) {
        boolean unsignedValue = expression.type() == org.tamanoir.services.morph.expression.ResultType.UINT;
        if (field.type().kind() == Kind.FLOAT) {
            require(!unsignedValue, field, expression);
            return (from, into) -> into.putDouble(field, 0, expression.getLong(from));
        }
        int unused = Long.SIZE - 8 * field.size();
        boolean signedField = field.type().kind() == Kind.INTEGER;
        return (from, into) -> {
            long value = expression.getLong(from);
            long kept = signedField ? value << unused >> unused : value << unused >>> unused;
            // A negative number fits no unsigned field, and what is one by its highest bit no signed.
            if (kept != value || value < 0 && signedField == unsignedValue) {
                throw EvaluationException.OVERFLOW;
            }
            into.putLong(field, 0, value);
        };
    }

    /** @throws FormatException if a format has no such field */
    static void require(Format format, String name) {
        if (format.top().field(name) == null) {
            String known = format.top().fields().stream().map(Field::name).collect(Collectors.joining(", "));
            throw new FormatException(
                    FormatFault.CONVERSION,
                    "format " + format.name() + " has no field '" + name + "' to assign to; it has " + known);
        }
    }

    private static void require(boolean fits, Field field, Expression expression) {
        if (!fits) {
            throw refused(field, expression);
        }
    }

    private static FormatException refused(Field field, Expression expression) {
        return new FormatException(
                FormatFault.CONVERSION,
                "field " + field + " does not take '" + expression + "', which is a "
                        + expression.type().name().toLowerCase(java.util.Locale.ROOT)
                        + ": convert it by int(…), double(…), string(…); arrays and structures are taken over whole");
    }
}
