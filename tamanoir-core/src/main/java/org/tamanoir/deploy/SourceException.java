package org.tamanoir.deploy;

/** A source did not give what was asked for; the message is a part of a line: {@code sent nothing for 5 s}. */
final class SourceException extends Exception {
    private static final long serialVersionUID = 1L;

    private final boolean resumable;

    /** @param resumable whether the connection broke off, and what came until then is good */
    SourceException(String answer, boolean resumable) {
        super(answer);
        this.resumable = resumable;
    }

    boolean isResumable() {
        return resumable;
    }
}
