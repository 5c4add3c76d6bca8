package org.tamanoir.services.morph.handler;

import org.tamanoir.format.Conversion;
import org.tamanoir.format.Format;
import org.tamanoir.message.Bound;
import org.tamanoir.message.Message;
import org.tamanoir.message.Outcome;
import org.tamanoir.message.Outlet;

/** Replaces each message by what a conversion makes of it, in memory of its own. */
final class Converting implements Bound {
    private final Conversion conversion;
    private final Message converted = new Message();

    Converting(Conversion conversion) {
        this.conversion = conversion;
    }

    @Override
    public Format output(int port) {
        return conversion.target();
    }

    /** Returns what is made of a message, valid until the next one. */
    Message of(Message message) {
        int length = conversion.convert(message.record());
        return converted.wrapLike(message, conversion.target(), conversion.memory(), 0, length);
    }

    @Override
    public Outcome handle(Message message, Outlet outlet) {
        outlet.replace(of(message));
        return Outcome.FORWARD;
    }
}
