package org.tamanoir.node.demo;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.client.AnepReceiver;
import org.tamanoir.client.AnepSender;
import org.tamanoir.node.cli.Output;
import org.tamanoir.node.config.Endpoint;
import org.tamanoir.node.config.NodeConfigBuilder;
import org.tamanoir.node.load.Pacer;
import org.tamanoir.node.load.Progress;
import org.tamanoir.node.load.Rates;
import org.tamanoir.node.load.SendStream;
import org.tamanoir.traffic.TrafficSnapshot;
import org.tamanoir.transport.TransportKind;

/**
 * One stream of the demo: the file, through both nodes, to a receiver that checks it.
 *
 * @param name as shown
 * @param tcp or UDP
 * @param service which the packets name when they leave the sender
 * @param packetBytes whole packets, header included
 */
record DemoPhase(String name, boolean tcp, String service, int packetBytes) {
    /** Half of what a socket takes that nobody reads, by Linux' default limit and accounting. */
    private static final long UDP_WINDOW_BYTES = 128 * 1024;

    private static final long END_PATIENCE_NS = TimeUnit.SECONDS.toNanos(10);
    private static final long UDP_SILENCE_NS = TimeUnit.SECONDS.toNanos(1);
    private static final long POLL_MS = 10;
    private static final int HOP_BUDGET = 8;

    /**
     * What came of it. In and out count packets.
     *
     * @param packets sent
     * @param bytes sent, without headers
     * @param seconds from connecting to the last arrival
     * @param megabytesPerSecond bytes without headers, 10^6
     * @param linkRatio bytes into the first node for each byte out of it
     * @param bytesEqual all that arrived is right; over TCP all has arrived
     */
    record Result(
            String name,
            long packets,
            long bytes,
            double seconds,
            double megabytesPerSecond,
            long firstNodeIn,
            long firstNodeOut,
            long secondNodeIn,
            long secondNodeOut,
            long dropped,
            long lost,
            double linkRatio,
            boolean bytesEqual) {}

    Result run(DemoNetwork network, DemoFile file, TransportKind kind, Output output)
            throws IOException, InterruptedException {
        AnepReceiver.Settings listening = AnepReceiver.on(new InetSocketAddress(DemoNetwork.loopback(), 0))
                .transportKind(kind);
        PacketBuilder builder = new PacketBuilder()
                        .destination(new Endpoint(DemoNetwork.DESTINATION, 0).address())
                        .destinationPort(Endpoint.MAX_PORT)
                        .service(NodeConfigBuilder.serviceName(service))
                        .classOfService(0, 0)
                        .stream(1)
                        .hopBudget(HOP_BUDGET);
        int payloadBytes = packetBytes - builder.headerLength();
        DemoCheck check = new DemoCheck(file, payloadBytes);
        TrafficSnapshot firstBefore = network.firstTraffic();
        TrafficSnapshot secondBefore = network.secondTraffic();
        long startNs = System.nanoTime();
        SendStream stream;
        try (AnepReceiver receiver = (tcp ? listening.tcp() : listening.udp()).start(() -> check)) {
            builder.destinationPort(receiver.address().getPort());
            long window = tcp ? file.bytes() : UDP_WINDOW_BYTES;
            stream = new SendStream(
                    AnepSender.to(network.firstAddress()).transportKind(kind),
                    tcp ? SendStream.Way.TCP : SendStream.Way.UDP,
                    SendStream.input(new DemoInput(file.content(), window, check::bytes), builder, payloadBytes),
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
                file.bytes(),
                seconds,
                Rates.perSecond(check.bytes() / 1e6, seconds),
                firstAfter.packetsIn() - firstBefore.packetsIn(),
                firstAfter.packetsOut() - firstBefore.packetsOut(),
                secondAfter.packetsIn() - secondBefore.packetsIn(),
                secondAfter.packetsOut() - secondBefore.packetsOut(),
                firstAfter.dropped() - firstBefore.dropped() + secondAfter.dropped() - secondBefore.dropped(),
                lost,
                Rates.perSecond(
                        firstAfter.bytesIn() - firstBefore.bytesIn(), firstAfter.bytesOut() - firstBefore.bytesOut()),
                failure == null && check.isRight(lost));
    }

    private void send(SendStream stream, DemoCheck check, Output output) throws InterruptedException {
        Thread sending = new Thread(stream, "demo " + name);
        Progress progress = new Progress(output, name + ": ", check::packets, check::bytes);
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
        while (check.bytes() < file.bytes() && System.nanoTime() - check.lastNs() < UDP_SILENCE_NS) {
            TimeUnit.MILLISECONDS.sleep(POLL_MS);
        }
    }
}
