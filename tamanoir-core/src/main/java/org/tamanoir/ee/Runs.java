package org.tamanoir.ee;

import org.jspecify.annotations.Nullable;
import org.tamanoir.transport.Buffer;

/**
 * Joins packets that stand back to back into runs, each written as one slice. Short runs between gaps are copied
 * together, since a slice of its own costs more than that.
 *
 * <p>Thread contract: the service's thread.
 */
final class Runs {
    /** A run shorter than this is copied, in octets. */
    private static final int COPY_BELOW_OCTETS = 2048;

    /** Takes runs in their order. */
    interface Writer {
        void write(Buffer buffer, int from, int to);
    }

    private final BatchMemory memory;
    private final Writer writer;

    /** The run that grows. */
    private @Nullable Buffer run;

    private int runStart;
    private int runEnd;
    /** The run before it, which a copy may still be appended to. */
    private @Nullable Buffer previous;

    private int previousStart;
    private int previousEnd;

    Runs(BatchMemory memory, Writer writer) {
        this.memory = memory;
        this.writer = writer;
    }

    void add(Buffer buffer, int offset, int octets) {
        if (buffer == run && offset == runEnd) {
            runEnd += octets;
            return;
        }
        if (run != null) {
            endRun(run);
        }
        run = buffer;
        runStart = offset;
        runEnd = offset + octets;
    }

    private void endRun(Buffer ended) {
        Buffer buffer = ended;
        int start = runStart;
        int octets = runEnd - runStart;
        if (octets < COPY_BELOW_OCTETS && !memory.isScratch(buffer)) {
            int copy = memory.tryCopy(buffer, start, octets);
            if (copy >= 0) {
                buffer = memory.scratch();
                start = copy;
            }
        }
        if (buffer == previous && start == previousEnd) {
            previousEnd += octets;
        } else {
            writePrevious();
            previous = buffer;
            previousStart = start;
            previousEnd = start + octets;
        }
        run = null;
    }

    private void writePrevious() {
        Buffer buffer = previous;
        if (buffer != null) {
            writer.write(buffer, previousStart, previousEnd);
            previous = null;
        }
    }

    /** Writes what was added; false when that was nothing. */
    boolean write() {
        Buffer buffer = run;
        if (buffer != null && previous == null) {
            writer.write(buffer, runStart, runEnd);
            run = null;
            return true;
        }
        if (buffer != null) {
            endRun(buffer);
        }
        boolean any = previous != null;
        writePrevious();
        return any;
    }
}
