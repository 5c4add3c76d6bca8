package org.tamanoir.cluster.setup;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.tamanoir.cluster.config.ClusterService;
import org.tamanoir.cluster.config.CodeSources;
import org.tamanoir.cluster.config.DirectorConfig;
import org.tamanoir.cluster.config.HealthPolicy;
import org.tamanoir.cluster.config.Vrrp;
import org.tamanoir.cluster.config.WeightPolicy;
import org.tamanoir.cluster.config.Welcome;
import org.tamanoir.cluster.lvs.Forwarding;
import org.tamanoir.cluster.lvs.Protocol;
import org.tamanoir.cluster.lvs.Scheduler;

/** What tests of the host set-up are configured with. */
final class Configs {
    private static final int PORT = 3322;

    private Configs() {}

    static InetAddress address(String text) {
        try {
            return InetAddress.getByName(text);
        } catch (UnknownHostException e) {
            throw new IllegalArgumentException(text, e);
        }
    }

    static Welcome.Served served(String address, String forwarding) {
        return new Welcome.Served("anep", address, PORT, PORT, List.of("tcp", "udp"), forwarding);
    }

    static DirectorConfig director(
            Path folder,
            @Nullable String networkInterface,
            @Nullable Vrrp vrrp,
            Forwarding forwarding,
            String... addresses) {
        List<ClusterService> services = IntStream.range(0, addresses.length)
                .mapToObj(i -> new ClusterService(
                        "anep" + i,
                        address(addresses[i]),
                        PORT + i,
                        PORT + i,
                        Set.of(Protocol.TCP),
                        forwarding,
                        Scheduler.of("wlc"),
                        List.of(),
                        0,
                        32,
                        false))
                .toList();
        return new DirectorConfig(
                "north",
                folder,
                networkInterface,
                services,
                List.of(),
                HealthPolicy.DEFAULT,
                WeightPolicy.DEFAULT,
                Duration.ofMinutes(1),
                false,
                Map.of(),
                null,
                vrrp,
                CodeSources.NONE,
                null);
    }
}
