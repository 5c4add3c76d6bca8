package org.tamanoir.cluster.reflect;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import org.tamanoir.support.Waiting;

/** A member with a socket of its own. One thread. */
final class Peer implements AutoCloseable {
    private final DatagramSocket socket;

    Peer() throws IOException {
        this(0);
    }

    Peer(int port) throws IOException {
        socket = new DatagramSocket(new InetSocketAddress("127.0.0.1", port));
        socket.setSoTimeout((int) Waiting.PATIENCE.toMillis());
    }

    InetSocketAddress address() {
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), socket.getLocalPort());
    }

    void send(InetSocketAddress to, String text) throws IOException {
        send(to, Wire.ascii(text));
    }

    void send(InetSocketAddress to, byte[] bytes) throws IOException {
        socket.send(new DatagramPacket(bytes, bytes.length, to));
    }

    /** Waits for the next datagram. */
    String receive() throws IOException {
        DatagramPacket packet = new DatagramPacket(new byte[2048], 2048);
        socket.receive(packet);
        byte[] bytes = new byte[packet.getLength()];
        System.arraycopy(packet.getData(), 0, bytes, 0, bytes.length);
        return Wire.text(bytes);
    }

    List<String> receive(int count) throws IOException {
        List<String> all = new ArrayList<>();
        while (all.size() < count) {
            all.add(receive());
        }
        return all;
    }

    /** Joins by a cookie. */
    void join(Reflector reflector) throws IOException {
        join(reflector, reflector.inputs().get(0));
    }

    /** Takes no datagrams but from there. */
    void connect(InetSocketAddress to) throws IOException {
        socket.connect(to);
    }

    void join(Reflector reflector, InetSocketAddress input) throws IOException {
        int before = reflector.status(0).get(0).memberCount();
        send(input, "tamanoir-join " + "0".repeat(32));
        send(input, receive().replace("take", "join"));
        Waiting.eventually()
                .untilAsserted(() ->
                        assertThat(reflector.status(0).get(0).memberCount()).isEqualTo(before + 1));
    }

    @Override
    public void close() {
        socket.close();
    }
}
