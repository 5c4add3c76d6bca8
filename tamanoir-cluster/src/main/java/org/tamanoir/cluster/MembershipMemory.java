package org.tamanoir.cluster;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a director said last, in a file that is there whole or not at all: a node that starts while no director answers
 * goes by it. One thread at a time.
 */
final class MembershipMemory {
    private static final Logger LOG = LoggerFactory.getLogger(MembershipMemory.class);

    private final Path file;
    private @Nullable Welcome written;
    private boolean isBroken;

    MembershipMemory(Path file) {
        this.file = file;
    }

    /** Null when there is none that can be read. */
    @Nullable
    Welcome read() {
        try (InputStream in = Files.newInputStream(file)) {
            byte[] octets = in.readNBytes(MembershipWelcome.LIMIT_OCTETS + 1);
            if (octets.length > MembershipWelcome.LIMIT_OCTETS) {
                throw new IOException("it has more than 1 MiB");
            }
            return MembershipWelcome.parse(new String(octets, StandardCharsets.UTF_8));
        } catch (NoSuchFileException e) {
            return null;
        } catch (IOException | ClusterException e) {
            LOG.warn("{}: what directors said before cannot be read: {}", file, e.getMessage());
            return null;
        }
    }

    /** Writes it, unless the last one said the same of services and code. */
    void write(Welcome welcome) {
        Welcome last = written;
        if (last != null
                && last.services().equals(welcome.services())
                && last.code().equals(welcome.code())) {
            return;
        }
        written = welcome;
        Path made = file.resolveSibling(file.getFileName() + ".new");
        try {
            Files.createDirectories(file.toAbsolutePath().getParent());
            try (FileChannel channel = FileChannel.open(
                    made, StandardOpenOption.CREATE, StandardOpenOption.TRUNCATE_EXISTING, StandardOpenOption.WRITE)) {
                ByteBuffer left = ByteBuffer.wrap(MembershipWelcome.json(welcome));
                while (left.hasRemaining()) {
                    channel.write(left);
                }
                channel.force(true);
            }
            Files.move(made, file, StandardCopyOption.ATOMIC_MOVE);
            isBroken = false;
        } catch (IOException e) {
            if (!isBroken) {
                LOG.warn("{}: what the directors say is not remembered for the next start: {}", file, e.toString());
            }
            isBroken = true;
        }
    }
}
