package org.tamanoir.node.config;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.tamanoir.repository.Token;

/**
 * Where and how the node can be looked at and steered.
 *
 * @param listen null = not at all
 * @param portIsGiven whether the operator chose the port: then it must be had, else a free one will do
 * @param tokens who may do what
 * @param readOnly whether changes are refused even with the token
 * @param hosts names, beside {@code localhost}, by which requests may call it
 * @param tls whether the node's certificate is used
 * @param accessLog a line for each TCP stream goes there; null = none
 */
public record AdminConfig(
        @Nullable InetSocketAddress listen,
        boolean portIsGiven,
        Tokens tokens,
        boolean readOnly,
        List<String> hosts,
        boolean tls,
        @Nullable Path accessLog) {
    public static final int DEFAULT_PORT = 3324;
    /** A file that holds a token; what is wrong with it is known before the process starts. */
    public static final Kind<Path> TOKEN_FILE = Kind.of("file", AdminConfig::tokenFile, Path::toString);

    /** Whether an admin API beyond loopback may be without TLS. */
    public static final Kind<Boolean> PLAIN = Kind.choice(Map.of("refused", false, "allowed", true));

    /** What to set for an admin API beyond loopback. */
    public static final String PLAIN_REMEDY =
            "set admin.tls, or admin.plain: allowed on a network that nobody else is on";

    /**
     * Files with tokens; null = there is none.
     *
     * @param change allows all changes
     * @param read allows questions alone
     * @param named allow all changes, under names of their own
     * @param control who else may change services, by their controls
     */
    public record Tokens(
            @Nullable Path change, @Nullable Path read, List<NamedToken> named, List<ControlRight> control) {
        /** The name of the token that {@code admin.token-file} holds. */
        public static final String ADMIN = "admin";
        /** The name of the token that {@code admin.read-token-file} holds. */
        public static final String READ = "read";

        /** Stands for the name of a token where none was shown, or none that is known. */
        public static final String NOBODY = "none";

        /** No token. */
        public static final Tokens NONE = new Tokens(null, null, List.of(), List.of());

        /** Takes the lists as they are. */
        public Tokens {
            named = List.copyOf(named);
            control = List.copyOf(control);
        }

        /** Returns the files of tokens that have to differ, by what names each. */
        public Map<String, Path> files() {
            Map<String, Path> files = new LinkedHashMap<>();
            if (change != null) {
                files.put("admin.token-file", change);
            }
            if (read != null) {
                files.put("admin.read-token-file", read);
            }
            named.forEach(token -> files.put("admin.tokens " + token.name, token.file));
            control.forEach(right -> files.put("admin.control " + right.tokenFile, right.tokenFile));
            return files;
        }

        /** Adds problems where a name or a token stands twice: nobody could say then who changed what. */
        void check(Values values, Problems problems) {
            Set<String> names = new HashSet<>(Set.of(ADMIN, READ, NOBODY));
            for (NamedToken token : named) {
                if (!names.add(token.name)) {
                    problems.add(
                            values.where(NodeSettings.TOKENS),
                            "the name " + token.name
                                    + " is in use already: give each token one of its own, other than '" + ADMIN
                                    + "', '" + READ + "' and '" + NOBODY + "'");
                }
            }
            for (ControlRight right : control) {
                if (!names.add(right.name())) {
                    problems.add(
                            values.where(NodeSettings.CONTROL),
                            "the name " + right.name() + " is in use already: list all services of a token's file in "
                                    + "one entry, and give files in other folders other names");
                }
            }
            requireDifferent(files(), same -> problems.add(values.where(setting(same)), same));
        }

        /** Returns the setting that a line about one of {@link #files} begins with. */
        private static Setting<?> setting(String line) {
            return Stream.<Setting<?>>of(NodeSettings.READ_TOKEN, NodeSettings.TOKENS, NodeSettings.CONTROL)
                    .filter(setting -> line.startsWith(setting.path() + " "))
                    .findFirst()
                    .orElse(NodeSettings.ADMIN_TOKEN);
        }

        /**
         * Compares tokens: whoever has one must not have another by it. Files that cannot be read are left out; whoever
         * reads their settings tells of them.
         *
         * @param files by what names each
         * @param problems gets a line for each token that stands in two files
         */
        public static void requireDifferent(Map<String, Path> files, Consumer<String> problems) {
            Map<String, Token> seen = new LinkedHashMap<>();
            files.forEach((place, file) -> {
                Token token;
                try {
                    token = Token.read(file);
                } catch (IOException e) {
                    return;
                }
                seen.forEach((before, other) -> {
                    if (other.matches(token.authorization())) {
                        problems.accept(place + " holds the same token as " + before
                                + ": who has one could do what the other allows; make another with "
                                + "'openssl rand -hex 32'");
                    }
                });
                seen.put(place, token);
            });
        }
    }

    /**
     * A token for all changes whose name events and the log tell.
     *
     * @param file who knows what is in it may make changes
     */
    public record NamedToken(String name, Path file) {
        private static final Pattern NAME = Pattern.compile("[A-Za-z0-9._-]{1,32}");

        /** Reads {@code NAME=FILE}. */
        static NamedToken of(String text) {
            int equals = text.indexOf('=');
            if (equals < 0 || !NAME.matcher(text.substring(0, equals)).matches()) {
                throw new IllegalArgumentException("'" + text
                        + "' is no named token: NAME=FILE is wanted, a name of 1 to 32 letters, digits, '.', '_' and "
                        + "'-', and the token's file");
            }
            return new NamedToken(text.substring(0, equals), AdminConfig.tokenFile(text.substring(equals + 1)));
        }

        @Override
        public String toString() {
            return name + "=" + file;
        }
    }

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

        /** Returns what events and the log call whoever shows the token: no name of {@link NamedToken} has a colon. */
        public String name() {
            return "control:" + tokenFile.getFileName();
        }

        @Override
        public String toString() {
            return tokenFile + "=" + String.join(",", services);
        }
    }

    /** RFC 1123, section 2.1; 253 characters is the most that DNS carries. */
    private static final Pattern HOST =
            Pattern.compile("(?=.{1,253}$)[a-z0-9]([a-z0-9-]*[a-z0-9])?(\\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*");

    static AdminConfig of(Values values) {
        return new AdminConfig(
                values.get(NodeSettings.ADMIN).orElse(null),
                values.isGiven(NodeSettings.ADMIN),
                new Tokens(
                        values.find(NodeSettings.ADMIN_TOKEN),
                        values.find(NodeSettings.READ_TOKEN),
                        values.get(NodeSettings.TOKENS),
                        values.get(NodeSettings.CONTROL)),
                values.get(NodeSettings.READ_ONLY),
                values.get(NodeSettings.HOSTS),
                values.get(NodeSettings.ADMIN_TLS),
                values.find(NodeSettings.ACCESS_LOG));
    }

    /** The same where no other port will do. */
    AdminConfig fixed() {
        return new AdminConfig(listen, true, tokens, readOnly, hosts, tls, accessLog);
    }

    /**
     * Returns why an API cannot be there: beyond loopback it has TLS, or the operator says that it needs none.
     *
     * @param isGuarded whether it has, or he does
     * @param remedy what to set
     */
    public static Optional<String> whyNotPlain(@Nullable InetSocketAddress listen, boolean isGuarded, String remedy) {
        return listen == null || isGuarded || listen.getAddress().isLoopbackAddress()
                ? Optional.empty()
                : Optional.of(Endpoint.toString(listen)
                        + " is beyond loopback, and without TLS whoever is on the way can read tokens and answers: "
                        + remedy);
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
