package org.tamanoir.benchmarks.netns;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Runs short commands of the system. Stateless. */
public final class Shell {
    private static final long TIMEOUT_S = 20;

    private Shell() {}

    /**
     * Runs a command and waits for its end.
     *
     * @return what it said on standard output
     * @throws IOException in one line, if it is missing, failed or did not end
     */
    public static String run(List<String> command) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(command);
        // What it says is short: it fits the pipe, so that reading may wait for the end.
        builder.redirectErrorStream(true);
        Process process = builder.start();
        process.getOutputStream().close();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).trim();
        try {
            if (!process.waitFor(TIMEOUT_S, TimeUnit.SECONDS)) {
                throw new IOException(String.join(" ", command) + ": did not end in " + TIMEOUT_S + " s");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException(String.join(" ", command) + ": interrupted", e);
        } finally {
            process.destroyForcibly();
        }
        if (process.exitValue() != 0) {
            String last = said.substring(said.lastIndexOf('\n') + 1);
            throw new IOException(String.join(" ", command) + ": "
                    + (last.isEmpty() ? "ended with code " + process.exitValue() : last));
        }
        return said;
    }
}
