package org.tamanoir.cluster;

import java.net.InetAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.cluster.MembershipSettings.SetUp;
import org.tamanoir.cluster.config.Bounds;
import org.tamanoir.cluster.config.Welcome;
import org.tamanoir.cluster.lvs.ClusterException;
import org.tamanoir.cluster.setup.HostSetup;

/**
 * What the node's host is set up for. Nothing that goes wrong here ends the node: it is told.
 *
 * <p>Thread contract: any thread; the host is looked at and changed by one at a time.
 */
final class MembershipHost {
    private static final Logger LOG = LoggerFactory.getLogger(MembershipHost.class);

    private final SetUp mode;
    private final Path stateFile;
    /** Held while commands run, which may take seconds; the monitor is for the fields alone. */
    private final Object work = new Object();

    private @Nullable List<Welcome.Served> services;
    private @Nullable String networkInterface;
    private @Nullable HostSetup setup;
    private boolean applied;
    private @Nullable String setUpFailure;
    private @Nullable String lookFailure;
    private List<String> findings = List.of();
    private List<String> commands = List.of();
    private List<String> undoCommands = List.of();

    MembershipHost(SetUp mode, Path stateFile) {
        this.mode = mode;
        this.stateFile = stateFile;
    }

    /** Returns what it is set up for; null = nothing yet. */
    synchronized @Nullable List<Welcome.Served> services() {
        return services;
    }

    /**
     * Sets the host up for these, or tells how. Once.
     *
     * @param directors addresses of theirs that are reached through that interface
     */
    void take(List<Welcome.Served> wanted, String towardsDirectors, List<InetAddress> directors) {
        synchronized (work) {
            synchronized (this) {
                services = wanted;
                networkInterface = towardsDirectors;
            }
            if (mode != SetUp.OFF && !wanted.isEmpty()) {
                try {
                    setUp(HostSetup.backEnd(wanted, towardsDirectors, stateFile, directors));
                } catch (ClusterException | RuntimeException e) {
                    String line = "the host is not set up: " + Bounds.reason(e);
                    LOG.warn("{}", line);
                    synchronized (this) {
                        setUpFailure = line;
                    }
                }
                look();
            }
        }
    }

    private void setUp(HostSetup made) throws ClusterException {
        synchronized (this) {
            setup = made;
            commands = List.copyOf(made.commands());
            undoCommands = List.copyOf(made.undoCommands());
        }
        if (mode == SetUp.AUTO && HostSetup.isPrivileged()) {
            made.apply();
            synchronized (this) {
                applied = true;
            }
            LOG.info("the host is set up for the cluster's services");
        } else if (!commands().isEmpty()) {
            LOG.warn("the host is not set up by the node ({}); as root, run:{}", why(), lines(commands()));
        }
    }

    private String why() {
        return mode == SetUp.PRINT ? "cluster.set-up is print" : "it has no privilege for that, CAP_NET_ADMIN";
    }

    /** Looks at the host anew. */
    void look() {
        synchronized (work) {
            HostSetup known;
            synchronized (this) {
                known = setup;
            }
            if (known == null) {
                return;
            }
            try {
                List<String> seen = List.copyOf(known.findings());
                synchronized (this) {
                    if (!seen.equals(findings)) {
                        seen.forEach(finding -> LOG.warn("host: {}", finding));
                    }
                    findings = seen;
                    lookFailure = null;
                }
            } catch (ClusterException | RuntimeException e) {
                lookFailed("the host cannot be looked at: " + Bounds.reason(e));
            }
        }
    }

    /** Takes back what the node did. */
    void undo() {
        synchronized (work) {
            HostSetup known;
            synchronized (this) {
                known = applied ? setup : null;
                applied = false;
                setup = null;
            }
            if (known == null) {
                return;
            }
            try {
                known.undo();
            } catch (ClusterException | RuntimeException e) {
                LOG.warn(
                        "what was set up on the host is not taken back: {}; as root, run:{}",
                        Bounds.reason(e),
                        lines(known.undoCommands()));
            }
        }
    }

    private synchronized void lookFailed(String line) {
        if (!line.equals(lookFailure)) {
            LOG.warn("{}", line);
        }
        lookFailure = line;
    }

    /**
     * Writes one line of the log each, but one call: the log limits lines of a kind, and none of these may be missing.
     */
    private static String lines(List<String> commands) {
        return commands.stream().map(command -> "\n  " + command).collect(Collectors.joining());
    }

    private synchronized List<String> commands() {
        return commands;
    }

    synchronized MembershipStatus.HostState state() {
        List<String> all = new ArrayList<>();
        if (setUpFailure != null) {
            all.add(setUpFailure);
        }
        if (lookFailure != null) {
            all.add(lookFailure);
        }
        all.addAll(findings);
        return new MembershipStatus.HostState(mode.label(), networkInterface, applied, all, commands, undoCommands);
    }
}
