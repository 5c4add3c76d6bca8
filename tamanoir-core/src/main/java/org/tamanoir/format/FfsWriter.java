package org.tamanoir.format;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.Channels;
import java.nio.channels.SeekableByteChannel;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Writes a file, or a stream of items without the magic number. A format goes before the first record that uses it.
 *
 * <p>Thread contract: one thread.
 */
public final class FfsWriter implements AutoCloseable {
    private static final int MAX_COMMENT = 0xFFFFFF;

    private final OutputStream out;
    private final @Nullable IndexWriter index;
    private final Set<FormatId> described = new HashSet<>();
    private byte[] copy = new byte[1024];

    private FfsWriter(OutputStream out, @Nullable IndexWriter index) {
        this.out = out;
        this.index = index;
    }

    /** Begins a file. */
    public static FfsWriter ofFile(OutputStream out) throws IOException {
        out.write(words(ItemDecoder.MAGIC));
        return ofStream(out);
    }

    /** Begins a file with an index, of at most 4 GiB. */
    public static FfsWriter ofIndexedFile(SeekableByteChannel file) throws IOException {
        OutputStream out = new BufferedOutputStream(Channels.newOutputStream(file));
        out.write(words(ItemDecoder.MAGIC));
        return new FfsWriter(out, new IndexWriter(file, out));
    }

    /** Begins a stream of items. */
    public static FfsWriter ofStream(OutputStream out) {
        return new FfsWriter(out, null);
    }

    private static byte[] words(int... words) {
        ByteBuffer bytes = ByteBuffer.allocate(4 * words.length);
        for (int word : words) {
            bytes.putInt(word);
        }
        return bytes.array();
    }

    private static int head(ItemKind kind, int rest) {
        return kind.ordinal() + 1 << 24 | rest;
    }

    /** Writes a comment. */
    public void comment(String text) throws IOException {
        byte[] bytes = Texts.encode(text);
        if (bytes.length >= MAX_COMMENT) {
            throw new FormatException(
                    FormatFault.VALUE,
                    "comment of " + bytes.length + " bytes: less than " + MAX_COMMENT + " can be written");
        }
        out.write(words(head(ItemKind.COMMENT, bytes.length + 1)));
        out.write(bytes);
        out.write(0);
    }

    /** Describes a format; a second time it does nothing. */
    public void format(Format format) throws IOException {
        if (described.add(format.id())) {
            if (index != null) {
                index.format(format.id());
            }
            byte[] description = format.description();
            out.write(words(head(ItemKind.FORMAT, format.id().length()), description.length));
            out.write(format.id().toBytes());
            out.write(description);
        }
    }

    /** Writes a record as it lies there. */
    public void record(RecordView record) throws IOException {
        record(record.format(), record.memory(), record.start(), record.length());
    }

    /** Writes an encoded record of this format. */
    public void record(Format format, ByteBuffer memory, int at, int bytes) throws IOException {
        record(format, memory, at, bytes, List.of());
    }

    /** Writes an encoded record with attributes, which an index alone has: without one they are left out. */
    public void record(Format format, ByteBuffer memory, int at, int bytes, List<Attribute> attributes)
            throws IOException {
        format(format);
        if (index != null) {
            boolean big = format.layout().order() == ByteOrder.BIG_ENDIAN;
            index.data(format.id(), Attribute.writeList(attributes, big));
        }
        out.write(words(head(ItemKind.DATA, 0), bytes));
        if (memory.hasArray()) {
            out.write(memory.array(), memory.arrayOffset() + at, bytes);
        } else {
            copy = copy.length < bytes ? new byte[bytes] : copy;
            memory.get(at, copy, 0, bytes);
            out.write(copy, 0, bytes);
        }
    }

    @Override
    public void close() throws IOException {
        if (index != null) {
            index.finish();
        }
        out.close();
    }
}
