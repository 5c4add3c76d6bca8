package org.tamanoir.node.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.support.Waiting.eventually;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.tamanoir.cluster.element.Aggregator;
import org.tamanoir.node.Programs;
import org.tamanoir.node.config.Endpoint;
import org.tamanoir.support.Ports;
import org.tamanoir.support.Waiting;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** A distributor's part in the ring of three whole nodes. */
class ElementRingTest {
    private static final Pattern LISTENING = Pattern.compile("listening on (\\S+)");
    private static final int UNITS = 3;
    /** Packets under way: fewer than any queue takes. */
    private static final int WINDOW = 30;

    @TempDir
    Path folder;

    private final List<LiveNode> nodes = new ArrayList<>();
    private final StringWriter out = new StringWriter();
    private int[] controlPorts;
    private Path key;
    private DatagramSocket source;
    private DatagramSocket sink;
    private Aggregator aggregator;
    private CompletableFuture<Void> aggregating;

    @SuppressWarnings("NullAway.Init") // set once the nodes are there
    private CompletableFuture<Integer> distributing;

    @SuppressWarnings("NullAway.Init")
    private InetSocketAddress distributor;

    @BeforeEach
    void open() throws Exception {
        key = Files.writeString(folder.resolve("ring.key"), "00112233445566778899aabbccddeeff\n");
        source = new DatagramSocket(0, InetAddress.getLoopbackAddress());
        sink = new DatagramSocket(0, InetAddress.getLoopbackAddress());
        sink.setSoTimeout((int) Waiting.PATIENCE.toMillis());
        controlPorts = Ports.free(UNITS + 1);
        aggregator = Aggregator.between(new InetSocketAddress("127.0.0.1", 0), address(sink.getLocalPort()))
                .open();
        aggregating = Waiting.async(aggregator::run);
        for (int unit = 0; unit < UNITS; unit++) {
            nodes.add(start(unit));
        }
        for (LiveNode node : nodes) {
            eventually().until(() -> node.get("/v1/element").get("members").size() == UNITS);
        }
    }

    private static InetSocketAddress address(int port) {
        return new InetSocketAddress("127.0.0.1", port);
    }

    private LiveNode start(int unit) throws IOException {
        String units = Arrays.stream(controlPorts, 0, UNITS)
                .mapToObj(port -> "\"127.0.0.1:" + port + "\"")
                .collect(Collectors.joining(", "));
        return LiveNode.start(
                folder.resolve("node" + unit),
                LiveNode.route(aggregator.address(), true) + """
                qos:
                  classes: [{name: all, limit-packets: 500}]
                  default-class: all
                  links: [{name: out, next-hops: [127.0.0.0/8], rate: 10Gbit/s, burst: 1MiB, discipline: fct}]
                element: {unit: %d, units: [%s], distributor: "127.0.0.1:%d", key-file: %s}
                """.formatted(unit, units, controlPorts[UNITS], key));
    }

    @AfterEach
    void close() throws Exception {
        nodes.forEach(LiveNode::close);
        aggregator.stop();
        aggregating.get(Waiting.PATIENCE.toSeconds(), TimeUnit.SECONDS);
        aggregator.close();
        source.close();
        sink.close();
    }

    /** Starts the command, which ends after so many datagrams. */
    private void distribute(int count) {
        List<String> arguments = new ArrayList<>(List.of(
                "distribute",
                "--listen=0",
                "--to=10.0.0.7",
                "--service=Monitor",
                "--json",
                "--count=" + count,
                "--control=127.0.0.1:" + controlPorts[UNITS],
                "--ring-key-file=" + key,
                "--ring-units="
                        + Arrays.stream(controlPorts, 0, UNITS)
                                .mapToObj(port -> "127.0.0.1:" + port)
                                .collect(Collectors.joining(","))));
        for (int unit = 0; unit < UNITS; unit++) {
            arguments.add(
                    "--unit=" + unit + "=" + Endpoint.toString(nodes.get(unit).udp()));
        }
        distributing = Waiting.async(() -> Programs.run(new PrintWriter(out, true), arguments.toArray(String[]::new)));
        eventually().until(() -> LISTENING.matcher(out.toString()).find());
        Matcher matcher = LISTENING.matcher(out.toString());
        assertThat(matcher.find()).isTrue();
        distributor = Endpoint.listening(matcher.group(1), 0);
    }

    private JsonNode report() throws Exception {
        assertThat(distributing.get(Waiting.PATIENCE.toSeconds(), TimeUnit.SECONDS))
                .as(out.toString())
                .isZero();
        return JsonMapper.shared()
                .readTree(out.toString().substring(out.toString().indexOf('{')));
    }

    private void send(int number) throws IOException {
        source.send(new DatagramPacket(ByteBuffer.allocate(4).putInt(number).array(), 4, distributor));
    }

    /** Sends numbers, a window at a time, and returns those that come. */
    private List<Integer> cross(int from, int to) throws IOException {
        List<Integer> received = new ArrayList<>();
        for (int first = from; first < to; first += WINDOW) {
            for (int i = first; i < first + WINDOW; i++) {
                send(i);
            }
            for (int i = first; i < first + WINDOW; i++) {
                received.add(receive());
            }
        }
        return received;
    }

    private int receive() throws IOException {
        DatagramPacket packet = new DatagramPacket(new byte[100], 100);
        sink.receive(packet);
        return ByteBuffer.wrap(packet.getData()).getInt();
    }

    private static List<Integer> numbers(int from, int to) {
        return IntStream.range(from, to).boxed().toList();
    }

    @Test
    void allNodesGetPacketsAndStayInTheRing() throws Exception {
        distribute(600);
        assertThat(cross(0, 600)).containsExactlyInAnyOrderElementsOf(numbers(0, 600));

        JsonNode units = report().get("units");
        for (int unit = 0; unit < UNITS; unit++) {
            assertThat(units.get(unit).get("packets").asLong()).isPositive();
        }
        for (LiveNode node : nodes) {
            eventually()
                    .until(() ->
                            node.get("/v1/element").get("members").toString().equals("[0,1,2]"));
        }
    }

    @Test
    void aNodeThatStopsInOrderLosesNothing() throws Exception {
        distribute(900);
        assertThat(cross(0, 300)).containsExactlyInAnyOrderElementsOf(numbers(0, 300));

        CompletableFuture<Integer> stopping =
                Waiting.async(() -> nodes.get(1).node.stop(Duration.ofSeconds(60)));
        assertThat(cross(300, 600)).containsExactlyInAnyOrderElementsOf(numbers(300, 600));
        stopping.get(Waiting.PATIENCE.toSeconds(), TimeUnit.SECONDS);
        assertThat(cross(600, 900)).containsExactlyInAnyOrderElementsOf(numbers(600, 900));

        JsonNode report = report();
        assertThat(report.get("dropped").size()).isZero();
        assertThat(report.get("pathLost").asLong()).isZero();
        assertThat(report.get("made").asLong())
                .as("the last packet for the node, at least")
                .isPositive();
        assertThat(report.get("units").get(1).get("packets").asLong()).isBetween(100L, 300L);
    }

    @Test
    void aNodeThatDiesGetsNothingAnyMore() throws Exception {
        distribute(1_000_000);
        assertThat(cross(0, 300)).containsExactlyInAnyOrderElementsOf(numbers(0, 300));

        nodes.get(2).close();

        for (LiveNode node : nodes.subList(0, 2)) {
            eventually()
                    .until(() ->
                            node.get("/v1/element").get("members").toString().equals("[0,1]"));
        }
        // What goes to the dead node is lost until the distributor has found out, too; then a whole window comes.
        int[] next = {300};
        sink.setSoTimeout(1_000);
        eventually().until(() -> {
            List<Integer> window = numbers(next[0], next[0] + WINDOW);
            next[0] += WINDOW;
            List<Integer> received = new ArrayList<>();
            try {
                for (int number : window) {
                    send(number);
                }
                while (!received.containsAll(window)) {
                    received.add(receive());
                }
                return true;
            } catch (SocketTimeoutException e) {
                return false;
            }
        });
        distributing.cancel(true);
    }
}
