package org.tamanoir.message;

import java.util.List;
import org.tamanoir.format.Format;
import org.tamanoir.format.FormatException;
import org.tamanoir.format.Target;

/**
 * A stage that messages pass: one → one (translate, filter, project), several → one (merge, reduce), one → several
 * (split). It has an input and numbered ports behind which other handlers, or the way out, stand. EVPath's actions are
 * its model.
 *
 * <p>Thread contract: all methods are called by one thread at a time, each seeing what the one before did; {@link #bind}
 * and {@link #close} perhaps by another than the rest.
 */
public interface MessageHandler {
    /** Returns the formats that it wants records converted into first, the best fit counts; empty: it takes them as they are. */
    default List<Target> inputs() {
        return List.of();
    }

    /** Returns how many ports it has, 1 to 64. */
    default int ports() {
        return 1;
    }

    /**
     * Prepares it for messages of a format: of one of {@link #inputs}, or of any if there are none.
     *
     * @throws FormatException if it cannot handle them: what they lack, in one line
     */
    Bound bind(Format input);

    /** Returns what it needs of a context. */
    default Needs needs() {
        return Needs.NONE;
    }

    /** Returns what it does to records, as far as it may change places with its neighbours. */
    default Effect effect() {
        return Effect.UNKNOWN;
    }

    /**
     * Does what is due by now: windows that end, partners that did not come.
     *
     * @return when to be called again, in ns of the node's clock; {@link Long#MAX_VALUE}: not before the next message
     */
    default long expire(long nowNs, Outlet outlet) {
        return Long.MAX_VALUE;
    }

    /** Gives out, or drops, all that it holds: no more messages come. */
    default void finish(Outlet outlet) {}

    /** Returns the bytes that it holds now beyond its declared small state. */
    default long heldBytes() {
        return 0;
    }

    /** Frees what it took. */
    default void close() {}
}
