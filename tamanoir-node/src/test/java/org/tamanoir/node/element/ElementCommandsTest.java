package org.tamanoir.node.element;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.support.Waiting.eventually;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.tamanoir.ee.ExecutionEnvironment;
import org.tamanoir.node.Program;
import org.tamanoir.node.Programs;
import org.tamanoir.node.config.Endpoint;
import org.tamanoir.node.config.NodeConfigBuilder;
import org.tamanoir.node.config.Overrides;
import org.tamanoir.node.config.Problems;
import org.tamanoir.node.run.Node;
import org.tamanoir.support.Waiting;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The commands with whole nodes between them. */
@Tag("once")
@Tag("process")
class ElementCommandsTest {
    private static final Pattern LISTENING = Pattern.compile("listening on (\\S+)");
    private static final int PACKETS = 900;
    /** Sent before the next ones are: what every socket's buffer holds. */
    private static final int WAVE = 60;
    /** So small, and so few, that all wait in a socket's buffer. */
    private static final int DEAD_PATH_PACKETS = 120;

    private final List<ExecutionEnvironment> nodes = new ArrayList<>();
    private DatagramSocket source;
    private DatagramSocket sink;

    /** A command in this process, with what it printed. */
    private static final class Command {
        final StringWriter out = new StringWriter();
        final CompletableFuture<Integer> exit;

        Command(String... arguments) {
            exit = Waiting.async(() -> Programs.run(new PrintWriter(out, true), arguments));
        }

        int exitCode() throws Exception {
            return exit.get(Waiting.PATIENCE.toSeconds(), TimeUnit.SECONDS);
        }

        InetSocketAddress address() {
            return Endpoint.listening(found().group(1), 0);
        }

        private Matcher found() {
            eventually().until(() -> LISTENING.matcher(out.toString()).find());
            Matcher matcher = LISTENING.matcher(out.toString());
            assertThat(matcher.find()).isTrue();
            return matcher;
        }

        JsonNode json() throws Exception {
            assertThat(exitCode()).as(out.toString()).isZero();
            return JsonMapper.shared()
                    .readTree(out.toString().substring(out.toString().indexOf('{')));
        }
    }

    @BeforeEach
    void openEnds() throws IOException {
        source = new DatagramSocket(0, InetAddress.getLoopbackAddress());
        sink = new DatagramSocket(0, InetAddress.getLoopbackAddress());
        sink.setSoTimeout((int) Waiting.PATIENCE.toMillis());
    }

    @AfterEach
    void closeAll() {
        nodes.forEach(node -> node.stop(Duration.ZERO));
        source.close();
        sink.close();
    }

    private String sinkAddress() {
        return "127.0.0.1:" + sink.getLocalPort();
    }

    private ExecutionEnvironment node(InetSocketAddress aggregator) throws IOException {
        Problems problems = new Problems();
        NodeConfigBuilder settings = new NodeConfigBuilder(problems);
        Overrides options = new Overrides(settings);
        options.listen(List.of("0"));
        options.route("10.0.9.0/24=" + Endpoint.toString(aggregator) + ",udp,host");
        assertThat(problems.lines()).isEmpty();
        ExecutionEnvironment node = new Node(settings.build()).environment();
        node.start();
        nodes.add(node);
        return node;
    }

    /** Starts a distributor over nodes; {@code more} are further arguments. */
    private Command distribute(List<String> units, String... more) {
        List<String> arguments = new ArrayList<>(
                List.of("distribute", "--listen", "0", "--to", "10.0.9.1", "--service", "Monitor", "--json"));
        for (int i = 0; i < units.size(); i++) {
            arguments.addAll(List.of("--unit", i + "=" + units.get(i)));
        }
        arguments.addAll(Arrays.asList(more));
        return new Command(arguments.toArray(String[]::new));
    }

    private List<String> threeNodes(InetSocketAddress aggregator) throws IOException {
        List<String> units = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            units.add(Endpoint.toString(node(aggregator).udpAddresses().get(0)));
        }
        return units;
    }

    private static byte[] datagram(int number) {
        byte[] bytes = new byte[4 + number * 7 % 1_400];
        new Random(number).nextBytes(bytes);
        ByteBuffer.wrap(bytes).putInt(number);
        return bytes;
    }

    private void send(int number, InetSocketAddress to) throws IOException {
        byte[] bytes = datagram(number);
        source.send(new DatagramPacket(bytes, bytes.length, to));
    }

    private byte[] receive() throws IOException {
        DatagramPacket packet = new DatagramPacket(new byte[65_536], 65_536);
        sink.receive(packet);
        return Arrays.copyOf(packet.getData(), packet.getLength());
    }

    @ParameterizedTest
    @ValueSource(strings = {"1", "3"})
    void aStreamOverThreeNodesArrivesInExactOrder(String lastWeight) throws Exception {
        Command aggregate = new Command(
                "aggregate",
                "--listen",
                "0",
                "--to",
                sinkAddress(),
                "--exact",
                "--paths",
                "3",
                "--deadline",
                "5m",
                "--json",
                "--duration",
                "1h");
        List<String> units = threeNodes(aggregate.address());
        units.set(2, units.get(2) + "," + lastWeight);
        Command distribute = distribute(units, "--mode", "exact", "--count", String.valueOf(PACKETS));

        for (int from = 0; from < PACKETS; from += WAVE) {
            for (int i = from; i < from + WAVE; i++) {
                send(i, distribute.address());
            }
            for (int i = from; i < from + WAVE; i++) {
                assertThat(receive()).as("datagram %d", i).isEqualTo(datagram(i));
            }
        }

        JsonNode report = distribute.json();
        assertThat(report.get("in").asLong()).isEqualTo(PACKETS);
        assertThat(report.get("out").asLong())
                .isEqualTo(PACKETS + report.get("made").asLong());
        assertThat(report.get("dropped").size()).isZero();
        assertThat(report.get("units").get(2).get("packets").asLong())
                .isEqualTo(lastWeight.equals("1") ? PACKETS / 3 : PACKETS * 3 / 5);
        aggregate.exit.cancel(true);
    }

    @Test
    void aDeadNodeCostsItsShareAndNoOrder() throws Exception {
        Command aggregate = new Command(
                "aggregate",
                "--listen",
                "0",
                "--to",
                sinkAddress(),
                "--exact",
                "--paths",
                "3",
                "--deadline",
                "20ms",
                "--json",
                "--count",
                String.valueOf(2 * DEAD_PATH_PACKETS / 3));
        List<String> units = threeNodes(aggregate.address());
        nodes.get(1).stop(Duration.ZERO);
        Command distribute = distribute(units, "--mode", "exact", "--count", String.valueOf(DEAD_PATH_PACKETS));

        List<Integer> arrived = new ArrayList<>();
        for (int i = 0; i < DEAD_PATH_PACKETS; i++) {
            byte[] bytes = ByteBuffer.allocate(4).putInt(i).array();
            source.send(new DatagramPacket(bytes, bytes.length, distribute.address()));
            // The last of a wave is never late. Of the first wave it leaves when the dead path is waited for no more.
            while (i % WAVE == WAVE - 1 && !arrived.contains(i)) {
                arrived.add(ByteBuffer.wrap(receive()).getInt());
            }
        }

        JsonNode report = aggregate.json();
        assertThat(report.get("in").asLong())
                .isEqualTo(report.get("out").asLong()
                        + report.get("dropped").path("LATE").asLong());
        assertThat(arrived)
                .hasSize(report.get("out").asInt())
                .isSorted()
                .doesNotHaveDuplicates()
                .allMatch(number -> number % 3 != 1);
        assertThat(report.get("timeouts").asLong()).isGreaterThanOrEqualTo(3);
        assertThat(distribute.json().get("in").asLong()).isEqualTo(DEAD_PATH_PACKETS);
    }

    @Test
    void reportsSayInPlainWordsWhereEachPacketWent() throws Exception {
        Command distribute = new Command(
                "distribute",
                "--listen",
                "0",
                "--unit",
                "7=" + sinkAddress() + ",5",
                "--mode",
                "weighted",
                "--count",
                "1");
        send(1, distribute.address());

        assertThat(distribute.exitCode()).isZero();
        assertThat(distribute.out.toString().lines().toList().subList(1, 3))
                .satisfiesExactly(
                        line -> assertThat(line).startsWith("1 in + 0 markers = 1 out + 0 dropped; 11 B in "),
                        line -> assertThat(line).isEqualTo("unit 7 at " + sinkAddress() + ", weight 5: 1 packets"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"distribute --unit 0=127.0.0.1:9", "aggregate --to 127.0.0.1:9"})
    void sigtermEndsItInOrderWithItsReport(String arguments) throws Exception {
        List<String> words = new ArrayList<>(Arrays.asList(arguments.split(" ")));
        words.addAll(List.of("--listen", "0", "--json"));
        Process process = Program.builder(words.toArray(String[]::new))
                .redirectErrorStream(true)
                .start();
        try (BufferedReader out = process.inputReader()) {
            Matcher listening = LISTENING.matcher(out.readLine());
            assertThat(listening.find()).isTrue();
            send(1, Endpoint.listening(listening.group(1), 0));

            process.toHandle().destroy(); // not the streams, as Process.destroy does

            JsonNode report = JsonMapper.shared().readTree(out.readLine());
            assertThat(report.get("in").asLong()).isBetween(0L, 1L); // the signal may be the faster one
            assertThat(report.path("held").asLong(0)).isZero();
            assertThat(out.readLine()).isNull();
            assertThat(process.waitFor(Waiting.PATIENCE.toSeconds(), TimeUnit.SECONDS))
                    .isTrue();
        } finally {
            process.destroyForcibly();
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "distribute | Missing required option: '--unit=N=HOST:PORT[,WEIGHT]'",
                "distribute --unit x | 'x' is no unit: N=HOST:PORT[,WEIGHT] is wanted, as in 0=127.0.0.1:3322,2",
                "distribute --unit 0=127.0.0.1 | '127.0.0.1': a host and a port are wanted",
                "distribute --unit 0=127.0.0.1:1,1001 | unit 0: weight 1001 must be 0 to 1000",
                "distribute --unit 0=127.0.0.1:1,0 | --unit: all weights are 0, so that no unit gets packets; give one",
                "distribute --unit 64=127.0.0.1:1 | unit 64: its number must be 0 to 63",
                "distribute --unit 0=127.0.0.1:1 --unit 0=127.0.0.1:2 | numbers of units 1: must be 2 different ones",
                "distribute --unit 0=127.0.0.1:1 --unit 1=[::1]:2 | address families of units 2: must be 1: IPv4 or",
                "distribute --unit 0=127.0.0.1:1 --mode best | 'best': must be one of round-robin, weighted, exact,",
                "distribute --unit 0=127.0.0.1:1 --burst 65 | burst 65: must be 1 to 64",
                "distribute --unit 0=127.0.0.1:1 --round-size 0 | round size 0: must be 1 to 65536",
                "aggregate | Missing required option: '--to=HOST:PORT'",
                "aggregate --to 127.0.0.1:1 --exact | --exact and --paths: give both or neither",
                "aggregate --to 127.0.0.1:1 --exact --paths 65 | paths 65: must be 1 to 64",
                "aggregate --to 127.0.0.1:1 --exact --paths 9 --depth 65536 | memory for packets that wait 1207961600",
                "aggregate --to 127.0.0.1:1 --from x | 'x'",
                "aggregate --to 127.0.0.1:1 --deadline soon | 'soon'",
            })
    void misuseIsToldInOneLine(String arguments, String message) throws Exception {
        Command command = new Command(arguments.trim().split(" "));

        assertThat(command.exitCode()).isEqualTo(2);
        assertThat(command.out.toString().lines()).as(command.out.toString()).hasSize(1);
        assertThat(command.out.toString()).contains(message);
    }
}
