package org.tamanoir.services.morph.handler;

import java.util.Set;
import org.tamanoir.format.Format;
import org.tamanoir.message.Bound;
import org.tamanoir.message.Effect;
import org.tamanoir.message.MessageHandler;

/** Lets all messages pass: the dummy handler that chains are measured with. */
final class Nothing implements MessageHandler {
    private static final Effect EFFECT = new Effect(true, Set.of(), Set.of(), 1);

    /** Needs no settings. */
    Nothing(HandlerSettings settings) {}

    @Override
    public Bound bind(Format input) {
        return new Passing(input);
    }

    @Override
    public Effect effect() {
        return EFFECT;
    }
}
