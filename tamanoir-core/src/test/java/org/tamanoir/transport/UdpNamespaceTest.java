package org.tamanoir.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.tamanoir.support.Tiers;
import org.tamanoir.transport.UdpTesting.Datagram;

/** Slow and narrow links: a JVM in a network namespace of its own, whose loopback device is throttled. */
@Tag("namespace")
class UdpNamespaceTest {

    /**
     * Sends to itself: kind, datagrams, bytes of each, bytes of the send buffer or 0, group to send to or "refusals" for a
     * sender that tells of them. Prints what became of it.
     */
    static final class Exchange {
        private Exchange() {}

        public static void main(String[] arguments) throws IOException {
            TransportKind kind = TransportKind.valueOf(arguments[0]);
            int packets = Integer.parseInt(arguments[1]);
            int bytes = Integer.parseInt(arguments[2]);
            ByteBuffer data = UdpTesting.pattern(packets + bytes);
            boolean toGroup = arguments.length > 4 && arguments[4].startsWith("2");
            InetSocketAddress any = new InetSocketAddress(toGroup ? "0.0.0.0" : "127.0.0.1", 0);
            try (UdpSocket sending = UdpSockets.bind(kind, any);
                    UdpSocket receiving = UdpSockets.bind(kind, any)) {
                limitSendBuffer(sending, Integer.parseInt(arguments[3]));
                String last = arguments.length > 4 ? arguments[4] : "";
                AtomicInteger full = new AtomicInteger();
                UdpSender sender = last.equals("refusals")
                        ? sending.newSender((high, low, port, refused, refusedBytes, isFull) ->
                                full.addAndGet(isFull && refusedBytes == refused * bytes ? refused : 0))
                        : sending.newSender();
                InetAddress to = last.startsWith("2") ? InetAddress.getByName(last) : InetAddress.getLoopbackAddress();
                if (to.isMulticastAddress()) {
                    receiving.joinGroup(to);
                }
                int port = receiving.localAddress().getPort();
                for (int i = 0; i < packets; i++) {
                    sender.add(data, i, bytes, 0, UdpAddress.low(to), port);
                }
                sender.flush();
                if (full.get() > 0) {
                    assertThat(full.get()).isEqualTo((int) sender.failedPackets());
                    System.out.println("RESULT " + packets + " 0 " + full.get() + " full");
                    return;
                }
                int right = 0;
                int expected = sender.failedPackets() == 0 ? packets : 0; // a link that stands still delivers too late
                for (Datagram got : UdpTesting.receive(receiving, expected)) {
                    boolean whole = ByteBuffer.wrap(got.bytes()).equals(data.slice(right, bytes));
                    right += whole ? 1 : 0;
                }
                System.out.println("RESULT " + sender.sentPackets() + " " + sender.failedPackets() + " " + right + " "
                        + sender.lastError());
            }
        }

        private static void limitSendBuffer(UdpSocket socket, int bytes) throws IOException {
            if (bytes == 0) {
                return;
            }
            if (socket instanceof NativeUdpSocket nativeSocket) {
                UdpTesting.setOption(nativeSocket, LibC.SO_SNDBUF, bytes);
            } else if (socket instanceof NioUdpSocket nioSocket) {
                nioSocket.channel().setOption(StandardSocketOptions.SO_SNDBUF, bytes);
            }
        }
    }

    private record Result(int sent, int failed, int received, String error) {}

    private static String run(String script) throws IOException, InterruptedException {
        Process process = new ProcessBuilder("unshare", "-rn", "sh", "-c", script)
                .redirectErrorStream(true)
                .start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(40, TimeUnit.SECONDS)).isTrue();
        return output;
    }

    private static Result exchange(
            String link, TransportKind kind, int packets, int bytes, int bufferBytes, String... last) throws Exception {
        if (kind == TransportKind.NATIVE) {
            UdpTesting.assumeNative();
        }
        String answer;
        try {
            answer = run(link + " && echo READY");
        } catch (IOException e) {
            answer = e.toString();
        }
        Tiers.require("namespace", answer.endsWith("READY\n"), "no network namespace with tc here: " + answer.strip());
        Path java = Path.of(System.getProperty("java.home"), "bin", "java");
        String output = run(
                link + " && " + java + " -XX:TieredStopAtLevel=1 -cp '" + System.getProperty("java.class.path") + "' '"
                        + Exchange.class.getName() + "' " + kind + " " + packets + " " + bytes + " " + bufferBytes + " "
                        + String.join(" ", last));
        List<String> results =
                output.lines().filter(line -> line.startsWith("RESULT ")).toList();
        assertThat(results).as(output).hasSize(1);
        String[] parts = results.get(0).split(" ", 5);
        return new Result(Integer.parseInt(parts[1]), Integer.parseInt(parts[2]), Integer.parseInt(parts[3]), parts[4]);
    }

    @ParameterizedTest
    @EnumSource(
            value = TransportKind.class,
            names = {"NATIVE", "NIO"})
    void aFullSendBufferIsWaitedFor(TransportKind kind) throws Exception {
        String link = "ip link set lo up && tc qdisc add dev lo root tbf rate 16mbit burst 16kb limit 2mb";
        Result result = exchange(link, kind, 400, 1400, 1);
        assertThat(result).isEqualTo(new Result(400, 0, 400, ""));
    }

    /** A link of 8 kbit/s would keep a sender that waits for its second; one that does not is told at once what is full. */
    @ParameterizedTest
    @EnumSource(
            value = TransportKind.class,
            names = {"NATIVE", "NIO"})
    void whoIsToldOfRefusalsIsToldOfAllThatFoundNoRoom(TransportKind kind) throws Exception {
        String link = "ip link set lo up && tc qdisc add dev lo root tbf rate 8kbit burst 2kb limit 2mb";
        Result result = exchange(link, kind, 200, 1400, 1, "refusals");
        assertThat(result.error()).isEqualTo("full");
        assertThat(result.received()).as("told of").isBetween(100, 200);
    }

    @ParameterizedTest
    @EnumSource(
            value = TransportKind.class,
            names = {"NATIVE", "NIO"})
    void whatIsSentToAGroupReachesASocketThatJoinedIt(TransportKind kind) throws Exception {
        String link = "ip link set lo up multicast on && ip route add 239.0.0.0/8 dev lo";
        assertThat(exchange(link, kind, 10, 100, 0, "239.1.2.3")).isEqualTo(new Result(10, 0, 10, ""));
    }

    @ParameterizedTest
    @EnumSource(
            value = TransportKind.class,
            names = {"NATIVE", "NIO"})
    void aSendBufferThatStaysFullEndsTheWait(TransportKind kind) throws Exception {
        String link = "ip link set lo up && tc qdisc add dev lo root tbf rate 8kbit burst 2kb limit 2mb";
        Result result = exchange(link, kind, 200, 1400, 1);
        assertThat(result.sent() + result.failed()).isEqualTo(200);
        assertThat(result.failed()).isPositive();
        assertThat(result.error()).contains("stayed full");
    }

    @ParameterizedTest
    @EnumSource(
            value = TransportKind.class,
            names = {"NATIVE", "NIO"})
    void datagramsLargerThanTheLinkTakesAreFragmented(TransportKind kind) throws Exception {
        Result result = exchange("ip link set lo mtu 1300 up", kind, 400, 1400, 0);
        assertThat(result).isEqualTo(new Result(400, 0, 400, ""));
    }
}
