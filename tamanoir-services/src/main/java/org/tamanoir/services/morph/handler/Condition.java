package org.tamanoir.services.morph.handler;

import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.tamanoir.format.Format;
import org.tamanoir.format.FormatException;
import org.tamanoir.format.FormatFault;
import org.tamanoir.format.Target;
import org.tamanoir.services.morph.expression.Expression;
import org.tamanoir.services.morph.expression.ExpressionException;
import org.tamanoir.services.morph.expression.ResultType;

/**
 * An expression in settings, to be compiled for each format that comes.
 *
 * @param reads the top fields that it may read; null: any
 */
record Condition(String text, @Nullable Set<String> reads) {
    /** Reads a setting; refuses now what is no expression over any format. */
    static Condition of(HandlerSettings settings, String key) {
        return of(settings, key, settings.text(key));
    }

    static Condition of(HandlerSettings settings, String key, String text) {
        try {
            return new Condition(
                    text,
                    Expression.reads(
                            text,
                            settings.names().formats().values().stream()
                                    .map(Target::format)
                                    .toList()));
        } catch (ExpressionException e) {
            throw settings.problem(key, String.valueOf(e.getMessage()));
        }
    }

    /** @throws FormatException if it is no expression of this type over the format */
    Expression compile(Format format, ResultType type) {
        try {
            return Expression.compile(text, format).require(type);
        } catch (ExpressionException e) {
            throw new FormatException(FormatFault.CONVERSION, String.valueOf(e.getMessage()));
        }
    }

    /** @throws FormatException if it is no expression over the format */
    Expression compile(Format format) {
        try {
            return Expression.compile(text, format);
        } catch (ExpressionException e) {
            throw new FormatException(FormatFault.CONVERSION, String.valueOf(e.getMessage()));
        }
    }
}
