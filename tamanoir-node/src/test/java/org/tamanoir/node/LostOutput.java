package org.tamanoir.node;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.Writer;

/** Standard output on a device that is full, or that nobody reads any more. */
public final class LostOutput {
    private LostOutput() {}

    /** Returns one that loses all that is written. */
    public static PrintWriter writer() {
        return new PrintWriter(
                new Writer() {
                    @Override
                    public void write(char[] buffer, int from, int length) throws IOException {
                        throw new IOException("full");
                    }

                    @Override
                    public void flush() {}

                    @Override
                    public void close() {}
                },
                true);
    }
}
