package org.tamanoir.benchmarks.cluster;

import com.google.common.io.MoreFiles;
import com.google.common.io.RecursiveDeleteOption;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.tamanoir.benchmarks.Benchmarks;
import org.tamanoir.benchmarks.Child;
import org.tamanoir.benchmarks.Processes;
import org.tamanoir.benchmarks.Threads;
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
    private static final String MEMORY_MIB = "4096";
    private static final String TIMEOUT_S = "1800";
    private static final double LOOK_AGAIN_S = 0.2;

    private void require(Part part) throws IOException {
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
            Path log = child.log();
            int shown = 0;
            while (child.isAlive()) {
                Threads.pause(LOOK_AGAIN_S);
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
            MoreFiles.deleteRecursively(share, RecursiveDeleteOption.ALLOW_INSECURE);
        }
    }

    private List<String> command(Part part, Path share, List<String> options) {
        String classes = Arrays.stream(System.getProperty("java.class.path").split(":"))
                .map(each -> Path.of(each).toAbsolutePath().toString())
                .collect(Collectors.joining(":"));
        List<String> command = new ArrayList<>(List.of(runner.toString(), "--memory", MEMORY_MIB));
        command.addAll(List.of("--timeout", TIMEOUT_S, "--share", share.toString()));
        if (part == Part.FRONT_END) {
            command.add("--counted");
        }
        command.addAll(List.of("--", Processes.ownJava(), "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp"));
        command.addAll(List.of(classes, Benchmarks.class.getName(), "cluster-in-guest", "--part", part.name()));
        command.addAll(List.of("--output", "/run/share/results.json", "--node", node.toString()));
        command.addAll(List.of("--traffic", traffic.toString()));
        command.addAll(options);
        return command;
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

    /** Numbers as an option takes them. */
    static String list(List<Integer> numbers) {
        return numbers.stream().map(String::valueOf).collect(Collectors.joining(","));
    }
}
