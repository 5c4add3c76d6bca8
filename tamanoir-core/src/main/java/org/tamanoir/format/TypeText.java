package org.tamanoir.format;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Locale;

/**
 * Reads type texts such as {@code integer}, {@code float[2][3]}, {@code elem[n]}, {@code *(integer[4])} and {@code
 * (*elem)[n]} into steps.
 */
final class TypeText {
    private static final int MAX_DIMENSION_DIGITS = 18;

    private TypeText() {}

    /**
     * Returns the steps; the last is the leaf.
     *
     * @throws FormatException if the text has more than {@link FormatLimits#TYPE_STEPS} steps or parentheses around
     *     one another, a dimension 0, or brackets and parentheses that do not close
     */
    static List<Step> steps(String text) {
        Deque<String> outer = new ArrayDeque<>();
        String inner = text;
        for (int open = inner.indexOf('('); open >= 0; open = inner.indexOf('(')) {
            int close = inner.lastIndexOf(')');
            if (close < open) {
                throw fault(text, "has a parenthesis that does not close");
            }
            outer.push(inner.substring(0, open) + "x" + inner.substring(close + 1));
            inner = inner.substring(open + 1, close);
            if (outer.size() > FormatLimits.TYPE_STEPS) {
                throw fault(text, "has more than " + FormatLimits.TYPE_STEPS + " parentheses around one another");
            }
        }
        List<Step> steps = simple(text, inner);
        while (!outer.isEmpty()) {
            List<Step> around = simple(text, outer.pop());
            around.remove(around.size() - 1);
            around.addAll(steps);
            steps = around;
            if (steps.size() > FormatLimits.TYPE_STEPS) {
                throw tooLong(text);
            }
        }
        return steps;
    }

    private static List<Step> simple(String whole, String text) {
        List<Step> steps = new ArrayList<>();
        int at = 0;
        for (; at < text.length() && (text.charAt(at) == '*' || Character.isWhitespace(text.charAt(at))); at++) {
            if (text.charAt(at) == '*') {
                add(steps, new Step.Pointer(), whole);
            }
        }
        int bracket = text.indexOf('[', at);
        String base = text.substring(at, bracket < 0 ? text.length() : bracket);
        int firstArray = steps.size();
        boolean counted = false;
        while (bracket >= 0) {
            int close = text.indexOf(']', bracket);
            if (close < 0) {
                throw fault(whole, "has a bracket that does not close");
            }
            Step dimension = dimension(whole, text.substring(bracket + 1, close));
            counted |= dimension instanceof Step.Counted;
            add(steps, dimension, whole);
            bracket = text.indexOf('[', close);
        }
        if (counted) {
            steps.add(firstArray, new Step.Pointer());
        }
        add(steps, leaf(base), whole);
        return steps;
    }

    private static void add(List<Step> steps, Step step, String text) {
        if (steps.size() >= FormatLimits.TYPE_STEPS) {
            throw tooLong(text);
        }
        steps.add(step);
    }

    private static Step dimension(String whole, String text) {
        if (text.isEmpty()) {
            throw fault(whole, "has an empty dimension");
        }
        if (!text.chars().allMatch(c -> c >= '0' && c <= '9')) {
            return new Step.Counted(text);
        }
        long count = text.length() > MAX_DIMENSION_DIGITS ? Long.MAX_VALUE : Long.parseLong(text);
        if (count < 1 || count > FormatLimits.FIXED_ELEMENTS) {
            throw fault(whole, "has a dimension of " + text + ": 1 to " + FormatLimits.FIXED_ELEMENTS + " are allowed");
        }
        return new Step.Fixed(count);
    }

    private static Step.Leaf leaf(String base) {
        String name = base.strip();
        Kind kind = switch (name.toLowerCase(Locale.ROOT)) {
            case "integer" -> Kind.INTEGER;
            case "unsigned", "unsigned integer", "unsigned\tinteger" -> Kind.UNSIGNED;
            case "float", "double" -> Kind.FLOAT;
            case "char" -> Kind.CHAR;
            case "enumeration" -> Kind.ENUMERATION;
            case "boolean" -> Kind.BOOLEAN;
            case "string" -> Kind.STRING;
            default -> Kind.STRUCTURE;
        };
        return new Step.Leaf(kind, kind == Kind.STRUCTURE ? base : "");
    }

    private static FormatException tooLong(String text) {
        return fault(text, "has more than " + FormatLimits.TYPE_STEPS + " steps");
    }

    private static FormatException fault(String text, String what) {
        return new FormatException(FormatFault.TYPE, "type '" + Texts.shown(text) + "' " + what);
    }
}
