package org.tamanoir.gateway.udp;

import java.nio.ByteBuffer;
import org.tamanoir.platform.Platform;
import org.tamanoir.transport.UdpSender;

/**
 * Sends payloads of packets by the gateway's own socket, as when a service answers. Who is answered is a sender that is
 * remembered, where there is room without another one giving way.
 *
 * <p>Thread contract: one thread.
 */
final class AnswerSender implements UdpSender {
    private final UdpSender sender;
    private final SentCounts.Of counted;
    private final RememberedFlows remembered;
    // Where what is added leaves from.
    private long ownHigh;
    private long ownLow;
    private int ownDevice;

    AnswerSender(UdpSender sender, GatewayFlows flows, Platform platform) {
        this.sender = sender;
        this.counted = flows.sent.newOne();
        this.remembered = new RememberedFlows(flows::answered, platform);
    }

    @Override
    public void add(ByteBuffer buffer, int offset, int length, long high, long low, int port) {
        int header = GatewaySocket.headerOctets(buffer, offset, length);
        sender.add(buffer, offset + header, length - header, high, low, port);
        GatewayFlow flow = remembered.of(high, low, port, ownHigh, ownLow, ownDevice);
        if (flow != null) {
            flow.answered();
        }
    }

    @Override
    public void markAs(int trafficOctet) {
        sender.markAs(trafficOctet);
    }

    @Override
    public void from(long high, long low, int device) {
        ownHigh = high;
        ownLow = low;
        ownDevice = device;
        sender.from(high, low, device);
    }

    @Override
    public void discard() {
        sender.discard();
    }

    @Override
    public void flush() {
        sender.flush();
        counted.add(sender);
    }

    @Override
    public long sentPackets() {
        return sender.sentPackets();
    }

    @Override
    public long sentBytes() {
        return sender.sentBytes();
    }

    @Override
    public long failedPackets() {
        return sender.failedPackets();
    }

    @Override
    public String lastError() {
        return sender.lastError();
    }
}
