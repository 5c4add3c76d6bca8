package org.tamanoir.trace;

/** A part of the way of a packet, in the order in which a packet comes to them. */
public enum Stage {
    /** It is parsed, and held to the receive rules. */
    RECEPTION,
    /** The service that its key stands for is looked up. */
    SERVICE,
    /** Where packets of this service are handled: below the JVM or in it. */
    LEVEL,
    /** It waits for the service's thread. */
    INBOX,
    /** It waits for a turn on a processor, by its class. */
    TURN,
    /** The service has it, and says what becomes of it. */
    PROCESS,
    /** The route of its destination is looked up. */
    ROUTE,
    /** A hop of its budget is spent. */
    HOPS,
    /** It waits for the link to its next hop, by its class. */
    LINK,
    /** It leaves, or ends. */
    END
}
