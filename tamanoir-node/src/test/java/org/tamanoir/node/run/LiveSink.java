package org.tamanoir.node.run;

import static org.tamanoir.support.Waiting.eventually;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.client.AnepReceiver;
import org.tamanoir.client.AnepSender;

/** A host at the end of the path, over TCP and UDP, which keeps number and mark of each packet. Any thread. */
final class LiveSink implements AutoCloseable {
    private final List<Integer> numbers = new ArrayList<>();
    private final List<Integer> marks = new ArrayList<>();
    private final AnepReceiver receiver;

    LiveSink() throws IOException {
        receiver = AnepReceiver.on(new InetSocketAddress("127.0.0.1", 0))
                .tcp()
                .udp()
                .start(() -> (packet, peer) -> {
                    synchronized (this) {
                        numbers.add(packet.buffer().getInt(packet.payloadOffset()));
                        marks.add(packet.classOfService());
                    }
                });
    }

    InetSocketAddress address() {
        return receiver.address();
    }

    synchronized List<Integer> numbers() {
        return List.copyOf(numbers);
    }

    synchronized List<Integer> marks() {
        return List.copyOf(marks);
    }

    /** Waits for so many packets. */
    void await(int packets) {
        eventually().until(() -> numbers().size() >= packets);
    }

    /** What applications send. */
    static PacketBuilder packets(String service) throws IOException {
        return new PacketBuilder()
                        .source(InetAddress.getLoopbackAddress())
                        .destination(InetAddress.getByName("10.0.0.7"))
                        .service(service)
                        .classOfService(0, 0)
                        .previousNode(false)
                        .stream(7)
                        .hopBudget(16);
    }

    /** Packets with these numbers, the last one excluded. */
    static void send(AnepSender sender, PacketBuilder builder, int from, int to) throws IOException {
        for (int i = from; i < to; i++) {
            sender.send(builder, ByteBuffer.allocate(100).putInt(0, i));
        }
        sender.flush();
    }

    @Override
    public void close() {
        receiver.close();
    }
}
