package org.tamanoir.node.admin;

import java.util.Map;
import java.util.TreeMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.manager.ActiveNodeManager;
import org.tamanoir.node.cli.LogMarkers;
import org.tamanoir.node.config.AdminConfig;

/**
 * Records who changed what: a line in the log for each change, and with a node's manager an event. Events and lines are
 * bounded by kind, so attempts without the right token have a kind of their own, and so have changes by applications:
 * neither strangers nor applications can push out what an operator did. Lines of operators' changes are all written.
 *
 * <p>Thread contract: any thread.
 */
public final class ChangeLog {
    private static final Logger LOG = LoggerFactory.getLogger(ChangeLog.class);
    private static final String CHANGE = "change";
    private static final String CONTROL = "change-control";
    private static final String REFUSED = "change-refused";

    /** Stands for the name of a token where none was shown, or none that is known. */
    public static final String NO_TOKEN = AdminConfig.Tokens.NOBODY;

    private final Events events;

    /** Takes events. */
    private interface Events {
        void report(String kind, String text, Map<String, String> details);
    }

    private ChangeLog(Events events) {
        this.events = events;
    }

    /** Makes one that tells the log alone. */
    static ChangeLog ofLog() {
        return new ChangeLog((kind, text, details) -> {});
    }

    /** Makes one that tells a node's events, too. */
    public static ChangeLog of(ActiveNodeManager manager) {
        return new ChangeLog(manager::report);
    }

    /**
     * Records an operator's change that was made, or that failed.
     *
     * @param peer who asked for it: an address, a signal or a process
     * @param token name of the token that the peer showed, or {@link #NO_TOKEN}
     * @param operation what was asked for
     * @param outcome what came of it: {@code done}, or {@code refused} or {@code failed} and why
     */
    public void record(String peer, String token, String operation, String outcome) {
        LOG.info(LogMarkers.UNLIMITED, "change by {}, token {}: {}: {}", peer, token, operation, outcome);
        report(CHANGE, peer, token, operation, outcome);
    }

    /** Records a change by a token, as an operator's or as an application's. */
    void record(String peer, AdminToken token, String operation, String outcome) {
        if (token.right() == AdminToken.Right.CONTROL) {
            LOG.info("change of a service by {}, token {}: {}: {}", peer, token.name(), operation, outcome);
            report(CONTROL, peer, token.name(), operation, outcome);
        } else {
            record(peer, token.name(), operation, outcome);
        }
    }

    /**
     * Records that somebody without the right token, or at the wrong time, asked for a change.
     *
     * @param token name of the one that was shown, or {@link #NO_TOKEN}
     */
    void refused(String peer, String token, String operation, String why) {
        LOG.warn("change refused to {}, token {}: {}: {}", peer, token, operation, why);
        report(REFUSED, peer, token, operation, why);
    }

    private void report(String kind, String peer, String token, String operation, String outcome) {
        Map<String, String> details = new TreeMap<>();
        details.put("peer", peer);
        details.put("token", token);
        details.put("operation", operation);
        details.put("outcome", outcome);
        events.report(kind, operation + " by " + peer + ", token " + token + ": " + outcome, details);
    }
}
