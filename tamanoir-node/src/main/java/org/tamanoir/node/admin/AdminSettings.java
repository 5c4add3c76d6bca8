package org.tamanoir.node.admin;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.tamanoir.node.config.AdminConfig;
import org.tamanoir.repository.Token;
import org.tamanoir.tls.TlsFiles;

/**
 * Settings of the admin API.
 *
 * @param address to listen on; port 0 takes a free one
 * @param tokens who may do what; without one for changes there are none
 * @param readOnly refuse changes, whatever the token
 * @param hosts names, beside {@code localhost}, that requests may call this server by; addresses always work
 * @param tls null = plain HTTP
 */
public record AdminSettings(
        InetSocketAddress address,
        List<AdminToken> tokens,
        boolean readOnly,
        Set<String> hosts,
        @Nullable TlsFiles tls) {
    /** Beside the node's own port. */
    public static final int DEFAULT_PORT = 3324;

    /** Takes the names in lower case. */
    public AdminSettings {
        tokens = List.copyOf(tokens);
        hosts = hosts.stream().map(host -> host.toLowerCase(Locale.ROOT)).collect(Collectors.toUnmodifiableSet());
    }

    /** Makes settings with one token for changes, or none, and no further names. */
    public AdminSettings(InetSocketAddress address, @Nullable Token token, boolean readOnly, @Nullable TlsFiles tls) {
        this(
                address,
                token == null
                        ? List.of()
                        : List.of(new AdminToken(AdminConfig.Tokens.ADMIN, token, AdminToken.Right.CHANGE)),
                readOnly,
                Set.of(),
                tls);
    }

    /**
     * Reads the tokens' files.
     *
     * @throws IOException in one line, with the file
     */
    public static List<AdminToken> read(AdminConfig.Tokens files) throws IOException {
        List<AdminToken> tokens = new ArrayList<>();
        if (files.change() != null) {
            tokens.add(new AdminToken(AdminConfig.Tokens.ADMIN, Token.read(files.change()), AdminToken.Right.CHANGE));
        }
        if (files.read() != null) {
            tokens.add(new AdminToken(AdminConfig.Tokens.READ, Token.read(files.read()), AdminToken.Right.READ));
        }
        for (AdminConfig.NamedToken named : files.named()) {
            tokens.add(new AdminToken(named.name(), Token.read(named.file()), AdminToken.Right.CHANGE));
        }
        for (AdminConfig.ControlRight right : files.control()) {
            tokens.add(new AdminToken(
                    right.name(),
                    Token.read(right.tokenFile()),
                    AdminToken.Right.CONTROL,
                    Set.copyOf(right.services())));
        }
        return tokens;
    }

    boolean has(AdminToken.Right right) {
        return tokens.stream().anyMatch(token -> token.right() == right);
    }

    /** Returns whether somebody may make changes. */
    boolean takesChanges() {
        return has(AdminToken.Right.CHANGE) && !readOnly;
    }

    /** Returns whether questions want a token: beyond loopback, and wherever there is one for them. */
    boolean guardsReading() {
        return has(AdminToken.Right.READ) || !address.getAddress().isLoopbackAddress();
    }

    /** Without the tokens. */
    @Override
    public String toString() {
        return "AdminSettings[" + address + (tokens.isEmpty() ? ", no token" : ", token")
                + (readOnly ? ", read-only" : "") + (tls == null ? "" : ", TLS") + "]";
    }
}
