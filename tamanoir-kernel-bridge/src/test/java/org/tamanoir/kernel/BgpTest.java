package org.tamanoir.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.support.Waiting.eventually;

import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.tamanoir.routing.NextHop;
import org.tamanoir.routing.RoutingTable;
import org.tamanoir.support.Namespaces;

/** Two BIRDs speak BGP to each other; a table follows what the second one puts into its kernel. */
@Tag("once")
@Tag("process")
@Tag("namespace")
class BgpTest {
    private static final int BIRD = 12;
    private static final int MANY = 10_000;
    private static final NextHop HOP =
            new NextHop(InetAddress.getLoopbackAddress(), 1, NextHop.Transport.SAME, NextHop.Kind.ACTIVE_NODE);

    @TempDir
    private Path folder;

    private final RoutingTable table = new RoutingTable();
    private @Nullable KernelRoutes following;
    private Namespaces namespaces;
    private String far;
    private String near;

    @BeforeEach
    void startDaemons() throws IOException {
        Namespaces.require("bgp", "bird", "birdc");
        namespaces = new Namespaces("bgp");
        far = namespaces.add("far");
        near = namespaces.add("near");
        namespaces.link(far, "d0", near, "d0");
        for (String address : List.of("192.0.2.%s/24", "fd01::%s/64")) {
            namespaces.address(far, "d0", address.replace("%s", "1"));
            namespaces.address(near, "d0", address.replace("%s", "2"));
        }
        String many = IntStream.range(0, MANY)
                .mapToObj(i -> "route 10." + (i >> 8) + "." + (i & 255) + ".0/24 blackhole;")
                .collect(Collectors.joining("\n"));
        Files.writeString(folder.resolve("far.conf"), """
                router id 192.0.2.1;
                protocol device {}
                protocol static one4 { ipv4; route 172.16.0.0/12 blackhole; }
                protocol static one6 { ipv6; route fd10::/32 blackhole; }
                protocol static many { disabled; ipv4; %s }
                protocol bgp near {
                  local 192.0.2.1 as 65001; neighbor 192.0.2.2 as 65002;
                  connect delay time 1; connect retry time 1; error wait time 1, 1;
                  ipv4 { import none; export all; next hop address 192.0.2.1; };
                  ipv6 { import none; export all; next hop address fd01::1; };
                }
                """.formatted(many));
        Files.writeString(folder.resolve("near.conf"), """
                router id 192.0.2.2;
                protocol device {}
                protocol kernel k4 { kernel table 100; ipv4 { import none; export all; }; }
                protocol kernel k6 { kernel table 100; ipv6 { import none; export all; }; }
                protocol bgp far {
                  local 192.0.2.2 as 65002; neighbor 192.0.2.1 as 65001;
                  connect delay time 1; connect retry time 1; error wait time 1, 1;
                  ipv4 { import all; export none; };
                  ipv6 { import all; export none; };
                }
                """);
        start(far, "far");
        start(near, "near");
    }

    @AfterEach
    void endAll() {
        if (following != null) {
            following.close();
        }
        if (namespaces != null) {
            kill("far");
            kill("near");
            namespaces.close();
        }
    }

    private void start(String namespace, String name) {
        Path files = folder.resolve(name);
        namespaces.run(namespace, "bird -c " + files + ".conf -s " + files + ".ctl -P " + files + ".pid");
    }

    private void kill(String name) {
        Namespaces.shell("kill -9 $(cat " + folder.resolve(name + ".pid") + ") 2>/dev/null || true");
    }

    private void tell(String name, String command) {
        Namespaces.shell("birdc -s " + folder.resolve(name + ".ctl") + " " + command);
    }

    private void awaitRoutes(int count) {
        eventually().untilAsserted(() -> assertThat(table.size()).isEqualTo(count));
    }

    @Test
    void whatAPeerAnnouncesIsInTheTableUntilItIsWithdrawn() throws Exception {
        follow();
        awaitRoutes(2);
        assertThat(table.routes().stream().map(route -> route.prefix().toString()))
                .containsExactly("172.16.0.0/12", "fd10::/32");

        tell("far", "enable many");
        awaitRoutes(2 + MANY);

        tell("far", "disable one4");
        awaitRoutes(1 + MANY);

        // The session ends, and comes back.
        kill("far");
        awaitRoutes(0);
        start(far, "far");
        awaitRoutes(2);

        // The kernel keeps the routes of a daemon that is gone.
        kill("near");
        namespaces.run(near, "ip route add 10.1.0.0/16 via 192.0.2.1 proto bird table 100");
        awaitRoutes(3);
    }

    private void follow() throws Exception {
        Map<String, NextHop> via = Map.of("192.0.2.1", HOP, "fd01::1", HOP);
        following = namespaces.in(near, () -> KernelRoutes.start(100, Set.of(BIRD), table.feed(via), line -> {}));
    }
}
