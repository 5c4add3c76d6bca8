package org.tamanoir.node.admin;

import java.net.InetSocketAddress;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.tamanoir.tls.TlsFiles;

/**
 * Settings of the admin API.
 *
 * @param address to listen on; port 0 takes a free one
 * @param token for changes; null = no changes
 * @param readOnly refuse changes, whatever the token
 * @param hosts names, beside {@code localhost}, that requests may call this server by; addresses always work
 * @param tls null = plain HTTP
 */
public record AdminSettings(
        InetSocketAddress address,
        @Nullable String token,
        boolean readOnly,
        Set<String> hosts,
        @Nullable TlsFiles tls) {
    /** Beside the node's own port. */
    public static final int DEFAULT_PORT = 3324;

    /** The shortest token, in characters: below it can be guessed. */
    public static final int MIN_TOKEN = 16;

    /** The longest token, in characters. */
    public static final int MAX_TOKEN = 1024;

    /**
     * Checks the token.
     *
     * @throws IllegalArgumentException in one line, without the token
     */
    public AdminSettings {
        if (token != null) {
            requireToken(token);
        }
        hosts = hosts.stream().map(host -> host.toLowerCase(Locale.ROOT)).collect(Collectors.toUnmodifiableSet());
    }

    /** The same without further names. */
    public AdminSettings(InetSocketAddress address, @Nullable String token, boolean readOnly, @Nullable TlsFiles tls) {
        this(address, token, readOnly, Set.of(), tls);
    }

    /**
     * Checks that a text can be a token: visible ASCII, long enough.
     *
     * @throws IllegalArgumentException in one line, without the token
     */
    public static String requireToken(String token) {
        if (token.length() < MIN_TOKEN || token.length() > MAX_TOKEN) {
            throw new IllegalArgumentException("a token of " + token.length() + " characters: " + MIN_TOKEN + " to "
                    + MAX_TOKEN + " are wanted; 'openssl rand -hex 32' makes one");
        }
        if (!token.chars().allMatch(c -> c > ' ' && c < 0x7f)) {
            throw new IllegalArgumentException("a token with spaces, control characters or characters beyond ASCII; "
                    + "'openssl rand -hex 32' makes one");
        }
        return token;
    }

    /** Without the token. */
    @Override
    public String toString() {
        return "AdminSettings[" + address + (token == null ? ", no token" : ", token") + (readOnly ? ", read-only" : "")
                + (tls == null ? "" : ", TLS") + "]";
    }
}
