package org.tamanoir.services.morph;

import org.jspecify.annotations.Nullable;
import org.tamanoir.format.Conversion;
import org.tamanoir.format.Format;
import org.tamanoir.message.Bound;
import org.tamanoir.message.Message;

/**
 * How messages of one format come into one handler: settled at the first of them.
 *
 * <p>Thread contract: the thread of the handler's context; {@link #format} and {@link #converted} any.
 */
final class Row {
    final Format format;
    /** Null: {@link #misfit} says why the handler cannot take them. */
    final @Nullable Bound bound;

    final String misfit;
    private final @Nullable Conversion conversion;
    private final Message inside = new Message();

    Row(Format format, Entrance entrance) {
        this.format = format;
        this.bound = entrance.bound();
        this.conversion = entrance.conversion();
        this.misfit = "";
    }

    Row(Format format, String misfit) {
        this.format = format;
        this.bound = null;
        this.conversion = null;
        this.misfit = misfit;
    }

    /** Returns the message as the handler wants it: itself, or converted into memory of the row's own. */
    Message entering(Message message) {
        Conversion into = conversion;
        if (into == null) {
            return message;
        }
        int bytes = into.convert(message.record());
        return inside.wrapLike(message, into.target(), into.memory(), 0, bytes);
    }

    @Nullable
    Format converted() {
        return conversion == null ? null : conversion.target();
    }
}
