package org.tamanoir.node.director;

import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.tamanoir.cluster.config.DirectorConfig;
import org.tamanoir.node.config.AdminConfig;

/**
 * A director's configuration file, read.
 *
 * @param admin its API; without an access log
 * @param ready where the API answers whether the director is well by plain http too, on loopback; null = nowhere
 * @param registrationToken file with what back-ends show when they register; null = nobody may register
 * @param nodeTokens files with what listed back-ends show that have a token of their own, by name
 */
record DirectorSettings(
        DirectorConfig director,
        AdminConfig admin,
        @Nullable InetSocketAddress ready,
        @Nullable Path registrationToken,
        Map<String, Path> nodeTokens) {}
