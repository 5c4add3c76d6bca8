package org.tamanoir.cluster.lvs;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.tamanoir.cluster.ClusterException;

/**
 * One program, started anew for each question; it inherits the network namespace of the thread that asks.
 *
 * <p>Thread contract: any thread. An interrupt does not end a run, whose time is bounded: the thread has it afterwards.
 */
final class Program {
    private static final long TIMEOUT_MS = 10_000;
    /** A table of some hundred thousand back-ends. */
    private static final int LIMIT_OCTETS = 16 << 20;
    /** For the last output after the program's end: what it started may hold the pipe still. */
    private static final long GRACE_MS = 1_000;

    private final Path file;
    private final String name;

    Program(Path file) {
        this.file = file;
        name = String.valueOf(file.getFileName());
    }

    /** Status, and both outputs as one. */
    record Result(int status, String output) {
        /** In one line. */
        String words() {
            return output.strip().replaceAll("\\s*\\R\\s*", "; ");
        }
    }

    /**
     * Runs it.
     *
     * @throws ClusterException if it cannot be started, is not done in time, or says too much
     */
    Result run(String input, List<String> arguments) throws ClusterException {
        Process process = start(arguments);
        try {
            return run(process, input);
        } finally {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly();
        }
    }

    private Process start(List<String> arguments) throws ClusterException {
        List<String> command = new ArrayList<>(arguments);
        command.add(0, file.toString());
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        Map<String, String> environment = builder.environment();
        environment.put("LC_ALL", "C");
        try {
            return builder.start();
        } catch (IOException e) {
            throw new ClusterException("cannot start " + file + ": " + e.getMessage(), e);
        }
    }

    private Result run(Process process, String input) throws ClusterException {
        FutureTask<String> output = new FutureTask<>(() -> read(process.getInputStream()));
        Thread reader = new Thread(output, name + " output");
        reader.setDaemon(true);
        reader.start();
        FutureTask<Boolean> written = new FutureTask<>(() -> write(process, input), true);
        Thread writer = new Thread(written, name + " input");
        writer.setDaemon(true);
        writer.start();
        if (!ended(process)) {
            throw new ClusterException(name + " was not done in " + TIMEOUT_MS / 1000 + " s and was ended");
        }
        return new Result(process.exitValue(), output(output));
    }

    /** What it does not read any more is not its input. */
    private static void write(Process process, String input) {
        try (var to = process.getOutputStream()) {
            to.write(input.getBytes(StandardCharsets.UTF_8));
        } catch (IOException e) {
            // It has ended: its status and words say why.
        }
    }

    /** Where it says too much, the closed pipe ends it. */
    private static String read(InputStream output) throws IOException {
        try (InputStream from = output) {
            byte[] octets = from.readNBytes(LIMIT_OCTETS);
            if (from.read() >= 0) {
                throw new IOException("more than " + LIMIT_OCTETS + " octets of output");
            }
            return new String(octets, StandardCharsets.UTF_8);
        }
    }

    private static boolean ended(Process process) {
        boolean interrupted = false;
        long endNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(TIMEOUT_MS);
        try {
            while (true) {
                try {
                    return process.waitFor(endNs - System.nanoTime(), TimeUnit.NANOSECONDS);
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private String output(FutureTask<String> output) throws ClusterException {
        boolean interrupted = Thread.interrupted();
        try {
            return output.get(GRACE_MS, TimeUnit.MILLISECONDS);
        } catch (ExecutionException e) {
            throw new ClusterException(name + ": " + (e.getCause() == null ? e : e.getCause()).getMessage(), e);
        } catch (InterruptedException | TimeoutException e) {
            throw new ClusterException(name + " has ended, but its output has not", e);
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
