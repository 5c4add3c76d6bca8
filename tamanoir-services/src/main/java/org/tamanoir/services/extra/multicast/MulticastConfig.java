package org.tamanoir.services.extra.multicast;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.tamanoir.service.ServiceConfig;
import org.tamanoir.services.AddressPrefix;
import org.tamanoir.services.NextService;

/**
 * The settings of {@link Multicast}, where they are described.
 *
 * @param tree the name of the service at the nodes of the tree
 * @param next what plain receivers' packets name
 */
record MulticastConfig(
        List<Peer> branches,
        List<Peer> receivers,
        @Nullable Peer upstream,
        @Nullable Peer address,
        List<AddressPrefix> join,
        int maxBranches,
        long joinTimeoutNs,
        int windowPackets,
        Late late,
        int flows,
        long memory,
        long idleNs,
        long heartbeatNs,
        NextService tree,
        NextService next) {
    private static final int MAX_PREFIXES = 64;
    private static final int MAX_RECEIVERS = 64;

    /** What one gets that comes to a flow when it has begun. */
    enum Late {
        WINDOW,
        NOW
    }

    static final MulticastConfig DEFAULT = of(ServiceConfig.EMPTY);

    static MulticastConfig of(ServiceConfig config) {
        config.allow(
                "branches",
                "deliver",
                "upstream",
                "address",
                "join",
                "max-branches",
                "join-timeout-ms",
                "window",
                "late",
                "flows",
                "memory",
                "idle-ms",
                "heartbeat-ms",
                "service",
                "next");
        List<Peer> branches = Peer.parseAll("branches", config.text("branches", ""), Branches.MAX);
        Peer upstream = peer(config, "upstream");
        Peer address = peer(config, "address");
        if (address != null && upstream == null) {
            throw new IllegalArgumentException("address: " + config.text("address", "")
                    + " is where the node above reaches this one: name that one in upstream");
        }
        int maxBranches = (int) config.number("max-branches", Branches.MAX, 1, Branches.MAX);
        if (branches.size() > maxBranches) {
            throw new IllegalArgumentException(
                    "branches: " + branches.size() + " are over max-branches, " + maxBranches + ": raise that");
        }
        return new MulticastConfig(
                branches,
                Peer.parseAll("deliver", config.text("deliver", ""), MAX_RECEIVERS),
                upstream,
                address,
                prefixes(config.text("join", "")),
                maxBranches,
                config.number("join-timeout-ms", 30_000, 10_000, 60_000) * 1_000_000,
                (int) config.number("window", 1024, 64, 65_536),
                config.choice("late", Late.WINDOW),
                (int) config.number("flows", 256, 1, 65_536),
                config.number("memory", 64 << 20, 8 << 20, 4L << 30),
                config.millis("idle-ms", Duration.ofSeconds(30), Duration.ofSeconds(1), Duration.ofMinutes(10))
                        .toNanos(),
                config.millis("heartbeat-ms", Duration.ofMillis(50), Duration.ofMillis(10), Duration.ofSeconds(10))
                        .toNanos(),
                NextService.of(config, "service", Multicast.class.getName()),
                NextService.of(config));
    }

    private static @Nullable Peer peer(ServiceConfig config, String setting) {
        String text = config.text(setting, "");
        return text.isBlank() ? null : Peer.parse(setting, text.strip());
    }

    private static List<AddressPrefix> prefixes(String texts) {
        List<AddressPrefix> prefixes = new ArrayList<>();
        for (String text : texts.isBlank() ? new String[0] : texts.strip().split("\\s+")) {
            try {
                prefixes.add(AddressPrefix.parse(text));
            } catch (IllegalArgumentException e) {
                throw new IllegalArgumentException("join: " + e.getMessage(), e);
            }
        }
        if (prefixes.size() > MAX_PREFIXES) {
            throw new IllegalArgumentException("join: " + prefixes.size() + " prefixes are over " + MAX_PREFIXES);
        }
        return List.copyOf(prefixes);
    }
}
