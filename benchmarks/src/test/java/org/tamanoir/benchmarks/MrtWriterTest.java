package org.tamanoir.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.tamanoir.routing.NextHop;
import org.tamanoir.routing.Prefix;
import org.tamanoir.routing.Route;
import org.tamanoir.routing.RouteFile;
import org.tamanoir.routing.RoutingTable;

class MrtWriterTest {
    private static final NextHop VIA =
            new NextHop(InetAddress.getLoopbackAddress(), 1, NextHop.Transport.SAME, NextHop.Kind.ACTIVE_NODE);

    @TempDir
    private Path folder;

    @ParameterizedTest
    @ValueSource(strings = {"routes.mrt", "routes.mrt.gz"})
    void theNodeReadsThePrefixesThatWereWritten(String name) throws Exception {
        RouteGenerator ipv4 = RouteGenerator.ipv4(3000, 7);
        RouteGenerator ipv6 = RouteGenerator.ipv6(3000, 7);
        Path file = folder.resolve(name);
        try (OutputStream out = Routes.out(file)) {
            new MrtWriter(ipv4, ipv6).write(out);
        }

        RoutingTable table = new RoutingTable();
        try (InputStream in = Files.newInputStream(file)) {
            table.replace(RouteFile.read(in, name, List.of(VIA), -1, line -> new Route(Prefix.parse(line), VIA)));
        }
        List<Prefix> written = new ArrayList<>();
        for (RouteGenerator routes : List.of(ipv4, ipv6)) {
            for (int i = 0; i < routes.count; i++) {
                written.add(routes.prefix(i));
            }
        }
        assertThat(table.routes()).extracting(Route::prefix).containsExactlyInAnyOrderElementsOf(written);
    }
}
