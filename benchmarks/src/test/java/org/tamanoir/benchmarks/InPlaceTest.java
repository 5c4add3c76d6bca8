package org.tamanoir.benchmarks;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.support.Tiers;
import org.tamanoir.support.Waiting;

@Tag("process")
class InPlaceTest {
    private static final int[] SIZES = {64, 65, 200, 1400, 4096, 65_535};
    private static final int PATIENCE_MS = (int) Waiting.PATIENCE.toMillis();

    private Processes processes;
    private Path program;

    @BeforeEach
    void compileWithoutAWarning() throws Exception {
        boolean works = InPlace.missing() == null && Files.isDirectory(Path.of("/proc/self"));
        Tiers.require("native-build", works, "needs Linux and gcc (Debian package gcc)");
        processes = new Processes();
        program = InPlace.compile(processes.folder(), "-Werror");
    }

    @AfterEach
    void end() {
        if (processes != null) {
            processes.close();
        }
    }

    private RunningForwarder start(Transport transport, int sinkPort) throws IOException {
        Forwarder.Command command =
                (port, sink, carried, folder) -> InPlace.command(program.toString(), port, sink, carried);
        Forwarder forwarder = new Forwarder("in place", Set.of(transport), "", null, command);
        return RunningForwarder.start(processes, forwarder, transport, sinkPort);
    }

    private static byte[] packet(int bytes) {
        return bytes(Load.batch(1, bytes, bytes, 1));
    }

    private static byte[] packetForAnother() {
        ByteBuffer packet = ByteBuffer.allocate(200);
        new PacketBuilder().service("org.example.Another").write(packet, ByteBuffer.allocate(100));
        return bytes(packet.flip());
    }

    private static byte[] bytes(ByteBuffer from) {
        byte[] bytes = new byte[from.remaining()];
        from.get(bytes);
        return bytes;
    }

    /** What a far end receives of one connection until it ends or breaks; replies with one byte then. */
    private static CompletableFuture<byte[]> received(ServerSocket sink) {
        return Waiting.async(() -> {
            ByteArrayOutputStream all = new ByteArrayOutputStream();
            try (Socket socket = sink.accept()) {
                socket.setSoTimeout(PATIENCE_MS);
                socket.getInputStream().transferTo(all);
                socket.getOutputStream().write('R');
            } catch (IOException e) {
                // The connection was reset.
            }
            return all.toByteArray();
        });
    }

    @Test
    void streamArrivesByteForByteWhereverItIsCut() throws Exception {
        Random random = new Random(15);
        ByteArrayOutputStream sent = new ByteArrayOutputStream();
        for (int i = 0; i < 400; i++) {
            sent.write(packet(SIZES[random.nextInt(SIZES.length)]));
        }
        byte[] all = sent.toByteArray();
        try (ServerSocket sink = new ServerSocket();
                RunningForwarder forwarder = start(Transport.TCP, bound(sink));
                SocketChannel channel = Load.connect(Load.loopback(forwarder.port()))) {
            CompletableFuture<byte[]> received = received(sink);
            CompletableFuture<byte[]> reply =
                    Waiting.async(() -> channel.socket().getInputStream().readAllBytes());
            for (int at = 0, next; at < all.length; at = next) {
                int most = random.nextBoolean() ? 20 : 300_000;
                next = Math.min(all.length, at + 1 + random.nextInt(most));
                Load.write(channel, ByteBuffer.wrap(all, at, next - at));
            }
            channel.shutdownOutput();

            assertThat(Arrays.equals(received.get(PATIENCE_MS, MILLISECONDS), all))
                    .isTrue();
            assertThat(reply.get(PATIENCE_MS, MILLISECONDS)).containsExactly('R');
        }
    }

    @Test
    void packetForAnotherServiceResetsItsStreamAndGoesNowhere() throws Exception {
        byte[] before = packet(200);
        try (ServerSocket sink = new ServerSocket();
                RunningForwarder forwarder = start(Transport.TCP, bound(sink));
                SocketChannel channel = Load.connect(Load.loopback(forwarder.port()))) {
            CompletableFuture<byte[]> received = received(sink);
            Load.write(channel, ByteBuffer.wrap(before));
            Load.write(channel, ByteBuffer.wrap(packetForAnother()));

            // The reset may come before the far end has read what preceded it.
            assertThat(received.get(PATIENCE_MS, MILLISECONDS)).isIn(before, new byte[0]);
        }
    }

    @Test
    void datagramsArriveAsSentButForThoseOfAnotherService() throws Exception {
        List<byte[]> sent = new ArrayList<>();
        for (int bytes : new int[] {200, 200, 200, 64, 1400, 1400, 20_000, 200, 65}) {
            sent.add(packet(bytes));
        }
        try (DatagramSocket sink = new DatagramSocket(Load.loopback(0));
                RunningForwarder forwarder = start(Transport.UDP, sink.getLocalPort());
                DatagramSocket sender = new DatagramSocket()) {
            InetSocketAddress to = Load.loopback(forwarder.port());
            for (byte[] each : sent) {
                sender.send(new DatagramPacket(each, each.length, to));
                sender.send(new DatagramPacket(packetForAnother(), packetForAnother().length, to));
            }

            for (byte[] each : sent) {
                assertThat(datagram(sink)).isEqualTo(each);
            }
        }
    }

    @Test
    void joinedDatagramsArriveOneByOne() throws Exception {
        ByteBuffer batch = Load.batch(1, 200, 64 * 200, 64);
        try (DatagramSocket sink = new DatagramSocket(Load.loopback(0));
                RunningForwarder forwarder = start(Transport.UDP, sink.getLocalPort())) {
            int sender = UdpCalls.openSender(Load.loopback(forwarder.port()));
            UdpCalls.segment(sender, 200);
            UdpCalls.send(sender, batch);

            for (int i = 0; i < 64; i++) {
                assertThat(datagram(sink)).isEqualTo(bytes(batch.slice(i * 200, 200)));
            }
            UdpCalls.close(sender);
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "tcp 5000 5001;usage: in-place tcp|udp PORT SINK-PORT SERVICE-KEY-HEX",
                "tcp 5000 65536 0123456789abcdef;port 65536: 1 to 65535",
                "udp 5000 5001 0123;service key 0123: 16 hexadecimal digits"
            })
    void wrongUsageIsOneLineWithTheBound(String arguments, String line) throws Exception {
        List<String> command = new ArrayList<>(List.of(program.toString()));
        command.addAll(List.of(arguments.split(" ")));
        try (Child child = processes.start("wrong usage", command)) {
            assertThat(child.finish(Waiting.PATIENCE.toSeconds())).isTrue();
            assertThat(child.exitCode()).isEqualTo(1);
            assertThat(Files.readAllLines(child.log())).containsExactly("in-place: " + line);
        }
    }

    private static int bound(ServerSocket sink) throws IOException {
        sink.bind(Load.loopback(0));
        sink.setSoTimeout(PATIENCE_MS);
        return sink.getLocalPort();
    }

    private static byte[] datagram(DatagramSocket from) throws IOException {
        from.setSoTimeout(PATIENCE_MS);
        DatagramPacket datagram = new DatagramPacket(new byte[65_536], 65_536);
        from.receive(datagram);
        return Arrays.copyOf(datagram.getData(), datagram.getLength());
    }
}
