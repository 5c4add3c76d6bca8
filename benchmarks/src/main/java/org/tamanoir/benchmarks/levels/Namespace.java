package org.tamanoir.benchmarks.levels;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** A network namespace, by name. Commands that run in it see the mounts of the host, BPF's pins among them. */
record Namespace(String name) {
    private static final long CALL_TIMEOUT_S = 30;

    /** What {@code ip netns} has mounted for it. */
    Path file() {
        return Path.of("/run/netns", name);
    }

    /** The command line that runs another in it. */
    List<String> inside(List<String> command) {
        List<String> line = new ArrayList<>(List.of("nsenter", "--net=" + file()));
        line.addAll(command);
        return line;
    }

    /** What runs in it. */
    interface Call<T> {
        T call() throws IOException;
    }

    /** Runs this on a thread in it: the sockets that it opens are the namespace's. */
    <T> T call(Call<T> call) throws IOException {
        CompletableFuture<T> result = new CompletableFuture<>();
        Thread thread = new Thread(
                () -> {
                    try {
                        LibBpf.enter(this);
                        result.complete(call.call());
                    } catch (IOException | RuntimeException e) {
                        result.completeExceptionally(e);
                    }
                },
                "in " + name);
        thread.setDaemon(true);
        thread.start();
        try {
            return result.get(CALL_TIMEOUT_S, TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            throw failed(e);
        } catch (TimeoutException e) {
            throw new IOException("a call in " + name + " did not return in " + CALL_TIMEOUT_S + " s", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        }
    }

    /** What made a task fail, in one line. */
    static IOException failed(ExecutionException e) {
        Throwable cause = e.getCause() == null ? e : e.getCause();
        return new IOException(cause.getMessage() == null ? cause.toString() : cause.getMessage(), cause);
    }

    /** Runs a short command in it. */
    String run(String command) throws IOException {
        return Shell.run(inside(Arrays.asList(command.split(" "))));
    }
}
