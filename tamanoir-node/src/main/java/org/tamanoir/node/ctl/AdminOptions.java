package org.tamanoir.node.ctl;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;
import org.tamanoir.node.cli.CommandException;
import org.tamanoir.node.cli.ExitCode;
import org.tamanoir.node.cli.RepositoryOptions;
import org.tamanoir.node.config.AdminConfig;
import org.tamanoir.node.config.Endpoint;
import org.tamanoir.tls.TlsFiles;
import picocli.CommandLine.Option;
import picocli.CommandLine.ScopeType;

/** The options of commands that talk to a node's admin API. picocli makes it. */
public final class AdminOptions {
    @Option(names = "--admin", descriptionKey = "node-api", paramLabel = "URL", scope = ScopeType.INHERIT)
    private String admin = "127.0.0.1:" + AdminConfig.DEFAULT_PORT;

    @Option(names = "--token-file", descriptionKey = "node-token", paramLabel = "FILE", scope = ScopeType.INHERIT)
    private @Nullable Path tokenFile;

    @Option(names = "--ca", descriptionKey = "node-ca", paramLabel = "FILE", scope = ScopeType.INHERIT)
    private @Nullable Path authorities;

    /** Made by picocli. */
    AdminOptions() {}

    /**
     * A client of that node.
     *
     * @throws CommandException if an option is wrong, or its file cannot be read
     */
    public AdminClient client() {
        return client(AdminKind.NODE, admin, tokenFile, authorities);
    }

    /** The same of any admin API. */
    public static AdminClient client(
            AdminKind kind, String address, @Nullable Path tokenFile, @Nullable Path authorities) {
        try {
            SSLContext tls = authorities == null ? null : new TlsFiles(null, null, authorities, false).context();
            return new AdminClient(kind, url(kind, address, tls != null), RepositoryOptions.token(tokenFile), tls);
        } catch (IOException | IllegalArgumentException e) {
            throw new CommandException(ExitCode.USAGE, e);
        }
    }

    private static URI url(AdminKind kind, String text, boolean tls) {
        String whole = text;
        if (!text.contains("://")) {
            Endpoint endpoint = Endpoint.parse(text, 1);
            String host = endpoint.host().isEmpty() ? "127.0.0.1" : endpoint.host();
            int port = endpoint.port() == Endpoint.NO_PORT ? kind.defaultPort : endpoint.port();
            whole = (tls ? "https://" : "http://") + (host.indexOf(':') < 0 ? host : "[" + host + "]") + ":" + port;
        }
        String problem = kind.option + " '" + text + "': http://HOST:PORT, https://HOST:PORT or HOST:PORT is wanted";
        try {
            URI url = URI.create(whole.replaceFirst("/+$", ""));
            boolean isHttp = "http".equals(url.getScheme()) || "https".equals(url.getScheme());
            if (!isHttp || url.getHost() == null || !url.getPath().isEmpty() || url.getUserInfo() != null) {
                throw new IllegalArgumentException(problem);
            }
            if (tls && url.getScheme().equals("http")) {
                throw new IllegalArgumentException(
                        "--ca is for https, and " + kind.option + " says http; leave one out");
            }
            return url;
        } catch (IllegalArgumentException e) {
            throw e.getMessage() != null && e.getMessage().startsWith("--")
                    ? e
                    : new IllegalArgumentException(problem, e);
        }
    }
}
