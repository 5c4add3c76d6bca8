package org.tamanoir.node;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** Ends a command with a line on standard error, or several where several things are wrong, and an exit code. */
final class CommandException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** See {@link Main#FAILED} and {@link Main#USAGE}. */
    final int exitCode;

    /** Printed behind it, each on a line of its own. */
    @SuppressWarnings("serial") // nobody serialises it
    final List<String> details;

    CommandException(int exitCode, String line, @Nullable Throwable cause) {
        this(exitCode, line, cause, List.of());
    }

    /** One with several causes, each in a line. */
    CommandException(int exitCode, String line, @Nullable Throwable cause, List<String> details) {
        super(line, cause);
        this.exitCode = exitCode;
        this.details = List.copyOf(details);
    }

    /** One with the cause's own line. */
    CommandException(int exitCode, Exception cause) {
        this(exitCode, cause.getMessage() == null ? cause.toString() : cause.getMessage(), cause);
    }
}
