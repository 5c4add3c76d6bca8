package org.tamanoir.deploy;

import java.io.IOException;

/** Code came and could not be kept, or read, on this node's disk. */
final class LocalException extends Exception {
    private static final long serialVersionUID = 1L;

    private final IOException cause;

    LocalException(IOException cause) {
        super(CacheDisk.oneLine(cause), cause);
        this.cause = cause;
    }

    /** @param line says what and the remedy */
    LocalException(String line, IOException cause) {
        super(line, cause);
        this.cause = cause;
    }

    IOException reason() {
        return cause;
    }
}
