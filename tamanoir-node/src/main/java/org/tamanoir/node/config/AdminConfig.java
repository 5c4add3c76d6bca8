package org.tamanoir.node.config;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.tamanoir.repository.Token;

/**
 * Where and how the node can be looked at and steered.
 *
 * @param listen null = not at all
 * @param portIsGiven whether the operator chose the port: then it must be had, else a free one will do
 * @param tokenFile who knows what is in it may make changes; null = nobody
 * @param readOnly whether changes are refused even with the token
 * @param hosts names, beside {@code localhost}, by which requests may call it
 * @param tls whether the node's certificate is used
 * @param accessLog a line for each TCP stream goes there; null = none
 */
public record AdminConfig(
        @Nullable InetSocketAddress listen,
        boolean portIsGiven,
        @Nullable Path tokenFile,
        boolean readOnly,
        List<String> hosts,
        boolean tls,
        @Nullable Path accessLog) {
    public static final int DEFAULT_PORT = 3324;
    /** A file that holds a token; what is wrong with it is known before the process starts. */
    public static final Kind<Path> TOKEN_FILE = Kind.of("file", AdminConfig::tokenFile, Path::toString);

    /** RFC 1123, section 2.1; 253 characters is the most that DNS carries. */
    private static final Pattern HOST =
            Pattern.compile("(?=.{1,253}$)[a-z0-9]([a-z0-9-]*[a-z0-9])?(\\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*");

    static AdminConfig of(Values values) {
        return new AdminConfig(
                values.get(NodeSettings.ADMIN).orElse(null),
                values.isGiven(NodeSettings.ADMIN),
                values.find(NodeSettings.ADMIN_TOKEN),
                values.get(NodeSettings.READ_ONLY),
                values.get(NodeSettings.HOSTS),
                values.get(NodeSettings.ADMIN_TLS),
                values.find(NodeSettings.ACCESS_LOG));
    }

    /** The same where no other port will do. */
    AdminConfig fixed() {
        return new AdminConfig(listen, true, tokenFile, readOnly, hosts, tls, accessLog);
    }

    /** A host name as requests give it in their header Host, without a port; in lower case. */
    public static String host(String text) {
        String host = text.toLowerCase(Locale.ROOT);
        if (!HOST.matcher(host).matches()) {
            throw new IllegalArgumentException(
                    "'" + text + "' is no host name: one as in node4.example.net is wanted, without a port");
        }
        return host;
    }

    private static Path tokenFile(String text) {
        try {
            Path file = Path.of(text);
            Token.read(file);
            return file;
        } catch (IOException e) {
            throw new IllegalArgumentException(e.getMessage(), e);
        }
    }
}
