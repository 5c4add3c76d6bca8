package org.tamanoir.benchmarks;

import java.io.BufferedOutputStream;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import java.util.zip.GZIPOutputStream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code benchmarks routes}: writes a table like an Internet router's as {@code node --routes} reads it. */
@Command(
        name = "routes",
        mixinStandardHelpOptions = true,
        description = "Writes a routing table like an Internet router's, as 'node --routes' reads it.")
final class Routes implements Callable<Integer> {
    @Option(names = "--ipv4", description = "Prefixes of IPv4, about. Default: 1000000.")
    private int ipv4 = 1_000_000;

    @Option(names = "--ipv6", description = "Prefixes of IPv6, about. Default: 200000.")
    private int ipv6 = 200_000;

    @Option(names = "--seed", description = "The same seed makes the same table. Default: 1.")
    private long seed = 1;

    @Option(
            names = "--updates",
            description =
                    "Changes of this table to write in its place, as BGP's routers tell them (MRT, BGP4MP); in gzip if"
                            + " FILE ends in .gz. Default: 0, the table.")
    private int updates;

    @Parameters(paramLabel = "FILE", description = "Written anew.")
    private Path file = Path.of("routes.txt");

    Routes() {}

    @Override
    public Integer call() throws IOException {
        if (updates > 0) {
            try (OutputStream out = out(file)) {
                new UpdateWriter(RouteGenerator.ipv4(ipv4, seed), RouteGenerator.ipv6(ipv6, seed), seed)
                        .write(out, updates);
            }
            return 0;
        }
        try (BufferedWriter out = Files.newBufferedWriter(file)) {
            write(out, true, RouteGenerator.ipv4(ipv4, seed));
            write(out, false, RouteGenerator.ipv6(ipv6, seed));
        }
        return 0;
    }

    private static OutputStream out(Path file) throws IOException {
        OutputStream out = new BufferedOutputStream(Files.newOutputStream(file));
        return file.toString().endsWith(".gz") ? new GZIPOutputStream(out) : out;
    }

    private static void write(BufferedWriter out, boolean isIpv4, RouteGenerator routes) throws IOException {
        for (int i = 0; i < routes.count; i++) {
            out.write(FibFigures.prefix(isIpv4, routes, i) + "=198.51.100." + routes.hops[i] + ":3322\n");
        }
    }
}
