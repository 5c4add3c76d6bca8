package org.tamanoir.node.cli;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
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
        this(exitCode, line(cause), cause);
    }

    /** Returns what a cause says in a line; of a file the JDK says no more than its name, and the rest by its class. */
    public static String line(Throwable cause) {
        if (cause instanceof UncheckedIOException && cause.getCause() instanceof IOException checked) {
            return line(checked);
        }
        if (!(cause instanceof FileSystemException failed)) {
            String line = cause.getMessage();
            return line == null || line.isBlank() ? cause.toString() : line;
        }
        String what;
        if (failed instanceof NoSuchFileException) {
            what = "there is no such file or folder; correct the path";
        } else if (failed instanceof AccessDeniedException) {
            what = "no permission; choose another, or change its owner or mode";
        } else if (failed instanceof FileAlreadyExistsException) {
            what = "it exists already; choose another name";
        } else {
            what = "cannot be read or written" + (failed.getReason() == null ? "" : ": " + failed.getReason())
                    + "; choose another";
        }
        return failed.getFile() + ": " + what;
    }
}
