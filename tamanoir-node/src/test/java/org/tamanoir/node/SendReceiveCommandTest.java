package org.tamanoir.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.support.Waiting.eventually;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.client.AnepReceiver;
import org.tamanoir.client.AnepSender;
import org.tamanoir.client.LoadPattern;
import org.tamanoir.node.config.Endpoint;
import org.tamanoir.node.demo.DemoNetwork;
import org.tamanoir.support.Waiting;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

@Timeout(120)
class SendReceiveCommandTest {
    private static final Pattern LISTENING = Pattern.compile("listening on (\\S+)");

    @TempDir
    private Path folder;

    /** A command in this process, with what it printed. */
    private static final class Run {
        final StringWriter out = new StringWriter();
        final StringWriter err = new StringWriter();
        final CompletableFuture<Integer> exit;

        Run(String... arguments) {
            exit = Waiting.async(() -> Main.run(new PrintWriter(out, true), new PrintWriter(err, true), arguments));
        }

        int exitCode() throws Exception {
            return exit.get(Waiting.PATIENCE.toSeconds(), TimeUnit.SECONDS);
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

    private static Run receive(String... arguments) {
        List<String> all = new ArrayList<>(List.of("receive", "--listen", "127.0.0.1:0", "--json"));
        all.addAll(Arrays.asList(arguments));
        return new Run(all.toArray(String[]::new));
    }

    private static Run send(String to, String... arguments) {
        List<String> all = new ArrayList<>(List.of("send", "--to", to, "--json"));
        all.addAll(Arrays.asList(arguments));
        return new Run(all.toArray(String[]::new));
    }

    private byte[] randomFile(Path file, int bytes) {
        byte[] content = new byte[bytes];
        new Random(bytes).nextBytes(content);
        try {
            Files.write(file, content);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return content;
    }

    @Test
    void generatedLoadOverTcpIsVerifiedAndTheCountsAgree() throws Exception {
        Run receive = receive("--exit-after-streams", "3");
        Run send = send(
                receive.listening(),
                "--streams",
                "3",
                "--count",
                "3001",
                "--packet-size",
                "200",
                "--checksum",
                "--timestamps",
                "--service",
                "Monitor",
                "--destination",
                "10.0.0.1:4000",
                "--class",
                "2");
        assertThat(send.exitCode()).as(send.err.toString()).isZero();
        assertThat(receive.exitCode()).as(receive.err.toString()).isZero();
        assertThat(receive.json().get("packets").asLong()).isEqualTo(3001);
        assertThat(receive.json().get("streams").size()).isEqualTo(3);
        assertThat(receive.json().get("bytes").asLong())
                .isEqualTo(send.json().get("bytes").asLong());
        assertThat(receive.json().get("latency").get("count").asLong()).isEqualTo(3001);
    }

    @Test
    void generatedLoadOverUdpIsVerified() throws Exception {
        Run receive = receive("--udp", "--count", "500");
        Run send = send(receive.listening(), "--udp", "--count", "500", "--rate", "5k", "--packet-size", "1400");
        assertThat(send.exitCode()).as(send.err.toString()).isZero();
        assertThat(receive.exitCode()).as(receive.err.toString()).isZero();
        assertThat(receive.json().get("corrupt").asLong()).isZero();
    }

    @ParameterizedTest
    @ValueSource(strings = {"--tcp", "--udp"})
    void aFileArrivesByteForByte(String transport) throws Exception {
        byte[] content = randomFile(folder.resolve("in"), 1_000_003);
        Path to = folder.resolve("out");
        Run receive = receive(transport, "-o", to.toString(), "--exit-after-streams", "1", "--idle", "700ms");
        Run send = send(
                receive.listening(),
                transport,
                "--rate",
                "5k",
                "--packet-size",
                "1400",
                folder.resolve("in").toString());
        assertThat(send.exitCode()).as(send.err.toString()).isZero();
        assertThat(receive.exitCode()).as(receive.err.toString()).isZero();
        assertThat(to).hasBinaryContent(content);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 1000, 1001})
    void theLastPacketOfAFileIsWhatRemains(int bytes) throws Exception {
        byte[] content = randomFile(folder.resolve("in"), bytes);
        Path to = folder.resolve("out");
        Run receive = receive("--tcp", "-o", to.toString(), "--timeout", "8s", "--exit-after-streams", "1");
        // 24 bytes of header with the stream alone, 8 more with the hop budget: payloads of 100.
        Run send = send(
                receive.listening(),
                "--packet-size",
                "132",
                folder.resolve("in").toString());
        assertThat(send.exitCode()).as(send.err.toString()).isZero();
        assertThat(send.json().get("packets").asLong()).isEqualTo((bytes + 99) / 100);
        if (bytes > 0) {
            assertThat(receive.exitCode()).as(receive.err.toString()).isZero();
        } else {
            receive.exit.cancel(true);
        }
        assertThat(to).hasBinaryContent(content);
    }

    /** Random bytes grow when they are compressed: near 64 KiB a service has to cut what was one packet into two. */
    @ParameterizedTest
    @ValueSource(ints = {1_400, 65_535})
    void whatGzipAndGunzipCutAnewArrivesWhole(int packetBytes) throws Exception {
        byte[] content = randomFile(folder.resolve("in"), 500_000);
        Path to = folder.resolve("out");
        try (DemoNetwork network = new DemoNetwork("auto")) {
            Run file = receive("--tcp", "-o", to.toString(), "--exit-after-streams", "1");
            Run load = receive("--tcp", "--exit-after-streams", "1");
            assertThat(send(
                                    Endpoint.toString(network.firstAddress()),
                                    "--service",
                                    "Gzip",
                                    "--packet-size",
                                    String.valueOf(packetBytes),
                                    "--destination",
                                    DemoNetwork.DESTINATION + port(file),
                                    folder.resolve("in").toString())
                            .exitCode())
                    .isZero();
            assertThat(send(
                                    Endpoint.toString(network.firstAddress()),
                                    "--service",
                                    "Gzip",
                                    "--packet-size",
                                    "1400",
                                    "--count",
                                    "300",
                                    "--destination",
                                    DemoNetwork.DESTINATION + port(load))
                            .exitCode())
                    .isZero();
            assertThat(file.exitCode()).as(file.out.toString()).isZero();
            assertThat(load.exitCode()).as(load.out.toString()).isZero();
        }
        assertThat(to).hasBinaryContent(content);
    }

    private static String port(Run receive) {
        String address = receive.listening();
        return address.substring(address.indexOf(':'));
    }

    @Test
    void severalStreamsGoToAFileEach() throws Exception {
        byte[] content = randomFile(folder.resolve("in"), 100_000);
        Path to = folder.resolve("out");
        Run receive = receive("-o", to.toString(), "--exit-after-streams", "2");
        Run send = send(
                receive.listening(),
                "--streams",
                "2",
                "--stream-id",
                "40",
                folder.resolve("in").toString());
        assertThat(send.exitCode()).as(send.err.toString()).isZero();
        assertThat(receive.exitCode()).as(receive.err.toString()).isZero();
        assertThat(folder.resolve("out.40")).hasBinaryContent(content);
        assertThat(folder.resolve("out.41")).hasBinaryContent(content);
        assertThat(to).doesNotExist();
    }

    @Test
    void lostAndCorruptPacketsMakeTheExitCodeOne() throws Exception {
        Run receive = receive("--tcp", "--exit-after-streams", "1");
        LoadPattern pattern = new LoadPattern();
        try (AnepSender sender = AnepSender.tcp(Endpoint.listening(receive.listening(), 0))) {
            PacketBuilder builder = new PacketBuilder().stream(5);
            sender.send(builder, pattern.payload(0, 100));
            sender.send(builder, ByteBuffer.allocate(100));
            sender.send(builder.nextSequence(4), pattern.payload(4, 100));
            sender.finish();
            assertThat(receive.exitCode()).isEqualTo(1);
        }
        assertThat(receive.json().get("lost").asLong()).isEqualTo(2);
        assertThat(receive.json().get("corrupt").asLong()).isEqualTo(1);
        assertThat(receive.json().get("whole").asBoolean()).isFalse();
    }

    @Test
    void pingMeasuresTheRoundTrip() throws Exception {
        try (AnepReceiver echo = AnepReceiver.on(new InetSocketAddress(InetAddress.getByName("127.0.0.1"), 0))
                .tcp()
                .udp()
                .start(() -> (packet, peer) -> peer.reply(packet))) {
            for (String transport : List.of("--tcp", "--udp")) {
                Run send = send(
                        Endpoint.toString(echo.address()),
                        transport,
                        "--ping",
                        "--count",
                        "50",
                        "--packet-size",
                        "200");
                assertThat(send.exitCode()).as(send.err.toString()).isZero();
                assertThat(send.json().get("roundTrip").get("count").asLong()).isEqualTo(50);
                assertThat(send.json().get("replies").asLong()).isEqualTo(50);
            }
        }
    }

    @Test
    void whatIsWrongIsToldInOneLineWithExitCodeTwo() throws Exception {
        String nobody;
        try (AnepReceiver gone = AnepReceiver.on(new InetSocketAddress(InetAddress.getByName("127.0.0.1"), 0))
                .tcp()
                .start(() -> (packet, peer) -> {})) {
            nobody = Endpoint.toString(gone.address());
            Run taken = new Run("receive", "--tcp", "--listen", nobody);
            assertThat(taken.exitCode()).isEqualTo(2);
            assertThat(taken.err.toString()).contains("cannot listen on " + nobody);
        }
        Run unreachable = send(nobody, "--count", "1");
        assertThat(unreachable.exitCode()).isEqualTo(2);
        assertThat(unreachable.err.toString().lines()).hasSize(1);
        assertThat(send(nobody, folder.resolve("none").toString()).exitCode()).isEqualTo(2);
        assertThat(send(nobody, "--packet-size", "10").err.toString()).doesNotContain("Exception");
        assertThat(send(nobody, "--tcp", "--udp").exitCode()).isEqualTo(2);
        assertThat(receive("-o", folder.resolve("no/such/folder").toString()).exitCode())
                .isEqualTo(2);
    }
}
