package org.tamanoir.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.nodeos.Flow;
import org.tamanoir.nodeos.Level;
import org.tamanoir.nodeos.LevelCounters;
import org.tamanoir.nodeos.LevelException;
import org.tamanoir.nodeos.Policy;
import org.tamanoir.support.Namespaces;
import org.tamanoir.support.TestNet;
import org.tamanoir.support.Tiers;
import org.tamanoir.support.Waiting;

/**
 * A client and a server with sockets, and a router with a BPF level between them.
 *
 * <p>Thread contract: one thread at a time.
 */
final class BpfBed implements AutoCloseable {
    static final long KEY = 0x1122334455667788L;
    static final int PORT = 3322;
    static final int TYPE_ID = 0x544D;
    static final int SLOT = 7;
    /** What follows all others in a stream, so that nothing has to be waited for that does not come. */
    static final byte[] LAST = {1, 0, 0, 18, 0, 2, 0, 8};

    private static final int INSTANCE = 3;
    static final int PATIENCE_MS = (int) Waiting.PATIENCE.toMillis();
    private static final int RECEIVE_BUFFER = 1 << 20;

    final TestNet net;
    final TcDriver tc;
    final @Nullable XdpDriver xdp;
    final DatagramSocket client;
    final DatagramSocket server;

    private final Set<ByteBuffer> flows = new HashSet<>();
    private final Set<Integer> slots = new HashSet<>();
    private Level level;
    private long[] metBefore = new long[Abi.MET_COUNT];

    /**
     * Skips the test, or fails it where the tier is required, unless programs can be loaded, attached and pinned here:
     * libbpf and the node's programs, tc, and a BPF file system in /sys/fs/bpf.
     */
    static void require() {
        String whyNot = HostFacts.look(BridgeNet.config()).noBpf();
        Tiers.require("bpf", whyNot == null, String.valueOf(whyNot));
        Tiers.require("bpf", hasFileSystem(), "needs a BPF file system: mount -t bpf bpf /sys/fs/bpf");
        Namespaces.require("bpf", "tc");
    }

    private static boolean hasFileSystem() {
        try {
            return Files.getFileStore(Path.of("/sys/fs/bpf")).type().equals("bpf");
        } catch (IOException e) {
            return false;
        }
    }

    BpfBed(TestNet net, Level level) throws Exception {
        this(net, level, TestNet.ROUTER_CLIENT_DEVICE);
    }

    /**
     * @param level XDP brings tc along
     * @param device of the router, towards the client
     */
    BpfBed(TestNet net, Level level, String device) throws Exception {
        this(net, level, List.of(device));
    }

    BpfBed(TestNet net, Level level, List<String> devices) throws Exception {
        this.net = net;
        this.level = level;
        tc = inRouter(() -> new TcDriver(INSTANCE, devices));
        xdp = level == Level.XDP ? inRouter(() -> new XdpDriver(INSTANCE, devices, tc)) : null;
        client = net.namespaces().in(net.client(), () -> new DatagramSocket());
        server = net.namespaces().in(net.server(), () -> socket(PORT));
        server.setSoTimeout(PATIENCE_MS);
    }

    private static DatagramSocket socket(int port) throws IOException {
        DatagramSocket socket = new DatagramSocket(null);
        socket.setReceiveBufferSize(RECEIVE_BUFFER);
        socket.bind(new InetSocketAddress(port));
        return socket;
    }

    <T> T inRouter(java.util.concurrent.Callable<T> code) throws Exception {
        return net.namespaces().in(net.router(), code);
    }

    /** The level that the test is about. */
    LevelDriver driver() {
        return level == Level.XDP && xdp != null ? xdp : tc;
    }

    /** Begins anew: no policies, all counts 0. */
    BpfBed begin(Level level) throws Exception {
        return begin(level, TYPE_ID, false);
    }

    BpfBed begin(Level level, int typeId, boolean unknownUp) throws Exception {
        this.level = level;
        for (ByteBuffer flow : flows) {
            tc.remove(flow);
        }
        for (int slot : slots) {
            tc.clear(slot);
        }
        flows.clear();
        slots.clear();
        slots.add(SLOT);
        tc.locals(ByteBuffer.allocate(0));
        ByteBuffer hook = AbiEncoder.hook(AbiEncoder.upMark(INSTANCE), typeId, Set.of(PORT), Set.of(PORT), unknownUp);
        inRouter(() -> {
            tc.attach(hook);
            if (xdp != null) {
                xdp.attach(hook);
            }
            return null;
        });
        metBefore = driver().met();
        return this;
    }

    /** All UDP packets of the service, on this level. */
    void set(Policy policy) throws LevelException {
        set(SLOT, Flow.ANY, policy, false);
    }

    void set(int slot, Flow flow, Policy policy, boolean ordered) throws LevelException {
        set(slot, flow, AbiEncoder.policy(slot, level, policy, ordered));
    }

    void set(int slot, Flow flow, ByteBuffer policy) throws LevelException {
        ByteBuffer key = AbiEncoder.flow(KEY, flow);
        driver().set(key, policy);
        flows.add(key);
        slots.add(slot);
    }

    void remove(Flow flow) throws LevelException {
        driver().remove(AbiEncoder.flow(KEY, flow));
    }

    LevelCounters counters() throws LevelException {
        return counters(SLOT);
    }

    LevelCounters counters(int slot) throws LevelException {
        return AbiDecoder.counters(driver().counters(slot));
    }

    AbiDecoder.State state() throws LevelException {
        return AbiDecoder.state(driver().state(SLOT));
    }

    /** How often the level has met something. */
    long met(int what) throws LevelException {
        return driver().met()[what] - metBefore[what];
    }

    /** Makes the way up and a node's socket in the router. */
    DatagramSocket node() throws Exception {
        return inRouter(() -> {
            try (WayUp wayUp = WayUp.open()) {
                wayUp.make(INSTANCE);
            }
            DatagramSocket node = socket(PORT);
            node.setSoTimeout(PATIENCE_MS);
            return node;
        });
    }

    /** A packet of the service with class, stream and sequence. */
    static PacketBuilder packet() {
        return new PacketBuilder().typeId(TYPE_ID).serviceKey(KEY).classOfService(0, 1).stream(5);
    }

    static byte[] bytes(PacketBuilder builder, int payloadBytes) {
        ByteBuffer packet = ByteBuffer.allocate(builder.headerLength() + payloadBytes);
        byte[] payload = new byte[payloadBytes];
        Arrays.fill(payload, (byte) 0x5a);
        builder.write(packet, ByteBuffer.wrap(payload));
        return packet.array();
    }

    void send(String to, byte[]... packets) throws IOException {
        InetAddress address = InetAddress.getByName(to);
        for (byte[] packet : packets) {
            client.send(new DatagramPacket(packet, packet.length, address, PORT));
        }
    }

    /** Sends packets and returns those that reach the server. */
    List<byte[]> cross(String to, byte[]... packets) throws IOException {
        send(to, packets);
        send(to, LAST);
        return receiveUntilLast(server);
    }

    static List<byte[]> receiveUntilLast(DatagramSocket socket) throws IOException {
        List<byte[]> received = new ArrayList<>();
        while (true) {
            byte[] bytes = receive(socket);
            if (Arrays.equals(bytes, LAST)) {
                return received;
            }
            received.add(bytes);
        }
    }

    static byte[] receive(DatagramSocket socket) throws IOException {
        DatagramPacket packet = new DatagramPacket(new byte[65536], 65536);
        try {
            socket.receive(packet);
        } catch (SocketTimeoutException e) {
            throw new AssertionError("nothing came within " + PATIENCE_MS + " ms", e);
        }
        return Arrays.copyOf(packet.getData(), packet.getLength());
    }

    /** What met counters say of UDP adds up. */
    void assertAllIsCounted() throws LevelException {
        long outcomes = 0;
        for (int what = Abi.MET_SHORT; what <= Abi.MET_AGGREGATED; what++) {
            outcomes += what == Abi.MET_FRAGMENT ? 0 : met(what);
        }
        assertThat(outcomes).as(Arrays.toString(driver().met())).isEqualTo(met(Abi.MET_SEEN));
        LevelCounters counters = counters();
        assertThat(counters.packets()).isEqualTo(counters.up() + counters.on() + counters.dropped());
    }

    @Override
    public void close() throws IOException {
        client.close();
        server.close();
        try {
            inRouter(() -> {
                if (xdp != null) {
                    xdp.close();
                }
                tc.close();
                try (WayUp wayUp = WayUp.open()) {
                    wayUp.remove(INSTANCE);
                }
                return null;
            });
        } catch (Exception e) {
            throw new IOException("levels could not be taken away", e);
        }
    }
}
