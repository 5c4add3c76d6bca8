package org.tamanoir.cluster.element.ring;

import org.tamanoir.cluster.element.Token;

/** One that hears the ring's messages. Thread contract: the ring's thread. */
interface Party {
    void token(int from, Token token);

    void message(int from, Message message);

    /** Returns when {@link #expire} is to be called, by the ring's clock; {@link Long#MAX_VALUE} = not at all. */
    long deadlineNs();

    /** Does what was due by now. */
    void expire();
}
