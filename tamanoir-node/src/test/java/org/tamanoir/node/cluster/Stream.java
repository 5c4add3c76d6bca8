package org.tamanoir.node.cluster;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.client.AnepSender;

/** A stream of packets from a client through Monitor to the sink. One thread. */
final class Stream implements AutoCloseable {
    private static final int PAYLOAD_BYTES = 200;
    private static final AtomicInteger IDS = new AtomicInteger(1);

    private final int id = IDS.getAndIncrement();
    private final PacketBuilder builder;
    private final AnepSender sender;
    private int sent;

    private Stream(AnepSender sender, String service) throws IOException {
        this.sender = sender;
        builder = new PacketBuilder()
                .destination(InetAddress.getByName(ClusterBed.DESTINATION)).service(service).stream(id);
    }

    /** From a machine to an address of the cluster, over {@code tcp} or {@code udp}. */
    static Stream open(Machine client, String transport, String address, String service) {
        AnepSender.Settings to = AnepSender.to(new InetSocketAddress(address, ClusterBed.PORT))
                .connectTimeout(ClusterBed.PATIENCE)
                .stallTimeout(ClusterBed.PATIENCE);
        return client.in(() -> new Stream(transport.equals("tcp") ? to.tcp() : to.udp(), service));
    }

    /** The content of a packet: number, then what no other packet has. */
    static ByteBuffer payload(int stream, int number) {
        byte[] bytes = new byte[PAYLOAD_BYTES];
        new Random((long) stream << 32 | number).nextBytes(bytes);
        return ByteBuffer.wrap(bytes).putInt(0, number);
    }

    int id() {
        return id;
    }

    /** Packets sent so far. */
    int sent() {
        return sent;
    }

    /** Sends the next packets at once. */
    void send(int packets) {
        try {
            for (int i = 0; i < packets; i++) {
                sender.send(builder, payload(id, sent));
                sent++;
            }
            sender.flush();
        } catch (IOException e) {
            throw new java.io.UncheckedIOException("stream " + id, e);
        }
    }

    /** Ends it in order. */
    void finish() {
        try {
            sender.finish();
        } catch (IOException e) {
            throw new java.io.UncheckedIOException("stream " + id, e);
        }
    }

    @Override
    public void close() {
        sender.close();
    }
}
