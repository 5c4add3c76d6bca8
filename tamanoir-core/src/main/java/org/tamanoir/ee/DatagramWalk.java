package org.tamanoir.ee;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Fold;
import org.tamanoir.traffic.Traffic;
import org.tamanoir.transport.UdpBatch;
import org.tamanoir.transport.UdpSocket;

/**
 * The walk along the datagrams of a batch, one after another where they lie, each of which is in hand meanwhile. Those
 * that the kernel joined into one message stand back to back. Those of a folded message are made whole when they are
 * wanted so.
 *
 * <p>Thread contract: the service's thread.
 */
final class DatagramWalk implements DatagramRuns.Walk, LookAhead.Walk {
    private final DatagramInHand inHand;
    private final UdpSocket socket;
    private final UdpBatch batch;
    /** Where, and through which socket, packets leave depends on the message that they came in: none goes with one of another. */
    private final boolean endsRuns;

    private ByteBuffer memory;
    private int messages;
    private int message;
    /** Of the message in hand: behind its last byte, and the bytes of each of its datagrams. */
    private int end;

    private int segment = 1;
    private @Nullable Fold fold;
    private int at;
    private int length;
    private boolean isPutBack;
    private int datagrams;

    DatagramWalk(DatagramInHand inHand, UdpSocket socket, UdpBatch batch) {
        this.inHand = inHand;
        this.socket = socket;
        this.batch = batch;
        this.endsRuns = inHand.tellsAnswers(socket);
        this.memory = batch.buffer(0);
        batch.leaveFolded(true);
    }

    /** Begins before the first datagram of as many messages. */
    void begin(int messages) {
        this.messages = messages;
        message = -1;
        fold = null;
        at = 0;
        length = 0;
        end = 0;
        isPutBack = false;
        datagrams = 0;
    }

    /** Returns how many datagrams it has come to. */
    int datagrams() {
        return datagrams;
    }

    @Override
    public boolean next() {
        if (isPutBack) {
            isPutBack = false;
            return true;
        }
        at += length;
        if (at >= end && !nextMessage()) {
            return false;
        }
        length = Math.min(segment, end - at);
        datagrams++;
        return true;
    }

    @Override
    public void show(LookAhead ahead) {
        int from = at + length;
        int behind = end;
        int bytes = segment;
        ByteBuffer in = memory;
        for (int i = message; i < messages; ) {
            for (; from < behind; from += bytes) {
                if (ahead.isFull()) {
                    return;
                }
                ahead.see(in, from, Math.min(from + bytes, behind)); // Nothing is seen in what is folded.
            }
            if (++i < messages) {
                in = batch.buffer(i);
                from = batch.start(i);
                behind = batch.end(i);
                bytes = Math.max(1, batch.segmentBytes(i));
            }
        }
    }

    /** Counts the datagrams behind the one in hand as come and dropped. Another thread, when this one does not return. */
    void dropRest(Traffic traffic, DropReason reason) {
        if (message >= messages) {
            return; // It has ended, and the thread does not return from something else.
        }
        long datagrams = datagrams(end - at - length, segment);
        long bytes = end - at - length + datagrams * unfolding(fold);
        while (++message < messages) {
            int more = batch.end(message) - batch.start(message);
            int behind = Math.max(1, datagrams(more, Math.max(1, batch.segmentBytes(message))));
            bytes += more + (long) behind * unfolding(batch.fold(message));
            datagrams += behind;
        }
        traffic.in(datagrams, bytes);
        traffic.drop(reason, datagrams);
    }

    /** Returns the bytes that a folded packet is longer as a whole one. */
    private static int unfolding(@Nullable Fold fold) {
        return fold == null ? 0 : fold.octets() - Fold.OCTETS;
    }

    private static int datagrams(int bytes, int segment) {
        return (bytes + segment - 1) / segment;
    }

    private boolean nextMessage() {
        if (endsRuns) {
            inHand.endRun();
        }
        if (++message >= messages) {
            return false;
        }
        inHand.take(socket, batch, message);
        locate();
        return true;
    }

    private void locate() {
        memory = batch.buffer(message);
        at = batch.start(message);
        end = batch.end(message);
        segment = Math.max(1, batch.segmentBytes(message));
        fold = batch.fold(message);
    }

    @Override
    public int together() {
        return datagrams(end - at, segment);
    }

    @Override
    public @Nullable Fold fold() {
        return fold;
    }

    @Override
    public boolean unfold() {
        if (!batch.unfold(message, at)) {
            end = at + length;
            return false;
        }
        locate();
        length = Math.min(segment, end - at);
        return true;
    }

    @Override
    public void putBack() {
        isPutBack = true;
    }

    @Override
    public ByteBuffer memory() {
        return memory;
    }

    @Override
    public int at() {
        return at;
    }

    @Override
    public int length() {
        return length;
    }
}
