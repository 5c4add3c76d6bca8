package org.tamanoir.format.text;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.tamanoir.platform.Causes;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonToken;
import tools.jackson.core.exc.JacksonIOException;

/** Says in words for users why Jackson refuses something; its own messages name switches of a program. Any thread may call. */
public final class JsonFaults {
    /** Characters of a name or a message that are shown. */
    private static final int SHOWN = 120;
    /** Control characters, marks of direction, halves of characters: they could forge a log. */
    private static final Pattern HIDDEN = Pattern.compile("\\p{C}");

    /** A message of Jackson, and the words for it, in which $1 is what the file says. */
    private record Known(Pattern message, String words) {
        Known(String message, String words) {
            this(Pattern.compile(message, Pattern.DOTALL), words);
        }
    }

    private static final Known[] KNOWN = {
        new Known("Unexpected end-of-input.*", "it is cut off: its end lacks"),
        new Known(
                ".*nesting depth \\((\\d+)\\) exceeds the maximum allowed \\((\\d+).*",
                "it nests to a depth of $1: at most $2 is read"),
        new Known(
                ".*\\((\\d+)\\) exceeds the maximum allowed \\((\\d+).*",
                "a name, number or text has $1 characters: at most $2 are read"),
        new Known("Unrecognized token '(.*?)'.*", "'$1' is no value: texts stand in double quotes"),
        new Known("Non-standard token '(.*?)'.*", "'$1' is no number of JSON"),
        new Known("Unexpected close marker '(.)'.*", "'$1' closes what it did not open"),
        new Known("Duplicate .*\"(.*)\".*", "'$1' stands twice in one object: remove one"),
        new Known("Trailing token .*", "something stands behind the value: remove it"),
        new Known(
                ".*(?:in numeric value|Leading zeroes|plus sign|hexadecimal|a digit|digit \\(0-9\\)).*",
                "a number is not written as in JSON: no + or 0 in front, digits on both sides of the point"),
        new Known("(?:Unrecognized character escape|.*escape sequence).*", "'\\\\' begins no escape of JSON"),
        new Known("Illegal unquoted.*", "a control character stands in a text: write \\\\n, \\\\t or \\\\u00XX"),
        new Known("Illegal character.*", "a control character stands between values: remove it"),
        new Known("Numeric value \\((.*?)\\) out of range.*", "$1 is too large"),
        new Known("Unexpected character \\('(.*?)' \\(code.*", "'$1' stands where it cannot: what is due before it?"),
    };

    private JsonFaults() {}

    /** Returns in one line why a parser refuses its input, behind the field where that is known. */
    public static String why(JacksonException e) {
        return HIDDEN.matcher(field(e) + words(e)).replaceAll("?");
    }

    private static String words(JacksonException e) {
        Throwable cause = e.getCause();
        if (cause instanceof IllegalArgumentException || cause != null && e instanceof JacksonIOException) {
            return Causes.text(cause); // Of a record's own check, or of a file.
        }
        if (cause instanceof NullPointerException) {
            return "a field lacks";
        }
        String message = String.valueOf(e.getOriginalMessage());
        for (Known known : KNOWN) {
            Matcher matcher = known.message.matcher(message);
            if (matcher.matches()) {
                return shown(matcher.replaceFirst(known.words));
            }
        }
        return "it is not what is due here";
    }

    private static String field(JacksonException e) {
        StringBuilder field = new StringBuilder();
        e.getPath().forEach(step -> {
            String name = step.getPropertyName();
            field.append(field.isEmpty() || name == null ? "" : ".")
                    .append(name == null ? "[" + step.getIndex() + "]" : name);
        });
        return field.isEmpty() ? "" : "field '" + shown(field.toString()) + "': ";
    }

    private static String shown(String text) {
        return text.length() > SHOWN ? text.substring(0, SHOWN) + "…" : text;
    }

    /** Returns what a token is called. */
    public static String named(@Nullable JsonToken token) {
        if (token == null) {
            return "the end";
        }
        return switch (token) {
            case START_OBJECT -> "an object";
            case START_ARRAY -> "a list";
            case VALUE_STRING -> "a text";
            case VALUE_NUMBER_INT, VALUE_NUMBER_FLOAT -> "a number";
            case VALUE_TRUE -> "true";
            case VALUE_FALSE -> "false";
            case VALUE_NULL -> "null";
            case VALUE_EMBEDDED_OBJECT -> "bytes";
            default -> "the end of an object or list";
        };
    }
}
