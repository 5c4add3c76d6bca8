package org.tamanoir.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.support.Waiting.eventually;

import java.io.ByteArrayOutputStream;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.tamanoir.anep.Option;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.client.AnepSender;
import org.tamanoir.format.FfsWriter;
import org.tamanoir.format.Format;
import org.tamanoir.format.Layout;
import org.tamanoir.format.RecordEncoder;
import org.tamanoir.node.config.Endpoint;
import org.tamanoir.repository.RepositoryServer;
import org.tamanoir.repository.RepositoryTree;
import org.tamanoir.support.Waiting;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Records that {@code send} sends and {@code receive} writes, by what stands in the file at the far end. */
@Tag("once")
@Timeout(120)
class RecordCommandsTest {
    private static final Pattern LISTENING = Pattern.compile("listening on (\\S+)");
    private static final Format FLIGHT = Format.builder(Layout.X86_64)
            .structure("flight")
            .field("delay", "integer", 4)
            .field("hub", "string")
            .build();
    private static final Format SHIP = Format.builder(Layout.X86_64)
            .structure("ship")
            .field("tons", "integer", 8)
            .build();
    private static final int RECORDS = 200;

    @TempDir
    Path folder;

    private Path file;
    private Path received;
    /** Encoded, as they stand in the file. */
    private final List<byte[]> records = new ArrayList<>();

    @BeforeEach
    void writeFile() throws Exception {
        file = folder.resolve("in.ffs");
        received = folder.resolve("out.ffs");
        RecordEncoder flights = new RecordEncoder(FLIGHT);
        RecordEncoder ships = new RecordEncoder(SHIP);
        Random random = new Random(5);
        try (OutputStream to = Files.newOutputStream(file);
                FfsWriter writer = FfsWriter.ofFile(to)) {
            for (int i = 0; i < RECORDS; i++) {
                boolean isShip = i % 3 == 1;
                // Some longer than any packet.
                String hub = "x".repeat(i % 50 == 0 ? 150_000 : random.nextInt(3_000));
                byte[] record =
                        isShip ? ships.encode(Map.of("tons", i)) : flights.encode(Map.of("delay", i, "hub", hub));
                writer.record(isShip ? SHIP : FLIGHT, ByteBuffer.wrap(record), 0, record.length);
                records.add(record);
            }
        }
    }

    private static final class Run {
        final StringWriter out = new StringWriter();
        final StringWriter err = new StringWriter();
        final CompletableFuture<Integer> exit;

        Run(Object... arguments) {
            String[] texts = Arrays.stream(arguments).map(String::valueOf).toArray(String[]::new);
            exit = Waiting.async(() -> Main.run(new PrintWriter(out, true), new PrintWriter(err, true), texts));
        }

        int exitCode() throws Exception {
            return exit.get(60, TimeUnit.SECONDS);
        }

        JsonNode json() {
            return JsonMapper.shared().readTree(out.toString());
        }

        String listening() {
            Matcher[] found = new Matcher[1];
            eventually().until(() -> {
                found[0] = LISTENING.matcher(err.toString());
                return found[0].find();
            });
            return found[0].group(1);
        }
    }

    private Run receive(Object... more) {
        List<Object> all = new ArrayList<>(List.of(
                "receive", "--listen", "127.0.0.1:0", "--json", "--records", received, "--exit-after-streams", 1));
        all.addAll(List.of(more));
        return new Run(all.toArray());
    }

    private static Run send(String to, Object... more) {
        List<Object> all = new ArrayList<>(List.of("send", "--to", to, "--json", "--records"));
        all.addAll(List.of(more));
        return new Run(all.toArray());
    }

    private static long count(Run receive, String name) {
        return receive.json().get("records").get(name).asLong();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "--items"})
    void recordsOverTcpArriveAsTheyWereInTheFile(String items) throws Exception {
        Run receive = receive("--tcp", "--formats", file);
        Run send = items.isEmpty() ? send(receive.listening(), file) : send(receive.listening(), file, items);
        assertThat(send.exitCode()).as(send.err.toString()).isZero();
        assertThat(receive.exitCode()).as(receive.err.toString()).isZero();
        assertThat(send.json().get("records").asInt()).isEqualTo(RECORDS);
        assertThat(count(receive, "written")).isEqualTo(RECORDS);
        assertThat(Files.readAllBytes(received)).isEqualTo(Files.readAllBytes(file));
        long packets = send.json().get("packets").asLong();
        if (items.isEmpty()) {
            assertThat(packets).isGreaterThan(RECORDS);
        } else {
            assertThat(packets).isLessThan(RECORDS / 2);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "--items"})
    void recordsOverUdpArriveAsTheyWereInTheFile(String items) throws Exception {
        Run receive = receive("--udp", "--formats", file);
        String to = receive.listening();
        // Slow enough that the socket's buffer holds what comes while the receiver is held up.
        Run send = items.isEmpty()
                ? send(to, file, "--udp", "--rate", "1k")
                : send(to, file, "--udp", "--rate", "1k", items);
        assertThat(send.exitCode()).as(send.err.toString()).isZero();
        assertThat(receive.exitCode()).as(receive.err.toString()).isZero();
        assertThat(Files.readAllBytes(received)).isEqualTo(Files.readAllBytes(file));
    }

    @Test
    void itemsDescribeThemselves() throws Exception {
        Run receive = receive("--tcp");
        Run send = send(receive.listening(), file, "--items");
        assertThat(send.exitCode()).as(send.err.toString()).isZero();
        assertThat(receive.exitCode()).as(receive.err.toString()).isZero();
        assertThat(Files.readAllBytes(received)).isEqualTo(Files.readAllBytes(file));
    }

    @Test
    void jsonIsSentAndCsvWritten() throws Exception {
        Path json = folder.resolve("flights.json");
        Files.writeString(
                json,
                "{\"format\":\"" + FLIGHT.id() + "\",\"name\":\"flight\",\"value\":{\"delay\":25,\"hub\":\"ATL\"}}\n");
        received = folder.resolve("out.csv");
        Run receive = receive("--tcp", "--formats", file);
        Run send = send(receive.listening(), json, "--formats", file);
        assertThat(send.exitCode()).as(send.err.toString()).isZero();
        assertThat(receive.exitCode()).as(receive.err.toString()).isZero();
        assertThat(Files.readString(received)).isEqualTo("delay,hub\r\n25,ATL\r\n");
    }

    @Test
    void formatsThatNobodyDescribesAreAskedForAtAFormatServer() throws Exception {
        try (RepositoryTree tree = RepositoryTree.open(folder.resolve("tree"));
                RepositoryServer server = RepositoryServer.start(
                        RepositoryServer.Settings.on(new InetSocketAddress("127.0.0.1", 0)), tree, null)) {
            String url = "http://127.0.0.1:" + server.address().getPort();
            Run publish = new Run("ffs", "publish", file, "--repository", url);
            assertThat(publish.exitCode()).as(publish.err.toString()).isZero();
            assertThat(publish.out.toString().lines())
                    .containsExactlyInAnyOrder(
                            "published " + FLIGHT.id() + " 'flight'", "published " + SHIP.id() + " 'ship'");
            Run receive = receive("--tcp", "--format-server", url);
            assertThat(send(receive.listening(), file).exitCode()).isZero();
            assertThat(receive.exitCode()).as(receive.err.toString()).isZero();
            assertThat(Files.readAllBytes(received)).isEqualTo(Files.readAllBytes(file));
        }
    }

    @Test
    void recordsOfUnknownFormatsAreCounted() throws Exception {
        Run receive = receive("--tcp");
        assertThat(send(receive.listening(), file).exitCode()).isZero();
        assertThat(receive.exitCode()).isEqualTo(1);
        assertThat(count(receive, "unknown")).isEqualTo(RECORDS);
        assertThat(count(receive, "written")).isZero();
        assertThat(count(receive, "broken")).isZero();
    }

    private PacketBuilder builder(boolean begins, Format format) {
        PacketBuilder builder = new PacketBuilder().stream(7);
        return begins
                ? builder.option(
                        Option.FORMAT.wireType(), Arrays.copyOf(format.id().toBytes(), 12))
                : builder;
    }

    /** Sends pieces of a record, each with its number, in this order. */
    private void sendPieces(String to, byte[] record, int pieces, List<Integer> order) throws Exception {
        try (AnepSender sender = AnepSender.udp(Endpoint.listening(to, 1))) {
            for (int i : order) {
                int from = record.length * i / pieces;
                int end = record.length * (i + 1) / pieces;
                PacketBuilder builder = builder(i == 0, FLIGHT).nextSequence(i);
                sender.send(builder, ByteBuffer.wrap(record, from, end - from));
            }
            sender.finish();
        }
    }

    @Test
    void piecesOfARecordMayComeInAnyOrder() throws Exception {
        byte[] record = records.get(0).length > 1_000 ? records.get(0) : records.get(50);
        for (int seed = 0; seed < 3; seed++) {
            List<Integer> order = new ArrayList<>(List.of(0, 1, 2, 3, 4, 5, 6, 7));
            Collections.shuffle(order, new Random(seed));
            Run receive = receive("--udp", "--formats", file);
            sendPieces(receive.listening(), record, 8, order);
            assertThat(receive.exitCode()).as(order + receive.err.toString()).isZero();
            ByteArrayOutputStream expected = new ByteArrayOutputStream();
            try (FfsWriter writer = FfsWriter.ofFile(expected)) {
                writer.record(FLIGHT, ByteBuffer.wrap(record), 0, record.length);
            }
            assertThat(Files.readAllBytes(received)).as("%s", order).isEqualTo(expected.toByteArray());
        }
    }

    @Test
    void aRecordWithoutOneOfItsPiecesIsBroken() throws Exception {
        Run receive = receive("--udp", "--formats", file);
        sendPieces(receive.listening(), records.get(0), 8, List.of(0, 1, 2, 4, 5, 6, 7));
        assertThat(receive.exitCode()).isEqualTo(1);
        assertThat(count(receive, "broken")).isEqualTo(1);
        assertThat(count(receive, "written")).isZero();
    }

    @Test
    void aShortCommentIsAnItemToo() throws Exception {
        Run receive = receive("--tcp", "--formats", file);
        byte[] record = records.get(1);
        ByteBuffer run = ByteBuffer.allocate(6 + 8 + record.length);
        run.put(new byte[] {1, 0, 0, 2, 'n', 'o'}).putInt(3 << 24).putInt(record.length);
        run.put(record).flip();
        try (AnepSender sender = AnepSender.tcp(Endpoint.listening(receive.listening(), 1))) {
            sender.send(new PacketBuilder().stream(7), run);
            sender.finish();
        }
        assertThat(receive.exitCode()).as(receive.err.toString()).isZero();
        assertThat(count(receive, "written")).isEqualTo(1);
    }

    @Test
    void whatIsNoRecordIsCountedAndTheNextOneIsWritten() throws Exception {
        Run receive = receive("--tcp", "--formats", file);
        byte[] record = records.get(1);
        byte[] lies = records.get(2).clone();
        Arrays.fill(lies, 12, 20, (byte) 0xFF); // The body's length.
        try (AnepSender sender = AnepSender.tcp(Endpoint.listening(receive.listening(), 1))) {
            PacketBuilder plain = new PacketBuilder().stream(7);
            sender.send(
                    plain, ByteBuffer.wrap("no message at all".getBytes(java.nio.charset.StandardCharsets.US_ASCII)));
            sender.send(plain, ByteBuffer.allocate(0));
            sender.send(plain, ByteBuffer.wrap(new byte[] {3, 0, 0, 0, 127, 0, 0, 0, 1}));
            sender.send(builder(true, FLIGHT).nextSequence(3), ByteBuffer.wrap(lies));
            sender.send(builder(true, SHIP).nextSequence(4), ByteBuffer.wrap(record, 0, record.length - 1));
            sender.send(builder(true, SHIP).nextSequence(5), ByteBuffer.wrap(record));
            sender.finish();
        }
        assertThat(receive.exitCode()).isEqualTo(1);
        assertThat(count(receive, "written")).isEqualTo(1);
        assertThat(count(receive, "broken")).isEqualTo(2);
        assertThat(count(receive, "others")).isEqualTo(3);
    }

    @Test
    void aDamagedFileFailsInOneLine() throws Exception {
        byte[] whole = Files.readAllBytes(file);
        Path cut = folder.resolve("cut.ffs");
        Files.write(cut, Arrays.copyOf(whole, whole.length - 3));
        Run receive = receive("--tcp", "--formats", file);
        Run send = send(receive.listening(), cut);
        assertThat(send.exitCode()).isEqualTo(1);
        assertThat(send.err.toString().lines().filter(line -> line.contains("cut.ffs")))
                .hasSize(1);
        receive.exitCode();
    }

    @Test
    void wrongUsageIsSaidInOneLine() throws Exception {
        Path json = Files.writeString(folder.resolve("a.json"), "{}");
        Object[][] wrong = {
            {"send", "--records"},
            {"send", "--records", "-"},
            {"send", "--items", file},
            {"send", "--formats", file, file},
            {"send", "--records", json},
            {"send", "--records", file, "--formats", folder.resolve("none.ffs")},
            {"send", "--records", file, "--formats", json},
            {"receive", "--formats", file},
            {"receive", "--records", folder.resolve("out.txt")},
            {"receive", "--records", received, "-o", folder.resolve("b")},
            {"receive", "--records", received, "--format-server", "ftp://a"},
            {"ffs", "publish", file},
        };
        for (Object[] each : wrong) {
            Run run = new Run(each);
            assertThat(run.exitCode()).as(Arrays.toString(each)).isEqualTo(2);
            assertThat(run.err.toString().lines().findFirst()).isPresent();
        }
    }
}
