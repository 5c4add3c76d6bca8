package org.tamanoir.node;

import java.io.PrintWriter;

/** The program within this process, for tests of other packages. */
public final class Programs {
    private Programs() {}

    /** Runs it; standard output and standard error both go to {@code out}. */
    public static int run(PrintWriter out, String... args) {
        return Main.run(out, out, args);
    }
}
