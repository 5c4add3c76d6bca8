package org.tamanoir.benchmarks.netns;

import com.sun.jna.LastErrorException;
import com.sun.jna.Native;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** A network namespace, by name. Commands that run in it see the mounts of the host, BPF's pins among them. */
public record Namespace(String name) {
    /** Emulated processors are slow. */
    private static final long CALL_TIMEOUT_S = 120;

    private static final int O_RDONLY = 0;
    private static final int CLONE_NEWNET = 0x4000_0000;

    /** Functions of libc. */
    private static final class C {
        static {
            Native.register(C.class, "c");
        }

        private C() {}

        static native int open(String file, int flags) throws LastErrorException;

        static native int close(int fd) throws LastErrorException;

        static native int setns(int fd, int type) throws LastErrorException;
    }

    /**
     * Why this host cannot have any; empty = it can.
     *
     * @param tools that are needed, each before the package that has it
     */
    public static String missing(String... tools) {
        try {
            if (!Integer.valueOf(0).equals(Files.getAttribute(Path.of("/proc/self"), "unix:uid"))) {
                return "network namespaces need root: run this as root";
            }
        } catch (IOException | UnsupportedOperationException e) {
            return "network namespaces need Linux with /proc";
        }
        for (int i = 0; i < tools.length; i += 2) {
            if (!isThere(tools[i])) {
                return tools[i] + " is not installed: install the package " + tools[i + 1];
            }
        }
        return "";
    }

    private static boolean isThere(String tool) {
        String path = System.getenv().getOrDefault("PATH", "/usr/sbin:/usr/bin:/sbin:/bin");
        return Arrays.stream(path.split(":")).anyMatch(folder -> Files.isExecutable(Path.of(folder, tool)));
    }

    /** What {@code ip netns} has mounted for it. */
    public Path file() {
        return Path.of("/run/netns", name);
    }

    /** The command line that runs another in it. */
    public List<String> inside(List<String> command) {
        List<String> line = new ArrayList<>(List.of("nsenter", "--net=" + file()));
        line.addAll(command);
        return line;
    }

    /** What runs in it. */
    public interface Call<T> {
        /** Runs it. */
        T call() throws IOException;
    }

    /** Runs this on a thread in it: the sockets that it opens are the namespace's. */
    public <T> T call(Call<T> call) throws IOException {
        CompletableFuture<T> result = new CompletableFuture<>();
        Thread thread = new Thread(
                () -> {
                    try {
                        enter();
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

    /** Takes the thread that calls this, and what it starts, into it. */
    private void enter() throws IOException {
        try {
            int fd = C.open(file().toString(), O_RDONLY);
            try {
                C.setns(fd, CLONE_NEWNET);
            } finally {
                C.close(fd);
            }
        } catch (LastErrorException e) {
            throw new IOException("network namespace " + name + " cannot be entered: " + e.getMessage(), e);
        }
    }

    /** What made a task fail, in one line. */
    public static IOException failed(ExecutionException e) {
        Throwable cause = e.getCause() == null ? e : e.getCause();
        return new IOException(cause.getMessage() == null ? cause.toString() : cause.getMessage(), cause);
    }

    /** Runs a short command in it. */
    public String run(String command) throws IOException {
        return Shell.run(inside(Arrays.asList(command.split(" "))));
    }
}
