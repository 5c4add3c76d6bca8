package org.tamanoir.node.director;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
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

    /**
     * @param running what the director was started with
     * @param authorizations takes what is shown to admin APIs from now on
     * @param systemd learns of each reload and what came of it
     */
    DirectorReload(Path file, DirectorSettings running, Consumer<Map<URI, String>> authorizations, Systemd systemd) {
        this.file = file;
        this.running = running;
        this.authorizations = authorizations;
        this.systemd = systemd;
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
            authorizations.accept(wanted.authorizations());
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
}
