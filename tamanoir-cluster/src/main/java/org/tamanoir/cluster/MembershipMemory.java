package org.tamanoir.cluster;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.cluster.config.Welcome;
import org.tamanoir.cluster.lvs.ClusterException;
import org.tamanoir.deploy.SmallFile;
import org.tamanoir.platform.Causes;

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

    /** Returns null when there is none that can be read. */
    @Nullable
    Welcome read() {
        try {
            byte[] bytes = SmallFile.read(file, MembershipWelcome.LIMIT_BYTES);
            return MembershipWelcome.parse(new String(bytes, StandardCharsets.UTF_8));
        } catch (NoSuchFileException e) {
            return null;
        } catch (SmallFile.TooLargeException e) {
            LOG.warn("{}: what directors said before cannot be read: it has more than 1 MiB", file);
            return null;
        } catch (IOException | ClusterException e) {
            LOG.warn("{}: what directors said before cannot be read: {}", file, Causes.text(e));
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
        try {
            Files.createDirectories(file.toAbsolutePath().getParent());
            SmallFile.replace(file, MembershipWelcome.json(welcome));
            isBroken = false;
        } catch (IOException e) {
            if (!isBroken) {
                LOG.warn("{}: what the directors say is not remembered for the next start: {}", file, Causes.text(e));
            }
            isBroken = true;
        }
    }
}
