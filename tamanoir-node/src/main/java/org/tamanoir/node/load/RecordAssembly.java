package org.tamanoir.node.load;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.Anep;
import org.tamanoir.anep.Option;
import org.tamanoir.anep.Packet;
import org.tamanoir.format.Format;
import org.tamanoir.format.FormatException;
import org.tamanoir.format.FormatId;
import org.tamanoir.format.FormatLimits;
import org.tamanoir.message.Items;

/**
 * Puts the records of one stream together: a packet with a format's identifier begins one, those without continue it by
 * the next numbers, and where none is to be continued they carry {@link Items}. Over UDP packets are put back into their order
 * first, within a {@link ReorderWindow}.
 *
 * <pre>
 * in the window: u64 sequence number | 1: begins a record, 0: not | payload
 * </pre>
 *
 * <p>Thread contract: one thread.
 */
final class RecordAssembly implements PacketOutput {
    private static final int FRAME = 9;

    private final ReceivedRecords records;
    private final PacketOutput.Source source;
    private final @Nullable ReorderWindow window;
    private final ByteBuffer frame = ByteBuffer.allocate(FRAME + Anep.MAX_PACKET_OCTETS);
    private @Nullable InetSocketAddress previousNode;
    /** What has come of the open record. */
    private byte[] open = new byte[1 << 16];

    private int filled;
    /** Of the open record; null: none is open. */
    private @Nullable Format format;

    private long next;
    /** Packets from here on belong to a record that is given up. */
    private boolean skips;

    RecordAssembly(ReceivedRecords records, PacketOutput.Source source) {
        this.records = records;
        this.source = source;
        this.window = source.byNumber() ? new ReorderWindow(this::take) : null;
    }

    @Override
    public void write(Packet packet, long sequence, boolean repeated) throws IOException {
        if (repeated && window != null) {
            return;
        }
        boolean begins = packet.has(Option.FORMAT);
        previousNode = previousNode(packet);
        frame.clear();
        frame.putLong(sequence).put((byte) (begins ? 1 : 0));
        frame.put(FRAME, packet.buffer(), packet.payloadOffset(), packet.payloadLength());
        frame.position(0).limit(FRAME + packet.payloadLength());
        if (window != null && sequence >= 0) {
            window.accept(sequence, frame);
        } else {
            take(frame);
        }
    }

    /** Returns whom the packet names if it is where it really comes from: what it says is not believed. */
    private @Nullable InetSocketAddress previousNode(Packet packet) {
        if (window != null || !packet.has(Option.PREVIOUS_NODE)) {
            return null;
        }
        InetSocketAddress named = packet.previousNode();
        if (named == null || named.getPort() == 0) {
            return null;
        }
        boolean isPeer =
                named.getAddress().isAnyLocalAddress() || named.getAddress().equals(source.peer());
        return isPeer ? new InetSocketAddress(source.peer(), named.getPort()) : null;
    }

    private void take(ByteBuffer framed) throws IOException {
        long sequence = framed.getLong(framed.position());
        boolean begins = framed.get(framed.position() + 8) != 0;
        int at = framed.position() + FRAME;
        int bytes = framed.limit() - at;
        if (begins) {
            giveUp();
            begin(framed, at, bytes);
        } else if (format != null && sequence == next) {
            append(framed, at, bytes);
        } else if (Items.records(framed, at, at + bytes) >= 0) {
            giveUp();
            skips = false;
            items(framed, at, at + bytes);
        } else if (format != null) {
            giveUp(); // One of its packets is missing.
            skips = true;
        } else if (!skips) {
            records.other();
        }
        next = sequence + 1;
    }

    private void giveUp() {
        if (format != null) {
            format = null;
            records.broken();
        }
    }

    private void begin(ByteBuffer memory, int at, int bytes) throws IOException {
        Format found = records.format(memory, at, bytes, previousNode);
        skips = found == null;
        if (found != null) {
            format = found;
            filled = 0;
            append(memory, at, bytes);
        }
    }

    private void append(ByteBuffer memory, int at, int bytes) throws IOException {
        Format of = format;
        if (of == null) {
            return;
        }
        if (filled + bytes > open.length) {
            open = Arrays.copyOf(open, 2 * (filled + bytes));
        }
        memory.get(at, open, filled, bytes);
        filled += bytes;
        ByteBuffer all = ByteBuffer.wrap(open, 0, filled);
        long length;
        try {
            length = of.encodedLength(all, 0, filled);
        } catch (FormatException e) {
            length = Long.MAX_VALUE;
        }
        if (length > FormatLimits.ITEM_BYTES || length >= 0 && length < filled) {
            giveUp();
            skips = true;
        } else if (length == filled) {
            format = null;
            records.write(of, all, 0, filled);
        }
    }

    private void items(ByteBuffer memory, int from, int end) throws IOException {
        for (int at = from, bytes; at < end; at += bytes) {
            bytes = Items.length(memory, at, end);
            int body = at + Items.HEAD;
            if (Items.kind(memory, at) == Items.DATA) {
                data(memory, body, bytes - Items.HEAD);
            } else if (Items.kind(memory, at) == Items.FORMAT) {
                describe(memory, body, bytes - Items.HEAD, Items.idBytes(memory, at));
            }
        }
    }

    private void data(ByteBuffer memory, int at, int length) throws IOException {
        Format found = records.format(memory, at, length, previousNode);
        if (found != null) {
            records.write(found, memory, at, length);
        }
    }

    private void describe(ByteBuffer memory, int at, int length, int idBytes) {
        try {
            FormatId id = FormatId.read(memory, at, idBytes);
            byte[] description = new byte[length - idBytes];
            memory.get(at + idBytes, description);
            records.describe(description, id);
        } catch (FormatException e) {
            records.broken();
        }
    }

    @Override
    public void flush() {}

    @Override
    public void close() throws IOException {
        if (window != null) {
            window.end();
        }
        giveUp();
    }

    @Override
    public long leftOut() {
        return window == null ? 0 : window.leftOut();
    }
}
