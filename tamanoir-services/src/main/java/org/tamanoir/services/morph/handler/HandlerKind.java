package org.tamanoir.services.morph.handler;

import org.tamanoir.message.MessageHandler;

/**
 * A kind of handler, by whose name a plan asks for one.
 *
 * <p>Thread contract: any threads.
 */
public interface HandlerKind {
    /** Returns the name in the plan. */
    String name();

    /** Returns the key of the setting that a bare text, list or number stands for; empty: there have to be settings. */
    default String main() {
        return "";
    }

    /**
     * Makes a handler. Reads files, if it has any: not on a packet's path.
     *
     * @throws IllegalArgumentException what is wrong with the settings: path, what, value, bound, remedy; a line each
     */
    MessageHandler make(HandlerSettings settings);
}
