package org.tamanoir.service;

import java.math.BigDecimal;
import java.time.Duration;
import java.util.Collection;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;

/**
 * A service's settings: the {@code config} mapping of the node's configuration file, as text. Immutable.
 *
 * <p>Every getter throws {@link IllegalArgumentException} with the key, the value and what is allowed.
 */
public final class ServiceConfig {
    /** No settings: all defaults. */
    public static final ServiceConfig EMPTY = new ServiceConfig(Map.of());

    /** A leading 0 is refused: some read octal digits behind it. */
    private static final Pattern WHOLE = Pattern.compile("-?(0|[1-9][0-9]*|0[xX][0-9a-fA-F]+)");

    private static final Pattern DECIMAL = Pattern.compile("-?[0-9]{1,20}(\\.[0-9]{1,20})?");

    private final Map<String, String> values;

    /** Settings from text. */
    public ServiceConfig(Map<String, String> values) {
        this.values = Map.copyOf(values);
    }

    /** The text of a setting. */
    public String text(String key, String defaultValue) {
        return values.getOrDefault(key, defaultValue);
    }

    /** A whole number from {@code min} to {@code max}, decimal or with 0x. */
    public long number(String key, long defaultValue, long min, long max) {
        String text = values.get(key);
        if (text == null) {
            return defaultValue;
        }
        try {
            if (WHOLE.matcher(text).matches()) {
                long number = Long.decode(text);
                if (number >= min && number <= max) {
                    return number;
                }
            }
        } catch (NumberFormatException e) {
            // More than 64 bits: out of bounds, as said below.
        }
        throw new IllegalArgumentException(key + ": " + text + " must be a whole number from " + min + " to " + max);
    }

    /** A number from {@code min} to {@code max}, in digits with or without a point, as in {@code 0.5}. */
    public double decimal(String key, double defaultValue, long min, long max) {
        String text = values.get(key);
        if (text == null) {
            return defaultValue;
        }
        if (DECIMAL.matcher(text).matches()) {
            BigDecimal number = new BigDecimal(text); // A double would round what is just out of bounds to a bound.
            if (number.compareTo(BigDecimal.valueOf(min)) >= 0 && number.compareTo(BigDecimal.valueOf(max)) <= 0) {
                return number.doubleValue();
            }
        }
        throw new IllegalArgumentException(
                key + ": " + text + " must be a number from " + min + " to " + max + ", as in 0.5");
    }

    /** {@code true} or {@code false}. */
    public boolean flag(String key, boolean defaultValue) {
        return switch (values.getOrDefault(key, Boolean.toString(defaultValue))) {
            case "true" -> true;
            case "false" -> false;
            default -> throw new IllegalArgumentException(key + ": " + values.get(key) + " must be true or false");
        };
    }

    /** A duration in milliseconds from {@code min} to {@code max}, given as a whole number. */
    public Duration millis(String key, Duration defaultValue, Duration min, Duration max) {
        return Duration.ofMillis(number(key, defaultValue.toMillis(), min.toMillis(), max.toMillis()));
    }

    /** One constant of an enum, written in lower case. */
    public <E extends Enum<E>> E choice(String key, E defaultValue) {
        String text = values.get(key);
        if (text == null) {
            return defaultValue;
        }
        Set<String> choices = new TreeSet<>();
        for (E constant : defaultValue.getDeclaringClass().getEnumConstants()) {
            String name = constant.name().toLowerCase(java.util.Locale.ROOT);
            if (name.equals(text)) {
                return constant;
            }
            choices.add(name);
        }
        throw new IllegalArgumentException(
                key + ": " + text + " must be one of " + String.join(", ", choices) + Suggestion.of(text, choices));
    }

    /**
     * Refuses settings that the service does not know, so that a mistyped one is noticed.
     *
     * @throws IllegalArgumentException with the unknown key and the known ones
     */
    public void allow(String... keys) {
        Set<String> known = new TreeSet<>(Set.of(keys));
        for (String key : values.keySet()) {
            if (!known.contains(key)) {
                throw new IllegalArgumentException(unknown(key, known));
            }
        }
    }

    static String unknown(String key, Collection<String> known) {
        return key + ": no such setting; known: " + (known.isEmpty() ? "none" : String.join(", ", known))
                + Suggestion.of(key, known);
    }

    /** All settings as given. */
    public Map<String, String> asMap() {
        return values;
    }
}
