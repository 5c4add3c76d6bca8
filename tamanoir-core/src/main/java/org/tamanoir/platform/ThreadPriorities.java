package org.tamanoir.platform;

/** What a node does about the priorities of its threads. */
public enum ThreadPriorities {
    /** Nothing. */
    OFF,
    /** Raises its own threads above those of services, where that is permitted. */
    AUTO,
    /** The same, and lowers services' threads where it is not permitted. */
    LOWER,
    /** Gives its own threads a real-time class where that is permitted, and does as {@link #AUTO} where not. */
    REALTIME
}
