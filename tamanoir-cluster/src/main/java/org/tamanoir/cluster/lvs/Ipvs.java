package org.tamanoir.cluster.lvs;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.locks.ReentrantLock;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.tamanoir.platform.Causes;

/**
 * The kernel's table, in the network namespace of the calling thread, through ipvsadm (Debian's 1.31). Every program that
 * it starts is given a bounded time.
 *
 * <p>Thread contract: any thread; one call changes at a time.
 */
public final class Ipvs {
    /** System property: the program itself, an absolute path. */
    static final String PROGRAM = "tamanoir.ipvsadm";

    private static final Pattern VERSION = Pattern.compile("ipvsadm v1\\.(\\d+)\\b.*", Pattern.DOTALL);
    /** The first with {@code --tun-type}. */
    private static final int LEAST_MINOR = 31;

    private static final String SET_BY = "net.ipv4.vs.";
    /** {@code /proc/sys/net} shows the network namespace of the thread that reads. */
    private static final Path SETTINGS = Path.of("/proc/sys/net/ipv4/vs");

    private static final Pattern SETTING = Pattern.compile("[a-z0-9_]{1,64}");
    /** A table that somebody else changes between two questions is asked again. */
    private static final int READS = 3;

    private static final int THRESHOLD_COLUMNS = 4;
    private static final int TRAFFIC_COLUMNS = 5;

    private static final ReentrantLock CHANGING = new ReentrantLock();

    private final Program program;

    private Ipvs(Program program) {
        this.program = program;
    }

    /**
     * Looks whether the table can be read and changed.
     *
     * @throws ClusterException if ipvsadm is missing, the kernel has no IPVS, or this process may not
     */
    public static Ipvs open() throws ClusterException {
        Ipvs ipvs = new Ipvs(new Program(find()));
        String version = ipvs.ask("--version").strip();
        Matcher known = VERSION.matcher(version);
        if (!known.matches() || Integer.parseInt(known.group(1)) < LEAST_MINOR) {
            throw new ClusterException(
                    "ipvsadm calls itself '" + version.lines().findFirst().orElse("") + "': 1." + LEAST_MINOR
                            + " or a later 1.x is needed: install a newer package ipvsadm");
        }
        TableEditor.parse(ipvs.ask("--save", "-n"));
        return ipvs;
    }

    private static Path find() throws ClusterException {
        String given = System.getProperty(PROGRAM);
        Path found = given == null ? Program.find("ipvsadm") : Path.of(given);
        if (found != null && found.isAbsolute() && Files.isRegularFile(found) && Files.isExecutable(found)) {
            return found;
        }
        throw new ClusterException("ipvsadm is missing: neither in PATH nor in "
                + String.join(", ", Program.FOLDERS) + (given == null ? "" : ", but as " + given)
                + ": install the package ipvsadm");
    }

    /** Returns the table as it is. */
    public LvsTable read() throws ClusterException {
        for (int i = 0; i < READS; i++) {
            LvsTable saved = TableEditor.parse(ask("--save", "-n"));
            if (saved.services().isEmpty()) {
                return saved;
            }
            LvsTable table =
                    withThresholds(saved, Listing.ofServers(ask("-L", "-n", "--thresholds"), THRESHOLD_COLUMNS));
            if (table != null) {
                return table;
            }
        }
        throw new ClusterException("the kernel's table changed at each of " + READS
                + " looks: another program changes it without pause (ipvsadm -L -n): end it");
    }

    /** Adds what {@code --save} does not tell; null if both tell of different back-ends. */
    private static @Nullable LvsTable withThresholds(LvsTable saved, SortedMap<VirtualAddress, Listing.Row> listed) {
        List<VirtualService> services = new ArrayList<>();
        for (VirtualService service : saved.services().values()) {
            Listing.Row row = listed.get(service.at());
            if (row == null || !row.servers().keySet().equals(service.servers().keySet())) {
                return null;
            }
            services.add(service.with(service.servers().values().stream()
                    .map(server -> bounded(server, row.servers().get(server.endpoint())))
                    .toList()));
        }
        return LvsTable.of(services);
    }

    private static RealServer bounded(RealServer server, @Nullable List<Long> bounds) {
        return bounds == null
                ? server
                : new RealServer(
                        server.address(),
                        server.port(),
                        server.forwarding(),
                        server.weight(),
                        Math.toIntExact(bounds.get(0)),
                        Math.toIntExact(bounds.get(1)));
    }

    /**
     * Makes all changes or none: what was made is taken back when one fails, or when the table is not the plan's
     * {@code before} any more, or not the wanted one afterwards.
     *
     * @throws ClusterException with the line that failed, and what ipvsadm said
     */
    public void apply(Plan plan) throws ClusterException {
        if (plan.isEmpty()) {
            return;
        }
        CHANGING.lock();
        try {
            new Transaction(this, plan).run();
        } finally {
            CHANGING.unlock();
        }
    }

    /** Has ipvsadm do these lines, and tells what it said in one line: nothing where all went well. */
    String restore(List<String> lines) throws ClusterException {
        Program.Result result = program.run(String.join("\n", lines) + "\n", List.of("--restore"));
        return result.isGood() && result.output().isBlank() ? "" : result.words();
    }

    /** Returns the kernel's counters, at one moment as near as several questions come. */
    public LvsCounters counters() throws ClusterException {
        return Tally.of(
                Listing.withTotals(ask("-L", "-n", "--stats", "--exact"), TRAFFIC_COLUMNS),
                Listing.withTotals(ask("-L", "-n", "--rate", "--exact"), TRAFFIC_COLUMNS),
                Listing.ofServers(ask("-L", "-n", "--persistent-conn"), Tally.CONNECTION_COLUMNS));
    }

    /** Values of settings under {@code net.ipv4.vs.}, by their last names; those that the kernel lacks are left out. */
    public SortedMap<String, String> settings(Set<String> names) throws ClusterException {
        SortedMap<String, String> values = new TreeMap<>();
        for (String name : new TreeSet<>(names)) {
            try {
                values.put(name, ProcFile.read(file(name)));
            } catch (NoSuchFileException e) {
                continue;
            } catch (IOException e) {
                throw new ClusterException("cannot read " + SET_BY + name + ": " + Causes.text(e), e);
            }
        }
        return Collections.unmodifiableSortedMap(values);
    }

    /** Sets one of them. */
    public void set(String name, String value) throws ClusterException {
        Path file = file(name);
        CHANGING.lock();
        try {
            Files.writeString(file, value + "\n", StandardCharsets.US_ASCII, StandardOpenOption.WRITE);
        } catch (NoSuchFileException e) {
            throw new ClusterException("the kernel has no setting " + SET_BY + name + ": leave it out", e);
        } catch (IOException e) {
            throw new ClusterException(
                    "cannot set " + SET_BY + name + " to '" + value + "': " + Causes.text(e)
                            + ": the value must be one that it takes, /proc/sys writable, and this process root there",
                    e);
        } finally {
            CHANGING.unlock();
        }
        String now = settings(Set.of(name)).getOrDefault(name, "");
        if (!now.equals(ProcFile.normal(value))) {
            throw new ClusterException(SET_BY + name + " was set to '" + value + "', but is '" + now
                    + "': write a value that the kernel takes as it is");
        }
    }

    private static Path file(String name) throws ClusterException {
        if (!SETTING.matcher(name).matches()) {
            throw new ClusterException(
                    "'" + name + "' is no name of a setting under " + SET_BY + ": small letters, digits and _ are");
        }
        return SETTINGS.resolve(name);
    }

    private String ask(String... arguments) throws ClusterException {
        Program.Result result = program.run("", List.of(arguments));
        if (result.status() == 0) {
            return result.output();
        }
        for (Map.Entry<String, String> known : REFUSALS.entrySet()) {
            if (result.output().contains(known.getKey())) {
                throw new ClusterException(known.getValue());
            }
        }
        throw new ClusterException(
                "ipvsadm " + String.join(" ", arguments) + " ended with " + result.status() + ": " + result.words());
    }

    /** What ipvsadm says when it can do nothing at all, and what that means. */
    private static final Map<String, String> REFUSALS = Map.of(
            "Protocol not available",
            "this kernel has no IPVS: load it as root (modprobe ip_vs), or boot a kernel that is built with"
                    + " CONFIG_IP_VS",
            "Permission denied",
            "this process may not see the kernel's table of virtual services: run it as root, or with CAP_NET_ADMIN"
                    + " in its network namespace",
            "Operation not permitted",
            "this process may not change the kernel's table of virtual services: run it as root, or with CAP_NET_ADMIN"
                    + " in its network namespace");
}
