package org.tamanoir.node.load;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.WritableByteChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.tamanoir.node.cli.OutputFile;

/**
 * Where the payloads of each stream go: the first one's to FILE; when there is a second one, each to FILE.STREAM,
 * and FILE is renamed so. Standard output takes one stream.
 *
 * <p>Thread contract: any thread.
 */
final class OutputFiles implements PacketOutput.Factory {
    private final @Nullable Path file;
    private final Set<Path> taken = new HashSet<>();
    private int streams;
    private int firstStreamId;

    private OutputFiles(@Nullable Path file) {
        this.file = file;
    }

    /**
     * Empties the file at once, so that what cannot be written shows before any packet comes.
     *
     * @param name of the file, - for standard output
     */
    static OutputFiles of(String name) throws IOException {
        if (name.equals(OutputFile.STANDARD)) {
            return new OutputFiles(null);
        }
        try {
            Files.write(Path.of(name), new byte[0]);
        } catch (IOException e) {
            throw new IOException("cannot write " + name + ": no such folder, or no permission", e);
        }
        return new OutputFiles(Path.of(name));
    }

    @Override
    public synchronized PacketOutput open(int streamId, PacketOutput.Source source) throws IOException {
        streams++;
        return new StreamOutput(file == null ? standardOutput() : channel(file, streamId), source.byNumber());
    }

    private WritableByteChannel standardOutput() throws IOException {
        if (streams > 1) {
            throw new IOException("standard output takes one stream, and a second one came: use -o FILE");
        }
        return new FileOutputStream(FileDescriptor.out).getChannel();
    }

    private WritableByteChannel channel(Path name, int streamId) throws IOException {
        if (streams == 1) {
            firstStreamId = streamId;
            return open(name);
        }
        if (streams == 2) {
            Files.move(name, numbered(name, firstStreamId), StandardCopyOption.REPLACE_EXISTING);
        }
        return open(numbered(name, streamId));
    }

    private Path numbered(Path name, int streamId) {
        String base = name + "." + Integer.toUnsignedString(streamId);
        Path path = Path.of(base);
        for (int again = 2; !taken.add(path); again++) {
            path = Path.of(base + "-" + again);
        }
        return path;
    }

    private static WritableByteChannel open(Path path) throws IOException {
        return FileChannel.open(
                path, StandardOpenOption.CREATE, StandardOpenOption.WRITE, StandardOpenOption.TRUNCATE_EXISTING);
    }
}
