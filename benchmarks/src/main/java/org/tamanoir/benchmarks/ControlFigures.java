package org.tamanoir.benchmarks;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicLongArray;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.benchmarks.netns.NodeApi;
import org.tamanoir.platform.ThreadPriorities;
import org.tamanoir.platform.ThreadRank;
import org.tamanoir.platform.ThreadRanks;
import org.tamanoir.transport.LinuxThreadRanks;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * {@code benchmarks control}: what keeps a node alive, while a service spins on each of two processors and a third gets
 * 1.5 times the datagrams that it can process: how long {@code GET /health} takes, how long control packets take to
 * cross the service that is flooded, others beside them, and how long a route takes from its change to the first packet
 * that goes by it. By the node's setting {@code priorities}; {@code -cap} is without CAP_SYS_NICE.
 *
 * <p>The load's own threads have a real-time class where that is permitted, so that the node's delays are measured and
 * not theirs; standard error says if they have none.
 */
@Command(
        name = "control",
        mixinStandardHelpOptions = true,
        description = "Measures what keeps a node alive under spinning services and a flood.")
final class ControlFigures extends CheckedCommand {
    private static final long BURN_US = 100;
    /** 1.5 times what a service processes that has a processor to itself. */
    private static final long FLOOD_GAP_NS = BURN_US * 1000 * 2 / 3;

    /** A tenth of what the flooded service gets done is more than that. */
    private static final long PROBE_GAP_NS = 20_000_000;

    private static final int PACKET_BYTES = 200;
    private static final int CONTROL = 255;
    private static final int CONTROL_STREAM = 1;
    private static final int OTHER_STREAM = 2;
    private static final int ROUTE_STREAM = 1000;
    private static final int MAX_ROUTES = 200;
    private static final long ROUTE_TIMEOUT_NS = 5_000_000_000L;
    private static final String BURN = BurnService.class.getName();
    private static final String SPIN = "control.Spin";

    @Option(names = "--jar", description = "The node's jar. Default: ${DEFAULT-VALUE}.")
    private Path jar = NodeJvm.BUILT;

    @Option(names = "--seconds", description = "Of measuring, 1 to 20. Default: ${DEFAULT-VALUE}.")
    private int seconds = 10;

    @Option(names = "--rounds", description = "Of all settings, 1 to 100. Default: ${DEFAULT-VALUE}.")
    private int rounds = 1;

    @Option(names = "--modes", split = ",", description = "Settings to measure. Default: ${DEFAULT-VALUE}.")
    private List<String> modes = List.of("off", "auto", "realtime", "off-cap", "lower-cap");

    private final ThreadRanks ranks = LinuxThreadRanks.of(ThreadPriorities.REALTIME);

    @Override
    public Integer call() throws Exception {
        require(
                seconds >= 1 && seconds <= 20,
                "--seconds " + seconds + ": 1 to 20, for services that spin are ended then");
        require(rounds >= 1 && rounds <= 100, "--rounds " + rounds + ": 1 to 100");
        String missing = NodeJvm.missing("--jar", jar);
        require(missing.isEmpty(), missing);
        System.err.println("load: " + ranks.text());
        System.out.println("ms, p50 / p99 / max (number); lost in %");
        System.out.println("| priorities | GET /health | control packet | lost | other packet | lost | route |");
        System.out.println("|---|---|---|---|---|---|---|");
        for (int round = 0; round < rounds; round++) {
            for (String mode : modes) {
                System.out.println("| " + mode + " | " + String.join(" | ", measure(mode)) + " |");
            }
        }
        return 0;
    }

    private List<String> measure(String mode) throws Exception {
        try (Processes processes = new Processes();
                DatagramChannel receiver = DatagramChannel.open().bind(Load.loopback(0));
                DatagramChannel ignored = DatagramChannel.open().bind(Load.loopback(0));
                Bed bed = new Bed(processes, mode, receiver, ignored)) {
            return bed.measure();
        }
    }

    /** A node under load. */
    private final class Bed implements AutoCloseable {
        private final int tcp = Load.freePort();
        private final InetSocketAddress udp = Load.loopback(Load.freePort());
        private final int admin = Load.freePort();
        private final DatagramChannel receiver;
        private final Child node;
        private final NodeApi api;
        private final List<Socket> spinning = new ArrayList<>();
        private final Times control = new Times();
        private final Times others = new Times();
        private final AtomicLongArray routeArrivals = new AtomicLongArray(MAX_ROUTES);
        private volatile boolean measuring;
        private volatile boolean ended;

        Bed(Processes processes, String mode, DatagramChannel receiver, DatagramChannel ignored) throws Exception {
            this.receiver = receiver;
            String token = "0123456789abcdef0123456789abcdef";
            Path tokenFile = processes.folder().resolve("token");
            Files.writeString(tokenFile, token);
            Files.setPosixFilePermissions(
                    tokenFile, java.nio.file.attribute.PosixFilePermissions.fromString("rw-------"));
            Path config = processes.folder().resolve("node.yaml");
            Files.writeString(config, """
                    priorities: %s
                    services:
                      - {name: %s, class: %s}
                    """.formatted(mode.replace("-cap", ""), SPIN, BURN));
            List<String> line = new ArrayList<>();
            if (mode.endsWith("-cap")) {
                line.addAll(List.of("setpriv", "--bounding-set", "-sys_nice", "--inh-caps", "-sys_nice"));
            }
            String path = jar + ":" + System.getProperty("java.class.path");
            line.addAll(List.of("java", "-cp", path, "org.tamanoir.node.Main", "node"));
            line.addAll(List.of("--config", config.toString(), "--tcp", "127.0.0.1:" + tcp));
            line.addAll(List.of("--udp", "127.0.0.1:" + udp.getPort(), "--admin", "127.0.0.1:" + admin));
            line.addAll(List.of("--admin-token-file", tokenFile.toString()));
            line.addAll(List.of("--service", BURN + ",us=" + BURN_US));
            line.addAll(List.of("--service", Load.SERVICE));
            line.addAll(List.of("--route", "10.8.0.0/16=" + text(ignored) + ",host"));
            line.addAll(List.of("--route", "10.9.0.0/16=" + text(receiver) + ",host"));
            node = processes.start("node-" + mode, line);
            api = new NodeApi("http://127.0.0.1:" + admin, token, null);
            api.awaitReady(node, 60);
            System.err.println(
                    mode + ": " + api.get("/v1/node").path("priorities").asString());
        }

        List<String> measure() throws Exception {
            begin("receive", this::receive);
            begin("flood", this::flood);
            begin("probe", this::probe);
            Times health = new Times();
            begin("health", () -> health(health));
            Threads.pause(4); // For compiled code.
            spin();
            spin();
            Threads.pause(1);
            measuring = true;
            Times routes = new Times();
            Thread changing = begin("routes", () -> routes(routes));
            Threads.pause(seconds);
            measuring = false;
            Threads.join(changing, 20);
            Threads.pause(1);
            ended = true;
            node.requireAlive();
            return List.of(health.text(), control.text(), control.lost(), others.text(), others.lost(), routes.text());
        }

        private Thread begin(String name, Threads.Body body) {
            return Threads.start(name, () -> {
                ranks.take(ThreadRank.CONTROL);
                try {
                    body.run();
                } catch (IOException e) {
                    if (!ended) {
                        throw e;
                    }
                }
            });
        }

        /** Has a service spin on a stream of its own. */
        private void spin() throws IOException {
            Socket socket = new Socket(InetAddress.getLoopbackAddress(), tcp);
            spinning.add(socket);
            socket.getOutputStream()
                    .write(bytes(builder("10.8.0.1", SPIN, 3, 0), 0).array());
        }

        private void flood() throws IOException {
            ByteBuffer packet = bytes(builder("10.8.0.1", BURN, 4, 0), 0);
            try (DatagramChannel channel = DatagramChannel.open()) {
                for (long at = System.nanoTime(); !ended; at += FLOOD_GAP_NS) {
                    Threads.until(at);
                    channel.send(packet.rewind(), udp);
                }
            }
        }

        private void probe() throws IOException {
            try (DatagramChannel channel = DatagramChannel.open()) {
                for (long at = System.nanoTime(); !ended; at += PROBE_GAP_NS) {
                    Threads.until(at);
                    // Two services use the port: it is the reception that reads it.
                    channel.send(bytes(builder("10.8.0.1", Load.SERVICE, 5, 0), 0), udp);
                    if (measuring) {
                        control.sent();
                        others.sent();
                    }
                    int marked = measuring ? 1 : 0;
                    send(channel, CONTROL_STREAM, CONTROL, marked);
                    send(channel, OTHER_STREAM, 0, marked);
                }
            }
        }

        private void send(DatagramChannel channel, int stream, int classOfService, int marked) throws IOException {
            PacketBuilder builder = builder("10.9.0.1", BURN, stream, classOfService);
            channel.send(bytes(builder, marked == 1 ? System.nanoTime() : 0), udp);
        }

        private void receive() throws IOException {
            ByteBuffer bytes = ByteBuffer.allocate(1 << 16);
            Packet packet = new Packet();
            while (!ended) {
                receiver.receive(bytes.clear());
                long nowNs = System.nanoTime();
                if (packet.parse(bytes, 0, bytes.position()) != null) {
                    throw new IOException("what arrived is no packet");
                }
                ByteBuffer payload = packet.payload();
                long sentNs = payload.getLong(payload.position());
                if (packet.streamId() >= ROUTE_STREAM) {
                    routeArrivals.compareAndSet(packet.streamId() - ROUTE_STREAM, 0, nowNs);
                } else if (sentNs != 0) {
                    (packet.streamId() == CONTROL_STREAM ? control : others).add(nowNs - sentNs);
                }
            }
        }

        private void health(Times times) throws IOException {
            byte[] request = "GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".getBytes(StandardCharsets.US_ASCII);
            try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), admin)) {
                socket.setTcpNoDelay(true);
                socket.setSoTimeout(60_000);
                for (long at = System.nanoTime(); !ended; at = Math.max(at + PROBE_GAP_NS, System.nanoTime())) {
                    Threads.until(at);
                    boolean counts = measuring;
                    long beganNs = System.nanoTime();
                    socket.getOutputStream().write(request);
                    readAnswer(socket.getInputStream());
                    if (counts) {
                        times.sent();
                        times.add(System.nanoTime() - beganNs);
                    }
                }
            }
        }

        private void readAnswer(InputStream in) throws IOException {
            StringBuilder head = new StringBuilder();
            while (head.indexOf("\r\n\r\n") < 0) {
                int next = in.read();
                if (next < 0) {
                    throw new IOException("the admin API ended the connection");
                }
                head.append((char) next);
            }
            String length = head.toString().replaceAll("(?is).*content-length: *(\\d+).*", "$1");
            in.readNBytes(Integer.parseInt(length));
        }

        private void routes(Times times) throws IOException {
            try (DatagramChannel channel = DatagramChannel.open()) {
                String body = "{\"address\": \"127.0.0.1\", \"port\": " + port(receiver) + ", \"kind\": \"host\"}";
                for (int k = 0; measuring && k < MAX_ROUTES; k++) {
                    int trial = k;
                    long beganNs = System.nanoTime();
                    Thread put = begin("put", () -> api.ask("PUT", "/v1/routes/10.77." + trial + ".0%2F24", body));
                    times.sent();
                    PacketBuilder builder = builder("10.77." + k + ".1", Load.SERVICE, ROUTE_STREAM + k, 0);
                    while (routeArrivals.get(k) == 0 && System.nanoTime() - beganNs < ROUTE_TIMEOUT_NS) {
                        channel.send(bytes(builder, 0), udp);
                        Threads.until(System.nanoTime() + 1_000_000);
                    }
                    if (routeArrivals.get(k) != 0) {
                        times.add(routeArrivals.get(k) - beganNs);
                    }
                    Threads.join(put, 20);
                }
            }
        }

        @Override
        public void close() throws IOException {
            ended = true;
            for (Socket socket : spinning) {
                socket.close();
            }
            node.close();
        }
    }

    private static PacketBuilder builder(String destination, String service, int stream, int classOfService)
            throws IOException {
        return new PacketBuilder()
                        .destination(InetAddress.getByName(destination))
                        .service(service)
                        .classOfService(classOfService, 0)
                        .stream(stream)
                        .hopBudget(16);
    }

    private static ByteBuffer bytes(PacketBuilder builder, long timeNs) {
        ByteBuffer payload = Load.payload(builder, PACKET_BYTES).putLong(0, timeNs);
        ByteBuffer packet = ByteBuffer.allocate(PACKET_BYTES);
        builder.write(packet, payload);
        return packet.flip();
    }

    private static int port(DatagramChannel channel) throws IOException {
        return ((InetSocketAddress) channel.getLocalAddress()).getPort();
    }

    private static String text(DatagramChannel channel) throws IOException {
        return "127.0.0.1:" + port(channel);
    }

    /** Times of what came, and how many were sent. Any thread. */
    private static final class Times {
        private long[] ns = new long[1024];
        private int count;
        private int sent;

        synchronized void sent() {
            sent++;
        }

        synchronized void add(long time) {
            if (count == ns.length) {
                ns = Arrays.copyOf(ns, 2 * count);
            }
            ns[count++] = time;
        }

        synchronized String text() {
            if (count == 0) {
                return "none of " + sent;
            }
            Arrays.sort(ns, 0, count);
            return "%.2f / %.2f / %.1f (%d)".formatted(at(0.5), at(0.99), at(1), count);
        }

        synchronized String lost() {
            return sent == 0 ? "" : "%.1f".formatted(100.0 * (sent - count) / sent);
        }

        private double at(double quantile) {
            return ns[(int) Math.ceil(quantile * count) - 1] / 1e6;
        }
    }
}
