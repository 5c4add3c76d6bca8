package org.tamanoir.ee;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.Framing;
import org.tamanoir.transport.Buffer;
import org.tamanoir.transport.TcpConnection;

/**
 * The walk along the packets that a stream's sender has brought, one after another where they lie, as far as next hops
 * take them. A packet that has to wait interrupts the walk, which goes on when the packet has left.
 *
 * <p>Thread contract: the stream's thread.
 */
final class BatchWalk implements LookAhead.Walk {
    private final StreamInstance instance;
    private final TcpConnection inbound;
    private final TcpWayBack back;
    private final PacketRuns.Input consumed;
    /** The buffer that is being walked; null between batches. */
    private @Nullable Buffer walked;

    BatchWalk(StreamInstance instance, TcpConnection inbound, TcpWayBack back) {
        this.instance = instance;
        this.inbound = inbound;
        this.back = back;
        this.consumed = inbound::consumed;
        instance.nextHops.routes.ahead.along(this);
    }

    /** Returns whether a packet interrupted the walk. */
    boolean isInterrupted() {
        return walked != null;
    }

    /**
     * Walks what is here, or goes on with that.
     *
     * @return the buffer that ends in a malformed header; null as long as all are packets
     */
    @Nullable
    Buffer walk() {
        Buffer input = walked == null ? inbound.input() : walked;
        while (input != null) {
            if (walked == null) {
                walked = input;
                input.pin();
                instance.memory.arrivals(input);
            }
            int length = walk(input);
            if (instance.waits.isParked()) {
                return null; // The packet in hand may lie there.
            }
            end();
            if (inbound.input() == input) {
                return length == Framing.BROKEN ? input : null;
            }
            // While a packet waited, the end of the stream was read, and what is left moved.
            instance.nextHops.flush(); // What leaves from the old place keeps it once it is written.
            back.flush();
            input = inbound.input();
        }
        return null;
    }

    /** Walks the packets of one buffer; returns what it ended at. */
    private int walk(Buffer input) {
        PacketPath path = instance.path;
        ByteBuffer bytes = input.nio();
        int at = inbound.start();
        int end = inbound.end();
        int length = Framing.MORE;
        while (inbound.input() == input
                && !instance.thread.isPaused()
                && !instance.memory.isFull()
                && !instance.isOver()
                && !instance.isClosing()
                && !instance.waits.isParked()) {
            int next = path.runs.walk(input, at, end, consumed);
            if (next == at) {
                length = path.parseNext(bytes, at, end);
                if (length <= 0) {
                    break;
                }
                next = at + length;
                inbound.consumed(next);
                path.handleParsed();
            }
            at = next;
        }
        return length;
    }

    @Override
    public void show(LookAhead ahead) {
        if (walked != null && inbound.input() == walked) {
            ByteBuffer bytes = walked.nio();
            int end = inbound.end();
            int length = 1;
            for (int at = inbound.start(); length > 0; at += length) {
                length = ahead.see(bytes, at, end);
            }
        }
    }

    /** Ends the walk; the memory may be others' from now on. */
    void end() {
        if (walked != null) {
            walked.unpin();
            walked = null;
        }
    }
}
