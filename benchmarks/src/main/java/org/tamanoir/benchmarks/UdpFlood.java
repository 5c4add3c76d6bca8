package org.tamanoir.benchmarks;

import com.sun.jna.LastErrorException;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicLong;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * Sends one UDP flow as fast as the kernel takes it, on one thread: as single
 * datagrams (sendmmsg), or up to 64 in one message (UDP_SEGMENT). On loopback those of one message reach a receiver that asks for it (UDP_GRO) still joined, others one by
 * one.
 */
@Command(name = "udp-flood", hidden = true, description = "Floods one UDP flow with packets.")
final class UdpFlood implements Callable<Integer> {
    /** Kernels before 6.9 take no more datagrams in one call. */
    private static final int MAX_SEGMENTS = 64;

    private static final int MAX_MESSAGE_OCTETS = 65_507;

    @Option(names = "--port", required = true)
    private int port;

    @Option(names = "--size", required = true)
    private int packetOctets;

    @Option(names = "--joined", description = "Many datagrams in one message (UDP_SEGMENT).")
    private boolean joined;

    private final AtomicLong sent = new AtomicLong();

    @Override
    public Integer call() throws Exception {
        int socket = UdpCalls.openSender(port);
        if (joined) {
            UdpCalls.segment(socket, packetOctets);
        }
        Thread writer = new Thread(() -> flood(socket), "flood");
        writer.setDaemon(true);
        writer.start();
        Control.serve("", Map.of("sample", () -> System.nanoTime() + " " + sent.get()));
        return 0;
    }

    private void flood(int socket) {
        ByteBuffer batch = Load.batch(1, packetOctets, MAX_MESSAGE_OCTETS, MAX_SEGMENTS);
        ByteBuffer messages = UdpCalls.messages(batch, packetOctets);
        while (true) {
            try {
                long packets =
                        joined ? UdpCalls.send(socket, batch) / packetOctets : UdpCalls.sendEach(socket, messages);
                sent.lazySet(sent.get() + packets);
            } catch (LastErrorException e) {
                // The refusal of earlier datagrams (ECONNREFUSED) or a full queue: those count as not sent.
                Thread.onSpinWait();
            }
        }
    }
}
