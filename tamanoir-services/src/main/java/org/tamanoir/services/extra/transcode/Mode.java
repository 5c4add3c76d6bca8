package org.tamanoir.services.extra.transcode;

import org.tamanoir.anep.Packet;
import org.tamanoir.service.Verdict;

/** What {@link Transcode} does with packets, by its setting {@code mode}. Thread contract: the service's thread. */
interface Mode {
    /** Handles a packet, as a service does. */
    Verdict process(Packet packet);

    /** Lets go what is held; packets can still be sent. */
    default void endOfStream() {}

    /** Frees all. */
    default void close() {}
}
