package org.tamanoir.node.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * What a command tells: results on standard output, either lines or JSON objects of one line each; progress, where
 * there is a terminal, and messages on standard error.
 *
 * <p>Thread contract: any thread.
 */
public final class Output {
    private static final String ERASE_LINE = "\r\u001b[K";

    private final PrintWriter results;
    private final PrintWriter messages;
    private final boolean json;
    private final boolean terminal;
    private boolean progressShown;

    /**
     * @param json whether results are JSON objects; there is then no progress
     * @param terminal whether standard error is a terminal
     */
    public Output(PrintWriter results, PrintWriter messages, boolean json, boolean terminal) {
        this.results = results;
        this.messages = messages;
        this.json = json;
        this.terminal = terminal;
    }

    /** Whether standard error, where progress goes, is a terminal. */
    public static boolean isTerminal() {
        try {
            String target = Files.readSymbolicLink(Path.of("/proc/self/fd/2")).toString();
            return target.startsWith("/dev/pts/") || target.startsWith("/dev/tty");
        } catch (IOException | UnsupportedOperationException e) {
            // No Linux: Java's console stands for input and output both being one.
            return System.console() != null;
        }
    }

    /** Whether progress is shown: what it costs to find out can be spared otherwise. */
    public boolean showsProgress() {
        return terminal && !json;
    }

    /** Whether some of the result could not be written: standard output is full or closed. */
    public boolean isLost() {
        return results.checkError();
    }

    /** Shows a line in place of the last one. */
    public synchronized void progress(String line) {
        if (showsProgress()) {
            messages.print(ERASE_LINE + line);
            messages.flush();
            progressShown = true;
        }
    }

    private void endProgress() {
        if (progressShown) {
            messages.print(ERASE_LINE);
            messages.flush();
            progressShown = false;
        }
    }

    /** A line of the result; nothing with JSON. */
    public synchronized void line(String line) {
        endProgress();
        if (!json) {
            results.println(line);
            results.flush();
        }
    }

    /** A line beside the result. */
    public synchronized void message(String line) {
        endProgress();
        messages.println(line);
        messages.flush();
    }

    /** A result as one line; nothing without JSON. */
    public synchronized void json(Object result) {
        if (json) {
            results.println(Json.of(result));
            results.flush();
        }
    }
}
