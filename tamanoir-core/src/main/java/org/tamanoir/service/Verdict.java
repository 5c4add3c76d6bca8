package org.tamanoir.service;

/** What becomes of a packet that a service has processed. */
public enum Verdict {
    /** It goes on along its route. */
    FORWARD,
    /** It goes on along the route of another address: {@link Service#forwardTo}. */
    FORWARD_ELSEWHERE,
    /** It goes back to where it came from, with source and destination identifiers swapped if it has both. */
    REPLY,
    /** It ends here for the reason that the service gave: {@link Service#drop}. */
    DROP,
    /** It ends here because the service took its content in. */
    CONSUME,
    /**
     * It ends here, and so does its TCP stream, as if its sender had ended it before this packet: what came before goes
     * on, and both sides see an end in order. Over UDP as {@link #DROP}. See {@link Service#closeStream}.
     */
    CLOSE,
    /**
     * It ends here, and its TCP stream is broken: all its connections are reset, and what has not left is dropped. Over
     * UDP as {@link #DROP}. See {@link Service#resetStream}.
     */
    RESET,
    /** It waits until {@link Suspension#resume} says what becomes of it: {@link Service#hold}. */
    HELD;

    /** Returns whether the packet ends in this node. */
    public boolean endsPacket() {
        return switch (this) {
            case DROP, CONSUME, CLOSE, RESET -> true;
            case FORWARD, FORWARD_ELSEWHERE, REPLY, HELD -> false;
        };
    }
}
