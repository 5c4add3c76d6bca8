package org.tamanoir.benchmarks;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;

/** What an experiment has opened, to be closed in the opposite order. One thread. */
public final class Opened implements AutoCloseable {
    private final Deque<AutoCloseable> all = new ArrayDeque<>();

    /** Adds a part, and returns it. */
    public <T extends AutoCloseable> T add(T part) {
        all.push(part);
        return part;
    }

    /** Closes all; what fails to close does not keep the rest open. */
    @Override
    public void close() throws IOException {
        IOException failed = null;
        while (!all.isEmpty()) {
            try {
                all.pop().close();
            } catch (Exception e) {
                failed = new IOException(e.getMessage(), e);
            }
        }
        if (failed != null) {
            throw failed;
        }
    }
}
