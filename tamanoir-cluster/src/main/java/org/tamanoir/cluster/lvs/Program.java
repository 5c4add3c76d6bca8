package org.tamanoir.cluster.lvs;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.tamanoir.platform.Causes;

/**
 * One program of the host, started anew for each question; it inherits the network namespace of the thread that asks, speaks
 * English, and is bounded in time and in what it says.
 *
 * <p>Thread contract: any thread. An interrupt does not end a run, whose time is bounded: the thread has it afterwards.
 */
public final class Program {
    private static final long TIMEOUT_MS = 20_000;
    /** A table of some hundred thousand back-ends. */
    private static final int LIMIT_BYTES = 16 << 20;
    /** For the last output after the program's end: what it started may hold the pipe still. */
    private static final long GRACE_MS = 1_000;

    /** Where administration programs are, which the PATH of a service may lack. */
    static final List<String> FOLDERS = List.of("/usr/sbin", "/sbin", "/usr/bin", "/bin");

    /** Packages that are called otherwise than their programs. */
    private static final Map<String, String> PACKAGES =
            Map.of("arping", "iputils-arping", "ip", "iproute2", "tc", "iproute2", "unshare", "util-linux");

    private final Path file;
    private final String name;

    Program(Path file) {
        this.file = file;
        name = String.valueOf(file.getFileName());
    }

    /** Status, and both outputs as one, in the order of the program's writes. */
    public record Result(int status, String output) {
        public boolean isGood() {
            return status == 0;
        }

        /** Returns the output in one line; the status where there is none. */
        public String words() {
            return output.isBlank() ? "status " + status : output.strip().replaceAll("\\s*\\R\\s*", "; ");
        }
    }

    /** Returns the file of a program; null if the host has none. */
    public static @Nullable Path find(String program) {
        String path = System.getenv().getOrDefault("PATH", "");
        return Stream.concat(Stream.of(path.split(File.pathSeparator)), FOLDERS.stream())
                .filter(folder -> folder.startsWith("/"))
                .map(folder -> Path.of(folder, program))
                .filter(file -> Files.isRegularFile(file) && Files.isExecutable(file))
                .findFirst()
                .orElse(null);
    }

    /** Runs a program by its name, whatever its status is. */
    public static Result run(List<String> command) throws ClusterException {
        String name = command.get(0);
        Path file = find(name);
        if (file == null) {
            throw new ClusterException(
                    "no program " + name + ": install the package " + PACKAGES.getOrDefault(name, name));
        }
        return new Program(file).run("", command.subList(1, command.size()));
    }

    /** Runs a program by its name, which must end well; returns its output. */
    public static String good(List<String> command) throws ClusterException {
        Result result = run(command);
        if (!result.isGood()) {
            throw new ClusterException(String.join(" ", command) + ": " + result.words());
        }
        return result.output();
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
            throw new ClusterException("cannot start " + file + ": " + Causes.text(e), e);
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

    /** Writes its input; what it does not read any more is none. */
    private static void write(Process process, String input) {
        try (var to = process.getOutputStream()) {
            to.write(input.getBytes(StandardCharsets.UTF_8));
        } catch (IOException e) {
            // It has ended: its status and words say why.
        }
    }

    /** Reads what it says; where that is too much, the closed pipe ends it. */
    private static String read(InputStream output) throws IOException {
        try (InputStream from = output) {
            byte[] bytes = from.readNBytes(LIMIT_BYTES);
            if (from.read() >= 0) {
                throw new IOException("more than " + LIMIT_BYTES + " bytes of output");
            }
            return new String(bytes, StandardCharsets.UTF_8);
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
