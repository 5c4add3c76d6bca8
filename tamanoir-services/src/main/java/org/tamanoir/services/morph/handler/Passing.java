package org.tamanoir.services.morph.handler;

import org.tamanoir.format.Format;
import org.tamanoir.message.Bound;
import org.tamanoir.message.Message;
import org.tamanoir.message.Outcome;
import org.tamanoir.message.Outlet;

/** Lets the messages of a format pass as they are. */
record Passing(Format format) implements Bound {
    @Override
    public Format output(int port) {
        return format;
    }

    @Override
    public Outcome handle(Message message, Outlet outlet) {
        return Outcome.FORWARD;
    }
}
