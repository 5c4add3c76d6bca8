package org.tamanoir.message;

import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What a handler does to the records that pass, by which handlers are put in the order that handles least state.
 *
 * @param passes true if it lets records pass unchanged or drops them, by what {@link #reads} names alone; false if it may
 *     change them
 * @param reads top fields that decide; null: not known, any
 * @param changes top fields that may differ behind it in value, type or presence; null: not known, any
 * @param bytesOutPerIn how much of the bytes that come in goes out, as declared or measured; NaN: not known
 */
public record Effect(
        boolean passes,
        @Nullable Set<String> reads,
        @Nullable Set<String> changes,
        double bytesOutPerIn) {
    /** Changes places with nothing. */
    public static final Effect UNKNOWN = new Effect(false, null, null, Double.NaN);
}
