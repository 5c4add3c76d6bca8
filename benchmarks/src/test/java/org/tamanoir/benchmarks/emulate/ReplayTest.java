package org.tamanoir.benchmarks.emulate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.benchmarks.GeneratedTable;
import picocli.CommandLine;

/** Whole nodes whose arrivals are emulated. */
@Tag("once")
class ReplayTest {
    private static final GeneratedTable TABLE = new GeneratedTable(1000, 100, 1);

    @TempDir
    private Path folder;

    private final StringWriter errors = new StringWriter();

    private int run(String... arguments) {
        String[] all = new String[arguments.length + 2];
        System.arraycopy(arguments, 0, all, 0, arguments.length);
        all[arguments.length] = "--ipv4=2000";
        all[arguments.length + 1] = "--ipv6=100";
        return new CommandLine(new EmulateExperiments())
                .setCaseInsensitiveEnumValuesAllowed(true)
                .setErr(new PrintWriter(errors))
                .execute(all);
    }

    @ParameterizedTest
    @ValueSource(strings = {"constant", "poisson", "pareto"})
    void virtualTimeGivesTheSameBytesTwice(String source) throws IOException {
        for (String each : List.of("a", "b")) {
            assertThat(run(
                            "--source",
                            source,
                            "--bytes",
                            "0",
                            "--packets",
                            "20000",
                            "--gbps",
                            "2",
                            "--load",
                            "work=2",
                            "--out",
                            folder.resolve(each).toString()))
                    .isZero();
        }

        assertThat(folder.resolve("a/replay.txt")).hasSameBinaryContentAs(folder.resolve("b/replay.txt"));
        assertThat(Files.readString(folder.resolve("a/replay.txt"))).contains("20,000 came");
    }

    /** M/D/1: the mean wait is ρ s / (2 (1 − ρ)), here 0.8 · 1000 / 0.4 ns. */
    @Test
    void poissonWaitsAsQueueingTheorySays() throws IOException {
        Model model = new Model(
                Model.Law.POISSON,
                1000,
                0.8 * 1020 * 8 / 1000,
                Destinations.of(Destinations.Kind.UNIFORM, TABLE, 1),
                1);
        Outcome outcome = Replay.virtual(
                TABLE.table(), new Schedule(model, 300_000), new VirtualRun.Stated(0, 0, new long[] {1000}));

        assertThat(outcome.waits()[0].getMean()).isCloseTo(2000, within(300.0));
        assertThat(outcome.busy()).isCloseTo(0.8, within(0.02));
        assertThat(outcome.lost()).isZero();
    }

    @Test
    void whatFindsNoRoomIsLostAtThePortAndAllElseIsAccountedFor() throws IOException {
        Model model = new Model(Model.Law.CONSTANT, 1000, 8, Destinations.of(Destinations.Kind.ZIPF, TABLE, 1), 1);
        Outcome outcome = Replay.virtual(
                TABLE.table(), new Schedule(model, 50_000), new VirtualRun.Stated(0, 0, new long[] {10_000}));

        assertThat(outcome.lost()).isPositive();
        assertThat(outcome.came()).isEqualTo(50_000);
        assertThat(outcome.counts().in()).isEqualTo(50_000 - outcome.lost());
        assertThat(outcome.counts().out() + outcome.counts().dropped())
                .isEqualTo(outcome.counts().in());
        assertThat(outcome.counts().held()).isZero();
        assertThat(outcome.waits()[0].getTotalCount())
                .isEqualTo(outcome.counts().in());
    }

    @Test
    void packetsLeaveMarkedInOrderTowardTheirNextHops() throws IOException {
        List<String> left = new ArrayList<>();
        Packet packet = new PacketBuilder().build(ByteBuffer.allocate(0));
        class Seen implements EmulatedPort.Departures {
            @Override
            public void departs(ByteBuffer memory, int offset, int bytes, long high, long low, int port) {
                byte[] copy = new byte[bytes];
                memory.get(offset, copy);
                assertThat(packet.parse(ByteBuffer.wrap(copy), 0, bytes)).isNull();
                left.add(packet.classOfService() + " to " + Long.toHexString(low >>> 8) + " port " + port + ", "
                        + packet.length() + ": "
                        + packet.payload().getLong(packet.payload().position()));
            }
        }
        try (EmulatedNode node =
                new EmulatedNode(TABLE.table(), new Seen(), List.of(() -> new StatedWork((ns, service) -> {})))) {
            left.clear();
            Ring ring = new Ring(EmulatedNode.writer(0), node.port(0).memory());
            Arrival arrival = new Arrival();
            arrival.bytes = 80;
            for (int i = 0; i < 100; i++) {
                arrival.to(TABLE.address(i, i));
                assertThat(ring.put(arrival, i)).isTrue();
            }
            node.port(0).feed(ring);
            assertThat(node.counts(100).out()).isEqualTo(100);
        }
        for (int i = 0; i < 100; i++) {
            assertThat(left.get(i)).isEqualTo("1 to ffffc63364 port 3322, 80: " + i);
        }
    }

    @Test
    void packetsAreThoseOfTheBuilder() throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(256);
        Arrival arrival = new Arrival();
        for (String address : List.of("10.1.2.3", "2001:db8::7")) {
            InetAddress to = InetAddress.getByName(address);
            arrival.high = org.tamanoir.routing.Addresses.high(to);
            arrival.low = org.tamanoir.routing.Addresses.low(to);
            arrival.bytes = 100;
            arrival.trafficClass = 9;
            arrival.service = 3;
            PacketBuilder builder = new PacketBuilder()
                    .classOfService(9, 0)
                    .hopBudget(16)
                    .service("org.example.A")
                    .destination(to);
            ByteBuffer expected = ByteBuffer.allocate(100);
            builder.write(
                    expected,
                    ByteBuffer.allocate(100 - builder.headerLength())
                            .putLong(0, 77)
                            .putInt(8, 3));

            assertThat(new PacketWriter("org.example.A").write(bytes, 8, arrival, 77))
                    .isEqualTo(100);
            assertThat(bytes.slice(8, 100)).isEqualTo(expected.flip());
        }
    }

    @Test
    void realTimeAccountsForEveryPacket() throws IOException {
        RealRun run = new RealRun(new long[] {1000, 5000}, 0);
        try (EmulatedNode node =
                new EmulatedNode(TABLE.table(), run, List.of(() -> new StatedWork(run), () -> new StatedWork(run)))) {
            Destinations to = Destinations.of(Destinations.Kind.UNIFORM, TABLE, 1);
            Arrivals both = new Merged(
                    new Model(Model.Law.POISSON, 64, 0.05, to, 1), new Model(Model.Law.POISSON, 200, 0.02, to, 2));
            Outcome outcome = run.run(new Schedule(both, 5000), node, true);

            assertThat(outcome.came()).isEqualTo(5000);
            assertThat(outcome.counts().in()).isEqualTo(5000 - outcome.lost());
            assertThat(outcome.waits()[0].getTotalCount() + outcome.waits()[1].getTotalCount())
                    .isEqualTo(outcome.counts().in());
            assertThat(run.errors().getTotalCount()).isEqualTo(5000);
        }
    }

    @Test
    void traceOfACommandLineIsReplayedAndABadOneRefusedInOneLine() throws IOException {
        Path good = Files.writeString(
                folder.resolve("a.csv"), "0,64,8.8.8.8,0,short\n1000,54,8.8.8.8,0,long\n2000,64,9.9.9.9,0,short\n");
        PrintStream out = System.out;
        ByteArrayOutputStream said = new ByteArrayOutputStream();
        System.setOut(new PrintStream(said, true, StandardCharsets.UTF_8));
        try {
            assertThat(run("--source", good.toString(), "--load", "short=1,long=1000"))
                    .isZero();
        } finally {
            System.setOut(out);
        }
        // The second comes while the first is in hand, the third waits for the second: 1,000.2 − 1.0 µs.
        assertThat(said.toString(StandardCharsets.UTF_8))
                .contains("3 came = 0 lost at the port + 3 in", "short | 1.000 | 2 |", "long | 1000.000 | 1 |");

        Path bad = Files.writeString(folder.resolve("b.csv"), "0,64,8.8.8.8,0,nobody\n");
        PrintStream err = System.err;
        ByteArrayOutputStream complained = new ByteArrayOutputStream();
        System.setErr(new PrintStream(complained, true, StandardCharsets.UTF_8));
        try {
            assertThat(run("--source", bad.toString())).isOne();
        } finally {
            System.setErr(err);
        }
        assertThat(complained.toString(StandardCharsets.UTF_8))
                .contains("emulate: b.csv, packet 1: service 'nobody': must be of work");
    }

    @Test
    void optionsOutOfBoundsAreRefused() {
        assertThat(run("--bytes", "20")).isEqualTo(CommandLine.ExitCode.USAGE);
        assertThat(errors.toString()).contains("--bytes 20: 0, or 60 to 9000");
        assertThat(run("--gbps", "1e-18")).isEqualTo(CommandLine.ExitCode.USAGE);
        assertThat(errors.toString()).contains("--gbps 1.0E-18: 0.001 to 1000.0");
        assertThat(run("--batch-ns", "9223372036854775807")).isEqualTo(CommandLine.ExitCode.USAGE);
        assertThat(errors.toString()).contains("--batch-ns 9223372036854775807: 0 to 1000000000");
        assertThat(run("--only", "fig9")).isEqualTo(CommandLine.ExitCode.USAGE);
        assertThat(errors.toString()).contains("must be of virtual, overhead, rate, throughput, beside, injection");
    }

    @Test
    void virtualExperimentIsInTheReportWithPlotAndData() throws IOException {
        assertThat(run("--only", "virtual", "--out", folder.toString())).isZero();

        assertThat(Files.readString(folder.resolve("emulate.md")))
                .startsWith("# Emulated arrivals, ")
                .doesNotContain("## Failed", "NaN", "Infinity");
        assertThat(Files.readAllLines(folder.resolve("virtual.csv"))).hasSize(1 + 3 * 6);
        assertThat(folder.resolve("virtual.png")).isNotEmptyFile();
    }
}
