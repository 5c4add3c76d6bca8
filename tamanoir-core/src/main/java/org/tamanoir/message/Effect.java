package org.tamanoir.message;

import java.util.Collections;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What a handler does to the records that pass, by which handlers are put in the order that handles least state.
 *
 * @param passes true if it lets records pass unchanged or drops them, by what {@link #reads} names alone; false if it may
 *     change them
 * @param reads top fields that decide; null: not known, any
 * @param changes top fields that may differ behind it in value, type or presence; null: not known, any
 * @param keeps top fields that are the same behind it, whatever {@code changes} leaves open; null: not known
 * @param bytesOutPerIn how much of the bytes that come in goes out, as declared or measured; NaN: not known
 */
public record Effect(
        boolean passes,
        @Nullable Set<String> reads,
        @Nullable Set<String> changes,
        @Nullable Set<String> keeps,
        double bytesOutPerIn) {
    /** Changes places with nothing. */
    public static final Effect UNKNOWN = new Effect(false, null, null, Double.NaN);

    /** Makes an effect of which is not known what it keeps besides. */
    public Effect(boolean passes, @Nullable Set<String> reads, @Nullable Set<String> changes, double bytesOutPerIn) {
        this(passes, reads, changes, null, bytesOutPerIn);
    }

    /** Returns whether records have these fields behind it as they had before, so that who reads them may stand there. */
    public boolean leaves(Set<String> fields) {
        return passes
                || changes != null && Collections.disjoint(changes, fields)
                || keeps != null && keeps.containsAll(fields);
    }
}
