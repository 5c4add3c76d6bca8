package org.tamanoir.services.morph.handler;

import java.util.Set;
import org.tamanoir.format.Format;
import org.tamanoir.message.Bound;
import org.tamanoir.message.Effect;
import org.tamanoir.message.Message;
import org.tamanoir.message.MessageHandler;
import org.tamanoir.message.Outcome;
import org.tamanoir.message.Outlet;

/** Lets all messages pass: the dummy handler that chains are measured with. */
final class Nothing implements MessageHandler {
    private static final Effect EFFECT = new Effect(true, Set.of(), Set.of(), 1);

    /** Needs no settings. */
    Nothing(HandlerSettings settings) {}

    private record Passing(Format format) implements Bound {
        @Override
        public Format output(int port) {
            return format;
        }

        @Override
        public Outcome handle(Message message, Outlet outlet) {
            return Outcome.FORWARD;
        }
    }

    @Override
    public Bound bind(Format input) {
        return new Passing(input);
    }

    @Override
    public Effect effect() {
        return EFFECT;
    }
}
