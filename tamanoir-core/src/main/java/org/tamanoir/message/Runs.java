package org.tamanoir.message;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.Packet;
import org.tamanoir.format.Format;
import org.tamanoir.format.FormatException;
import org.tamanoir.format.FormatId;
import org.tamanoir.format.FormatSource;
import org.tamanoir.message.MessageSettings.Policy;
import org.tamanoir.service.Allowance;
import org.tamanoir.service.Verdict;

/**
 * Packets that are runs of items: each record is a message of its own, and what stays leaves in the packet.
 *
 * <p>Thread contract: the service's thread.
 */
final class Runs implements RunWriter.Left {
    /** Is told of what comes in runs. */
    interface Arrivals {
        /** Returns whether a packet may wait for this format, which is not known. */
        boolean mayWait(FormatId id);

        /** A message has come. */
        void arrive();

        /** Returns whether a packet may go on with so many bytes, paid for by an allowance; charges it where that is needed. */
        boolean mayGoOn(Packet packet, @Nullable InetSocketAddress destination, int bytes, Allowance paying);

        /** A format is known that was not. */
        void learnt(FormatId id);
    }

    private final FormatSource formats;
    private final Introductions introductions;
    private final HandlerCalls calls;
    private final MessageCounts counts;
    private final Exit exit;
    private final RunWriter writer;
    private final Arrivals arrivals;
    private final boolean passesUnknown;
    private final Message message = new Message();
    private final TaskClock clock;
    private @Nullable String dropReason;

    Runs(
            MessageSettings settings,
            FormatSource formats,
            Introductions introductions,
            HandlerCalls calls,
            MessageCounts counts,
            Exit exit,
            RunWriter writer,
            TaskClock clock,
            Arrivals arrivals) {
        this.formats = formats;
        this.introductions = introductions;
        this.calls = calls;
        this.counts = counts;
        this.exit = exit;
        this.writer = writer;
        this.clock = clock;
        this.arrivals = arrivals;
        passesUnknown = settings.failure() == Policy.PASS;
    }

    /** Returns what {@link Verdict#DROP} is for: why the last of the messages ended that were dropped. */
    @Nullable
    String dropReason() {
        return dropReason;
    }

    /** Learns the formats that a run introduces, and returns one that it has to wait for; null: none. */
    @Nullable
    FormatId missing(Packet packet, ByteBuffer look, int from, int end) {
        for (int at = from, length; at < end; at += length) {
            length = Items.length(look, at, end);
            int kind = Items.kind(look, at);
            if (kind == Items.FORMAT) {
                FormatId learnt = introductions.learn(packet, look, at, length);
                if (learnt != null) {
                    arrivals.learnt(learnt);
                }
            } else if (kind == Items.DATA) {
                int room = length - Items.HEAD;
                if (formats.known().find(look, at + Items.HEAD, room) == null) {
                    FormatId id = idAt(look, at + Items.HEAD, room);
                    if (id != null && arrivals.mayWait(id)) {
                        return id;
                    }
                }
            }
        }
        return null;
    }

    private static @Nullable FormatId idAt(ByteBuffer memory, int at, int room) {
        try {
            return FormatId.read(memory, at, room);
        } catch (FormatException e) {
            return null;
        }
    }

    /** Handles the records of a run, whose formats are known or given up. */
    Verdict handle(Packet packet, ByteBuffer look, int from, int end, Allowance allowance) {
        writer.begin(packet, look, from, allowance, this);
        dropReason = null;
        boolean isDone = false;
        try {
            Verdict verdict = walk(packet, look, from, end, allowance);
            isDone = true;
            return verdict;
        } finally {
            if (!isDone && writer.records() > 0) {
                counts.dropped(MessageReason.FAILED.name(), writer.records()); // What was thrown ends them too.
            }
        }
    }

    private Verdict walk(Packet packet, ByteBuffer look, int from, int end, Allowance allowance) {
        for (int at = from, length; at < end; at += length) {
            length = Items.length(look, at, end);
            int kind = Items.kind(look, at);
            boolean stays = kind == Items.DATA
                    ? stays(packet, look, at, length, allowance)
                    : kind != Items.FORMAT || introductions.isKnown(look, at);
            if (stays) {
                writer.keep(at, length, kind == Items.DATA);
            } else {
                writer.cut(at);
            }
        }
        if (writer.isChanged() && writer.isEmpty()) {
            return dropReason == null ? Verdict.CONSUME : Verdict.DROP;
        }
        if (!arrivals.mayGoOn(packet, null, writer.packetBytes(), writer.allowance())) {
            left(writer.records(), false);
            return Verdict.DROP;
        }
        if (writer.isChanged()) {
            writer.intoPacket();
        }
        counts.out(writer.records());
        return Verdict.FORWARD;
    }

    /** Returns whether the record of an item stays in its run as it is; what takes its place is there already if not. */
    private boolean stays(Packet packet, ByteBuffer look, int item, int length, Allowance allowance) {
        arrivals.arrive();
        int at = item + Items.HEAD;
        int bytes = length - Items.HEAD;
        Format format = formats.known().find(look, at, bytes);
        if (format == null) {
            return passesUnknown || lost(MessageReason.FORMAT);
        }
        try {
            message.wrap(format, look, at, bytes, packet, allowance, clock);
        } catch (FormatException e) {
            return lost(MessageReason.RECORD);
        }
        if (message.record().length() != bytes) {
            return lost(MessageReason.RECORD);
        }
        Message going = calls.decide(message);
        if (going == null) {
            dropReason = calls.dropReason() != null ? calls.dropReason() : dropReason;
            return false;
        }
        exit.sendCopies(going);
        if (exit.outgrown) {
            return lost(MessageReason.GROWTH);
        }
        if (going.destination() != null) {
            exit.send(going);
            return false;
        }
        if (going == message) {
            return true;
        }
        writer.charge(exit.paying(going));
        if (!writer.put(item, going.record())) {
            exit.send(going);
        }
        return false;
    }

    @Override
    public void left(int records, boolean sent) {
        if (sent) {
            counts.out(records);
        } else {
            dropReason = MessageReason.GROWTH.name();
            if (records > 0) {
                counts.dropped(dropReason, records);
            }
        }
    }

    private boolean lost(MessageReason reason) {
        dropReason = reason.name();
        counts.dropped(dropReason, 1);
        return false;
    }
}
