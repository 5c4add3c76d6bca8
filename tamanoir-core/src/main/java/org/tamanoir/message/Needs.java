package org.tamanoir.message;

/**
 * What a handler needs of the context that it runs in; a placement beyond what the context has is refused.
 *
 * @param stateBytes memory of its state at most
 * @param nsPerMessage processor time for a message, declared; 0: measured while it runs
 */
public record Needs(long stateBytes, long nsPerMessage) {
    /** No state, and a time that is measured. */
    public static final Needs NONE = new Needs(0, 0);
}
