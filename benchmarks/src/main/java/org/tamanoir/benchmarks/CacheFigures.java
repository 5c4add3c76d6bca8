package org.tamanoir.benchmarks;

import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.catalog.DefinedControl;
import org.tamanoir.catalog.Placement;
import org.tamanoir.catalog.ServiceCatalog;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.catalog.ServiceHealth;
import org.tamanoir.ee.EeConfig;
import org.tamanoir.ee.ExecutionEnvironment;
import org.tamanoir.routing.NextHop;
import org.tamanoir.routing.Prefix;
import org.tamanoir.routing.Route;
import org.tamanoir.routing.RoutingTable;
import org.tamanoir.service.FailurePolicy;
import org.tamanoir.service.ServiceConfig;
import org.tamanoir.services.Echo;
import org.tamanoir.services.extra.cache.Cache;
import org.tamanoir.services.extra.cache.CacheControl;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * {@code benchmarks cache}: how long a datagram and its answer take through a node that runs Echo, and one that answers
 * from its cache, in turns; packets of one length there and back.
 */
@Command(
        name = "cache",
        mixinStandardHelpOptions = true,
        description = "Measures how long a hit in the cache takes, beside Echo.")
final class CacheFigures extends CheckedCommand {
    private static final int HEADER = 24;
    private static final int PATIENCE_MS = 10_000;
    private static final InetAddress LOOPBACK = InetAddress.getLoopbackAddress();

    @Option(names = "--bytes", description = "Of the object, 1 to 60000. Default: ${DEFAULT-VALUE}.")
    private int bytes = 1000;

    @Option(names = "--requests", description = "To each of both, 100 to 1000000. Default: ${DEFAULT-VALUE}.")
    private int requests = 20_000;

    private final DatagramPacket received = new DatagramPacket(new byte[1 << 16], 1 << 16);

    @Override
    public Integer call() throws IOException {
        require(bytes >= 1 && bytes <= 60_000, "--bytes " + bytes + ": 1 to 60000");
        require(requests >= 100 && requests <= 1_000_000, "--requests " + requests + ": 100 to 1000000");
        try (DatagramSocket client = new DatagramSocket(0, LOOPBACK);
                ExecutionEnvironment node = node(client)) {
            client.setSoTimeout(PATIENCE_MS);
            node.start();
            client.connect(node.udpAddresses().get(0));
            byte[] echo = octets(request(Echo.class.getName()));
            byte[] hit = octets(request(Cache.class.getName()));
            fill(client, hit);
            long[] echoNs = new long[requests];
            long[] hitNs = new long[requests];
            for (int i = -requests / 2; i < requests; i++) {
                long first = roundTripNs(client, echo);
                long second = roundTripNs(client, hit);
                if (i >= 0) {
                    echoNs[i] = first;
                    hitNs[i] = second;
                }
            }
            Arrays.sort(echoNs);
            Arrays.sort(hitNs);
            System.out.printf(
                    "round trip of %d bytes, µs, p50 and p99 of %d: Echo %.1f %.1f, hit %.1f %.1f; p50 ratio %.2f%n",
                    hit.length,
                    requests,
                    us(echoNs, 0.5),
                    us(echoNs, 0.99),
                    us(hitNs, 0.5),
                    us(hitNs, 0.99),
                    us(hitNs, 0.5) / us(echoNs, 0.5));
        }
        return 0;
    }

    private static double us(long[] sortedNs, double part) {
        return sortedNs[(int) (sortedNs.length * part)] / 1000.0;
    }

    private static ExecutionEnvironment node(DatagramSocket client) throws IOException {
        ServiceCatalog services = new ServiceCatalog();
        services.add(new ServiceDefinition(Echo.class.getName(), Echo::new, ServiceConfig.EMPTY, FailurePolicy.DROP));
        services.add(new ServiceDefinition(
                Cache.class.getName(),
                "",
                Cache::new,
                new ServiceConfig(Map.of()),
                FailurePolicy.DROP,
                new ServiceHealth(),
                new Placement(),
                DefinedControl.of(CacheControl::new)));
        NextHop hop = new NextHop(LOOPBACK, client.getLocalPort(), NextHop.Transport.SAME, NextHop.Kind.HOST);
        return new ExecutionEnvironment(
                EeConfig.defaults().listening(List.of(), List.of(new InetSocketAddress(LOOPBACK, 0))),
                new RoutingTable(List.of(new Route(Prefix.parse("0.0.0.0/0"), hop))),
                services);
    }

    private Packet request(String service) throws IOException {
        ByteBuffer payload = payload(1, 0, 7, 0).position(0).limit(HEADER + 1 + bytes);
        return new PacketBuilder()
                .source(InetAddress.getByName("10.0.1.2"))
                .destination(InetAddress.getByName("10.0.2.7"))
                .service(service)
                .build(payload);
    }

    private ByteBuffer payload(int kind, int ttlMs, long id, long replyKey) {
        return ByteBuffer.allocate(HEADER + 1 + bytes)
                .putShort((short) 0xFECA)
                .put((byte) kind)
                .put((byte) 1)
                .putInt(ttlMs)
                .putLong(id)
                .putLong(replyKey)
                .put((byte) 'k');
    }

    private static byte[] octets(Packet packet) {
        return ByteBuffer.allocate(packet.length()).put(packet.look()).array();
    }

    /** Is the origin of the one object: takes the question, which comes here, and its answer. */
    private void fill(DatagramSocket client, byte[] request) throws IOException {
        roundTripNs(client, request);
        Packet question = new Packet();
        question.parse(ByteBuffer.wrap(received.getData()), 0, received.getLength());
        long id = question.payload().getLong(question.payload().position() + 8);
        Packet answer = PacketBuilder.like(question)
                .service(Cache.class.getName())
                .build(payload(2, 3_600_000, id, 0).position(0).limit(HEADER + 1 + bytes));
        answer.swapEnds();
        roundTripNs(client, octets(answer));
    }

    private long roundTripNs(DatagramSocket client, byte[] request) throws IOException {
        received.setLength(received.getData().length);
        long beganNs = System.nanoTime();
        client.send(new DatagramPacket(request, request.length));
        client.receive(received);
        return System.nanoTime() - beganNs;
    }
}
