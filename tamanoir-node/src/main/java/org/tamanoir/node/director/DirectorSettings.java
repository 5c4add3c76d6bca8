package org.tamanoir.node.director;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.tamanoir.cluster.config.DirectorConfig;
import org.tamanoir.node.config.AdminConfig;
import org.tamanoir.repository.Token;

/**
 * A director's configuration file, read.
 *
 * @param admin its API; without an access log
 * @param ready where the API answers whether the director is well by plain http too, on loopback; null = nowhere
 * @param registrationToken file with what back-ends show when they register; null = nobody may register
 * @param nodeTokens files with what listed back-ends show that have a token of their own, by name
 * @param adminTokens files with what admin APIs of listed back-ends want to see, by their addresses
 */
record DirectorSettings(
        DirectorConfig director,
        AdminConfig admin,
        @Nullable InetSocketAddress ready,
        @Nullable Path registrationToken,
        Map<String, Path> nodeTokens,
        Map<URI, Path> adminTokens) {
    /** Returns these, but for what can change while a director runs. */
    DirectorSettings withoutAdminTokens() {
        return new DirectorSettings(director, admin, ready, registrationToken, nodeTokens, Map.of());
    }

    /**
     * Reads what is shown to admin APIs.
     *
     * @return the header {@code Authorization}, by their addresses
     * @throws IOException in one line
     */
    Map<URI, String> authorizations() throws IOException {
        Map<URI, String> shown = new HashMap<>();
        for (Map.Entry<URI, Path> each : adminTokens.entrySet()) {
            shown.put(each.getKey(), Token.read(each.getValue()).authorization());
        }
        return shown;
    }
}
