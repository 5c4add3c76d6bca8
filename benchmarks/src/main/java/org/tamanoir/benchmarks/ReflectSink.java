package org.tamanoir.benchmarks;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;

/**
 * Receivers: plain ones, which take one datagram a call, on one thread for all; or such that take what came joined
 * (UDP_GRO), a thread each.
 */
final class ReflectSink {
    private static final int LARGEST_MESSAGE_BYTES = 1 << 16;
    private static final int RECEIVE_BUFFER_BYTES = 1 << 20;

    private ReflectSink() {}

    static void run(Arguments arguments) throws Exception {
        int receivers = arguments.number("receivers");
        AtomicLong bytes = new AtomicLong();
        List<Integer> ports = arguments.flag("joined") ? joined(receivers, bytes) : plain(receivers, bytes);
        Control.serve(
                ports.stream().map(String::valueOf).collect(Collectors.joining(" ")),
                words -> Long.toString(bytes.get()));
    }

    private static List<Integer> joined(int receivers, AtomicLong bytes) {
        List<Integer> ports = new ArrayList<>();
        for (int i = 0; i < receivers; i++) {
            int socket = UdpCalls.openSink(RECEIVE_BUFFER_BYTES);
            ports.add(UdpCalls.localPort(socket));
            Threads.start("read", () -> {
                ByteBuffer buffer = ByteBuffer.allocateDirect(LARGEST_MESSAGE_BYTES);
                while (true) {
                    bytes.addAndGet(UdpCalls.receive(socket, buffer));
                }
            });
        }
        return ports;
    }

    private static List<Integer> plain(int receivers, AtomicLong bytes) throws IOException {
        List<Integer> ports = new ArrayList<>();
        Selector selector = Selector.open();
        for (int i = 0; i < receivers; i++) {
            DatagramChannel channel = DatagramChannel.open();
            channel.bind(Load.loopback(0)).configureBlocking(false);
            channel.register(selector, SelectionKey.OP_READ);
            ports.add(((InetSocketAddress) channel.getLocalAddress()).getPort());
        }
        Threads.start("read", () -> {
            ByteBuffer buffer = ByteBuffer.allocateDirect(LARGEST_MESSAGE_BYTES);
            while (true) {
                selector.select(key -> read((DatagramChannel) key.channel(), buffer, bytes));
            }
        });
        return ports;
    }

    private static void read(DatagramChannel channel, ByteBuffer buffer, AtomicLong bytes) {
        try {
            while (channel.receive(buffer.clear()) != null) {
                bytes.lazySet(bytes.get() + buffer.position());
            }
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }
}
