package org.tamanoir.message;

/** What becomes of a message at a handler. Each message has one; messages in + made = out + dropped + merged + held. */
public enum Outcome {
    /** It goes on, as it came or {@linkplain Outlet#replace replaced}, to the ports that the handler {@linkplain Outlet#to named}. */
    FORWARD,
    /** It ends here, for the reason that the handler gave: {@link Outlet#drop}. */
    DROP,
    /** The handler keeps what it needs of it and {@linkplain Outlet#release releases} it later; it counts as held until then. */
    HOLD,
    /** It ends here because what it says went into another message or into the handler's state. */
    MERGE
}
