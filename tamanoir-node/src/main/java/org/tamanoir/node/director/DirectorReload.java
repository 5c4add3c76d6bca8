package org.tamanoir.node.director;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.node.cli.Systemd;
import org.tamanoir.node.config.Problems;

/**
 * Reads a director's file again at SIGHUP: takes what is shown to nodes, and says of the rest that it wants a restart, which
 * cuts no stream.
 *
 * <p>Thread contract: any thread.
 */
final class DirectorReload {
    private static final Logger LOG = LoggerFactory.getLogger(DirectorReload.class);

    private final Path file;
    private final DirectorSettings running;
    private final Consumer<Map<URI, String>> authorizations;
    private final Systemd systemd;
    private Map<URI, String> shown;

    /**
     * Has admin APIs shown what the director was started with.
     *
     * @param running what that is
     * @param authorizations takes what is shown to admin APIs from now on
     * @param systemd learns of each reload and what came of it
     * @throws IOException in one line, if a token cannot be read
     */
    DirectorReload(Path file, DirectorSettings running, Consumer<Map<URI, String>> authorizations, Systemd systemd)
            throws IOException {
        this.file = file;
        this.running = running;
        this.authorizations = authorizations;
        this.systemd = systemd;
        shown = running.authorizations();
        authorizations.accept(shown);
    }

    /** Reads it, and logs what came of it in one line. */
    synchronized void reload() {
        systemd.reloading();
        String outcome = "reload failed by a fault of the director: its log says more";
        try {
            outcome = read();
        } finally {
            systemd.reloaded(outcome);
        }
    }

    private String read() {
        Problems problems = new Problems();
        DirectorSettings wanted = DirectorFile.read(file, problems);
        try {
            if (wanted == null) {
                throw new IOException(String.join("; ", problems.lines()));
            }
            shown = toShow(wanted);
            authorizations.accept(shown);
        } catch (IOException e) {
            String refused = "reload refused, nothing is changed: " + e.getMessage();
            LOG.error("{}", refused);
            return refused;
        }
        String taken = "reloaded: " + wanted.adminTokens().size() + " tokens for admin APIs of back-ends"
                + (wanted.withoutAdminTokens().equals(running.withoutAdminTokens())
                        ? ""
                        : "; what else changed needs a restart, which cuts no stream");
        LOG.info("{}", taken);
        return taken;
    }

    /** Returns what the file says, and for admin APIs that it lists no longer, and that are asked until a restart, what was. */
    private Map<URI, String> toShow(DirectorSettings wanted) throws IOException {
        Map<URI, String> kept = new HashMap<>(shown);
        wanted.director().backEnds().forEach(listed -> kept.remove(listed.admin()));
        kept.putAll(wanted.authorizations());
        return kept;
    }
}
