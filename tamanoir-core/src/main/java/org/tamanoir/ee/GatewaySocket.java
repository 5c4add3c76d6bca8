package org.tamanoir.ee;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import org.tamanoir.anep.Framing;
import org.tamanoir.anep.Packet;
import org.tamanoir.gateway.UdpGateway;
import org.tamanoir.routing.Addresses;
import org.tamanoir.transport.BatchMemory;
import org.tamanoir.transport.UdpBatch;
import org.tamanoir.transport.UdpSender;
import org.tamanoir.transport.UdpSocket;

/**
 * The socket of a gateway for UDP: on its wire are plain datagrams, and behind it packets, of which each has a datagram
 * for its payload.
 *
 * <p>Thread contract: that of {@link UdpSocket}.
 */
final class GatewaySocket implements UdpSocket {
    private final UdpSocket socket;
    private final UdpGateway gateway;
    private final GatewayFlows flows;
    private final BatchMemory memory;
    private final long toHigh;
    private final long toLow;

    GatewaySocket(UdpSocket socket, UdpGateway gateway, GatewayFlows flows, BatchMemory memory) {
        this.socket = socket;
        this.gateway = gateway;
        this.flows = flows;
        this.memory = memory;
        this.toHigh = Addresses.high(gateway.to().getAddress());
        this.toLow = Addresses.low(gateway.to().getAddress());
    }

    /** Returns the ways to the far side. */
    GatewayFlows flows() {
        return flows;
    }

    /** Returns whether a packet is for the far side. */
    boolean isFor(Packet packet) {
        return packet.hasInternetDestination()
                && packet.destinationPort() == gateway.to().getPort()
                && packet.destinationLow() == toLow
                && packet.destinationHigh() == toHigh;
    }

    @Override
    public UdpBatch newBatch() {
        return new GatewayBatch(gateway, flows, memory, socket.newBatch());
    }

    @Override
    public int receive(UdpBatch batch) throws IOException {
        if (!(batch instanceof GatewayBatch own)) {
            throw new IllegalArgumentException("batch of another kind of socket; take it from newBatch()");
        }
        return own.open(socket.receive(own.under()));
    }

    @Override
    public UdpSender newSender() {
        return new PayloadSender(socket.newSender());
    }

    /** Sends packets' payloads alone. */
    private record PayloadSender(UdpSender sender) implements UdpSender {
        @Override
        public void add(ByteBuffer buffer, int offset, int length, long high, long low, int port) {
            int header = Math.min(length, Framing.claimedHeaderLength(buffer, offset));
            sender.add(buffer, offset + header, length - header, high, low, port);
        }

        @Override
        public void markAs(int trafficOctet) {
            sender.markAs(trafficOctet);
        }

        @Override
        public void flush() {
            sender.flush();
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

    @Override
    public UdpSocket watched() {
        return socket.watched();
    }

    @Override
    public InetSocketAddress localAddress() {
        return socket.localAddress();
    }

    @Override
    public void receiveInTransit() throws IOException {
        throw new IOException("a gateway's socket receives nothing in transit");
    }

    @Override
    public int sendBufferBytes() {
        return socket.sendBufferBytes();
    }

    @Override
    public boolean awaitReadable(Duration timeout) throws IOException {
        return socket.awaitReadable(timeout);
    }

    @Override
    public void close() {
        socket.close();
    }
}
