package org.tamanoir.node.load;

import java.io.IOException;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Puts the payloads of a numbered stream, which begins at 0, back into their order. A payload that is ahead waits
 * for the ones before it, until {@link #MAX_PACKETS} numbers or {@link #MAX_BYTES} bytes wait; then the missing
 * ones count as lost and nothing stands in their place. One that comes after that is left out.
 *
 * <p>Thread contract: one thread.
 */
public final class ReorderWindow {
    static final int MAX_PACKETS = 4096;
    static final int MAX_BYTES = 8 * 1024 * 1024;

    /** Where payloads go in order. */
    public interface Target {
        void write(ByteBuffer payload) throws IOException;
    }

    private final Target target;
    private final @Nullable ByteBuffer[] waiting = new ByteBuffer[MAX_PACKETS];
    private int waitingPackets;
    private int waitingBytes;
    private long next;
    private long leftOut;

    public ReorderWindow(Target target) {
        this.target = target;
    }

    /** @param payload copied when it has to wait */
    public void accept(long sequence, ByteBuffer payload) throws IOException {
        if (sequence < next) {
            leftOut++;
            return;
        }
        while (sequence - next >= MAX_PACKETS) {
            if (waitingPackets == 0) {
                next = sequence;
            } else {
                giveUpFirstHole();
            }
        }
        if (sequence == next) {
            target.write(payload);
            next++;
            releaseReady();
        } else {
            keep(slot(sequence), payload);
            while (waitingBytes > MAX_BYTES) {
                giveUpFirstHole();
            }
        }
    }

    private void keep(int slot, ByteBuffer payload) {
        if (waiting[slot] == null) {
            int bytes = payload.remaining();
            waiting[slot] = ByteBuffer.allocate(bytes).put(payload).flip();
            waitingPackets++;
            waitingBytes += bytes;
        }
    }

    private static int slot(long sequence) {
        return (int) (sequence % MAX_PACKETS);
    }

    private void giveUpFirstHole() throws IOException {
        while (waiting[slot(next)] == null) {
            next++;
        }
        releaseReady();
    }

    private void releaseReady() throws IOException {
        int slot = slot(next);
        ByteBuffer ready = waiting[slot];
        while (waitingPackets > 0 && ready != null) {
            waiting[slot] = null;
            waitingPackets--;
            waitingBytes -= ready.remaining();
            target.write(ready);
            next++;
            slot = slot(next);
            ready = waiting[slot];
        }
    }

    /** Writes all that waits: nothing more comes. */
    public void end() throws IOException {
        while (waitingPackets > 0) {
            giveUpFirstHole();
        }
    }

    /** Payloads that came when their place was passed. */
    long leftOut() {
        return leftOut;
    }
}
