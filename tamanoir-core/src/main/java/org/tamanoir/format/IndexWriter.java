package org.tamanoir.format;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;
import java.util.Arrays;

/**
 * Writes the {@linkplain IndexBlock index blocks} of a file, each of 256 bytes before the items that it covers: empty at
 * first, and filled in when it is full or the file ends. A file that was not closed thus lacks the entries of its last
 * block, and nothing else.
 *
 * <p>Thread contract: one thread.
 */
final class IndexWriter {
    private static final int BLOCK_BYTES = 256;
    private static final long MAX_FILE_BYTES = 0xFFFFFFFFL;

    private final SeekableByteChannel file;
    private final OutputStream buffer;
    private final ByteBuffer block = ByteBuffer.allocate(BLOCK_BYTES);
    private long blockAt;
    private int first;
    private int records;

    /** Begins at the place of the file behind what the buffer holds. */
    IndexWriter(SeekableByteChannel file, OutputStream buffer) throws IOException {
        this.file = file;
        this.buffer = buffer;
        begin();
    }

    private void begin() throws IOException {
        blockAt = position();
        first = records;
        Arrays.fill(block.array(), (byte) 0);
        block.clear().position(IndexBlock.HEAD);
        fill(blockAt + BLOCK_BYTES);
    }

    private long position() throws IOException {
        buffer.flush();
        return file.position();
    }

    /** Writes the block to its place, with where the next one is. */
    private void fill(long next) throws IOException {
        if (next > MAX_FILE_BYTES) {
            throw new FormatException(
                    FormatFault.VALUE,
                    "indexed file of " + next + " bytes: at most " + MAX_FILE_BYTES + "; write one without an index");
        }
        block.putInt(0, 4 << 24 | BLOCK_BYTES);
        block.putInt(4, (int) next);
        block.putInt(8, first);
        block.putInt(12, records - 1);
        block.putInt(block.position(), IndexBlock.END);
        file.position(blockAt);
        ByteBuffer whole = block.duplicate().clear();
        while (whole.hasRemaining()) {
            file.write(whole);
        }
    }

    /** Tells of a format item that is written next. */
    void format(FormatId id) throws IOException {
        entry(IndexBlock.FORMAT, id.length());
        block.put(id.toBytes());
        align();
    }

    /** Tells of a data item that is written next, with its attributes as a list. */
    void data(FormatId id, byte[] attributes) throws IOException {
        entry(IndexBlock.DATA, 4 + id.length() + attributes.length);
        block.putInt(id.length()).put(id.toBytes()).put(attributes);
        align();
        records++;
    }

    private void entry(int kind, int length) throws IOException {
        int needed = 12 + (length + 3 & ~3) + 4;
        if (needed > BLOCK_BYTES - IndexBlock.HEAD) {
            throw new FormatException(
                    FormatFault.VALUE,
                    "index entry of " + needed + " bytes: at most " + (BLOCK_BYTES - IndexBlock.HEAD)
                            + "; fewer attributes");
        }
        if (needed > block.remaining()) {
            long here = position();
            fill(here);
            file.position(here);
            begin();
        }
        block.putInt(length << 8 | kind).putLong(position());
    }

    private void align() {
        block.position(block.position() + 3 & ~3);
    }

    /** Fills in the last block. */
    void finish() throws IOException {
        long end = position();
        fill(end);
        file.position(end);
    }
}
