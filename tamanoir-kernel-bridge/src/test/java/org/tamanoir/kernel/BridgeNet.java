package org.tamanoir.kernel;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import org.tamanoir.anep.Anep;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.nodeos.Level;
import org.tamanoir.nodeos.LevelException;
import org.tamanoir.nodeos.NodeOs;
import org.tamanoir.support.Namespaces;
import org.tamanoir.support.TestNet;
import org.tamanoir.support.Waiting;

/**
 * A client that sends ANEP packets to a server through a router, and a node on the router that takes what comes up and
 * settles it at once. Every packet has a number, and is expected at the node or at the server once.
 *
 * <p>Thread contract: one thread at a time.
 */
final class BridgeNet implements AutoCloseable {
    static final int PORT = 3322;
    static final long KEY = 0x1234_5678_9ABC_DEF0L;
    /** Class of service of packets that no level has marked. */
    static final int CLASS = 1;

    private static final int CLASS_AT = 8 + 12 + 4;

    private static final int WINDOW_PACKETS = 32;
    private static final long PATIENCE_NS = Waiting.PATIENCE.toNanos();

    final TestNet net;
    private final BridgeSocket client;
    private final BridgeSocket server;
    private final BridgeSocket node;
    private final byte[] serverHost;
    private final ByteBuffer packet = ByteBuffer.allocate(512);
    private final BitSet seen = new BitSet();
    private long sent;

    /** Numbers of packets in the order in which they came up, and reached the server. */
    final List<Long> atNode = new ArrayList<>();

    final List<Long> atServer = new ArrayList<>();

    /** Classes of service of packets that came up, and that reached the server. */
    final Set<Integer> classesAtNode = new java.util.TreeSet<>();

    final Set<Integer> classesAtServer = new java.util.TreeSet<>();

    /** Marks of packets that came up. */
    final Set<Integer> marks = new java.util.TreeSet<>();

    BridgeNet(String part, int nodePort) throws Exception {
        net = new TestNet(part);
        // Pins of an earlier namespace stay when it goes, and the number that names them comes again.
        close(net.namespaces().in(net.router(), () -> KernelBridge.open(config())));
        serverHost = InetAddress.getByName(TestNet.SERVER4).getAddress();
        client = net.namespaces().in(net.client(), () -> new BridgeSocket(0));
        server = net.namespaces().in(net.server(), () -> new BridgeSocket(PORT));
        node = net.namespaces().in(net.router(), () -> new BridgeSocket(nodePort));
    }

    BridgeNet(String part) throws Exception {
        this(part, PORT);
    }

    static KernelConfig config(Level... levels) {
        return new KernelConfig(
                levels.length == 0 ? EnumSet.allOf(Level.class) : Set.of(levels),
                List.of(TestNet.ROUTER_CLIENT_DEVICE),
                true);
    }

    /** Opens and attaches on the router. */
    NodeOs attach(int port, Level... levels) throws Exception {
        return net.namespaces().in(net.router(), () -> {
            NodeOs os = KernelBridge.open(config(levels));
            try {
                os.attach(List.of(new InetSocketAddress("0.0.0.0", port)), List.of(), Anep.DEFAULT_TYPE_ID);
            } catch (LevelException refused) {
                os.close();
                throw refused;
            }
            return os;
        });
    }

    NodeOs attach() throws Exception {
        return attach(PORT, Level.TC);
    }

    /** As a node does, in the router's namespace. */
    void close(NodeOs os) throws Exception {
        net.namespaces().in(net.router(), () -> {
            os.close();
            return 0;
        });
    }

    /** Begins anew, for another test. */
    void forget() {
        seen.clear();
        atNode.clear();
        atServer.clear();
        classesAtNode.clear();
        classesAtServer.clear();
        marks.clear();
        sent = 0;
    }

    /** Sends packets of a stream, no more than a few at a time on their way, until all have arrived somewhere. */
    void exchange(NodeOs os, int stream, int packets) {
        for (int i = 0; i < packets; i++) {
            sendOne(os, stream);
        }
        while (arrived() < sent) {
            takeOrFail(os);
        }
    }

    /** Sends a packet of a stream when few enough are on their way, so that no socket or queue loses one. */
    void sendOne(NodeOs os, int stream) {
        send(stream, PORT);
        while (sent - arrived() >= WINDOW_PACKETS) {
            takeOrFail(os);
        }
    }

    /** Sends one packet. */
    void send(int stream, int port) {
        packet.clear();
        new PacketBuilder()
                .serviceKey(KEY).classOfService(CLASS, 0).stream(stream)
                        .nextSequence(sent)
                        .write(packet, ByteBuffer.allocate(64).putLong(0, sent));
        sent++;
        client.send(packet.flip(), serverHost, port);
    }

    long sent() {
        return sent;
    }

    long arrived() {
        return atNode.size() + atServer.size();
    }

    private void takeOrFail(NodeOs os) {
        long endNs = System.nanoTime() + PATIENCE_NS;
        while (!take(os)) {
            if (System.nanoTime() - endNs > 0) {
                throw new AssertionError("sent " + sent + ", at the node " + atNode.size() + ", at the server "
                        + atServer.size() + ": the others are lost");
            }
            LockSupport.parkNanos(20_000);
        }
    }

    /** Takes what has arrived, and settles what came up; whether there was something. */
    boolean take(NodeOs os) {
        boolean any = false;
        while (node.receive()) {
            any = true;
            marks.add(node.mark());
            note(node.data(), atNode, classesAtNode);
            if ((node.mark() & NodeOs.UP_MASK) == os.upMark()) {
                os.arrived(node.mark() & NodeOs.SLOT_MASK, 1);
                os.settled(node.mark() & NodeOs.SLOT_MASK, 1);
            }
        }
        while (server.receive()) {
            any = true;
            note(server.data(), atServer, classesAtServer);
        }
        return any;
    }

    private void note(ByteBuffer data, List<Long> where, Set<Integer> classes) {
        long number = data.getLong(data.capacity() - 64);
        if (seen.get((int) number)) {
            throw new AssertionError("packet " + number + " arrived twice");
        }
        seen.set((int) number);
        where.add(number);
        classes.add(Byte.toUnsignedInt(data.get(CLASS_AT)));
    }

    /** All that nodes put into the router's namespace. */
    String traces() {
        return net.namespaces()
                        .run(
                                net.router(),
                                "tc filter show dev rc ingress; tc qdisc show dev rc clsact; ip rule | grep 0x54 || true;"
                                        + " ip -6 rule | grep 0x54 || true; ip route show table all proto 84;"
                                        + " ip -6 route show table all proto 84;"
                                        + " ip link show dev rc | grep -o prog/xdp || true")
                + Namespaces.shell(
                        "ls -d /sys/fs/bpf/tamanoir-" + Namespaces.inode(net.router()) + "-* 2>/dev/null || true");
    }

    @Override
    public void close() {
        client.close();
        server.close();
        node.close();
        net.close();
    }
}
