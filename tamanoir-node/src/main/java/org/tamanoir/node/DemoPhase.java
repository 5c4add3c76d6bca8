package org.tamanoir.node;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.client.AnepReceiver;
import org.tamanoir.client.AnepSender;
import org.tamanoir.ee.TrafficSnapshot;
import org.tamanoir.transport.TransportKind;

/**
 * One stream of the demo: the file, through both nodes, to a receiver that checks it.
 *
 * @param name as shown
 * @param tcp or UDP
 * @param service which the packets name when they leave the sender
 * @param packetOctets whole packets, header included
 */
record DemoPhase(String name, boolean tcp, String service, int packetOctets) {
    /** Half of what a socket takes that nobody reads, by Linux' default limit and accounting. */
    private static final long UDP_WINDOW_OCTETS = 128 * 1024;

    private static final long END_PATIENCE_NS = TimeUnit.SECONDS.toNanos(10);
    private static final long UDP_SILENCE_NS = TimeUnit.SECONDS.toNanos(1);
    private static final long POLL_MS = 10;
    private static final int HOP_BUDGET = 8;

    /**
     * What came of it. In and out count packets.
     *
     * @param packets sent
     * @param octets sent, without headers
     * @param seconds from connecting to the last arrival
     * @param megabytesPerSecond octets without headers, 10^6
     * @param linkRatio octets into the first node for each octet out of it
     * @param octetsEqual all that arrived is right; over TCP all has arrived
     */
    record Result(
            String name,
            long packets,
            long octets,
            double seconds,
            double megabytesPerSecond,
            long firstNodeIn,
            long firstNodeOut,
            long secondNodeIn,
            long secondNodeOut,
            long dropped,
            long lost,
            double linkRatio,
            boolean octetsEqual) {}

    Result run(DemoNetwork network, DemoFile file, TransportKind kind, Output output)
            throws IOException, InterruptedException {
        AnepReceiver.Settings listening = AnepReceiver.on(new InetSocketAddress(DemoNetwork.loopback(), 0))
                .transportKind(kind);
        PacketBuilder builder = new PacketBuilder()
                        .destination(new Endpoint(DemoNetwork.DESTINATION, 0).address())
                        .destinationPort(Endpoint.MAX_PORT)
                        .service(Settings.serviceName(service))
                        .classOfService(0, 0)
                        .stream(1)
                        .hopBudget(HOP_BUDGET);
        int payloadOctets = packetOctets - builder.headerLength();
        DemoCheck check = new DemoCheck(file, payloadOctets);
        TrafficSnapshot firstBefore = network.firstTraffic();
        TrafficSnapshot secondBefore = network.secondTraffic();
        long startNs = System.nanoTime();
        SendStream stream;
        try (AnepReceiver receiver = (tcp ? listening.tcp() : listening.udp()).start(() -> check)) {
            builder.destinationPort(receiver.address().getPort());
            long window = tcp ? file.octets() : UDP_WINDOW_OCTETS;
            stream = new SendStream(
                    AnepSender.to(network.firstAddress()).transportKind(kind),
                    tcp,
                    SendStream.input(new DemoInput(file.content(), window, check::octets), builder, payloadOctets),
                    new Pacer(Double.POSITIVE_INFINITY, startNs));
            send(stream, check, output);
            awaitArrival(check, file);
            network.awaitRest();
        }
        TrafficSnapshot firstAfter = network.firstTraffic();
        TrafficSnapshot secondAfter = network.secondTraffic();
        long packets = stream.sender().sentPackets();
        long lost = tcp ? 0 : packets - check.different();
        double seconds = (check.lastNs() - startNs) / 1e9;
        String failure = stream.failure();
        if (failure != null) {
            output.message(name + ": " + failure);
        }
        return new Result(
                name,
                packets,
                file.octets(),
                seconds,
                Rates.perSecond(check.octets() / 1e6, seconds),
                firstAfter.packetsIn() - firstBefore.packetsIn(),
                firstAfter.packetsOut() - firstBefore.packetsOut(),
                secondAfter.packetsIn() - secondBefore.packetsIn(),
                secondAfter.packetsOut() - secondBefore.packetsOut(),
                firstAfter.dropped() - firstBefore.dropped() + secondAfter.dropped() - secondBefore.dropped(),
                lost,
                Rates.perSecond(
                        firstAfter.octetsIn() - firstBefore.octetsIn(),
                        firstAfter.octetsOut() - firstBefore.octetsOut()),
                failure == null && check.isRight(lost));
    }

    private void send(SendStream stream, DemoCheck check, Output output) throws InterruptedException {
        Thread sending = new Thread(stream, "demo " + name);
        Progress progress = new Progress(output, name + ": ", check::packets, check::octets);
        sending.start();
        while (sending.isAlive()) {
            sending.join(POLL_MS);
            progress.show();
        }
    }

    private void awaitArrival(DemoCheck check, DemoFile file) throws InterruptedException {
        if (tcp) {
            check.awaitEnd(END_PATIENCE_NS);
            return;
        }
        while (check.octets() < file.octets() && System.nanoTime() - check.lastNs() < UDP_SILENCE_NS) {
            TimeUnit.MILLISECONDS.sleep(POLL_MS);
        }
    }
}
