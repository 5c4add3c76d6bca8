package org.tamanoir.node;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;
import org.tamanoir.tls.TlsFiles;
import picocli.CommandLine.Option;
import picocli.CommandLine.ScopeType;

/** The options of commands that talk to a node's admin API. picocli makes it. */
final class AdminOptions {
    private static final String TOKEN_VARIABLE = "TAMANOIR_TOKEN";
    /** Of a token file: more is some other file. */
    private static final long MAX_TOKEN_OCTETS = 4096;

    @Option(
            names = "--admin",
            paramLabel = "URL",
            scope = ScopeType.INHERIT,
            description = "The node's admin API: http://HOST:PORT, https://HOST:PORT or HOST:PORT. Default: "
                    + "http://127.0.0.1:3324.")
    private String admin = "127.0.0.1:" + AdminConfig.DEFAULT_PORT;

    @Option(
            names = "--token-file",
            paramLabel = "FILE",
            scope = ScopeType.INHERIT,
            description = "File with the node's token, which changes need. Default: the token in the environment "
                    + "variable " + TOKEN_VARIABLE + ".")
    private @Nullable Path tokenFile;

    @Option(
            names = "--ca",
            paramLabel = "FILE",
            scope = ScopeType.INHERIT,
            description = "Certificates, in PEM, of the authorities that may vouch for the node; with https. Default: "
                    + "those of Java.")
    private @Nullable Path authorities;

    /** Made by picocli. */
    AdminOptions() {}

    /**
     * A client of that node.
     *
     * @throws CommandException if an option is wrong, or its file cannot be read
     */
    AdminClient client() {
        try {
            SSLContext tls = authorities == null ? null : new TlsFiles(null, null, authorities, false).context();
            return new AdminClient(url(admin, tls != null), token(), tls);
        } catch (IOException | IllegalArgumentException e) {
            throw new CommandException(Main.USAGE, e);
        }
    }

    private static URI url(String text, boolean tls) {
        String whole = text;
        if (!text.contains("://")) {
            Endpoint endpoint = Endpoint.parse(text, 1);
            String host = endpoint.host().isEmpty() ? "127.0.0.1" : endpoint.host();
            int port = endpoint.port() == Endpoint.NO_PORT ? AdminConfig.DEFAULT_PORT : endpoint.port();
            whole = (tls ? "https://" : "http://") + (host.indexOf(':') < 0 ? host : "[" + host + "]") + ":" + port;
        }
        String problem = "--admin '" + text + "': http://HOST:PORT, https://HOST:PORT or HOST:PORT is wanted";
        try {
            URI url = URI.create(whole.replaceFirst("/+$", ""));
            boolean isHttp = "http".equals(url.getScheme()) || "https".equals(url.getScheme());
            if (!isHttp || url.getHost() == null || !url.getPath().isEmpty() || url.getUserInfo() != null) {
                throw new IllegalArgumentException(problem);
            }
            if (tls && url.getScheme().equals("http")) {
                throw new IllegalArgumentException("--ca is for https, and --admin says http; leave one out");
            }
            return url;
        } catch (IllegalArgumentException e) {
            throw e.getMessage() != null && e.getMessage().startsWith("--")
                    ? e
                    : new IllegalArgumentException(problem, e);
        }
    }

    private @Nullable String token() throws IOException {
        if (tokenFile == null) {
            String token = System.getenv(TOKEN_VARIABLE);
            return token == null || token.isBlank() ? null : token.strip();
        }
        try {
            if (Files.size(tokenFile) > MAX_TOKEN_OCTETS) {
                throw new IOException("--token-file " + tokenFile + ": larger than " + MAX_TOKEN_OCTETS
                        + " octets; it holds no token");
            }
            String token = Files.readString(tokenFile).strip();
            if (token.isEmpty() || !token.chars().allMatch(c -> c > ' ' && c < 0x7f)) {
                throw new IOException("--token-file " + tokenFile + ": one line of visible ASCII is wanted");
            }
            return token;
        } catch (java.nio.file.FileSystemException | java.nio.charset.CharacterCodingException e) {
            throw new IOException(
                    "--token-file " + tokenFile + " cannot be read: does it exist, and may this user read it?", e);
        }
    }
}
