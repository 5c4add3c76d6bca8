package org.tamanoir.node.run;

import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.manager.ManagerException;
import org.tamanoir.node.admin.Reloading;
import org.tamanoir.node.cli.Systemd;
import org.tamanoir.node.config.NodeConfig;
import org.tamanoir.node.config.Problems;

/**
 * Reads the configuration of a running node again and has the node take what changed, all of it or nothing. What
 * changed is the difference between what the file said when it was last taken and what it says now; so what operators
 * changed through the admin API meanwhile stays, unless the file now says something else of just that.
 *
 * <p>Thread contract: any thread; one reload at a time, others wait. Of signals one waits at most, however many come: it
 * reads what the others would.
 */
final class Reloader implements Reloading {
    private static final Logger LOG = LoggerFactory.getLogger(Reloader.class);

    /** Reads a configuration. */
    interface Source {
        /** Returns null when there are problems. */
        @Nullable
        NodeConfig read(Problems problems);
    }

    private final Node node;
    private final @Nullable Source source;
    private final Systemd systemd;
    private final AtomicBoolean isSignalWaiting = new AtomicBoolean();

    /**
     * @param source null = there is no file that could be read again
     * @param systemd learns of each reload and what came of it
     */
    Reloader(Node node, @Nullable Source source, Systemd systemd) {
        this.node = node;
        this.systemd = systemd;
        this.source = source;
    }

    @Override
    public synchronized Outcome reload() throws ManagerException {
        systemd.reloading();
        String status = "reload failed by a fault of the node: its log says more";
        try {
            Outcome outcome = take();
            String ineffective = outcome.failed().isEmpty()
                    ? ""
                    : ", " + outcome.failed().size() + " without effect: " + String.join("; ", outcome.failed());
            status = "reloaded: " + outcome.changed().size() + " changes taken, "
                    + outcome.needRestart().size() + " need a restart" + ineffective;
            return outcome;
        } catch (ManagerException e) {
            status = "reload refused, nothing is changed: " + e.getMessage();
            throw e;
        } finally {
            systemd.reloaded(status);
        }
    }

    private Outcome take() throws ManagerException {
        if (source == null) {
            throw new ManagerException(
                    ManagerException.Kind.CONFLICT,
                    "there is nothing to read again: the node was started without --config FILE");
        }
        Problems problems = new Problems();
        NodeConfig wanted = source.read(problems);
        if (wanted == null) {
            throw new ManagerException(ManagerException.Kind.INVALID, String.join("\n", problems.lines()));
        }
        return node.apply(wanted);
    }

    /** Reloads for a signal, and logs the outcome; one that comes while another waits has nothing to add. */
    void reloadForSignal() {
        if (!isSignalWaiting.compareAndSet(false, true)) {
            return;
        }
        synchronized (this) {
            isSignalWaiting.set(false); // Before the file is read: what is written from here on may be missed by that.
            reloadAndLog();
        }
    }

    private void reloadAndLog() {
        String recorded = "failed: by a fault of the node; its log says which";
        try {
            Outcome outcome = reload();
            int failed = outcome.failed().size();
            recorded = failed == 0 ? "done" : "done, " + failed + " changes without effect";
            LOG.info(
                    "reload: {} changes taken, {} without effect, {} need a restart",
                    outcome.changed().size(),
                    failed,
                    outcome.needRestart().size());
            outcome.lines().forEach(line -> LOG.info("reload: {}", line));
        } catch (ManagerException e) {
            List<String> lines = String.valueOf(e.getMessage()).lines().toList();
            lines.forEach(line -> LOG.error("reload refused, nothing is changed: {}", line));
            recorded = "refused: " + String.join(" ", lines);
        } catch (RuntimeException e) {
            LOG.error("reload failed by a fault of the node, nothing more is changed: {}", e.toString(), e);
        } finally {
            node.record("SIGHUP", "reload", recorded);
        }
    }
}
