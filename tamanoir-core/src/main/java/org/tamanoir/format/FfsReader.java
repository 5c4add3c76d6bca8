package org.tamanoir.format;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Reads a file, or a stream of items without the magic number, item by item. What an item holds is valid until the next
 * is asked for; nothing of a record is copied.
 *
 * <p>Thread contract: one thread.
 */
public final class FfsReader implements AutoCloseable {
    private static final int READ_BYTES = 1 << 16;
    private static final int MAX_FORMATS = 4_096;

    private final InputStream in;
    private final ItemDecoder decoder;
    private final Map<FormatId, Format> formats = new HashMap<>();
    private final byte[] buffer = new byte[READ_BYTES];
    private final RecordView record = new RecordView();
    private long descriptionBytes;

    private FfsReader(InputStream in, boolean magic) {
        this.in = in;
        decoder = new ItemDecoder(magic);
    }

    /** Makes a reader of a file. */
    public static FfsReader ofFile(InputStream in) {
        return new FfsReader(in, true);
    }

    /** Makes a reader of a stream of items. */
    public static FfsReader ofStream(InputStream in) {
        return new FfsReader(in, false);
    }

    /**
     * Goes on to the next item.
     *
     * @return null at the end
     * @throws FormatException if the items are damaged; they cannot be read on
     */
    public @Nullable ItemKind next() throws IOException {
        while (true) {
            ItemKind kind = decoder.next();
            if (kind == ItemKind.FORMAT) {
                addFormat();
            }
            if (kind != null) {
                return kind;
            }
            int read = in.read(buffer);
            if (read < 0) {
                decoder.end();
                return null;
            }
            decoder.feed(ByteBuffer.wrap(buffer, 0, read));
        }
    }

    private void addFormat() {
        byte[] description = new byte[itemBytes() - 8 - idBytes()];
        decoder.memory().get(decoder.itemAt() + 8 + idBytes(), description);
        FormatId id = id();
        if (formats.containsKey(id)) {
            return;
        }
        descriptionBytes += description.length;
        if (formats.size() >= MAX_FORMATS || descriptionBytes > FormatLimits.ITEM_BYTES) {
            throw new FormatException(
                    FormatFault.FRAMING,
                    "file has more than " + MAX_FORMATS + " formats or " + FormatLimits.ITEM_BYTES
                            + " bytes of descriptions");
        }
        formats.put(id, Format.of(id, description));
    }

    private int idBytes() {
        return decoder.memory().getInt(decoder.itemAt()) & 0xFFFFFF;
    }

    private FormatId id() {
        FormatId id = FormatId.read(decoder.memory(), decoder.itemAt() + 8, idBytes());
        if (id.length() != idBytes()) {
            throw new FormatException(
                    FormatFault.FRAMING,
                    "identifier " + id + " has " + id.length() + " bytes, its item says " + idBytes());
        }
        return id;
    }

    private int itemBytes() {
        return decoder.itemBytes();
    }

    /** Returns the format that the format item describes. */
    public Format format() {
        return Objects.requireNonNull(formats.get(id()));
    }

    /** Returns the text of a comment item. */
    public String comment() {
        int length = itemBytes() - 4;
        byte[] text = new byte[length];
        decoder.memory().get(decoder.itemAt() + 4, text);
        int end = length > 0 && text[length - 1] == 0 ? length - 1 : length;
        return Texts.decode(text, 0, end);
    }

    /** Returns the block of an index item. */
    public IndexBlock index() {
        return IndexBlock.read(decoder.memory(), decoder.itemAt(), itemBytes());
    }

    /**
     * Returns the record of a data item.
     *
     * @throws FormatException if its format is unknown, or the record is damaged; those behind it can be read
     */
    public RecordView record() {
        ByteBuffer memory = decoder.memory();
        int at = decoder.itemAt() + 8;
        int length = itemBytes() - 8;
        FormatId id = FormatId.read(memory, at, length);
        Format format = formats.get(id);
        if (format == null) {
            throw new FormatException(
                    FormatFault.UNKNOWN_FORMAT, "record of format " + id + ", which no item describes");
        }
        return record.wrap(format, memory, at, length);
    }

    @Override
    public void close() throws IOException {
        in.close();
    }
}
