package org.tamanoir.node;

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
@Command(
        name = "repository",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Serve a repository of services until told to stop (SIGTERM, Ctrl-C); see docs/repository.md.",
            "With a token services can be published in it; with --mirror-of it follows another repository, or a plain "
                    + "copy of one on any web server."
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {"2:wrong usage, or it could not start", "130, 143:it was stopped by Ctrl-C or SIGTERM, in order"
        })
final class RepositoryCommand implements Callable<Integer> {
    static final int DEFAULT_PORT = 3325;

    private static final Duration STOP_GRACE = Duration.ofSeconds(15);
    private static final Duration MIN_INTERVAL = Duration.ofMillis(100);
    private static final Duration MAX_INTERVAL = Duration.ofHours(24);
    private static final long MIN_JAR_OCTETS = 1 << 10;
    private static final long POLL_NS = Duration.ofHours(1).toNanos();

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private CommandSpec spec;

    @Option(
            names = "--root",
            paramLabel = "DIR",
            required = true,
            description = "The repository's folder; made where there is none.")
    @SuppressWarnings("NullAway.Init")
    private Path root;

    @Option(
            names = "--listen",
            paramLabel = "HOST:PORT",
            defaultValue = "127.0.0.1:" + DEFAULT_PORT,
            description = "Where to listen; port 0 takes a free one, a port alone means loopback, *:PORT all of "
                    + "IPv4. Default: ${DEFAULT-VALUE}.")
    @SuppressWarnings("NullAway.Init")
    private String listen;

    @Option(
            names = "--token-file",
            paramLabel = "FILE",
            description = "File with the token that publishers must show. Default: the environment variable "
                    + "TAMANOIR_TOKEN; without either nobody can publish.")
    private @Nullable Path tokenFile;

    @Option(
            names = "--publisher",
            paramLabel = "FILE[=PATTERN,...]",
            description = "Take only versions that this public key signed, with these names, as in "
                    + "my.key.pub=org.example.*; without a pattern all names. Repeatable. Default: take any that is "
                    + "signed, whoever's key it is; nodes decide.")
    private List<String> publishers = new ArrayList<>();

    @Option(
            names = "--max-jar",
            paramLabel = "SIZE",
            defaultValue = "64MiB",
            description = "The largest jar, 1KiB to 256MiB. Default: ${DEFAULT-VALUE}.")
    @SuppressWarnings("NullAway.Init")
    private String maxJar;

    @Option(
            names = "--mirror-of",
            paramLabel = "URL",
            description = "Follow this repository, and take nothing from publishers.")
    private @Nullable String mirrorOf;

    @Option(
            names = "--interval",
            paramLabel = "TIME",
            defaultValue = "30s",
            description = "With --mirror-of: how often to look for news, 100ms to 24h. Default: ${DEFAULT-VALUE}.")
    @SuppressWarnings("NullAway.Init")
    private String interval;

    @Option(
            names = "--ca",
            paramLabel = "FILE",
            description = "With --mirror-of https://...: certificates (PEM) of the authorities that its comes from.")
    private @Nullable Path authorities;

    @Option(
            names = "--tls-certificate",
            paramLabel = "FILE",
            description = "Serve https with this certificate chain (PEM), with --tls-key.")
    private @Nullable Path certificate;

    @Option(names = "--tls-key", paramLabel = "FILE", description = "The certificate's private key (PEM, PKCS #8).")
    private @Nullable Path key;

    @Option(names = "--json", description = "Print one JSON object per line: event started or stopped.")
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
                value("--max-jar", () -> Quantity.octets(maxJar, MIN_JAR_OCTETS, Manifest.MAX_JAR_OCTETS)),
                policy);
        Duration every = value("--interval", () -> Quantity.duration(interval, MIN_INTERVAL, MAX_INTERVAL));
        String text = mirrorOf;
        URI source =
                text == null ? null : value("--mirror-of", () -> Mirror.requireSource(RepositoryOptions.uri(text)));
        SSLContext sourceTls = RepositoryOptions.tls(authorities);
        try (StopSignal stop = new StopSignal(STOP_GRACE);
                RepositoryTree tree = RepositoryTree.open(root)) {
            try (Mirror mirror = source == null
                            ? null
                            : Mirror.start(source, sourceTls, tree, every, settings.maxJarOctets(), policy);
                    RepositoryServer server = RepositoryServer.start(settings, tree, mirror)) {
                started(output, settings, tree, server.address());
                while (!stop.await(POLL_NS)) {
                    // It serves on its own threads.
                }
            }
            output.json(Map.of("event", "stopped"));
            output.line("stopped");
            return Main.OK;
        } catch (IOException | IllegalArgumentException e) {
            throw new CommandException(Main.USAGE, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Main.FAILED;
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
