package org.tamanoir.message;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.Anep;
import org.tamanoir.anep.Checksum;
import org.tamanoir.anep.Option;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketSpace;
import org.tamanoir.anep.ParseFault;
import org.tamanoir.format.RecordView;
import org.tamanoir.service.Allowance;

/**
 * Sends records as packets of their own, as many as they need: under the header of the message, with a stream and
 * sequence numbers of this instance's and the format's identifier on the first.
 *
 * <p>Thread contract: the service's thread.
 */
final class Segmenter {
    /** The longest header that packets are made with. */
    static final int MAX_HEADER = 4_096;

    private static final int STREAM_BYTES = Option.STREAM.words() * 4;
    private static final int FORMAT_BYTES = Option.FORMAT.words() * 4;
    /** What a node may add on the way out: a hop budget. */
    private static final int GROWTH = Option.HOP_BUDGET.words() * 4;
    /** The discard flag of an option says nothing about which option it is. */
    private static final int TYPE = 0xBFFF;

    /** Where packets go. */
    interface Way {
        /** Has packets that are sent next be charged to an allowance: false if it does not allow for all of them. */
        boolean prepay(
                Allowance onAccountOf, Packet like, @Nullable InetSocketAddress destination, int packets, long bytes);

        /** Sends a packet; false if it may not leave. */
        boolean send(Packet packet, @Nullable InetSocketAddress destination);
    }

    private final Way way;
    private final int packetBytes;
    /** Unlike that of other instances, on other nodes too: receivers put messages together by it. */
    private final int stream = ThreadLocalRandom.current().nextInt(1, Integer.MAX_VALUE);

    /** None until something is sent. */
    private ByteBuffer memory = ByteBuffer.allocate(0);

    private Packet view = new Packet();
    private long sequence;
    private int checksumAt;

    Segmenter(int packetBytes, Way way) {
        this.packetBytes = packetBytes;
        this.way = way;
    }

    /** Returns the bytes of the longest packet to make. */
    int packetBytes() {
        return packetBytes - GROWTH;
    }

    /** Returns the bytes that a run of items may have under the header of a packet with one: as many as it has, or more. */
    int runRoom(Packet of) {
        return Math.max(of.payloadLength(), of.headerLength() > MAX_HEADER ? 0 : packetBytes() - of.headerLength());
    }

    /**
     * Sends a record: all of it, or nothing.
     *
     * @param onAccountOf pays for it
     * @return what kept it from leaving; null if nothing did
     */
    @Nullable
    MessageReason send(Message message, Allowance onAccountOf) {
        RecordView record = message.record();
        Packet header = message.header();
        if (header.headerLength() > MAX_HEADER) {
            return MessageReason.NO_ROOM;
        }
        int common = copyHeader(header);
        int length = record.length();
        int room = packetBytes() - common - STREAM_BYTES;
        if (length == 0 || room <= FORMAT_BYTES) {
            return MessageReason.NO_ROOM;
        }
        int packets = (length + FORMAT_BYTES + room - 1) / room; // The format takes room of the first.
        long all = length + FORMAT_BYTES + (long) packets * (common + STREAM_BYTES);
        if (!way.prepay(onAccountOf, header, message.destination(), packets, all)) {
            return MessageReason.GROWTH;
        }
        int sent = 0;
        do {
            boolean first = sent == 0;
            int payload = common + STREAM_BYTES + (first ? FORMAT_BYTES : 0);
            int bytes = Math.min(length - sent, packetBytes() - payload);
            memory.putInt(common, Option.STREAM.wireType() << 16 | Option.STREAM.words());
            memory.putInt(common + 4, stream).putLong(common + 8, sequence++);
            if (first) {
                putFormat(common + STREAM_BYTES, record);
            }
            if (!send(header, payload, record.memory(), record.start() + sent, bytes, message.destination())) {
                return MessageReason.GROWTH;
            }
            sent += bytes;
        } while (sent < length);
        return null;
    }

    private void putFormat(int at, RecordView record) {
        memory.putInt(at, Option.FORMAT.wireType() << 16 | Option.FORMAT.words());
        memory.putLong(at + 4, 0).putInt(at + 12, 0);
        memory.put(at + 4, record.memory(), record.start(), record.format().id().length());
    }

    /** Sends a run of items under this header, for which there has to be {@link #runRoom}; false if it may not leave. */
    boolean sendRun(Packet header, ByteBuffer run, int bytes, Allowance onAccountOf) {
        int common = copyHeader(header);
        return way.prepay(onAccountOf, header, null, 1, common + bytes) && send(header, common, run, 0, bytes, null);
    }

    private boolean send(
            Packet like, int header, ByteBuffer from, int at, int bytes, @Nullable InetSocketAddress destination) {
        int length = header + bytes;
        memory.put(header, from, at, bytes);
        memory.putShort(4, (short) (header / 4)).putShort(6, (short) length);
        if (checksumAt > 0) {
            memory.putShort(checksumAt, (short) 0);
            memory.putShort(checksumAt, (short) ~Checksum.sum(memory, 0, length));
        }
        if (view.typeId() != like.typeId()) {
            view = new Packet(like.typeId(), PacketSpace.HEAP);
        }
        ParseFault fault = view.parse(memory, 0, length);
        if (fault != null) {
            throw new IllegalStateException("made a malformed packet: " + fault);
        }
        return way.send(view, destination);
    }

    /** Copies a header without its stream and format, and returns the bytes. */
    private int copyHeader(Packet header) {
        if (memory.capacity() == 0) {
            memory = ByteBuffer.allocate(Anep.MAX_PACKET_OCTETS);
        }
        header.copyHeaderTo(memory, 0);
        int end = header.headerLength();
        int to = 8;
        checksumAt = 0;
        for (int at = 8; at < end; ) {
            int word = memory.getInt(at);
            int type = word >>> 16 & TYPE;
            int bytes = (word & 0xFFFF) * 4;
            if (type != (Option.STREAM.wireType() & TYPE) && type != (Option.FORMAT.wireType() & TYPE)) {
                if (type == Option.CHECKSUM.wireType()) {
                    checksumAt = to + 4;
                }
                memory.put(to, memory, at, bytes);
                to += bytes;
            }
            at += bytes;
        }
        return to;
    }
}
