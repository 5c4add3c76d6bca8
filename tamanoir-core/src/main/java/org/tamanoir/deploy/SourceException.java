package org.tamanoir.deploy;

/** A source did not give what was asked for; the message is a part of a line: {@code sent nothing for 5 s}. */
final class SourceException extends Exception {
    private static final long serialVersionUID = 1L;

    /** True if the source had its chance: only then the failure is its own. */
    final boolean wasAsked;

    SourceException(String answer) {
        this(answer, true);
    }

    SourceException(String answer, boolean wasAsked) {
        super(answer);
        this.wasAsked = wasAsked;
    }
}
