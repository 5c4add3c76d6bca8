package org.tamanoir.node;

import java.net.InetSocketAddress;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.tamanoir.cluster.DirectorConfig;

/**
 * A director's configuration file, read.
 *
 * @param admin its API; without an access log
 * @param ready where the API answers whether the director is well by plain http too, on loopback; null = nowhere
 * @param registrationToken file with what back-ends show when they register; null = nobody may register
 */
record DirectorSettings(
        DirectorConfig director,
        AdminConfig admin,
        @Nullable InetSocketAddress ready,
        @Nullable Path registrationToken) {}
