package org.tamanoir.cluster;

import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.tamanoir.cluster.lvs.ClusterException;
import org.tamanoir.deploy.SmallFile;
import org.tamanoir.format.text.JsonFaults;
import org.tamanoir.platform.Causes;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;

/**
 * {@link DirectorState} on the disk: whole, the old one or the new one, whenever the process or the host dies.
 *
 * <p>Thread contract: one thread at a time.
 */
final class StateFile {
    private static final long MAX_BYTES = 16L << 20;
    private static final JsonMapper MAPPER =
            JsonMapper.builder().enable(SerializationFeature.INDENT_OUTPUT).build();

    private final Path file;
    private DirectorState saved;

    private StateFile(Path file, DirectorState saved) {
        this.file = file;
        this.saved = saved;
    }

    /**
     * Reads what there is; the folder need not exist.
     *
     * @throws ClusterException if it is broken or cannot be read
     */
    static StateFile open(Path folder) throws ClusterException {
        Path file = folder.resolve("director.json");
        try {
            long bytes = Files.size(file);
            if (bytes > MAX_BYTES) {
                throw broken(file, bytes + " bytes, at most " + MAX_BYTES + " are read", null);
            }
            DirectorState state = MAPPER.readValue(Files.readString(file), DirectorState.class);
            if (state == null) {
                throw broken(file, "null", null);
            }
            return new StateFile(file, state);
        } catch (NoSuchFileException e) {
            return new StateFile(file, DirectorState.EMPTY);
        } catch (JacksonException | CharacterCodingException e) {
            throw broken(file, e instanceof JacksonException json ? JsonFaults.why(json) : Causes.text(e), e);
        } catch (IOException e) {
            throw new ClusterException(
                    "state " + file + " cannot be read: " + Causes.text(e) + "; make it readable", e);
        }
    }

    private static ClusterException broken(Path file, String how, @Nullable Throwable cause) {
        String message =
                "state " + file + " is broken (" + how + "): put a copy back, or remove it; then back-ends are "
                        + "cut off until they register again, and those that were drained come in";
        return cause == null ? new ClusterException(message) : new ClusterException(message, cause);
    }

    /** Returns what is on the disk. */
    DirectorState saved() {
        return saved;
    }

    /** Writes the state unless it is on the disk already. */
    void save(DirectorState state) throws ClusterException {
        if (state.equals(saved)) {
            return;
        }
        try {
            Files.createDirectories(file.toAbsolutePath().getParent());
            SmallFile.replace(file, MAPPER.writeValueAsBytes(state));
        } catch (IOException e) {
            throw new ClusterException(
                    "state " + file + " cannot be written (" + Causes.text(e)
                            + "): what changed is done, but a restart forgets it; "
                            + "make room or the folder writable",
                    e);
        }
        saved = state;
    }
}
