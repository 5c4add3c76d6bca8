package org.tamanoir.cluster.setup;

import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.tamanoir.cluster.ClusterException;

/**
 * Runs programs of the host, which get {@value #LIMIT_S} s and may say {@value #LIMIT_OCTETS} octets. They run in the
 * network namespace of the calling thread, speak English and read nothing.
 *
 * <p>Thread contract: any thread; it waits. A thread of its own reads what the program says.
 */
final class Command {
    private static final int LIMIT_S = 20;
    private static final int LIMIT_OCTETS = 1 << 20;

    /** Where administration programs are, which the PATH of a service may lack. */
    private static final List<String> FOLDERS = List.of("/usr/sbin", "/sbin", "/usr/bin", "/bin");

    /**
     * What became of a program.
     *
     * @param said both outputs, in the order of the program's writes
     */
    record Result(int status, String said) {
        boolean isGood() {
            return status == 0;
        }

        /** What it said, in one line. */
        String line() {
            return said.isBlank()
                    ? "status " + status
                    : String.join("; ", said.strip().lines().map(String::strip).toList());
        }
    }

    private Command() {}

    /** The file of a program; null if the host has none. */
    static @Nullable Path find(String program) {
        String path = System.getenv("PATH");
        Stream<String> known = path == null ? Stream.of() : Stream.of(path.split(File.pathSeparator));
        return Stream.concat(known.filter(folder -> folder.startsWith("/")), FOLDERS.stream())
                .map(folder -> Path.of(folder, program))
                .filter(Files::isExecutable)
                .findFirst()
                .orElse(null);
    }

    /** Runs a program, whatever its status is. */
    static Result run(List<String> command) throws ClusterException {
        Path program = find(command.get(0));
        if (program == null) {
            throw new ClusterException(
                    "no program " + command.get(0) + ": install the package " + packageOf(command.get(0)));
        }
        List<String> whole = new ArrayList<>(command);
        whole.set(0, program.toString());
        ProcessBuilder builder = new ProcessBuilder(whole).redirectErrorStream(true);
        builder.environment().put("LC_ALL", "C");
        try {
            Process process = builder.redirectInput(new File("/dev/null")).start();
            try {
                return await(String.join(" ", command), process);
            } finally {
                process.descendants().forEach(ProcessHandle::destroyForcibly);
                process.destroyForcibly();
            }
        } catch (IOException e) {
            throw new ClusterException(String.join(" ", command) + ": " + e.getMessage(), e);
        }
    }

    /** Runs a program that must end well. */
    static String good(List<String> command) throws ClusterException {
        Result result = run(command);
        if (!result.isGood()) {
            throw new ClusterException(String.join(" ", command) + ": " + result.line());
        }
        return result.said();
    }

    private static Result await(String command, Process process) throws ClusterException {
        ByteArrayOutputStream said = new ByteArrayOutputStream();
        Thread reader = new Thread(() -> read(process, said), "reader of " + command);
        reader.setDaemon(true);
        reader.start();
        try {
            if (!process.waitFor(LIMIT_S, TimeUnit.SECONDS)) {
                throw new ClusterException(command + ": not done in " + LIMIT_S + " s; ended");
            }
            reader.join(TimeUnit.SECONDS.toMillis(LIMIT_S)); // a child of the program may hold the output open
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new ClusterException(command + ": interrupted", e);
        }
        synchronized (said) {
            if (said.size() > LIMIT_OCTETS) {
                throw new ClusterException(command + ": said more than " + LIMIT_OCTETS + " octets; ended");
            }
            return new Result(process.exitValue(), said.toString(StandardCharsets.UTF_8));
        }
    }

    private static void read(Process process, ByteArrayOutputStream said) {
        byte[] part = new byte[8192];
        try (InputStream in = process.getInputStream()) {
            for (int octets = in.read(part); octets >= 0; octets = in.read(part)) {
                synchronized (said) {
                    said.write(part, 0, octets);
                    if (said.size() > LIMIT_OCTETS) {
                        process.destroyForcibly();
                        return;
                    }
                }
            }
        } catch (IOException e) {
            // The program was ended; what it said until then is kept.
        }
    }

    private static String packageOf(String program) {
        return switch (program) {
            case "ip" -> "iproute2";
            case "unshare" -> "util-linux";
            default -> program;
        };
    }
}
