package org.tamanoir.node.load;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import org.tamanoir.deploy.FormatStore;
import org.tamanoir.format.Format;
import org.tamanoir.format.FormatException;
import org.tamanoir.format.FormatId;
import org.tamanoir.format.RecordView;
import org.tamanoir.format.text.JsonFaults;
import org.tamanoir.node.cli.CommandException;
import org.tamanoir.node.ffs.RecordOutput;
import org.tamanoir.platform.Causes;
import tools.jackson.core.JacksonException;

/**
 * Writes the records of all streams to one file, in the order in which they are whole.
 *
 * <p>Thread contract: any thread.
 */
final class ReceivedRecords implements PacketOutput.Factory, AutoCloseable {
    private final FormatStore formats;
    private final RecordOutput file;
    /** Guarded by {@code this}. */
    private final RecordView view = new RecordView();

    private final LongAdder written = new LongAdder();
    private final LongAdder unknown = new LongAdder();
    private final LongAdder broken = new LongAdder();
    private final LongAdder others = new LongAdder();

    ReceivedRecords(FormatStore formats, RecordOutput file) {
        this.formats = formats;
        this.file = file;
    }

    @Override
    public PacketOutput open(int streamId, PacketOutput.Source source) {
        return new RecordAssembly(this, source);
    }

    /**
     * Returns a format; null if nobody has it, which is counted. Waits for others' answers, bounded.
     *
     * @param previousNode who may have it; null = not to be asked
     */
    @Nullable
    Format format(ByteBuffer memory, int at, int available, @Nullable InetSocketAddress previousNode) {
        Format format = formats.known().find(memory, at, available);
        if (format != null) {
            return format;
        }
        FormatId id;
        try {
            id = FormatId.read(memory, at, available);
        } catch (FormatException e) {
            broken.increment();
            return null;
        }
        CompletableFuture<@Nullable Format> answer = new CompletableFuture<>();
        formats.request(id, previousNode, answer::complete);
        try {
            format = answer.join();
        } catch (CompletionException e) {
            format = null;
        }
        if (format == null) {
            unknown.increment();
        }
        return format;
    }

    /** Keeps a format that a packet describes. */
    void describe(byte[] description, FormatId id) {
        try {
            if (id.isComputed()) {
                formats.add(Format.of(id, description));
                return;
            }
        } catch (FormatException e) {
            // Counted below: a stranger can cause it with every packet.
        }
        broken.increment();
    }

    /** Writes a whole record. */
    synchronized void write(Format format, ByteBuffer memory, int at, int bytes) throws IOException {
        try {
            view.wrap(format, memory, at, bytes);
            if (view.length() == bytes) {
                file.write(view);
                written.increment();
                return;
            }
        } catch (FormatException e) {
            // Counted below.
        } catch (CommandException | UncheckedIOException | JacksonException e) {
            throw new IOException(e instanceof JacksonException json ? JsonFaults.why(json) : Causes.text(e), e);
        }
        broken.increment();
    }

    /** Counts a record that did not come whole. */
    void broken() {
        broken.increment();
    }

    /** Counts a packet without records. */
    void other() {
        others.increment();
    }

    /** Ends the file; streams have ended before. */
    @Override
    public void close() throws IOException {
        formats.close();
        file.close();
    }

    RecordReport report() {
        return new RecordReport(written.sum(), unknown.sum(), broken.sum(), others.sum());
    }
}
