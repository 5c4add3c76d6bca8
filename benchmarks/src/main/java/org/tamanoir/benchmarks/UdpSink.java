package org.tamanoir.benchmarks;

import java.nio.ByteBuffer;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicLong;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Counts the datagrams of one size that arrive, on one thread. */
@Command(name = "udp-sink", hidden = true, description = "Counts packets that arrive over UDP.")
final class UdpSink implements Callable<Integer> {
    private static final int RECEIVE_BUFFER_OCTETS = 8 << 20;
    private static final int LARGEST_MESSAGE_OCTETS = 1 << 16;

    @Option(names = "--size", required = true)
    private int packetOctets;

    private final AtomicLong packets = new AtomicLong();

    @Override
    public Integer call() throws Exception {
        int socket = UdpCalls.openSink(RECEIVE_BUFFER_OCTETS);
        Thread reader = new Thread(() -> read(socket), "read");
        reader.setDaemon(true);
        reader.start();
        Control.serve(
                Integer.toString(UdpCalls.localPort(socket)),
                Map.of("sample", () -> System.nanoTime() + " " + packets.get() * packetOctets));
        return 0;
    }

    private void read(int socket) {
        ByteBuffer buffer = ByteBuffer.allocateDirect(LARGEST_MESSAGE_OCTETS);
        while (true) {
            long octets = UdpCalls.receive(socket, buffer);
            packets.lazySet(packets.get() + octets / packetOctets);
        }
    }
}
