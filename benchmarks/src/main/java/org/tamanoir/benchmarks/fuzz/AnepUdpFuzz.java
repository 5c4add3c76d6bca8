package org.tamanoir.benchmarks.fuzz;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Datagrams to a live node. A round is so small that no socket buffer overflows: what is lost is the node's fault.
 * Services have threads of their own, so the order between packets is not compared.
 */
final class AnepUdpFuzz implements FuzzTarget {
    private static final int MAX_DATAGRAM = 65_507;
    private static final int DATAGRAMS = 48;
    private static final int ROUND_BYTES = 32 * 1024;
    private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(5);

    private final AnepInputs inputs = FuzzNode.inputs();
    private final DatagramChannel client = open();
    private final DatagramChannel host = open();
    private final DatagramChannel nextNode = open();
    private final ByteBuffer received = ByteBuffer.allocate(65_536);
    private final FuzzNode node;
    private final InetSocketAddress target;

    AnepUdpFuzz() throws IOException {
        node = new FuzzNode(address(host), address(nextNode));
        target = node.environment.udpAddresses().get(0);
    }

    private static DatagramChannel open() throws IOException {
        DatagramChannel channel = DatagramChannel.open();
        channel.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0)).configureBlocking(false);
        return channel;
    }

    private static InetSocketAddress address(DatagramChannel channel) throws IOException {
        return (InetSocketAddress) channel.getLocalAddress();
    }

    @Override
    public String name() {
        return "anep-udp";
    }

    @Override
    public long round(SplittableRandom random) throws Exception {
        Deliveries deliveries = new Deliveries();
        int bytes = 0;
        while (deliveries.packets() < DATAGRAMS && bytes < ROUND_BYTES) {
            byte[] datagram = inputs.next(random, random.nextInt(20) == 0 ? ROUND_BYTES - bytes : 400);
            bytes += datagram.length;
            deliveries.expect(node.reference.decide(datagram, MAX_DATAGRAM));
            send(ByteBuffer.wrap(datagram));
        }
        node.expect(deliveries.packets(), deliveries.leaving(), deliveries.drops, false);
        receive(deliveries);
        deliveries.check();
        return deliveries.packets();
    }

    private void send(ByteBuffer datagram) throws IOException, FuzzFault {
        long end = System.nanoTime() + PATIENCE_NS;
        // 0 bytes sent are a datagram that was not taken, or an empty one that was; a connected channel sends none
        // such.
        while (client.send(datagram, target) == 0 && datagram.hasRemaining()) {
            if (System.nanoTime() - end > 0) {
                throw new FuzzFault("the socket of the node takes nothing");
            }
            LockSupport.parkNanos(100_000);
        }
    }

    private void receive(Deliveries deliveries) throws IOException, FuzzFault {
        long end = System.nanoTime() + PATIENCE_NS;
        long count = 0;
        while (count < deliveries.leaving() && System.nanoTime() - end < 0) {
            count += receive(deliveries, host, 0) + receive(deliveries, nextNode, 1);
        }
    }

    private int receive(Deliveries deliveries, DatagramChannel channel, int farEnd) throws IOException, FuzzFault {
        received.clear();
        if (channel.receive(received) == null) {
            return 0;
        }
        deliveries.arrived(farEnd, Arrays.copyOf(received.array(), received.position()));
        return 1;
    }

    @Override
    public void close() throws IOException {
        node.close();
        client.close();
        host.close();
        nextNode.close();
    }
}
