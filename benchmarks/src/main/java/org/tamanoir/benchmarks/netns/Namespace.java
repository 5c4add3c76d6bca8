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
import org.tamanoir.benchmarks.Processes;
import org.tamanoir.benchmarks.Threads;

/** A network namespace, by name. Commands that run in it see the mounts of the host, BPF's pins among them. */
public record Namespace(String name) {
    /** Emulated processors are slow. */
    private static final long CALL_TIMEOUT_S = 180;

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

    /** Those of these names, which are parted by commas. */
    public static List<Namespace> named(String names) {
        return Arrays.stream(names.split(",")).map(Namespace::new).toList();
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
        Threads.start("in " + name, () -> {
            try {
                enter();
                result.complete(call.call());
            } catch (IOException | RuntimeException e) {
                result.completeExceptionally(e);
            }
        });
        return result(result, CALL_TIMEOUT_S, "a call in " + name);
    }

    /** Waits for what a thread makes. */
    public static <T> T result(CompletableFuture<T> result, long timeoutS, String what) throws IOException {
        try {
            return result.get(timeoutS, TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            Throwable cause = e.getCause() == null ? e : e.getCause();
            throw new IOException(cause.getMessage() == null ? cause.toString() : cause.getMessage(), cause);
        } catch (TimeoutException e) {
            throw new IOException(what + " did not return in " + timeoutS + " s", e);
        } catch (InterruptedException e) {
            throw Threads.interrupted();
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

    /** Runs a short command in it. */
    public String run(String command) throws IOException {
        return Shell.run(inside(Arrays.asList(command.split(" "))));
    }

    /** Runs commands of {@code ip} in it, in one process: where processors are emulated each takes a third of a second. */
    public void ip(String... commands) throws IOException {
        batch(List.of(commands), "-n", name);
    }

    /** Starts a node in it; it is ready later. */
    public NodeProcess node(Processes processes, List<String> line) throws IOException {
        return new NodeProcess(processes.start("node " + name, inside(line)), NodeApi.in(this));
    }

    static void batch(List<String> commands, String... options) throws IOException {
        Path file = Files.createTempFile("tamanoir-", ".ip");
        try {
            Files.write(file, commands);
            List<String> line = new ArrayList<>(List.of("ip"));
            line.addAll(List.of(options));
            line.addAll(List.of("-batch", file.toString()));
            Shell.run(line);
        } finally {
            Files.delete(file);
        }
    }

    /** Changes settings of its kernel; those of {@code net.ipv4} by the rest of their names. */
    public void set(String... settings) throws IOException {
        List<String> line = new ArrayList<>(List.of("sysctl", "-q", "-w"));
        Arrays.stream(settings).map(setting -> "net.ipv4." + setting).forEach(line::add);
        Shell.run(inside(line));
    }
}
