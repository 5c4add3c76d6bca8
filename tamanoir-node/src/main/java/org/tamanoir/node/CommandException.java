package org.tamanoir.node;

import org.jspecify.annotations.Nullable;

/** Ends a command with one line on standard error and an exit code. */
final class CommandException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** See {@link Main#FAILED} and {@link Main#USAGE}. */
    final int exitCode;

    CommandException(int exitCode, String line, @Nullable Throwable cause) {
        super(line, cause);
        this.exitCode = exitCode;
    }

    /** One with the cause's own line. */
    CommandException(int exitCode, Exception cause) {
        this(exitCode, cause.getMessage() == null ? cause.toString() : cause.getMessage(), cause);
    }
}
