package org.tamanoir.nodeos;

/** A level cannot do what it was asked; the message says in one line why, and what would help. */
public final class LevelException extends Exception {
    private static final long serialVersionUID = 1L;

    /** Makes one with the reason. */
    public LevelException(String message) {
        super(message);
    }

    /** Makes one with the reason and what caused it. */
    public LevelException(String message, Throwable cause) {
        super(message, cause);
    }
}
