package org.tamanoir.cluster.setup;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import org.tamanoir.cluster.lvs.ClusterException;
import org.tamanoir.deploy.SmallFile;
import org.tamanoir.platform.Causes;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

/**
 * What was changed on the host, and what was there before, in a file. It counts for one boot and one network namespace: of
 * another nothing is left to take back.
 *
 * <p>Thread contract: one thread at a time, always of the same namespace.
 */
final class SetupFile {
    private static final JsonMapper MAPPER = JsonMapper.shared();
    private static final int LIMIT_BYTES = 1 << 20;

    /** A change that was made, or was about to be when the process ended. */
    record Made(Step step, String former) {}

    private record Content(String boot, String namespace, List<Made> made) {
        Content {
            made = List.copyOf(made);
        }
    }

    private final Path file;

    SetupFile(Path file) {
        this.file = file.toAbsolutePath();
    }

    List<Made> read() throws ClusterException {
        try {
            Content content = MAPPER.readValue(SmallFile.read(file, LIMIT_BYTES), Content.class);
            boolean isHere =
                    content.boot().equals(boot()) && content.namespace().equals(namespace());
            return isHere ? content.made() : List.of();
        } catch (NoSuchFileException e) {
            return List.of();
        } catch (SmallFile.TooLargeException e) {
            throw new ClusterException(file + ": more than " + LIMIT_BYTES + " bytes, no record of a host set-up", e);
        } catch (IOException | JacksonException | NullPointerException e) {
            throw new ClusterException(
                    file + ": no record of a host set-up: "
                            + (e instanceof IOException ? Causes.text(e) : "other JSON than the node writes")
                            + "; remove it, then take back by hand what is no longer wanted",
                    e);
        }
    }

    /** Writes the record, which is on the disk then; without changes there is no file. */
    void write(List<Made> made) throws ClusterException {
        try {
            if (made.isEmpty()) {
                Files.deleteIfExists(file);
                return;
            }
            Files.createDirectories(file.resolveSibling("."));
            SmallFile.replace(file, MAPPER.writeValueAsBytes(new Content(boot(), namespace(), made)));
        } catch (IOException e) {
            throw new ClusterException(file + ": cannot be written, nothing was changed: " + Causes.text(e), e);
        }
    }

    private static String boot() throws IOException {
        return Files.readString(Path.of("/proc/sys/kernel/random/boot_id")).strip();
    }

    private static String namespace() throws IOException {
        return Files.readSymbolicLink(Path.of("/proc/thread-self/ns/net")).toString();
    }
}
