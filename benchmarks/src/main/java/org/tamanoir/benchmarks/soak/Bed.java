package org.tamanoir.benchmarks.soak;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.PacketBuilder;

/**
 * What all traffic of a run shares: far ends behind the node, flows, faults.
 *
 * <pre>
 *   destination    far end      special
 *   10.9.1.1       127.0.1.1    no link
 *   10.9.2.1       127.0.1.2    behind the link "narrow"
 *   10.9.3.1       127.0.1.3    behind the link "wide", a small receive buffer
 *   10.9.4.1       127.0.1.4    inside TLS
 * </pre>
 *
 * <p>Thread contract: made and closed by one thread, used by any.
 */
final class Bed implements AutoCloseable {
    /** Far ends that take plain connections and datagrams. */
    static final int PLAIN_ENDS = 3;
    /** The far end inside TLS. */
    static final int TLS_END = 3;
    /** Classes of service are 0 to this, exclusive. */
    static final int CLASSES = 4;

    private static final int HOP_BUDGET = 16;
    private static final int SMALL_BUFFER_BYTES = 16 << 10;

    final long seed;
    final Flows flows;
    final Faults faults = new Faults();
    final Datagrams datagrams;
    final List<FarEnd> ends = new ArrayList<>();
    final Set<Connection> whole = ConcurrentHashMap.newKeySet();
    final Ledger ledger = new Ledger();
    final @Nullable SSLContext tls;
    private volatile boolean isEnding;
    private volatile int nodeStreams;
    private volatile @Nullable InetSocketAddress node;
    private volatile @Nullable InetSocketAddress nodeTls;

    /** @param tls for the far end inside TLS; null = it is not used */
    Bed(long seed, @Nullable SSLContext tls) throws IOException {
        this.seed = seed;
        this.tls = tls;
        flows = new Flows(new Content(seed));
        datagrams = new Datagrams(this);
        try {
            for (int i = 0; i < PLAIN_ENDS; i++) {
                int receiveBytes = i == 2 ? SMALL_BUFFER_BYTES : 0;
                ends.add(new FarEnd(i, this, endAddress(i), ServerSocket::new, receiveBytes, true));
            }
            if (tls != null) {
                FarEnd.Listener listener = () -> tls.getServerSocketFactory().createServerSocket();
                ends.add(new FarEnd(TLS_END, this, endAddress(TLS_END), listener, 0, false));
            }
        } catch (IOException e) {
            close();
            throw e;
        }
    }

    private static InetAddress endAddress(int end) throws IOException {
        return loopback(1, end + 1);
    }

    /** Returns 127.0.net.host. */
    static InetAddress loopback(int net, int host) throws IOException {
        return InetAddress.getByAddress(new byte[] {127, 0, (byte) net, (byte) host});
    }

    /** Returns where packets for a far end are destined to. */
    static InetAddress destination(int end) {
        try {
            return InetAddress.getByAddress(new byte[] {10, 9, (byte) (end + 1), 1});
        } catch (IOException e) {
            throw new IllegalStateException("4 bytes are an address", e);
        }
    }

    /** Returns whether traffic is to end: far ends stall no more, senders finish. */
    boolean isEnding() {
        return isEnding || faults.any();
    }

    void ending(boolean now) {
        isEnding = now;
    }

    /** Returns how many streams the node had when it was asked last. */
    int nodeStreams() {
        return nodeStreams;
    }

    void nodeStreams(int now) {
        nodeStreams = now;
    }

    void node(InetSocketAddress plain, @Nullable InetSocketAddress inTls) {
        node = plain;
        nodeTls = inTls;
    }

    /** Returns where the node listens. */
    InetSocketAddress node(boolean isTls) {
        InetSocketAddress found = isTls ? nodeTls : node;
        if (found == null) {
            throw new IllegalStateException("the node has not said where it listens");
        }
        return found;
    }

    /** Makes the writer of a flow's packets, which ask for this service; empty = for none. */
    Lane lane(Flow flow, String service, int destinationEnd) {
        return lane(flow, service, destinationEnd, null);
    }

    /** The same with compressed payloads. */
    Lane lane(Flow flow, String service, int destinationEnd, Lane.@Nullable Packer packer) {
        PacketBuilder builder = new PacketBuilder().destination(destination(destinationEnd));
        if (!service.isEmpty()) {
            builder.service(service);
        }
        builder.classOfService(flow.shape.classOfService(), 0).stream(flow.shape.id())
                .hopBudget(HOP_BUDGET);
        // Those with an odd id carry a checksum, which the node verifies and keeps right.
        if (flow.shape.id() % 2 == 1) {
            builder.checksum();
        }
        return new Lane(flow, flows.content, builder, packer);
    }

    /** Returns a class of service by chance. */
    static int classOfService(Random random) {
        return random.nextInt(CLASSES);
    }

    @Override
    public void close() throws IOException {
        isEnding = true;
        for (FarEnd end : ends) {
            end.close();
        }
    }
}
