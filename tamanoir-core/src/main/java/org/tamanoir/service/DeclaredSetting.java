package org.tamanoir.service;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import org.tamanoir.service.Setting.Kind;

/**
 * A setting as {@link Setting} declares it. Immutable.
 *
 * @param standard the value without one; empty = none
 * @param choices words that are allowed, of other kinds than {@link Kind#CHOICE} besides what they allow
 * @param text what it is for
 */
public record DeclaredSetting(
        String name, Kind kind, String standard, long min, long max, List<String> choices, String text) {
    private static final Pattern NAME = Pattern.compile("[a-z0-9][a-z0-9._-]{0,63}", Pattern.CASE_INSENSITIVE);

    /** Throws {@link IllegalArgumentException} in one line for what cannot be meant. */
    public DeclaredSetting {
        choices = List.copyOf(choices);
        if (!NAME.matcher(name).matches()) {
            throw new IllegalArgumentException(
                    "Setting '" + name + "': a name has 1 to 64 letters, digits, dots, hyphens and underscores");
        }
        if (min > max || kind == Kind.CHOICE && choices.isEmpty()) {
            throw new IllegalArgumentException("Setting '" + name + "': "
                    + (min > max ? "min " + min + " is over max " + max : "a CHOICE needs choices"));
        }
    }

    static DeclaredSetting of(Setting says) {
        return new DeclaredSetting(
                says.name(),
                says.kind(),
                says.standard(),
                says.min(),
                says.max(),
                List.of(says.choices()),
                says.text());
    }

    /** Returns what values are allowed, in a few words. */
    public String allowed() {
        List<String> all = new ArrayList<>();
        switch (kind) {
            case TEXT -> all.add("text");
            case FLAG -> all.addAll(List.of("true", "false"));
            case CHOICE -> {}
            case NUMBER, DECIMAL -> all.add(bounds());
        }
        all.addAll(choices);
        return String.join(", ", all);
    }

    private String bounds() {
        return (kind == Kind.NUMBER ? "whole number" : "number")
                + (min == Long.MIN_VALUE ? "" : " from " + min)
                + (max == Long.MAX_VALUE ? "" : (min == Long.MIN_VALUE ? " up" : "") + " to " + max);
    }

    /** Returns in one line why the value that a configuration gives is not allowed; empty when it is, or there is none. */
    Optional<String> problem(ServiceConfig config) {
        String given = config.text(name, "");
        if (!config.asMap().containsKey(name) || choices.contains(given)) {
            return Optional.empty();
        }
        try {
            switch (kind) {
                case TEXT -> {}
                case NUMBER -> config.number(name, 0, min, max);
                case DECIMAL -> config.decimal(name, 0, min, max);
                case FLAG -> config.flag(name, false);
                case CHOICE ->
                    throw new IllegalArgumentException(name + ": " + given + " must be one of "
                            + String.join(", ", choices.stream().sorted().toList())
                            + Suggestion.of(given, choices));
            }
            return Optional.empty();
        } catch (IllegalArgumentException e) {
            String besides = kind == Kind.CHOICE || choices.isEmpty() ? "" : ", or " + String.join(", ", choices);
            return Optional.of(e.getMessage() + besides);
        }
    }
}
