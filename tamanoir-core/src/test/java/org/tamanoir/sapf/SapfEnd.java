package org.tamanoir.sapf;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Anep;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.routing.Addresses;
import org.tamanoir.support.Waiting;
import org.tamanoir.traffic.Tap;
import org.tamanoir.transport.BatchMemory;
import org.tamanoir.transport.TransportKind;
import org.tamanoir.transport.UdpBatch;
import org.tamanoir.transport.UdpSender;
import org.tamanoir.transport.UdpSocket;
import org.tamanoir.transport.UdpSockets;

/** A socket of a test, in SAPF or plain, on loopback, whose clock the test advances. Thread contract: one thread. */
final class SapfEnd implements AutoCloseable {
    private static final Duration PATIENCE = Waiting.PATIENCE;
    private static final Duration LIFETIME = Duration.ofSeconds(60);

    /** By which every header may be bound. */
    private static final int GROWTH = 8;

    final Sapf sapf;
    private final UdpSocket socket;
    private final UdpBatch batch;
    private final UdpSender sender;
    private final ByteBuffer memory = ByteBuffer.allocateDirect(1 << 17);

    private SapfEnd(UdpSocket bound, SapfSettings settings, AtomicLong clockNs) {
        this(bound, settings, clockNs, GROWTH, BatchMemory.ofThisJvm());
    }

    private SapfEnd(UdpSocket bound, SapfSettings settings, AtomicLong clockNs, int growth, BatchMemory memory) {
        sapf = new Sapf(settings, growth, Anep.DEFAULT_TYPE_ID, clockNs::get, new Tap(), memory);
        socket = settings.isOn() ? sapf.over(bound) : bound;
        batch = socket.newBatch();
        sender = socket.newSender();
    }

    /** An end that issues selectors. */
    static SapfEnd issuing(AtomicLong clockNs) throws IOException {
        return issuing(clockNs, 0);
    }

    /** One whose readers have so much memory together, and whose packets may grow so much. */
    static SapfEnd issuing(AtomicLong clockNs, int growth, long memoryOctets) throws IOException {
        return new SapfEnd(
                bind(0), new SapfSettings(true, List.of(), LIFETIME), clockNs, growth, new BatchMemory(memoryOctets));
    }

    /** One at this port, as a node that was started anew. */
    static SapfEnd issuing(AtomicLong clockNs, int port) throws IOException {
        return new SapfEnd(bind(port), new SapfSettings(true, List.of(), LIFETIME), clockNs);
    }

    /** An end that asks that one. */
    static SapfEnd asking(AtomicLong clockNs, InetSocketAddress... next) throws IOException {
        return new SapfEnd(bind(0), new SapfSettings(false, List.of(next), LIFETIME), clockNs);
    }

    /** An end over this socket that issues selectors, and asks those. */
    static SapfEnd over(UdpSocket bound, AtomicLong clockNs, InetSocketAddress... next) {
        return new SapfEnd(bound, new SapfSettings(true, List.of(next), LIFETIME), clockNs);
    }

    /** An end that issues selectors, has this memory for packets, and asks that one. */
    static SapfEnd between(AtomicLong clockNs, InetSocketAddress next, BatchMemory memory) throws IOException {
        SapfSettings both = new SapfSettings(true, List.of(next), LIFETIME);
        return new SapfEnd(bind(0), both, clockNs, GROWTH, memory);
    }

    /** An end that knows nothing of selectors. */
    static SapfEnd plain() throws IOException {
        return new SapfEnd(bind(0), SapfSettings.OFF, new AtomicLong());
    }

    static UdpSocket bind(int port) throws IOException {
        return UdpSockets.bind(TransportKind.NIO, new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
    }

    InetSocketAddress address() {
        return socket.localAddress();
    }

    void send(SapfEnd to, byte[]... datagrams) {
        add(to, datagrams);
        sender.flush();
        assertThat(sender.failedPackets()).as(sender.lastError()).isZero();
    }

    /** Adds datagrams, and forgets them. */
    void discard(SapfEnd to, byte[]... datagrams) {
        add(to, datagrams);
        sender.discard();
    }

    private void add(SapfEnd to, byte[]... datagrams) {
        int at = 0;
        for (byte[] datagram : datagrams) {
            memory.put(at, datagram);
            InetSocketAddress address = to.address();
            sender.add(
                    memory,
                    at,
                    datagram.length,
                    Addresses.high(address.getAddress()),
                    Addresses.low(address.getAddress()),
                    address.getPort());
            at += datagram.length;
        }
    }

    /** Returns the packets of the datagrams that wait, once one does; what is not for this end's user is left out. */
    List<byte[]> receive() throws IOException {
        assertThat(socket.awaitReadable(PATIENCE)).as("a datagram arrives").isTrue();
        return receiveNow();
    }

    List<byte[]> receiveNow() throws IOException {
        List<byte[]> packets = new ArrayList<>();
        int messages = socket.receive(batch);
        for (int m = 0; m < messages; m++) {
            for (int at = batch.start(m); at < batch.end(m); at += batch.segmentBytes(m)) {
                byte[] packet = new byte[Math.min(batch.segmentBytes(m), batch.end(m) - at)];
                batch.buffer(m).get(at, packet);
                packets.add(packet);
            }
        }
        return packets;
    }

    /** Leaves folded packets folded from now on. */
    void leaveFolded() {
        batch.leaveFolded(true);
    }

    /** Receives folded packets and sends them on as they lie, behind a header; returns how many. */
    int switchOn(SapfEnd to, byte[] header) throws IOException {
        assertThat(socket.awaitReadable(PATIENCE)).as("a datagram arrives").isTrue();
        InetSocketAddress address = to.address();
        long high = Addresses.high(address.getAddress());
        long low = Addresses.low(address.getAddress());
        ByteBuffer alone = ByteBuffer.wrap(header);
        int packets = 0;
        int messages = socket.receive(batch);
        for (int m = 0; m < messages; m++) {
            assertThat(batch.fold(m)).as("message %s comes folded", m).isNotNull();
            assertThat(sender.folds(alone, high, low, address.getPort())).isTrue();
            int bytes = batch.end(m) - batch.start(m);
            assertThat(sender.addFolded(
                            alone,
                            batch.buffer(m),
                            batch.start(m),
                            bytes,
                            batch.segmentBytes(m),
                            high,
                            low,
                            address.getPort()))
                    .isTrue();
            packets += bytes / batch.segmentBytes(m);
        }
        sender.flush();
        return packets;
    }

    /** Returns how many packets were dropped for a reason, and checks that they are all that came in and are accounted for. */
    long dropped(DropReason reason) {
        long dropped = sapf.traffic().dropped(reason);
        assertThat(sapf.traffic().packetsIn()).as("dropped as %s alone", reason).isEqualTo(dropped);
        return dropped;
    }

    /** Sends a packet twice to where it is bound, and has both ends read all that is said of it. */
    void bind(SapfEnd to, byte[] packet) throws IOException {
        send(to, packet);
        assertThat(to.receive()).containsExactly(packet);
        send(to, packet);
        to.exchange(this, 1);
    }

    /** Reads so many packets, and what else comes until both ends are quiet. */
    List<byte[]> exchange(SapfEnd other, int packets) throws IOException {
        List<byte[]> received = new ArrayList<>();
        while (received.size() < packets) {
            received.addAll(receive());
        }
        while (other.isReadable() || isReadable()) {
            other.receiveNow();
            received.addAll(receiveNow());
        }
        return received;
    }

    /** What is sent over loopback is there when it was sent. */
    private boolean isReadable() throws IOException {
        return socket.awaitReadable(Duration.ZERO);
    }

    @Override
    public void close() {
        socket.close();
    }

    /** A packet of a flow. */
    static byte[] packet(int flow, String payload) {
        return packet(builder(flow), payload);
    }

    static PacketBuilder builder(int flow) {
        try {
            return new PacketBuilder()
                    .source(InetAddress.getByAddress(new byte[] {10, 0, (byte) (flow >> 8), (byte) flow}))
                    .destination(InetAddress.getByAddress(new byte[] {10, 1, 0, 1}))
                    .service("org.example.Seen");
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    static byte[] packet(PacketBuilder builder, String payload) {
        ByteBuffer bytes = ByteBuffer.allocate(1_024);
        builder.write(bytes, ByteBuffer.wrap(payload.getBytes(StandardCharsets.US_ASCII)));
        byte[] packet = new byte[bytes.position()];
        bytes.get(0, packet);
        return packet;
    }

    static byte[] octets(String hexadecimal) {
        return HexFormat.of().parseHex(hexadecimal.replace(" ", ""));
    }
}
