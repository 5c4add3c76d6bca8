package org.tamanoir.transport;

import com.sun.jna.Native;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Opens regular files and nothing else: to open a pipe waits for who writes to it, without end. On Linux a path is
 * followed once and what it led to is looked at before it is opened (O_PATH), so that nothing can take its place between;
 * elsewhere, and without native calls, something can.
 *
 * <p>Thread contract: any thread.
 */
public final class RegularFile {
    private RegularFile() {}

    /**
     * Opens a file to read.
     *
     * @throws IOException if there is none, it is no regular one, or it may not be read
     */
    public static InputStream open(Path file) throws IOException {
        if (UdpSockets.resolve(TransportKind.AUTO) != TransportKind.NATIVE) {
            return open(file, file);
        }
        int place = LibC.open(file.toString(), LibC.O_PATH | LibC.O_CLOEXEC);
        if (place < 0) {
            throw new FileNotFoundException(file + ": " + LibC.strerror(Native.getLastError()));
        }
        try {
            return open(Path.of("/proc/self/fd", Integer.toString(place)), file);
        } finally {
            LibC.close(place);
        }
    }

    private static InputStream open(Path there, Path name) throws IOException {
        if (!Files.isRegularFile(there)) {
            throw new FileNotFoundException(name + " is no regular file");
        }
        return Files.newInputStream(there);
    }
}
