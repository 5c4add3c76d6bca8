package org.tamanoir.benchmarks.emulate;

import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Datagrams that wait in a port's memory, one behind the other, and from its begin again: what is taken lies there until
 * the next is taken.
 *
 * <p>Thread contract: one thread puts, one takes; both may be the same.
 */
final class Ring implements EmulatedPort.Feed {
    /** Datagrams that may wait or lie there. */
    private static final int PLACES = 1 << 14;

    /** Datagrams taken at once. */
    private static final int TAKEN = 1024;

    private final PacketWriter writer;
    private final ByteBuffer memory;
    private final int[] offsets = new int[PLACES];
    private final int[] lengths = new int[PLACES];
    /** Bytes that were used before each, since the ring was made. The putting thread's, as is the next. */
    private final long[] positions = new long[PLACES];

    private long position;
    private volatile long batches; // One thread takes.
    private final AtomicLong put = new AtomicLong();
    private final AtomicLong taken = new AtomicLong();
    /** Up to here places may be written again. */
    private final AtomicLong free = new AtomicLong();

    Ring(PacketWriter writer, ByteBuffer memory) {
        this.writer = writer;
        this.memory = memory;
    }

    /** Puts a packet that came at {@code ns}; false when the ring is full. */
    boolean put(Arrival arrival, long ns) {
        long at = put.get();
        long least = free.getAcquire();
        int bytes = PacketWriter.bytes(arrival);
        int size = memory.capacity();
        int offset = (int) (position % size);
        long begin = offset + bytes > size ? position - offset + size : position;
        if (at - least == PLACES || at > least && begin + bytes - positions[(int) (least % PLACES)] > size) {
            return false;
        }
        int place = (int) (at % PLACES);
        offsets[place] = (int) (begin % size);
        lengths[place] = writer.write(memory, offsets[place], arrival, ns);
        positions[place] = begin;
        position = begin + bytes;
        put.setRelease(at + 1);
        return true;
    }

    /** Gives what waits to a batch, and room to what comes instead of the batch before; returns how many. */
    int take(Batch batch) {
        long from = taken.get();
        free.setRelease(from);
        long end = Math.min(put.getAcquire(), from + TAKEN);
        long at = from;
        while (at < end && batch.add(offsets[(int) (at % PLACES)], lengths[(int) (at % PLACES)])) {
            at++;
        }
        taken.set(at);
        batches += at > from ? 1 : 0;
        return (int) (at - from);
    }

    @Override
    public boolean isReady() {
        return waiting() > 0;
    }

    @Override
    public boolean fill(Batch batch) {
        return take(batch) > 0;
    }

    /** Returns how many times something was taken. Any thread. */
    long batches() {
        return batches;
    }

    /** Returns how many wait. Any thread. */
    long waiting() {
        return put.get() - taken.get();
    }
}
