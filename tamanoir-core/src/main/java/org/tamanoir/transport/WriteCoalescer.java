package org.tamanoir.transport;

import org.jspecify.annotations.Nullable;

/**
 * Joins packets that stand back to back into runs, each written as one slice. Short runs between gaps are copied
 * together, since a slice of its own costs more than that. Until a run is written nothing but its generation keeps
 * its memory: who adds {@linkplain ScratchBuffers#hold holds} that.
 *
 * <p>Thread contract: the service's thread.
 */
public final class WriteCoalescer {
    /** A run shorter than this is copied, in bytes. */
    private static final int COPY_BELOW_BYTES = 2048;

    /** Takes runs in their order. */
    public interface Writer {
        void write(Buffer buffer, int generation, int from, int to);
    }

    private final ScratchBuffers memory;
    private final Writer writer;

    /** The run that grows. */
    private @Nullable Buffer run;

    private int runGeneration;
    private int runStart;
    private int runEnd;
    /** The run before it, which a copy may still be appended to. */
    private @Nullable Buffer previous;

    private int previousGeneration;
    private int previousStart;
    private int previousEnd;

    public WriteCoalescer(ScratchBuffers memory, Writer writer) {
        this.memory = memory;
        this.writer = writer;
    }

    public void add(Buffer buffer, int offset, int bytes) {
        if (buffer == run && offset == runEnd) {
            runEnd += bytes;
            return;
        }
        if (run != null) {
            endRun(run);
        }
        run = buffer;
        runGeneration = buffer.generation();
        runStart = offset;
        runEnd = offset + bytes;
    }

    private void endRun(Buffer ended) {
        Buffer buffer = ended;
        int generation = runGeneration;
        int start = runStart;
        int bytes = runEnd - runStart;
        if (bytes < COPY_BELOW_BYTES && !memory.isScratch(buffer)) {
            int copy = memory.tryCopy(buffer, start, bytes);
            if (copy >= 0) {
                buffer.check(memory.owner(), generation);
                buffer = memory.scratch();
                generation = buffer.generation();
                start = copy;
            }
        }
        if (buffer == previous && start == previousEnd) {
            previousEnd += bytes;
        } else {
            writePrevious();
            previous = buffer;
            previousGeneration = generation;
            previousStart = start;
            previousEnd = start + bytes;
        }
        run = null;
    }

    private void writePrevious() {
        Buffer buffer = previous;
        if (buffer != null) {
            writer.write(buffer, previousGeneration, previousStart, previousEnd);
            previous = null;
        }
    }

    /** Forgets what was added and not written. */
    public void clear() {
        run = null;
        previous = null;
    }

    /** Writes what was added. */
    public void write() {
        Buffer buffer = run;
        if (buffer != null && previous == null) {
            writer.write(buffer, runGeneration, runStart, runEnd);
            run = null;
            return;
        }
        if (buffer != null) {
            endRun(buffer);
        }
        writePrevious();
    }
}
