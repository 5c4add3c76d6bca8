package org.tamanoir.repository;

/** What is to be published collides with what is there; the message is one line. */
public final class ConflictException extends Exception {
    private static final long serialVersionUID = 1L;

    /** Makes one of this line. */
    public ConflictException(String line) {
        super(line);
    }
}
