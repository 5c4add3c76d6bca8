package org.tamanoir.node.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.jspecify.annotations.Nullable;
import org.tamanoir.support.Tiers;
import tools.jackson.databind.JsonNode;

/**
 * A cluster in network namespaces: a client, a router, two directors, three back-ends that are nodes in processes of
 * their own, and the host that all streams lead to.
 *
 * <pre>
 *   client 10.88.1.2 ---- 10.88.1.1 router 10.88.0.1 (bridge)
 *                                     |
 *      +-----------+------------------+------+---------+---------+
 *   director a  director b      back-end 1   2         3        sink
 *   10.88.0.2   10.88.0.3      10.88.0.11  10.88.0.12  .13     10.88.0.30
 * </pre>
 *
 * Answers of back-ends go straight to the router, but those from their own addresses to the client: by NAT they have to
 * pass the director.
 *
 * <p>The bed is opened once and kept for all classes. One thread.
 */
final class ClusterBed {
    /** Nothing takes this long, under the emulator on a busy host, unless it hangs. */
    static final Duration PATIENCE = Duration.ofSeconds(150);

    /** For programs that start all at once. */
    static final Duration START = Duration.ofSeconds(400);

    static final int PORT = 3322;
    static final int SINK_PORT = 4000;
    /** Where streams are addressed to; routes lead from there to the sink. */
    static final String DESTINATION = "192.0.2.7";

    static final String MONITOR = "org.tamanoir.services.Monitor";

    static final String DIRECTOR = "10.88.0.2";
    static final String SINK = "10.88.0.30";

    /** Weights are 3, 2 and 1, which rr leaves alone. A back-end is asked often, and given long to answer. */
    static final String SERVICES = """
            services:
              - {name: direct, address: 10.88.0.101, forwarding: direct, scheduler: rr}
              - {name: nat, address: 10.88.0.102, forwarding: nat, scheduler: rr}
              - {name: tunnel, address: 10.88.0.103, forwarding: tunnel, scheduler: rr}
              - {name: weighted, address: 10.88.0.104, forwarding: direct, scheduler: wrr}
              - {name: least, address: 10.88.0.105, forwarding: direct, scheduler: wlc}
            code: {repositories: ["http://10.88.0.30:8080"], trust: [{key: KEY}]}
            health: {interval: 1s, timeout: 30s, failures: 2, successes: 1, flap-limit: 0}
            """;

    /** Five services, each of TCP and UDP. */
    static final int VIRTUAL_SERVICES = 10;

    private static @Nullable ClusterBed open;

    final Machine client = new Machine("tmn-client");
    final DirectorMachine director = new DirectorMachine(new Machine("tmn-da"), "a");
    final DirectorMachine second = new DirectorMachine(new Machine("tmn-db"), "b");
    final List<Machine> backEnds = List.of(new Machine("tmn-b1"), new Machine("tmn-b2"), new Machine("tmn-b3"));
    final List<String> addresses = List.of("10.88.0.11", "10.88.0.12", "10.88.0.13");
    final List<Running> nodes = new ArrayList<>();
    final Sink sink;
    private final List<Stream> streams = new ArrayList<>();
    private long sentBefore;

    private ClusterBed() {
        script(NETWORK);
        Machine last = new Machine("tmn-sink");
        sink = new Sink(last, SINK, SINK_PORT);
        ExampleService.serve(last, ClusterArchive.folder(), SINK);
    }

    /** The bed, opened by the first who asks; skips the test where the kernel has no IPVS. */
    static synchronized ClusterBed get() {
        ClusterBed bed = open;
        if (bed == null) {
            Tiers.require(
                    "ipvs",
                    System.getenv("TAMANOIR_GUEST") != null && System.getenv(ClusterArchive.VARIABLE) != null,
                    "this runs in the guest: native/vm/test --module tamanoir-node --before "
                            + ClusterArchive.class.getName());
            bed = new ClusterBed();
            open = bed;
        }
        return bed;
    }

    /** The virtual address of a service of {@link #SERVICES}. */
    static String virtual(String service) {
        return switch (service) {
            case "direct" -> "10.88.0.101";
            case "nat" -> "10.88.0.102";
            case "tunnel" -> "10.88.0.103";
            case "weighted" -> "10.88.0.104";
            case "least" -> "10.88.0.105";
            default -> throw new IllegalArgumentException(service);
        };
    }

    static ConditionFactory eventually() {
        return Awaitility.await()
                .pollDelay(Duration.ZERO)
                .pollInterval(Duration.ofMillis(300))
                .atMost(PATIENCE);
    }

    /** Starts the back-ends that do not run, all at once; does not wait. */
    void startNodes() {
        for (int i = 0; i < backEnds.size(); i++) {
            if (i == nodes.size()) {
                nodes.add(node(i));
            } else if (!nodes.get(i).isAlive()) {
                nodes.set(i, node(i));
            }
        }
    }

    /** Waits until all of them say that they have started. */
    void awaitNodes() {
        nodes.forEach(node -> node.awaitSaid("\"started\""));
    }

    /** Streams from the client to an address, each with its first packets sent. */
    List<Stream> streams(int count, String transport, String address, int packets) {
        List<Stream> made = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            Stream stream = stream(transport, address, MONITOR);
            stream.send(packets);
            made.add(stream);
        }
        return made;
    }

    /** Those streams whose packets came through a back-end. */
    List<Stream> through(List<Stream> of, int backEnd) {
        return of.stream()
                .filter(stream -> sink.from(stream).contains(addresses.get(backEnd)))
                .toList();
    }

    /** A back-end that registers with both directors, and sets its host up as they say. */
    private Running node(int i) {
        return new Running(
                backEnds.get(i),
                "node" + (i + 1),
                List.of(
                        "node",
                        "--json",
                        "--stats",
                        "1h",
                        "--listen",
                        "*:" + PORT,
                        "--admin",
                        addresses.get(i) + ":3324",
                        "--admin-plain",
                        "allowed",
                        "--admin-read-token-file",
                        director.adminTokenFile().toString(),
                        "--cluster",
                        "http://" + DIRECTOR + ":3325",
                        "--cluster",
                        "http://10.88.0.3:3325",
                        "--cluster-token-file",
                        director.tokenFile().toString(),
                        "--cluster-name",
                        "b" + (i + 1),
                        "--cluster-address",
                        addresses.get(i),
                        "--cluster-weight",
                        Integer.toString(3 - i),
                        "--cluster-plain",
                        "--cache",
                        "/tmp/cache-b" + (i + 1),
                        "--route",
                        "192.0.2.0/24=" + SINK + ":" + SINK_PORT + ",host"));
    }

    /** Opens a stream from the client, which {@link #endStreams} closes. */
    Stream stream(String transport, String address, String service) {
        Stream stream = Stream.open(client, transport, address, service);
        streams.add(stream);
        return stream;
    }

    /** Ends all streams of the test. */
    void endStreams() {
        sentBefore = sent();
        streams.forEach(Stream::close);
        streams.clear();
    }

    /** Packets that streams have sent since the bed is open. */
    long sent() {
        return sentBefore + streams.stream().mapToLong(Stream::sent).sum();
    }

    /** Waits until all that the streams sent is at the sink, once and as it was. */
    void awaitAll(List<Stream> of) {
        eventually().untilAsserted(() -> {
            for (Stream stream : of) {
                assertThat(sink.packets(stream))
                        .as("packets of stream %d", stream.id())
                        .isEqualTo(stream.sent());
            }
        });
        assertThat(sink.faults()).isEmpty();
    }

    /** How many of these streams each back-end has, in their order. A stream is on one back-end alone. */
    List<Integer> division(List<Stream> of) {
        of.forEach(stream -> assertThat(sink.from(stream))
                .as("back-ends of stream %d", stream.id())
                .hasSize(1));
        return List.of(
                through(of, 0).size(), through(of, 1).size(), through(of, 2).size());
    }

    /** What a back-end's admin API says. */
    JsonNode ask(int backEnd, String path) {
        return backEnds.get(backEnd).ask("http://" + addresses.get(backEnd) + ":3324" + path);
    }

    private static void script(String script) {
        try {
            Process process = new ProcessBuilder("bash", "-ec", script)
                    .redirectErrorStream(true)
                    .start();
            process.getOutputStream().close();
            String said = new String(process.getInputStream().readAllBytes(), java.nio.charset.StandardCharsets.UTF_8);
            assertThat(process.waitFor()).as(said).isZero();
        } catch (java.io.IOException e) {
            throw new java.io.UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static final String NETWORK = """
            modprobe -a ip_vs ip_vs_rr ip_vs_wrr ip_vs_wlc ipip bridge nf_tables
            ip -batch - <<'E'
            netns add tmn-net
            netns add tmn-client
            netns add tmn-da
            netns add tmn-db
            netns add tmn-b1
            netns add tmn-b2
            netns add tmn-b3
            netns add tmn-sink
            E
            {
                echo link set lo up
                echo link add br0 type bridge
                echo addr add 10.88.0.1/24 dev br0
                echo link set br0 up
                for m in da db b1 b2 b3 sink; do
                    echo link add $m type veth peer name eth0 netns tmn-$m
                    echo link set $m master br0 up
                done
                echo link add client type veth peer name eth0 netns tmn-client
                echo addr add 10.88.1.1/24 dev client
                echo link set client up
            } | ip -n tmn-net -batch -
            machine() {
                {
                    echo link set lo up
                    echo addr add $2 dev eth0
                    echo link set eth0 up
                    echo route add default via $3
                } | ip -n tmn-$1 -batch -
            }
            machine client 10.88.1.2/24 10.88.1.1
            machine da 10.88.0.2/24 10.88.0.1
            machine db 10.88.0.3/24 10.88.0.1
            machine b1 10.88.0.11/24 10.88.0.1
            machine b2 10.88.0.12/24 10.88.0.1
            machine b3 10.88.0.13/24 10.88.0.1
            machine sink 10.88.0.30/24 10.88.0.1
            for n in 1 2 3; do
                ip -n tmn-b$n -batch - <<E
            rule add from 10.88.0.1$n to 10.88.1.0/24 lookup 100
            route add default via 10.88.0.2 table 100
            E
            done
            ip netns exec tmn-net bash -c 'echo 1 >/proc/sys/net/ipv4/ip_forward'
            """;
}
