package org.tamanoir.node.cluster;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.tamanoir.anep.Packet;
import org.tamanoir.client.AnepReceiver;
import org.tamanoir.client.Peer;

/** The host that all streams lead to: counts the packets of each and notes which back-end they come from. Any thread. */
final class Sink implements AutoCloseable {
    /** What came of a stream. */
    private static final class Arrived {
        private final Set<Integer> numbers = new HashSet<>();
        private final Set<String> from = new TreeSet<>();
    }

    private final Map<Integer, Arrived> streams = new HashMap<>();
    private final List<String> faults = new ArrayList<>();
    private final AnepReceiver receiver;

    /** Here, on this address and port of TCP and UDP. */
    Sink(Machine machine, String address, int port) {
        receiver = machine.in(() -> AnepReceiver.on(new InetSocketAddress(address, port))
                .tcp()
                .udp()
                .start(() -> this::take));
    }

    private synchronized void take(Packet packet, Peer peer) throws IOException {
        int stream = packet.streamId();
        ByteBuffer payload = packet.payload();
        int number = payload.getInt(payload.position());
        if (!payload.equals(Stream.payload(stream, number))) {
            faults.add("packet " + number + " of stream " + stream + " has another content");
        }
        Arrived arrived = streams.computeIfAbsent(stream, key -> new Arrived());
        if (!arrived.numbers.add(number)) {
            faults.add("packet " + number + " of stream " + stream + " came twice");
        }
        arrived.from.add(peer.address().getAddress().getHostAddress());
    }

    /** Packets of a stream that have come, each counted once. */
    synchronized int packets(Stream stream) {
        Arrived arrived = streams.get(stream.id());
        return arrived == null ? 0 : arrived.numbers.size();
    }

    /** The back-ends that a stream's packets came from. */
    synchronized Set<String> from(Stream stream) {
        Arrived arrived = streams.get(stream.id());
        return arrived == null ? Set.of() : Set.copyOf(arrived.from);
    }

    /** What came twice or changed. */
    synchronized List<String> faults() {
        return List.copyOf(faults);
    }

    @Override
    public void close() {
        receiver.close();
    }
}
