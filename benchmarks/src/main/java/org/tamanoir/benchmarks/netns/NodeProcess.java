package org.tamanoir.benchmarks.netns;

import java.io.IOException;
import org.tamanoir.benchmarks.Child;
import org.tamanoir.benchmarks.CpuClock;

/**
 * A node in a process of its own. One thread.
 *
 * @param child the process
 * @param api its admin API
 */
public record NodeProcess(Child child, NodeApi api) implements AutoCloseable {
    /** Emulated processors are slow. */
    private static final long START_TIMEOUT_S = 240;

    private static final double TERM_TIMEOUT_S = 10;

    /** Waits until it does its work. */
    public void awaitReady() throws IOException {
        api.awaitReady(child, START_TIMEOUT_S);
    }

    /** Processor time that its process has used, in ns. */
    public long cpuNs() {
        return CpuClock.ns(child.handle());
    }

    /** Ends it as an operator would, so that it takes its programs and rules away. */
    @Override
    public void close() {
        try {
            child.terminate(TERM_TIMEOUT_S);
        } catch (IOException e) {
            // Interrupted: it is killed.
        }
        child.close();
    }
}
