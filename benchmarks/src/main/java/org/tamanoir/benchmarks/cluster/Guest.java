package org.tamanoir.benchmarks.cluster;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.locks.LockSupport;
import org.tamanoir.benchmarks.Benchmarks;
import org.tamanoir.benchmarks.Child;
import org.tamanoir.benchmarks.Processes;
import org.tamanoir.benchmarks.cluster.ClusterInGuest.Part;
import org.tamanoir.benchmarks.netns.Shell;

/**
 * The virtual machine in which the parts run that need IPVS. Thread contract: one thread.
 *
 * @param runner the script that boots it
 * @param node jar of the node
 * @param traffic the program that sends datagrams
 */
record Guest(Path runner, Path node, Path traffic) {
    private static final int MEMORY_MIB = 4096;
    private static final int TIMEOUT_S = 1800;
    private static final long LOOK_AGAIN_NS = 200_000_000;

    /** Fails, in one line, if this host cannot run a part. */
    void require(Part part) throws IOException {
        if (!Files.isExecutable(runner)) {
            throw new IOException(
                    "--guest " + runner + ": no such program: run this in the project's folder, or name it");
        }
        Shell.run(List.of(runner.toString(), "--check"));
        if (!Files.isExecutable(Path.of("/sbin/ipvsadm"))) {
            throw new IOException("ipvsadm is not installed: install the package ipvsadm");
        }
        if (part == Part.FRONT_END && !Files.isExecutable(traffic)) {
            throw new IOException(traffic + " was not built: native/build.sh says why not");
        }
    }

    /**
     * Boots it, runs a part in it, and shows on standard output how far that is.
     *
     * @return what it has written, JSON
     */
    String run(Part part, List<String> options) throws IOException {
        require(part);
        Path share = Files.createTempDirectory("tamanoir-cluster-guest-");
        try (Processes processes = new Processes()) {
            Child child = processes.start("guest", command(part, share, options));
            Path log = processes.folder().resolve("guest.log");
            int shown = 0;
            while (child.isAlive()) {
                LockSupport.parkNanos(LOOK_AGAIN_NS);
                shown = show(log, shown);
            }
            show(log, shown);
            Path results = share.resolve("results.json");
            if (child.exitCode() != 0 || !Files.isRegularFile(results)) {
                throw new IOException(
                        "the virtual machine ended with code " + child.exitCode() + ": " + child.lastWords());
            }
            return Files.readString(results);
        } finally {
            delete(share);
        }
    }

    private List<String> command(Part part, Path share, List<String> options) {
        List<String> command = new ArrayList<>(List.of(
                runner.toString(),
                "--memory",
                Integer.toString(MEMORY_MIB),
                "--timeout",
                Integer.toString(TIMEOUT_S),
                "--share",
                share.toString()));
        if (part == Part.FRONT_END) {
            command.add("--counted");
        }
        command.addAll(List.of("--", Processes.ownJava(), "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp"));
        command.add(absoluteClassPath());
        command.addAll(List.of(Benchmarks.class.getName(), "cluster-in-guest", "--part", part.name()));
        command.addAll(List.of("--output", "/run/share/results.json"));
        command.addAll(List.of("--node", node.toAbsolutePath().toString()));
        command.addAll(List.of("--traffic", traffic.toAbsolutePath().toString()));
        command.addAll(options);
        return command;
    }

    private static String absoluteClassPath() {
        List<String> all = new ArrayList<>();
        for (String each : System.getProperty("java.class.path").split(":")) {
            all.add(Path.of(each).toAbsolutePath().toString());
        }
        return String.join(":", all);
    }

    private static int show(Path log, int shown) throws IOException {
        if (!Files.exists(log)) {
            return shown;
        }
        String said = new String(Files.readAllBytes(log), StandardCharsets.UTF_8);
        int end = said.lastIndexOf('\n') + 1;
        if (end > shown) {
            said.substring(shown, end).lines().forEach(line -> System.out.println("    guest: " + line.strip()));
        }
        return Math.max(shown, end);
    }

    private static void delete(Path folder) throws IOException {
        try (java.util.stream.Stream<Path> files = Files.list(folder)) {
            for (Path file : files.toList()) {
                Files.delete(file);
            }
        }
        Files.delete(folder);
    }

    /** Numbers as an option takes them. */
    static String list(List<Integer> numbers) {
        return String.join(
                ",",
                numbers.stream()
                        .map(number -> String.format(Locale.ROOT, "%d", number))
                        .toList());
    }
}
