package org.tamanoir.benchmarks.soak;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.stream.Stream;
import org.tamanoir.benchmarks.Child;
import org.tamanoir.benchmarks.Load;
import org.tamanoir.benchmarks.NodeJvm;
import org.tamanoir.benchmarks.Processes;
import org.tamanoir.benchmarks.Threads;
import org.tamanoir.benchmarks.netns.NodeApi;
import org.tamanoir.benchmarks.netns.Shell;
import org.tamanoir.tls.TlsFiles;

/** The node: a process of its own, from its jar, with a configuration file. One thread, but figures from any. */
final class SoakNode {
    private static final long START_TIMEOUT_S = 90;
    private static final double STOP_TIMEOUT_S = 60;
    private static final String TOKEN = "soak-".repeat(8);

    private final NodeJvm jvm;
    private final Path folder;
    private final Child process;
    final NodeApi api;
    private final InetSocketAddress tcp;

    /** Starts it and waits until it is ready. */
    SoakNode(Processes processes, NodeJvm jvm, Bed bed, TlsFiles files, Repository repository) throws IOException {
        this.jvm = jvm;
        folder = processes.folder();
        Path token = Files.writeString(folder.resolve("token"), TOKEN);
        Files.setPosixFilePermissions(token, PosixFilePermissions.fromString("rw-------"));
        Path config = Files.writeString(folder.resolve("node.yaml"), configuration(bed, files, repository, token));
        process = processes.start("node", jvm.line("-c", config.toString()));
        if (!Threads.await(START_TIMEOUT_S, 50, () -> {
            process.requireAlive();
            return !values("admin API: ").isEmpty();
        })) {
            throw new IOException("the node did not say 'admin API: ' in " + START_TIMEOUT_S + " s");
        }
        api = new NodeApi(values("admin API: ").get(0), TOKEN, null);
        api.awaitReady(process, START_TIMEOUT_S);
        tcp = Load.address(values("listening on tcp ").get(0));
        bed.node(tcp, Load.address(values("listening on tls ").get(0)));
    }

    private String configuration(Bed bed, TlsFiles files, Repository repository, Path token) throws IOException {
        StringBuilder routes = new StringBuilder();
        for (int end = 0; end < bed.ends.size(); end++) {
            InetSocketAddress address = bed.ends.get(end).address();
            routes.append("  - {to: %s/32, via: \"%s:%d\", kind: host%s}\n"
                    .formatted(
                            Bed.destination(end).getHostAddress(),
                            address.getAddress().getHostAddress(),
                            address.getPort(),
                            end == Bed.TLS_END ? ", transport: tls" : ""));
        }
        // Deployment has a lower priority than streams, and the repository shares the processors with the senders.
        // Handshakes and halves of packets are late on processors that streams have taken.
        return """
                listen:
                  tcp: ["127.0.0.1:%1$d"]
                  udp: ["127.0.0.1:%1$d"]
                  tls: ["127.0.0.1:0"]
                tls:
                  certificate: %2$s
                  key: %3$s
                  trust: %4$s
                routes:
                %5$sservices:
                  - {name: Monitor, config: {mark: none}}
                deploy:
                  trust: [{key: %6$s}]
                  repositories: ["%7$s"]
                  cache: %8$s/cache
                  connect-timeout: 30s
                  idle-timeout: 60s
                  total-timeout: 2m
                timeouts: {connect: 1m, first-packet: 1m}
                admin:
                  listen: "127.0.0.1:0"
                  token-file: %9$s
                  access-log: %8$s/streams.log
                """.formatted(
                        Load.freePort(),
                        files.certificate(),
                        files.key(),
                        files.trust(),
                        routes,
                        repository.publicKey(),
                        repository.address(),
                        folder,
                        token);
    }

    private List<String> values(String prefix) throws IOException {
        Path log = process.log();
        if (!Files.exists(log)) {
            return List.of();
        }
        try (Stream<String> lines = Files.lines(log)) {
            return lines.filter(line -> line.startsWith(prefix))
                    .map(line -> line.substring(prefix.length()).trim())
                    .toList();
        }
    }

    long pid() {
        return process.handle().pid();
    }

    /** Fails when the process has ended. */
    void requireAlive() throws IOException {
        process.requireAlive();
    }

    /** The port of its datagrams. */
    int datagramPort() {
        return tcp.getPort();
    }

    Path log() {
        return process.log();
    }

    /** The lines of streams that have ended, those of before the last rotation first. */
    List<Path> streamLogs() {
        return Stream.of(folder.resolve("streams.log.1"), folder.resolve("streams.log"))
                .filter(Files::exists)
                .toList();
    }

    /** Runs a command of the JDK's jcmd in the node; empty where there is no jcmd. */
    String jcmd(String what) throws IOException {
        Path jcmd = Path.of(jvm.java()).resolveSibling("jcmd");
        return Files.isExecutable(jcmd) ? Shell.run(List.of(jcmd.toString(), Long.toString(pid()), what)) : "";
    }

    /** Asks it to end; its exit code, or -1 when it does not end. */
    int stop() throws IOException {
        return process.terminate(STOP_TIMEOUT_S) ? process.exitCode() : -1;
    }
}
