package org.tamanoir.node.cli;

import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;
import org.tamanoir.deploy.PublisherKey;
import org.tamanoir.deploy.TrustPolicy;
import org.tamanoir.repository.Token;
import org.tamanoir.tls.TlsFiles;

/** What the values of options about repositories and tokens mean. */
public final class RepositoryOptions {
    /** Environment variable: the token, where no file is named. */
    public static final String TOKEN = "TAMANOIR_TOKEN";

    private RepositoryOptions() {}

    /**
     * The token of the file, else of the environment; null = neither is there.
     *
     * @throws CommandException in one line
     */
    public static @Nullable Token token(@Nullable Path file) {
        try {
            if (file != null) {
                return Token.read(file);
            }
            String text = System.getenv(TOKEN);
            return text == null || text.isBlank() ? null : Token.of(text, "environment variable " + TOKEN);
        } catch (IOException | IllegalArgumentException e) {
            throw new CommandException(ExitCode.USAGE, e);
        }
    }

    /** An address of a repository; what is wrong with it the user of it says. */
    public static URI uri(String text) {
        try {
            return new URI(text);
        } catch (URISyntaxException e) {
            throw new CommandException(
                    ExitCode.USAGE,
                    "repository '" + text + "' is no address: one as in http://127.0.0.1:3325 is wanted",
                    e);
        }
    }

    /** For https to a server whose certificate comes from the authorities in this file; null = the JDK's own. */
    public static @Nullable SSLContext tls(@Nullable Path authorities) {
        try {
            return authorities == null ? null : new TlsFiles(null, null, authorities, false).context();
        } catch (IOException e) {
            throw new CommandException(ExitCode.USAGE, e);
        }
    }

    /**
     * Trusts publishers.
     *
     * @param publishers {@code FILE[=PATTERN,...]}; without a pattern for all names
     */
    public static TrustPolicy trust(List<String> publishers) {
        List<TrustPolicy.Publisher> trusted = new ArrayList<>();
        try {
            for (String text : publishers) {
                int equals = text.indexOf('=');
                Path file = Path.of(equals < 0 ? text : text.substring(0, equals));
                List<String> names = equals < 0
                        ? List.of("*")
                        : List.of(text.substring(equals + 1).split(",", -1));
                trusted.add(new TrustPolicy.Publisher(PublisherKey.read(file), names));
            }
            return new TrustPolicy(trusted, Set.of(), Set.of(), false);
        } catch (IOException | IllegalArgumentException e) {
            throw new CommandException(ExitCode.USAGE, "--publisher: " + CommandException.line(e), e);
        }
    }
}
