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
 * @param control who else may change services, by their controls
 * @param hosts names, beside {@code localhost}, by which requests may call it
 * @param tls whether the node's certificate is used
 * @param accessLog a line for each TCP stream goes there; null = none
 */
public record AdminConfig(
        @Nullable InetSocketAddress listen,
        boolean portIsGiven,
        @Nullable Path tokenFile,
        boolean readOnly,
        List<ControlRight> control,
        List<String> hosts,
        boolean tls,
        @Nullable Path accessLog) {
    public static final int DEFAULT_PORT = 3324;
    /** A file that holds a token; what is wrong with it is known before the process starts. */
    public static final Kind<Path> TOKEN_FILE = Kind.of("file", AdminConfig::tokenFile, Path::toString);

    /**
     * Lets an application change services.
     *
     * @param tokenFile who knows what is in it may
     * @param services their names, without versions
     */
    public record ControlRight(Path tokenFile, List<String> services) {
        /** Reads {@code FILE=NAME,...}. */
        static ControlRight of(String text) {
            int equals = text.lastIndexOf('=');
            if (equals <= 0 || equals == text.length() - 1) {
                throw new IllegalArgumentException("'" + text
                        + "' names no services: FILE=NAME,... is wanted, a token's file and what it lets change");
            }
            List<String> services = List.of(text.substring(equals + 1).split(",", -1));
            services.stream().filter(name -> name.indexOf(':') >= 0).findFirst().ifPresent(name -> {
                throw new IllegalArgumentException(
                        "'" + name + "' has a version: name the service alone, the right is for all of its versions");
            });
            return new ControlRight(
                    AdminConfig.tokenFile(text.substring(0, equals)),
                    services.stream().map(NodeConfigBuilder::serviceName).toList());
        }

        @Override
        public String toString() {
            return tokenFile + "=" + String.join(",", services);
        }
    }

    /** RFC 1123, section 2.1; 253 characters is the most that DNS carries. */
    private static final Pattern HOST =
            Pattern.compile("(?=.{1,253}$)[a-z0-9]([a-z0-9-]*[a-z0-9])?(\\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*");

    /** Where nobody but who has the token may change anything. */
    public AdminConfig(
            @Nullable InetSocketAddress listen,
            boolean portIsGiven,
            @Nullable Path tokenFile,
            boolean readOnly,
            List<String> hosts,
            boolean tls,
            @Nullable Path accessLog) {
        this(listen, portIsGiven, tokenFile, readOnly, List.of(), hosts, tls, accessLog);
    }

    static AdminConfig of(Values values) {
        return new AdminConfig(
                values.get(NodeSettings.ADMIN).orElse(null),
                values.isGiven(NodeSettings.ADMIN),
                values.find(NodeSettings.ADMIN_TOKEN),
                values.get(NodeSettings.READ_ONLY),
                values.get(NodeSettings.CONTROL),
                values.get(NodeSettings.HOSTS),
                values.get(NodeSettings.ADMIN_TLS),
                values.find(NodeSettings.ACCESS_LOG));
    }

    /** The same where no other port will do. */
    AdminConfig fixed() {
        return new AdminConfig(listen, true, tokenFile, readOnly, control, hosts, tls, accessLog);
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
