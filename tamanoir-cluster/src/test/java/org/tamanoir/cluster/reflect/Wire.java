package org.tamanoir.cluster.reflect;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.tamanoir.routing.Addresses;
import org.tamanoir.transport.UdpBatch;
import org.tamanoir.transport.UdpRefusals;
import org.tamanoir.transport.UdpSender;

/** A network in memory for one session: what comes in is put here, what goes out is found here. One thread. */
final class Wire implements UdpBatch, UdpSender {
    /** A datagram that left. */
    record Sent(InetSocketAddress to, String bytes) {}

    /** Members whose datagrams the system refuses, and those for which there is no room. */
    final Set<Integer> refusedPorts = new HashSet<>();

    final Set<Integer> fullPorts = new HashSet<>();
    /** Whether {@link #flush} breaks. */
    boolean failsAtFlush;

    final List<Sent> sent = new ArrayList<>();
    private final List<Sent> added = new ArrayList<>();

    private record Message(InetSocketAddress from, int start, int end, int segment) {}

    private final ByteBuffer buffer = ByteBuffer.allocateDirect(1 << 20);
    private final List<Message> messages = new ArrayList<>();
    private final UdpRefusals refusals;
    private final Session session;
    private final int portOffset;
    private long sentBytes;
    private long failed;

    Wire(Session session, int portOffset) {
        this.session = session;
        this.portOffset = portOffset;
        refusals = session.refusals(portOffset);
        if (portOffset == 0) {
            session.media(this);
        }
    }

    static InetSocketAddress at(int port) {
        return new InetSocketAddress("127.0.0.1", port);
    }

    static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.ISO_8859_1);
    }

    static String text(byte[] bytes) {
        return new String(bytes, StandardCharsets.ISO_8859_1);
    }

    /** Adds a message of datagrams that the kernel joined: all of one length, but the last. */
    Wire in(int fromPort, byte[]... datagrams) {
        int start = messages.isEmpty() ? 0 : messages.get(messages.size() - 1).end + 64;
        int at = start;
        for (byte[] datagram : datagrams) {
            buffer.put(at, datagram);
            at += datagram.length;
        }
        messages.add(new Message(at(fromPort), start, at, datagrams[0].length));
        return this;
    }

    Wire in(int fromPort, String datagram) {
        return in(fromPort, ascii(datagram));
    }

    /** Has the session take what came in. */
    Wire run(long nowNs) {
        session.receive(this, messages.size(), this, portOffset, nowNs);
        messages.clear();
        return this;
    }

    /** Drops what came in and what was to leave. */
    void forget() {
        messages.clear();
        added.clear();
    }

    /** Returns what left for this port, in order, and forgets it. */
    List<String> take(int port) {
        List<String> bytes = sent.stream()
                .filter(each -> each.to.getPort() == port)
                .map(Sent::bytes)
                .toList();
        sent.removeIf(each -> each.to.getPort() == port);
        return bytes;
    }

    @Override
    public ByteBuffer buffer(int message) {
        return buffer;
    }

    @Override
    public int start(int message) {
        return messages.get(message).start;
    }

    @Override
    public int end(int message) {
        return messages.get(message).end;
    }

    @Override
    public int segmentBytes(int message) {
        return messages.get(message).segment;
    }

    @Override
    public long addressHigh(int message) {
        return Addresses.high(messages.get(message).from.getAddress());
    }

    @Override
    public long addressLow(int message) {
        return Addresses.low(messages.get(message).from.getAddress());
    }

    @Override
    public int port(int message) {
        return messages.get(message).from.getPort();
    }

    @Override
    public void add(ByteBuffer from, int offset, int length, long high, long low, int port) {
        byte[] bytes = new byte[length];
        from.get(offset, bytes);
        added.add(new Sent(new InetSocketAddress(Addresses.of(high, low), port), text(bytes)));
    }

    @Override
    public void discard() {
        added.clear();
    }

    @Override
    public void flush() {
        if (failsAtFlush && !added.isEmpty()) {
            throw new IllegalStateException("flush");
        }
        for (Sent each : added) {
            int port = each.to.getPort();
            if (refusedPorts.contains(port) || fullPorts.contains(port)) {
                failed++;
                refusals.refused(
                        Addresses.high(each.to.getAddress()),
                        Addresses.low(each.to.getAddress()),
                        port,
                        1,
                        each.bytes.length(),
                        fullPorts.contains(port));
            } else {
                sent.add(each);
                sentBytes += each.bytes.length();
            }
        }
        added.clear();
    }

    @Override
    public long sentPackets() {
        return sent.size();
    }

    @Override
    public long sentBytes() {
        return sentBytes;
    }

    @Override
    public long failedPackets() {
        return failed;
    }

    @Override
    public String lastError() {
        return "";
    }
}
