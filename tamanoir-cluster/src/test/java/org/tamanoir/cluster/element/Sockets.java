package org.tamanoir.cluster.element;

import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketTimeoutException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.tamanoir.support.Waiting;

/** Far ends on the loopback interface. One thread. */
final class Sockets {
    static final int FREE = 0;

    private Sockets() {}

    static InetSocketAddress loopback(int port) {
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
    }

    static DatagramSocket open() throws IOException {
        DatagramSocket socket = new DatagramSocket(loopback(FREE));
        socket.setReceiveBufferSize(4 << 20);
        socket.setSoTimeout((int) Waiting.PATIENCE.toMillis());
        return socket;
    }

    static InetSocketAddress address(DatagramSocket socket) {
        return loopback(socket.getLocalPort());
    }

    /** Receives so many datagrams, waiting for each. */
    static List<byte[]> receive(DatagramSocket socket, int count) throws IOException {
        List<byte[]> datagrams = new ArrayList<>();
        while (datagrams.size() < count) {
            datagrams.add(receive(socket));
        }
        return datagrams;
    }

    static byte[] receive(DatagramSocket socket) throws IOException {
        DatagramPacket packet = new DatagramPacket(new byte[65_536], 65_536);
        try {
            socket.receive(packet);
        } catch (SocketTimeoutException e) {
            throw new AssertionError("no datagram came", e);
        }
        return Arrays.copyOf(packet.getData(), packet.getLength());
    }

    static void send(DatagramSocket from, byte[] datagram, InetSocketAddress to) throws IOException {
        from.send(new DatagramPacket(datagram, datagram.length, to));
    }
}
