package org.tamanoir.message;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketSpace;
import org.tamanoir.format.Format;
import org.tamanoir.format.FormatException;
import org.tamanoir.service.Allowance;

/**
 * Puts messages of several packets together: what comes in order is copied once, to where it belongs; what comes before
 * its turn waits in memory of its own. Bounded in bytes, messages, packets and time.
 *
 * <p>Thread contract: the service's thread.
 */
final class Reassembly {
    /** What becomes of messages. */
    interface Sink {
        /** A message is whole: its memory is lent for the call. */
        void whole(Assembly message);

        /** A message ends before it was whole. */
        void broken(MessageReason reason);

        /** A packet has waited for its beginning in vain; it is lent for the call. */
        void stray(Packet packet, Allowance allowance);
    }

    /** A packet that came before those in front of it. */
    private static final class Early {
        final FlowKey flow = new FlowKey();
        final long sequence;
        final long sinceNs;
        final ByteBuffer memory;
        final Packet packet;
        final Allowance allowance;

        Early(Packet of, ByteBuffer memory, Allowance allowance, long nowNs) {
            this.allowance = allowance.keep();
            flow.set(of);
            sequence = of.sequence();
            sinceNs = nowNs;
            this.memory = memory;
            of.copyTo(memory, 0);
            packet = new Packet(of.typeId(), PacketSpace.HEAP);
            packet.parse(memory, 0, of.length());
        }
    }

    private static final int EARLY_PER_MESSAGE = 4;
    private static final int PAST = 64;

    /** A message that is over, so that its packets are known when they come again or late. */
    private static final class Past {
        final FlowKey flow = new FlowKey();
        long first;
        long next;
        long sinceNs;
        /** Packets that continue it end for this reason; null: the message was whole. */
        @Nullable
        MessageReason reason;
        /** Packets that continue it pass. */
        boolean passes;

        boolean used;
    }

    private final MessageSettings settings;
    private final Sink sink;
    private final Blocks blocks;
    private final List<Assembly> open = new ArrayList<>();
    private final List<Early> early = new ArrayList<>();
    private final Past[] past = new Past[PAST];
    private int pastAt;
    private final FlowKey probe = new FlowKey();

    Reassembly(MessageSettings settings, Sink sink) {
        this.settings = settings;
        this.sink = sink;
        blocks = new Blocks(settings.reassemblyBytes());
        for (int i = 0; i < PAST; i++) {
            past[i] = new Past();
        }
    }

    /** Returns whether this beginning of a message has been here. */
    boolean isKnown(Packet beginning, long nowNs) {
        probe.set(beginning);
        long sequence = beginning.sequence();
        for (Assembly message : open) {
            if (message.first == sequence && message.flow.equals(probe)) {
                return true;
            }
        }
        Past over = past(sequence, nowNs);
        return over != null && over.first == sequence;
    }

    private @Nullable Past past(long sequence, long nowNs) {
        for (Past over : past) {
            if (over.used
                    && sequence - over.first >= 0
                    && sequence - over.next <= 0
                    && over.flow.equals(probe)
                    && nowNs - over.sinceNs < settings.reassemblyNs()
                    && (sequence != over.next || over.reason != null || over.passes)) {
                return over;
            }
        }
        return null;
    }

    /**
     * Takes the first packet of a message.
     *
     * @return why the message ends here; null if it goes on
     */
    @Nullable
    MessageReason begin(Packet packet, ByteBuffer look, Allowance allowance, Format format, long nowNs) {
        probe.set(packet);
        long sequence = packet.sequence();
        for (int i = open.size() - 1; i >= 0; i--) {
            Assembly other = open.get(i);
            if (other.flow.equals(probe) && (other.next == sequence || other.has(sequence))) {
                end(other, MessageReason.OVERLAP);
            }
        }
        if (open.size() >= settings.reassemblyMessages()) {
            return MessageReason.REASSEMBLY_FULL;
        }
        Assembly message = new Assembly(blocks, settings.messageBytes(), packet, allowance, format, nowNs);
        MessageReason refused = append(message, look, look.position() + packet.headerLength(), packet.payloadLength());
        if (refused != null) {
            message.free();
            return refused;
        }
        open.add(message);
        goOn(message, nowNs);
        return null;
    }

    private static @Nullable MessageReason append(Assembly message, ByteBuffer from, int at, int bytes) {
        try {
            return message.append(from, at, bytes);
        } catch (FormatException e) {
            return MessageReason.RECORD;
        }
    }

    /** What becomes of a packet that continues a message. */
    enum Fate {
        /** Its bytes are here. */
        TAKEN,
        /** It belongs to no message that is known, and may not wait. */
        STRAY,
        /** It goes on like the beginning of its message. */
        PASSES,
        /** It came twice. */
        DUPLICATE,
        /** Its message has ended. */
        DROPPED
    }

    /**
     * Takes a packet that continues a message.
     *
     * @param mayWait whether it may have come before its beginning
     * @param mayStandAlone whether it is something else if it is not the next of a message
     */
    Fate next(Packet packet, ByteBuffer look, Allowance allowance, long nowNs, boolean mayWait, boolean mayStandAlone) {
        probe.set(packet);
        long sequence = packet.sequence();
        boolean expected = false;
        for (Assembly message : open) {
            if (message.flow.equals(probe)) {
                if (message.next == sequence) {
                    int at = look.position() + packet.headerLength();
                    MessageReason refused = append(message, look, at, packet.payloadLength());
                    message.allow(allowance);
                    continued(message, refused, nowNs);
                    return Fate.TAKEN;
                }
                if (message.has(sequence)) {
                    return Fate.DUPLICATE;
                }
                expected |= sequence - message.next > 0;
            }
        }
        Past over = past(sequence, nowNs);
        if (over != null && !(mayStandAlone && sequence == over.next)) {
            if (sequence != over.next) {
                return over.passes ? Fate.PASSES : Fate.DUPLICATE;
            }
            over.next++;
            over.sinceNs = nowNs;
            return over.passes ? Fate.PASSES : Fate.DROPPED;
        }
        return (mayWait || expected) && !mayStandAlone ? wait(packet, allowance, sequence, nowNs) : Fate.STRAY;
    }

    private Fate wait(Packet packet, Allowance allowance, long sequence, long nowNs) {
        for (Early other : early) {
            if (other.sequence == sequence && other.flow.equals(probe)) {
                return Fate.DUPLICATE;
            }
        }
        if (early.size() >= EARLY_PER_MESSAGE * settings.reassemblyMessages()) {
            return Fate.STRAY;
        }
        ByteBuffer memory = blocks.take(packet.length());
        if (memory == null) {
            return Fate.STRAY;
        }
        packet.seal();
        early.add(new Early(packet, memory, allowance, nowNs));
        return Fate.TAKEN;
    }

    private void continued(Assembly message, @Nullable MessageReason refused, long nowNs) {
        if (refused != null) {
            end(message, refused);
        } else {
            goOn(message, nowNs);
        }
    }

    /** Adds what came early, and lets the message go when it is whole. */
    private void goOn(Assembly message, long nowNs) {
        for (int i = 0; i < early.size() && !message.isWhole(); ) {
            Early packet = early.get(i);
            if (packet.sequence != message.next || !packet.flow.equals(message.flow)) {
                i++;
                continue;
            }
            early.remove(i);
            MessageReason refused =
                    append(message, packet.memory, packet.packet.headerLength(), packet.packet.payloadLength());
            message.allow(packet.allowance);
            blocks.give(packet.memory);
            if (refused != null) {
                end(message, refused);
                return;
            }
            i = 0;
        }
        if (message.isWhole()) {
            open.remove(message);
            remember(message.flow, message.first, message.next, null, false, nowNs);
            try {
                sink.whole(message);
            } finally {
                message.free();
            }
            return;
        }
        for (Assembly other : open) {
            if (other != message && other.first == message.next && other.flow.equals(message.flow)) {
                end(message, MessageReason.OVERLAP);
                return;
            }
        }
    }

    private void end(Assembly message, MessageReason reason) {
        open.remove(message);
        message.free();
        remember(
                message.flow,
                message.first,
                followers(message.flow, message.next, false),
                reason,
                false,
                message.sinceNs);
        sink.broken(reason);
    }

    /** Has packets that continue a message go its way: dropped for the reason, or passed on where there is none. */
    void refuse(Packet beginning, @Nullable MessageReason reason, long nowNs) {
        probe.set(beginning);
        long first = beginning.sequence();
        boolean passes = reason == null;
        remember(probe, first, followers(probe, first + 1, passes), reason, passes, nowNs);
    }

    /** Ends packets that came early, from this one on as far as they follow one another; returns the next. */
    private long followers(FlowKey flow, long from, boolean pass) {
        long next = from;
        for (int i = 0; i < early.size(); ) {
            Early packet = early.get(i);
            if (packet.sequence != next || !packet.flow.equals(flow)) {
                i++;
                continue;
            }
            if (pass) {
                stray(packet);
            } else {
                early.remove(i);
                blocks.give(packet.memory);
            }
            next++;
            i = 0;
        }
        return next;
    }

    private void remember(
            FlowKey flow, long first, long next, @Nullable MessageReason reason, boolean passes, long nowNs) {
        Past over = past[pastAt];
        pastAt = (pastAt + 1) % PAST;
        over.flow.set(flow);
        over.first = first;
        over.next = next;
        over.reason = reason;
        over.passes = passes;
        over.sinceNs = nowNs;
        over.used = true;
    }

    boolean isEmpty() {
        return open.isEmpty() && early.isEmpty();
    }

    /** Ends what has waited too long; returns when to look again, {@link Long#MAX_VALUE} if nothing waits. */
    long expire(long nowNs) {
        while (!open.isEmpty() && nowNs - open.get(0).sinceNs >= settings.reassemblyNs()) {
            end(open.get(0), MessageReason.INCOMPLETE);
        }
        while (!early.isEmpty() && nowNs - early.get(0).sinceNs >= settings.reassemblyNs()) {
            stray(early.get(0));
        }
        if (isEmpty()) {
            return Long.MAX_VALUE;
        }
        long first = open.isEmpty() ? early.get(0).sinceNs : open.get(0).sinceNs;
        if (!early.isEmpty() && early.get(0).sinceNs - first < 0) {
            first = early.get(0).sinceNs;
        }
        return first + settings.reassemblyNs();
    }

    private void stray(Early packet) {
        early.remove(packet);
        try {
            sink.stray(packet.packet, packet.allowance);
        } finally {
            blocks.give(packet.memory);
        }
    }

    /** Ends all that is not whole. */
    void finish() {
        while (!open.isEmpty()) {
            end(open.get(0), MessageReason.INCOMPLETE);
        }
        while (!early.isEmpty()) {
            stray(early.get(0));
        }
    }

    /** Returns the bytes in use. */
    long heldBytes() {
        return blocks.usedBytes();
    }
}
