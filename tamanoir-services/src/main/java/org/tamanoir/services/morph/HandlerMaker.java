package org.tamanoir.services.morph;

import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.tamanoir.message.MessageHandler;
import org.tamanoir.services.morph.handler.PlanNames;

/** Makes the handlers that plans name. Any threads. */
interface HandlerMaker {
    /** Returns the kinds that there are. */
    Set<String> kinds();

    /**
     * Makes a handler.
     *
     * @param path of the kind's name in the plan, for messages
     * @throws IllegalArgumentException what is wrong, a line each
     */
    MessageHandler make(String path, String kind, @Nullable Object settings, PlanNames names);
}
