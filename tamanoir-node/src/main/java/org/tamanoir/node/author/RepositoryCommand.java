package org.tamanoir.node.author;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;
import org.tamanoir.deploy.Manifest;
import org.tamanoir.deploy.TrustPolicy;
import org.tamanoir.node.cli.CommandException;
import org.tamanoir.node.cli.ExitCode;
import org.tamanoir.node.cli.Output;
import org.tamanoir.node.cli.RepositoryOptions;
import org.tamanoir.node.cli.StopSignal;
import org.tamanoir.node.cli.Systemd;
import org.tamanoir.node.config.Endpoint;
import org.tamanoir.node.config.Quantity;
import org.tamanoir.repository.Mirror;
import org.tamanoir.repository.RepositoryServer;
import org.tamanoir.repository.RepositoryTree;
import org.tamanoir.repository.Token;
import org.tamanoir.tls.TlsFiles;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code tamanoir repository}: serves services until it is told to stop. */
@Command(name = "repository", mixinStandardHelpOptions = true, sortOptions = false)
public final class RepositoryCommand implements Callable<Integer> {
    static final int DEFAULT_PORT = 3325;

    private static final Duration STOP_GRACE = Duration.ofSeconds(15);
    private static final Duration MIN_INTERVAL = Duration.ofMillis(100);
    private static final Duration MAX_INTERVAL = Duration.ofHours(24);
    private static final long MIN_JAR_BYTES = 1 << 10;
    private static final long POLL_NS = Duration.ofHours(1).toNanos();

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private CommandSpec spec;

    @Option(names = "--root", paramLabel = "DIR", required = true)
    @SuppressWarnings("NullAway.Init")
    private Path root;

    @Option(names = "--listen", paramLabel = "HOST:PORT", defaultValue = "127.0.0.1:" + DEFAULT_PORT)
    @SuppressWarnings("NullAway.Init")
    private String listen;

    @Option(names = "--token-file", paramLabel = "FILE")
    private @Nullable Path tokenFile;

    @Option(names = "--publisher", paramLabel = "FILE[=PATTERN,...]")
    private List<String> publishers = new ArrayList<>();

    @Option(names = "--no-formats")
    private boolean noFormats;

    @Option(names = "--max-jar", paramLabel = "SIZE", defaultValue = "64MiB")
    @SuppressWarnings("NullAway.Init")
    private String maxJar;

    @Option(names = "--mirror-of", paramLabel = "URL")
    private @Nullable String mirrorOf;

    @Option(names = "--interval", paramLabel = "TIME", defaultValue = "30s")
    @SuppressWarnings("NullAway.Init")
    private String interval;

    @Option(names = "--ca", paramLabel = "FILE")
    private @Nullable Path authorities;

    @Option(names = "--tls-certificate", paramLabel = "FILE")
    private @Nullable Path certificate;

    @Option(names = "--tls-key", paramLabel = "FILE")
    private @Nullable Path key;

    @Option(names = "--json")
    private boolean json;

    /** Made by picocli. */
    RepositoryCommand() {}

    @Override
    public Integer call() {
        if ((certificate == null) != (key == null)) {
            throw new ParameterException(spec.commandLine(), "--tls-certificate and --tls-key belong together");
        }
        Output output =
                new Output(spec.commandLine().getOut(), spec.commandLine().getErr(), json, false);
        TlsFiles tls = certificate == null ? null : new TlsFiles(certificate, key, null, false);
        TrustPolicy policy = publishers.isEmpty() ? null : RepositoryOptions.trust(publishers);
        Token token = RepositoryOptions.token(tokenFile);
        RepositoryServer.Settings settings = new RepositoryServer.Settings(
                value("--listen", () -> Endpoint.listening(listen, DEFAULT_PORT)),
                tls,
                token,
                value("--max-jar", () -> Quantity.bytes(maxJar, MIN_JAR_BYTES, Manifest.MAX_JAR_BYTES)),
                policy,
                !noFormats);
        Duration every = value("--interval", () -> Quantity.duration(interval, MIN_INTERVAL, MAX_INTERVAL));
        String text = mirrorOf;
        URI source =
                text == null ? null : value("--mirror-of", () -> Mirror.requireSource(RepositoryOptions.uri(text)));
        SSLContext sourceTls = RepositoryOptions.tls(authorities);
        try (StopSignal stop = new StopSignal(STOP_GRACE);
                RepositoryTree tree = RepositoryTree.open(root)) {
            try (Mirror mirror = source == null
                            ? null
                            : Mirror.start(source, sourceTls, tree, every, settings.maxJarBytes(), policy);
                    RepositoryServer server = RepositoryServer.start(settings, tree, mirror)) {
                started(output, settings, tree, server.address());
                Systemd systemd = Systemd.ofProcess();
                systemd.ready("on " + Endpoint.toString(server.address()));
                while (!stop.await(POLL_NS)) {
                    // It serves on its own threads.
                }
                systemd.stopping(STOP_GRACE);
            }
            output.json(Map.of("event", "stopped"));
            output.line("stopped");
            return ExitCode.OK;
        } catch (IOException | IllegalArgumentException e) {
            throw new CommandException(ExitCode.USAGE, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return ExitCode.FAILED;
        }
    }

    private <T> T value(String option, java.util.function.Supplier<T> parse) {
        try {
            return parse.get();
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), option + ": " + e.getMessage(), e);
        }
    }

    private void started(
            Output output, RepositoryServer.Settings settings, RepositoryTree tree, InetSocketAddress address) {
        boolean publishing = settings.token() != null && mirrorOf == null;
        if (publishing && settings.tls() == null && !address.getAddress().isLoopbackAddress()) {
            output.message("warning: the token crosses the network in the clear: listen on loopback, or use "
                    + "--tls-certificate and --tls-key");
        }
        String url = (settings.tls() == null ? "http://" : "https://") + Endpoint.toString(address);
        Map<String, @Nullable Object> event = new LinkedHashMap<>();
        event.put("event", "started");
        event.put("url", url);
        event.put("root", tree.root().toString());
        event.put("versions", tree.entries().size());
        event.put("publishing", publishing);
        event.put("mirrorOf", mirrorOf);
        output.json(event);
        output.line("repository " + tree.root() + " on " + url + ": "
                + tree.entries().size() + " versions, "
                + (mirrorOf != null ? "mirror of " + mirrorOf : "publishing is " + (publishing ? "on" : "off")));
    }
}
