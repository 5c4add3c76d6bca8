package org.tamanoir.node.director;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.tamanoir.cluster.Director;
import org.tamanoir.cluster.config.DirectorConfig;
import org.tamanoir.cluster.lvs.ClusterException;
import org.tamanoir.cluster.lvs.Ipvs;
import org.tamanoir.node.admin.AdminSettings;
import org.tamanoir.node.admin.DirectorServer;
import org.tamanoir.node.cli.CommandException;
import org.tamanoir.node.cli.ExitCode;
import org.tamanoir.node.cli.HangUp;
import org.tamanoir.node.cli.StopSignal;
import org.tamanoir.node.cli.Systemd;
import org.tamanoir.node.config.AdminConfig;
import org.tamanoir.node.config.Endpoint;
import org.tamanoir.repository.Token;

/** A director as a process: starts it with its API, tells what changes, and ends it in order. One thread. */
final class DirectorProcess {
    private static final Duration STOP_GRACE = Duration.ofSeconds(15);
    private static final long LOOK_NS = Duration.ofMillis(500).toNanos();

    private final Path file;
    private final DirectorSettings settings;
    private final DirectorConfig config;
    private final DirectorReport report;

    /** @param file that the settings are from */
    DirectorProcess(Path file, DirectorSettings settings, DirectorReport report) {
        this.file = file;
        this.settings = settings;
        this.config = settings.director();
        this.report = report;
    }

    /**
     * Returns when it has stopped.
     *
     * @throws CommandException if it cannot start
     */
    int run() {
        Ipvs ipvs = DirectorCommand.open();
        try (StopSignal stop = new StopSignal(STOP_GRACE)) {
            // The port first: what cannot listen changes nothing in the kernel.
            try (Director director = new Director(config, ipvs);
                    DirectorServer server = server(director)) {
                Systemd systemd = Systemd.ofProcess();
                HangUp.onHangUp(new DirectorReload(file, settings, director::authorizations, systemd)::reload);
                director.start();
                if (server != null) {
                    server.open();
                }
                report.started(config, server == null ? null : url(server.address()));
                systemd.ready(config.services().size() + " services");
                do {
                    report.changes(director.status());
                    if (systemd.watchdogInterval() != null && director.comesRound()) {
                        systemd.alive();
                    }
                } while (!stop.await(LOOK_NS));
                systemd.stopping(STOP_GRACE);
            }
            report.stopped(config.removeAtEnd());
            return ExitCode.OK;
        } catch (ClusterException | IOException e) {
            throw new CommandException(ExitCode.USAGE, "the director cannot start: " + CommandException.line(e), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return ExitCode.FAILED;
        }
    }

    /** Null = it has none. */
    private @Nullable DirectorServer server(Director director) throws IOException {
        AdminConfig admin = settings.admin();
        if (admin.listen() == null) {
            return null;
        }
        Token registration = settings.registrationToken() == null ? null : Token.read(settings.registrationToken());
        Map<String, Token> nodeTokens = new HashMap<>();
        for (Map.Entry<String, Path> each : settings.nodeTokens().entrySet()) {
            nodeTokens.put(each.getKey(), Token.read(each.getValue()));
        }
        DirectorServer server = new DirectorServer(
                director,
                config,
                new AdminSettings(
                        admin.listen(),
                        AdminSettings.read(admin.tokens()),
                        admin.readOnly(),
                        Set.copyOf(admin.hosts()),
                        admin.tls() ? config.tls() : null),
                settings.ready(),
                registration,
                nodeTokens);
        try {
            server.start();
            return server;
        } catch (IOException e) {
            server.close();
            throw e;
        }
    }

    private String url(InetSocketAddress address) {
        return (settings.admin().tls() ? "https://" : "http://") + Endpoint.toString(address);
    }
}
