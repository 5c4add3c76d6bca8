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
    /** It waits until {@link Suspension#resume} says what becomes of it: {@link Service#hold}. */
    HELD
}
