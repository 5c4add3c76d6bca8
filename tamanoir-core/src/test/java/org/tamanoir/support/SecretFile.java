package org.tamanoir.support;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;

/** Writes files that hold secrets, which their owner alone may read. Stateless; any thread. */
public final class SecretFile {
    private SecretFile() {}

    /** Writes a file, or what it holds anew. */
    public static Path write(Path file, String text) throws IOException {
        Files.writeString(file, text);
        return Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
    }
}
