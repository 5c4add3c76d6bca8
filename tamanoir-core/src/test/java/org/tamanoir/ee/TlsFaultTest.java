package org.tamanoir.ee;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.tamanoir.ee.TestServices.MARK;
import static org.tamanoir.ee.TestServices.packets;
import static org.tamanoir.support.Waiting.eventually;

import java.io.DataInputStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.tamanoir.anep.Anep;
import org.tamanoir.anep.Option;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.anep.PacketSpace;
import org.tamanoir.client.AnepSender;
import org.tamanoir.routing.NextHop;
import org.tamanoir.tls.TestAuthority;
import org.tamanoir.tls.TlsFiles;
import org.tamanoir.transport.TransportKind;

/** Next hops over TLS that are not ours: slow ones, and ones that break off. */
class TlsFaultTest extends TcpNodeTesting {
    private static final int PACKET_BYTES = 1000;
    private static final int PACKETS = 14_000;

    @TempDir
    private Path folder;

    private TestAuthority authority;
    private TlsFiles files;
    private ServerSocket host;

    @BeforeEach
    void openHost() throws IOException {
        authority = new TestAuthority(folder, "authority");
        files = authority.files("node");
        settings.tls = files;
        host = keep(new ServerSocket());
        host.setReceiveBufferSize(1 << 16); // So that less stands between the ends where nobody reads.
        host.bind(new InetSocketAddress("127.0.0.1", 0), 1);
        keep(TestSink.openTls(files, false)).close(); // What the JDK keeps open of TLS.
    }

    /** The far end of a node's connection, by the JDK's own sockets; {@code raw} ends it without TLS's knowledge. */
    private record FarEnd(Socket raw, SSLSocket secure) implements AutoCloseable {
        @Override
        public void close() throws IOException {
            raw.close();
        }
    }

    private FarEnd accept() throws IOException {
        SSLContext context = files.context();
        Socket raw = keep(host.accept());
        SSLSocket secure = (SSLSocket) context.getSocketFactory().createSocket(raw, "node", 0, false);
        secure.setUseClientMode(false);
        secure.startHandshake();
        return new FarEnd(raw, secure);
    }

    private TestNode nodeToHost() throws IOException {
        return node(MARK).overTls((InetSocketAddress) host.getLocalSocketAddress(), NextHop.Kind.HOST);
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void aReceiverThatDoesNotReadHoldsTheSenderBack(TransportKind kind) throws Exception {
        settings.transport = kind;
        TestNode node = nodeToHost();
        AnepSender sender =
                keep(AnepSender.to(node.tlsAddress()).tls(authority.trusting()).tcp());
        AtomicReference<IOException> failure = new AtomicReference<>();
        Thread writer = new Thread(() -> send(sender, failure));
        writer.start();
        FarEnd far = accept();
        long before = directBytes();
        long[] last = {-1};
        eventually().pollInterval(Duration.ofMillis(200)).until(() -> {
            long in = node.traffic().packetsIn();
            boolean stands = in == last[0] && node.traffic().held() > 0;
            last[0] = in;
            return stands;
        });
        assertThat(sender.sentPackets()).isLessThan(PACKETS);
        assertThat(directBytes() - before).isLessThan(4_000_000);

        DataInputStream in = new DataInputStream(far.secure.getInputStream());
        byte[] packet = new byte[PACKET_BYTES];
        int sequenceAt = packets("mark").build(ByteBuffer.allocate(0)).optionOffset(Option.STREAM) + 4;
        for (long i = 0; i < PACKETS; i++) {
            in.readFully(packet);
            if (ByteBuffer.wrap(packet).getLong(sequenceAt) != i) {
                assertThat(ByteBuffer.wrap(packet).getLong(sequenceAt)).isEqualTo(i);
            }
        }
        assertThat(in.read()).isEqualTo(-1);
        far.secure.close();
        writer.join();
        assertThat(failure.get()).isNull();
        node.assertDrops(Map.of());
    }

    private static void send(AnepSender sender, AtomicReference<IOException> failure) {
        PacketBuilder builder = packets("mark");
        ByteBuffer payload = ByteBuffer.allocate(PACKET_BYTES - builder.headerLength());
        try {
            for (int i = 0; i < PACKETS; i++) {
                sender.send(builder, payload);
            }
            sender.finish();
        } catch (IOException e) {
            failure.set(e);
        }
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void aNextHopThatIsCutOffIsNoEndOfAnswers(TransportKind kind) throws Exception {
        settings.transport = kind;
        TestNode node = nodeToHost();
        AnepSender sender = sender(node);
        sender.send(packets("mark"), ByteBuffer.allocate(3));
        sender.finish();
        FarEnd far = accept();
        assertThat(far.secure.getInputStream().read()).isNotNegative();

        far.raw.close();

        node.settle();
        assertThat(catchThrowable(
                        () -> sender.poll(new Packet(Anep.DEFAULT_TYPE_ID, PacketSpace.HEAP), TestServices.PATIENCE)))
                .isInstanceOf(IOException.class);
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void datagramsGoOnInsideTls(TransportKind kind) throws Exception {
        settings.transport = kind;
        settings.udp = List.of(new InetSocketAddress("127.0.0.1", 0));
        TestSink sink = keep(TestSink.openTls(files, false));
        TestNode node = node(MARK).overTls(sink.address(), NextHop.Kind.HOST);
        AnepSender sender = keep(AnepSender.udp(node.environment.udpAddresses().get(0)));
        for (int i = 0; i < 20; i++) {
            sender.send(packets("mark"), TestServices.number(i));
        }
        sender.finish();

        sink.await(20);
        assertThat(sink.numbers()).hasSize(20).isSorted();
    }
}
