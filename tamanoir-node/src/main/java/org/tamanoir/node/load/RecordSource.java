package org.tamanoir.node.load;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import org.tamanoir.anep.Option;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.format.FfsWriter;
import org.tamanoir.format.Format;
import org.tamanoir.format.FormatId;
import org.tamanoir.format.RecordView;
import org.tamanoir.node.ffs.RecordFiles;

/**
 * Sends the records of a file as messages: each in packets of its own, the first with the format's identifier; or as
 * items, as many as fit a packet, each format described before its first record. Over UDP every packet that has items
 * describes their formats, as others may be lost. A record that is longer than a packet takes several.
 *
 * <p>Thread contract: the stream's thread; {@link #records} and {@link #payloadBytes} any.
 */
final class RecordSource implements SendStream.Source {
    private static final int ITEM_HEAD = 8;

    private final Path file;
    private final List<Format> formats;
    private final Supplier<PacketBuilder> newBuilder;
    private final PacketBuilder plain;
    private final int packetBytes;
    private final boolean items;
    private final boolean describesEach;
    /** With the format's option. */
    private final Map<FormatId, PacketBuilder> beginnings = new HashMap<>();

    private final Set<FormatId> described = new HashSet<>();
    private final ByteArrayOutputStream run = new ByteArrayOutputStream();
    private FfsWriter writer = FfsWriter.ofStream(run);
    private long sequence;
    private volatile long records;
    private volatile long payloadBytes;

    /**
     * @param formats of a file that does not describe its records
     * @param newBuilder of the stream's packets
     * @param items whether several records share a packet
     * @param describesEach whether each packet of items describes their formats
     */
    RecordSource(
            Path file,
            List<Format> formats,
            Supplier<PacketBuilder> newBuilder,
            int packetBytes,
            boolean items,
            boolean describesEach) {
        this.file = file;
        this.formats = formats;
        this.newBuilder = newBuilder;
        this.plain = newBuilder.get();
        this.packetBytes = packetBytes;
        this.items = items;
        this.describesEach = describesEach;
    }

    /** Returns the records that were handed to the sender. */
    long records() {
        return records;
    }

    /** Returns the bytes of payloads that were handed to the sender. */
    long payloadBytes() {
        return payloadBytes;
    }

    @Override
    public void send(SendStream stream) throws IOException {
        RecordFiles.read(file, formats, record -> {
            if (!stream.isStopped()) {
                if (items) {
                    addItem(stream, record);
                } else {
                    sendAlone(stream, record);
                }
                records = records + 1;
            }
        });
        sendRun(stream);
    }

    private void sendAlone(SendStream stream, RecordView record) throws IOException {
        ByteBuffer rest = record.memory().duplicate();
        int end = record.start() + record.length();
        PacketBuilder builder = beginnings.computeIfAbsent(
                record.format().id(),
                id -> newBuilder
                        .get()
                        .option(Option.FORMAT.wireType(), Arrays.copyOf(id.toBytes(), FormatId.MAX_BYTES)));
        rest.limit(end).position(record.start());
        do {
            int next = Math.min(end, rest.position() + packetBytes - builder.headerLength());
            send(stream, builder, rest.limit(next));
            rest.limit(end).position(next);
            builder = plain;
        } while (rest.hasRemaining());
    }

    private void addItem(SendStream stream, RecordView record) throws IOException {
        Format format = record.format();
        int room = packetBytes - plain.headerLength();
        if (run.size() + itemBytes(record) > room) {
            sendRun(stream);
        }
        if (itemBytes(record) <= room) {
            describe(format);
            writer.record(record);
            return;
        }
        int description = descriptionBytes(format);
        if (description > room) {
            throw new IOException("description of format " + format.id() + " has " + description
                    + " bytes, a packet at most " + room + ": send larger packets, or without --items");
        }
        if (described.add(format.id()) || describesEach) {
            writer.format(format);
            sendRun(stream);
        }
        sendAlone(stream, record);
    }

    private void describe(Format format) throws IOException {
        described.add(format.id());
        writer.format(format);
    }

    private int itemBytes(RecordView record) {
        return ITEM_HEAD
                + record.length()
                + (described.contains(record.format().id()) ? 0 : descriptionBytes(record.format()));
    }

    private static int descriptionBytes(Format format) {
        return ITEM_HEAD + format.id().length() + format.description().length;
    }

    private void sendRun(SendStream stream) throws IOException {
        if (run.size() > 0) {
            send(stream, plain, ByteBuffer.wrap(run.toByteArray()));
            run.reset();
        }
        if (describesEach) {
            described.clear();
            writer = FfsWriter.ofStream(run);
        }
    }

    private void send(SendStream stream, PacketBuilder builder, ByteBuffer payload) throws IOException {
        builder.nextSequence(sequence++);
        payloadBytes = payloadBytes + payload.remaining();
        stream.send(builder, payload);
    }
}
