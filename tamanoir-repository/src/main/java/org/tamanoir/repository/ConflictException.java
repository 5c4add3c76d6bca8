package org.tamanoir.repository;

/** What is to be published collides with what is there; the message is one line. */
public final class ConflictException extends Exception {
    private static final long serialVersionUID = 1L;

    ConflictException(String line) {
        super(line);
    }
}
