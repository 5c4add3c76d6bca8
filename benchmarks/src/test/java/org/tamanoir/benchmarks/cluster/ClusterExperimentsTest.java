package org.tamanoir.benchmarks.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.tamanoir.benchmarks.netns.Namespace;
import org.tamanoir.support.Tiers;
import picocli.CommandLine;

@Tag("once")
@Tag("namespace")
class ClusterExperimentsTest {
    @TempDir
    private Path folder;

    private String refusal(String... arguments) {
        StringWriter errors = new StringWriter();
        CommandLine command = new CommandLine(new ClusterExperiments()).setErr(new PrintWriter(errors));
        List<String> all = Stream.concat(Stream.of(arguments), Stream.of("--output", folder.toString()))
                .toList();
        assertThat(command.execute(all.toArray(String[]::new))).isEqualTo(CommandLine.ExitCode.USAGE);
        return errors.toString();
    }

    @Test
    void unknownExperimentsAndLengthsAreRefusedWithThoseThatThereAre() {
        assertThat(refusal("--only", "fig19"))
                .contains("--only fig19: must be of fig16, fig17, fig18, front-end, model");
        assertThat(refusal("--seconds", "0.01")).contains("--seconds 0.01: 0.1 to 60.0");
        assertThat(refusal("--seconds", "-1")).contains("--seconds -1.0: 0.1 to 60.0");
        assertThat(folder).isEmptyDirectory();
    }

    @Test
    void helpNamesTheExperiments() {
        StringWriter out = new StringWriter();
        int code = new CommandLine(new ClusterExperiments())
                .setOut(new PrintWriter(out))
                .execute("--help");
        assertThat(code).isZero();
        assertThat(out.toString()).contains("--quick", "fig16, fig17, fig18, front-end", "--guest=PROGRAM");
    }

    @Test
    void missingNodeEndsItWithTheRemedy() {
        int code = new CommandLine(new ClusterExperiments())
                .execute("--node", folder.resolve("none.jar").toString(), "--output", folder.toString());
        assertThat(code).isEqualTo(CommandLine.ExitCode.SOFTWARE);
        assertThat(folder).isEmptyDirectory();
    }

    /** The machines of figure 16 reach each other, and nothing of them is left behind. */
    @Test
    void machinesAreMadeAndRemoved() throws Exception {
        String missing = Namespace.missing("ip", "iproute2", "nsenter", "util-linux");
        Tiers.require("namespace", missing.isEmpty(), missing);
        List<Path> files;
        try (Bed bed = new Bed()) {
            files = Stream.of(bed.clients, bed.receivers, bed.backEnds, List.of(bed.director))
                    .flatMap(List::stream)
                    .map(Namespace::file)
                    .toList();
            assertThat(files).hasSize(19).allMatch(Files::exists);
            reach(bed.clients.get(11), bed.backEnds.get(2), Bed.backEnd(2));
            reach(bed.backEnds.get(0), bed.receivers.get(2), Bed.receiver(2));
            // Back-ends have the virtual address too, but the front-end alone answers for it.
            assertThat(bed.backEnds.get(1).run("ip address show dev lo")).contains(Bed.VIRTUAL_ADDRESS);
            reach(bed.clients.get(0), bed.director, Bed.VIRTUAL_ADDRESS);
        }
        assertThat(files).noneMatch(Files::exists);
    }

    private static void reach(Namespace from, Namespace to, String address) throws Exception {
        InetSocketAddress there = new InetSocketAddress(address, Bed.PORT);
        try (ServerSocketChannel server =
                        to.call(() -> ServerSocketChannel.open().bind(there));
                SocketChannel client = from.call(() -> SocketChannel.open(there))) {
            server.configureBlocking(false);
            try (SocketChannel taken = server.accept()) {
                assertThat(taken).as(address).isNotNull();
                assertThat(client.isConnected()).isTrue();
            }
        }
    }
}
