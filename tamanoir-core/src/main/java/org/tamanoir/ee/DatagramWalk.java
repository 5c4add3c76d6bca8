package org.tamanoir.ee;

import java.nio.ByteBuffer;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.traffic.Traffic;
import org.tamanoir.transport.UdpBatch;
import org.tamanoir.transport.UdpSocket;

/**
 * The walk along the datagrams of a batch, one after another where they lie, each of which is in hand meanwhile. Those
 * that the kernel joined into one message stand back to back.
 *
 * <p>Thread contract: the service's thread.
 */
final class DatagramWalk implements DatagramRuns.Walk, LookAhead.Walk {
    private final DatagramInHand inHand;
    private final UdpSocket socket;
    private final UdpBatch batch;
    private ByteBuffer memory;
    private int messages;
    private int message;
    /** Of the message in hand: behind its last byte, and the bytes of each of its datagrams. */
    private int end;

    private int segment = 1;
    private int at;
    private int length;
    private boolean isPutBack;
    private int datagrams;

    DatagramWalk(DatagramInHand inHand, UdpSocket socket, UdpBatch batch) {
        this.inHand = inHand;
        this.socket = socket;
        this.batch = batch;
        this.memory = batch.buffer();
    }

    /** Begins before the first datagram of as many messages. */
    void begin(int messages) {
        this.messages = messages;
        memory = batch.buffer();
        message = -1;
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
        for (int i = message; i < messages; ) {
            for (; from < behind; from += bytes) {
                if (ahead.isFull()) {
                    return;
                }
                ahead.see(memory, from, Math.min(from + bytes, behind));
            }
            if (++i < messages) {
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
        long bytes = end - at - length;
        long datagrams = datagrams(end - at - length, segment);
        while (++message < messages) {
            int more = batch.end(message) - batch.start(message);
            bytes += more;
            datagrams += Math.max(1, datagrams(more, Math.max(1, batch.segmentBytes(message))));
        }
        traffic.in(datagrams, bytes);
        traffic.drop(reason, datagrams);
    }

    private static int datagrams(int bytes, int segment) {
        return (bytes + segment - 1) / segment;
    }

    private boolean nextMessage() {
        if (++message >= messages) {
            return false;
        }
        inHand.take(socket, batch, message);
        at = batch.start(message);
        end = batch.end(message);
        segment = Math.max(1, batch.segmentBytes(message));
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
