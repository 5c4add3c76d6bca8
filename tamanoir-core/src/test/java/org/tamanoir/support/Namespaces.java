package org.tamanoir.support;

import com.sun.jna.Native;
import com.sun.jna.Platform;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Network namespaces of a test, with pairs of virtual interfaces between them. They are named {@code
 * tmn-PART-PID-NUMBER-NAME}, so that those which a killed test left are found by the next and removed.
 *
 * <p>{@link #in} runs code inside one. The namespace belongs to the thread and to all that it starts, so a whole node can
 * run in it. What does not follow: threads that were there before, such as the common pool's, {@code /sys/class/net} and
 * {@code /proc/net}, and with it the IPv6 addresses that {@link java.net.NetworkInterface} lists.
 *
 * <p>Thread contract: one thread at a time, but {@link #in}, which any may call.
 */
public final class Namespaces implements AutoCloseable {
    private static final Path MOUNTS = Path.of("/run/netns");
    private static final Pattern NAME = Pattern.compile("tmn-[a-z0-9]+-(\\d+)-\\d+-[a-z0-9]+");
    private static final AtomicInteger NUMBER = new AtomicInteger();
    private static final int CLONE_NEWNET = 0x4000_0000;
    private static final int O_CLOEXEC = 0x8_0000;
    private static final long PATIENCE_S = 300;
    /** Of a namespace, beneath {@code /proc/sys/net}, which shows those of the thread that looks. */
    private static final List<String> SETTINGS = List.of(
            "ipv4/ip_forward=1",
            "ipv6/conf/all/forwarding=1",
            "ipv4/conf/all/rp_filter=0",
            "ipv4/conf/default/rp_filter=0",
            "ipv6/conf/default/accept_dad=0",
            "ipv6/conf/default/accept_ra=0");

    private static @Nullable String fault;

    private final String prefix;
    private final List<String> names = new ArrayList<>();

    /** @param part of the test, a few letters */
    public Namespaces(String part) {
        removeLeftBehind();
        prefix = "tmn-" + part + "-" + ProcessHandle.current().pid() + "-" + NUMBER.getAndIncrement() + "-";
    }

    /**
     * Skips the test, or fails it where the tier is required, unless namespaces with IPv4 and IPv6 can be made, linked
     * and entered here, and these programs run.
     */
    public static void require(String tier, String... programs) {
        Tiers.require(tier, fault().isEmpty(), "needs root, and namespaces with IPv6: " + fault());
        for (String program : programs) {
            boolean found = succeeds("command -v " + program);
            Tiers.require(tier, found, "needs " + program + ", which is not among the programs of PATH");
        }
    }

    /** Tries once in each JVM what the tests do; empty = it can be done. */
    private static synchronized String fault() {
        String known = fault;
        if (known == null) {
            known = tryAll();
            fault = known;
        }
        return known;
    }

    private static String tryAll() {
        if (!succeeds("true")) {
            return "no sh";
        }
        try (Namespaces namespaces = new Namespaces("probe")) {
            String one = namespaces.add("one");
            String other = namespaces.add("other");
            namespaces.link(one, "d0", other, "d1");
            namespaces.address(one, "d0", "10.71.0.1/24");
            namespaces.address(one, "d0", "fd71::1/64");
            return namespaces.in(one, () -> "");
        } catch (Exception | LinkageError e) {
            return String.valueOf(e.getMessage()).strip();
        }
    }

    private static boolean succeeds(String command) {
        try {
            shell(command);
            return true;
        } catch (IllegalStateException | UncheckedIOException e) {
            return false;
        }
    }

    /** Makes a namespace with its loopback interface up, routing IPv4 and IPv6, without filters of reverse paths. */
    public String add(String name) {
        String whole = prefix + name;
        shell("ip netns add " + whole);
        names.add(whole);
        shell("ip -n " + whole + " link set lo up");
        inside(whole, () -> {
            for (String setting : SETTINGS) {
                String[] nameAndValue = setting.split("=");
                Files.writeString(Path.of("/proc/sys/net", nameAndValue[0]), nameAndValue[1], StandardOpenOption.WRITE);
            }
            return "";
        });
        return whole;
    }

    /** Links two namespaces by a pair of interfaces that compute checksums and join no packets, and sets both up. */
    public void link(String namespace, String device, String peerNamespace, String peerDevice) {
        batch(namespace, "link add " + device + " type veth peer name " + peerDevice + " netns " + peerNamespace);
        plain(namespace, device);
        plain(peerNamespace, peerDevice);
    }

    private void plain(String namespace, String device) {
        run(
                namespace,
                "ethtool -K " + device
                        + " tx off gro off gso off tso off tx-udp-segmentation off >/dev/null && exec ip link set "
                        + device + " up");
    }

    /** Gives an interface an address, as in {@code 10.0.0.1/24} or {@code fd00::1/64}, which can be used at once. */
    public void address(String namespace, String device, String address) {
        addresses(namespace, device, address);
    }

    /** Gives an interface several addresses. */
    public void addresses(String namespace, String device, String... addresses) {
        batch(
                namespace,
                Stream.of(addresses)
                        .map(address ->
                                "addr add " + address + " dev " + device + (address.contains(":") ? " nodad" : ""))
                        .toArray(String[]::new));
    }

    /** Has {@code ip} do all these lines in a namespace: starting a program takes longer than what it does. */
    public void batch(String namespace, String... lines) {
        shell("ip -n " + namespace + " -batch - <<'END'\n" + String.join("\n", lines) + "\nEND\n");
    }

    /**
     * Has a namespace know for good the hardware address behind addresses of a peer. Else the kernel asks for it when
     * the first packets are sent, which wait meanwhile; those that are sent while it lets these go come between them
     * ({@code neigh_update}).
     */
    public void neighbour(
            String namespace, String device, String peerNamespace, String peerDevice, String... addresses) {
        String[] link = shell("ip -n " + peerNamespace + " -br link show dev " + peerDevice)
                .strip()
                .split("\\s+");
        batch(
                namespace,
                Stream.of(addresses)
                        .map(address ->
                                "neigh replace " + address + " lladdr " + link[2] + " dev " + device + " nud permanent")
                        .toArray(String[]::new));
    }

    /** Adds a route. */
    public void route(String namespace, String prefix, String gateway) {
        shell("ip -n " + namespace + " route add " + prefix + " via " + gateway);
    }

    /** Runs a shell command in a namespace and returns what it printed; fails if it does. */
    public String run(String namespace, String command) {
        return inside(namespace, () -> shell(command)); // a process is in the namespace of the thread that starts it
    }

    private String inside(String namespace, Callable<String> code) {
        try {
            return in(namespace, code);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new IllegalStateException("in " + namespace, e);
        }
    }

    /** Runs code in a namespace, on a new thread, at most five minutes: under the emulator a web server has taken one to start. */
    public <T> T in(String namespace, Callable<T> code) throws Exception {
        FutureTask<T> task = new FutureTask<>(() -> {
            enter(namespace);
            return code.call();
        });
        Thread thread = new Thread(task, "in " + namespace);
        thread.setDaemon(true);
        thread.start();
        try {
            return task.get(PATIENCE_S, TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof Exception cause) {
                cause.addSuppressed(new IllegalStateException("thrown in " + namespace));
                throw cause;
            }
            if (e.getCause() instanceof Error cause) {
                throw cause;
            }
            throw e;
        } catch (TimeoutException e) {
            IllegalStateException late =
                    new IllegalStateException("code in " + namespace + " took more than " + PATIENCE_S + " s", e);
            late.setStackTrace(thread.getStackTrace());
            thread.interrupt();
            throw late;
        }
    }

    private static void enter(String namespace) {
        int fd = Calls.open(MOUNTS.resolve(namespace).toString(), O_CLOEXEC);
        if (fd < 0) {
            throw new IllegalStateException("open " + namespace + ": errno " + Native.getLastError());
        }
        int result = Calls.setns(fd, CLONE_NEWNET);
        int errno = Native.getLastError();
        Calls.close(fd);
        if (result < 0) {
            throw new IllegalStateException("setns " + namespace + ": errno " + errno);
        }
    }

    /** The inode by which the kernel tells namespaces apart. */
    public static long inode(String namespace) {
        try {
            return (Long) Files.getAttribute(MOUNTS.resolve(namespace), "unix:ino");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Removes them all, with the interfaces in them. */
    @Override
    public void close() {
        if (!names.isEmpty()) {
            shell("ip -batch - <<'END'\nnetns del " + String.join("\nnetns del ", names) + "\nEND\n");
            names.clear();
        }
    }

    private static void removeLeftBehind() {
        for (String line : shell("ip netns list").lines().toList()) {
            Matcher name = NAME.matcher(line.strip().split(" ", 2)[0]);
            if (name.matches()
                    && ProcessHandle.of(Long.parseLong(name.group(1))).isEmpty()) {
                shell("ip netns del " + name.group() + " || true");
            }
        }
    }

    /**
     * Runs a shell command and returns its standard output; fails if it does, or takes longer than five minutes. What it
     * says beside is read only of one that fails: {@code ip} and {@code tc} complain of namespaces that others remove.
     */
    public static String shell(String command) {
        try {
            Path output = Files.createTempFile("tamanoir-shell", ".out");
            Path errors = Files.createTempFile("tamanoir-shell", ".err");
            try {
                Process process = new ProcessBuilder("sh", "-ec", command)
                        .redirectInput(new File("/dev/null"))
                        .redirectOutput(output.toFile())
                        .redirectError(errors.toFile())
                        .start();
                boolean ended = process.waitFor(PATIENCE_S, TimeUnit.SECONDS);
                if (!ended) {
                    process.descendants().forEach(ProcessHandle::destroyForcibly);
                    process.destroyForcibly();
                }
                if (!ended || process.exitValue() != 0) {
                    throw new IllegalStateException(command + ": "
                            + (ended ? "status " + process.exitValue() : "not done in " + PATIENCE_S + " s") + ": "
                            + Files.readString(output) + Files.readString(errors));
                }
                return Files.readString(output);
            } finally {
                Files.delete(output);
                Files.delete(errors);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(command, e);
        }
    }

    private static final class Calls {
        static {
            Native.register(Calls.class, Platform.C_LIBRARY_NAME);
        }

        private Calls() {}

        static native int open(String path, int flags);

        static native int setns(int fd, int kind);

        static native int close(int fd);
    }
}
