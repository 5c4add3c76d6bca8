package org.tamanoir.node.cli;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** Ends a command with a line on standard error, or several where several things are wrong, and an exit code. */
public final class CommandException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** See {@link ExitCode#FAILED} and {@link ExitCode#USAGE}. */
    public final int exitCode;

    /** Printed behind it, each on a line of its own. */
    @SuppressWarnings("serial") // nobody serialises it
    public final List<String> details;

    public CommandException(int exitCode, String line, @Nullable Throwable cause) {
        this(exitCode, line, cause, List.of());
    }

    /** One with several causes, each in a line. */
    public CommandException(int exitCode, String line, @Nullable Throwable cause, List<String> details) {
        super(line, cause);
        this.exitCode = exitCode;
        this.details = List.copyOf(details);
    }

    /** One with the cause's own line. */
    public CommandException(int exitCode, Exception cause) {
        this(exitCode, cause.getMessage() == null ? cause.toString() : cause.getMessage(), cause);
    }
}
