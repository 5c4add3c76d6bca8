package org.tamanoir.node.demo;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.Packet;
import org.tamanoir.client.PacketHandler;
import org.tamanoir.client.Peer;
import org.tamanoir.client.SequenceTracker;
import org.tamanoir.node.load.ReorderWindow;

/**
 * Compares what arrives of one stream with the file that was sent: over TCP by the digest of all bytes as they
 * come, over UDP besides each packet's bytes with those at its place.
 *
 * <p>Thread contract: the receiver's thread calls the handler's methods; {@link #bytes}, {@link #packets},
 * {@link #lastNs} and the waits from any; the rest when the receiver is closed.
 */
final class DemoCheck implements PacketHandler {
    private final DemoFile file;
    private final int payloadBytes;
    private final MessageDigest digest = DemoFile.newDigest();
    private final SequenceTracker tracker = new SequenceTracker();
    private final ReorderWindow window = new ReorderWindow(digest::update);
    private final CountDownLatch ended = new CountDownLatch(1);
    private volatile long bytes;
    private volatile long packets;
    private volatile long lastNs = System.nanoTime();
    private long wrongPackets;
    private @Nullable String fault;

    /** @param payloadBytes of each packet but the last */
    DemoCheck(DemoFile file, int payloadBytes) {
        this.file = file;
        this.payloadBytes = payloadBytes;
    }

    @Override
    public void packet(Packet packet, Peer peer) throws IOException {
        ByteBuffer payload = packet.payload();
        int length = payload.remaining();
        packets = packets + 1;
        if (!peer.isUdp()) {
            digest.update(payload);
        } else if (tracker.track(packet.sequence()) != SequenceTracker.Outcome.DUPLICATE) {
            compare(packet.sequence() * payloadBytes, payload);
            window.accept(packet.sequence(), payload);
        }
        bytes = bytes + length;
    }

    private void compare(long place, ByteBuffer payload) {
        boolean inside = place >= 0 && place + payload.remaining() <= file.bytes();
        if (!inside || payload.mismatch(file.content().slice((int) place, payload.remaining())) >= 0) {
            wrongPackets++;
        }
    }

    @Override
    public void batchEnd() {
        lastNs = System.nanoTime();
    }

    @Override
    public void closed(@Nullable String reason) {
        fault = reason;
        ended.countDown();
    }

    /** Waits until the TCP connection has ended. */
    boolean awaitEnd(long timeoutNs) throws InterruptedException {
        return ended.await(timeoutNs, TimeUnit.NANOSECONDS);
    }

    /** Payload bytes so far. */
    long bytes() {
        return bytes;
    }

    long packets() {
        return packets;
    }

    /** When the last packets came, or this began, in the time of {@link System#nanoTime}. */
    long lastNs() {
        return lastNs;
    }

    /** Different packets that came over UDP. */
    long different() {
        return tracker.received();
    }

    /** Whether all that came is the file's; with packets lost, which leave holes, each packet at its place. */
    boolean isRight(long lostPackets) throws IOException {
        window.end();
        boolean whole = DemoFile.text(digest).equals(file.sha256()) && bytes == file.bytes();
        return fault == null && wrongPackets == 0 && (whole || lostPackets > 0);
    }
}
