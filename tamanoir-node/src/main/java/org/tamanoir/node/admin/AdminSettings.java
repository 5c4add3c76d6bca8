package org.tamanoir.node.admin;

import java.net.InetSocketAddress;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.tamanoir.repository.Token;
import org.tamanoir.tls.TlsFiles;

/**
 * Settings of the admin API.
 *
 * @param address to listen on; port 0 takes a free one
 * @param token for changes; null = no changes
 * @param readOnly refuse changes, whatever the token
 * @param rights who else may change services by their controls, each the services named there
 * @param hosts names, beside {@code localhost}, that requests may call this server by; addresses always work
 * @param tls null = plain HTTP
 */
public record AdminSettings(
        InetSocketAddress address,
        @Nullable Token token,
        boolean readOnly,
        List<ControlRight> rights,
        Set<String> hosts,
        @Nullable TlsFiles tls) {
    /** Beside the node's own port. */
    public static final int DEFAULT_PORT = 3324;

    /** Takes the names in lower case. */
    public AdminSettings {
        rights = List.copyOf(rights);
        hosts = hosts.stream().map(host -> host.toLowerCase(Locale.ROOT)).collect(Collectors.toUnmodifiableSet());
    }

    /** Lets who shows the token change these services. */
    public record ControlRight(Token token, Set<String> services) {}

    /** The same without rights for others. */
    public AdminSettings(
            InetSocketAddress address,
            @Nullable Token token,
            boolean readOnly,
            Set<String> hosts,
            @Nullable TlsFiles tls) {
        this(address, token, readOnly, List.of(), hosts, tls);
    }

    /** The same without further names. */
    public AdminSettings(InetSocketAddress address, @Nullable Token token, boolean readOnly, @Nullable TlsFiles tls) {
        this(address, token, readOnly, Set.of(), tls);
    }

    /** Without the token. */
    @Override
    public String toString() {
        return "AdminSettings[" + address + (token == null ? ", no token" : ", token") + (readOnly ? ", read-only" : "")
                + (tls == null ? "" : ", TLS") + "]";
    }
}
