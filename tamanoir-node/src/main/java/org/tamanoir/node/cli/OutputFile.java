package org.tamanoir.node.cli;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;

/** Files that commands write, where {@code -} is standard output. Stateless; any thread. */
public final class OutputFile {
    /** Name of standard output; {@code ./-} is a file of that name. */
    public static final String STANDARD = "-";

    private OutputFile() {}

    /** Returns whether it is standard output. */
    public static boolean isStandard(Path file) {
        return file.toString().equals(STANDARD);
    }

    /** Opens a file to be written anew, or standard output, not buffered: what cannot be written is an exception. */
    public static OutputStream open(Path file) throws IOException {
        return isStandard(file) ? new FileOutputStream(FileDescriptor.out) : Files.newOutputStream(file);
    }

    /**
     * Returns the file, for commands that print what else they do, or write several files.
     *
     * @throws IllegalArgumentException if it is standard output
     */
    public static Path requireFile(Path file, String option, String why) {
        if (isStandard(file)) {
            throw new IllegalArgumentException(option + " -: " + why + "; name a file (./- is one)");
        }
        return file;
    }
}
