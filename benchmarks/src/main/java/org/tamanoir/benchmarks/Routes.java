package org.tamanoir.benchmarks;

import java.io.BufferedOutputStream;
import java.io.BufferedWriter;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.zip.GZIPOutputStream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code benchmarks routes}: writes a table like an Internet router's as {@code node --routes} reads it. */
@Command(
        name = "routes",
        mixinStandardHelpOptions = true,
        description = "Writes a routing table like an Internet router's, as 'node --routes' reads it.")
final class Routes extends CheckedCommand {
    @Option(names = "--ipv4", description = "Prefixes of IPv4, about. Default: 1000000.")
    private int ipv4 = 1_000_000;

    @Option(names = "--ipv6", description = "Prefixes of IPv6, about. Default: 200000.")
    private int ipv6 = 200_000;

    @Option(names = "--seed", description = "The same seed makes the same table. Default: 1.")
    private long seed = 1;

    @Option(names = "--format", description = "${COMPLETION-CANDIDATES}: lines, or a dump of BGP. Default: text.")
    private Format format = Format.text;

    @Option(
            names = "--updates",
            description =
                    "Changes of this table to write in its place, as BGP's routers tell them (MRT, BGP4MP). Default: 0, the"
                            + " table.")
    private int updates;

    @Parameters(
            paramLabel = "FILE",
            description = "Written anew; packed by gzip if its name ends with .gz; - = standard output.")
    private Path file = Path.of("routes.txt");

    /** As {@code --format} names them. */
    private enum Format {
        text,
        mrt
    }

    Routes() {}

    @Override
    public Integer call() throws IOException {
        require(ipv4 >= 0 && ipv6 >= 0 && updates >= 0, "--ipv4, --ipv6 and --updates must not be below 0");
        RouteGenerator four = RouteGenerator.ipv4(ipv4, seed);
        RouteGenerator six = RouteGenerator.ipv6(ipv6, seed);
        try (OutputStream out = out(file)) {
            if (updates > 0) {
                new UpdateWriter(four, six, seed).write(out, updates);
            } else if (format == Format.mrt) {
                new MrtWriter(four, six).write(out);
            } else {
                Writer text = new BufferedWriter(new OutputStreamWriter(out, StandardCharsets.UTF_8));
                write(text, four);
                write(text, six);
                text.flush();
            }
        }
        return 0;
    }

    /** Opens a file, which gzip packs if its name ends with .gz; {@code -} is standard output. */
    static OutputStream out(Path file) throws IOException {
        OutputStream raw =
                file.toString().equals("-") ? new FileOutputStream(FileDescriptor.out) : Files.newOutputStream(file);
        return new BufferedOutputStream(file.toString().endsWith(".gz") ? new GZIPOutputStream(raw) : raw, 1 << 16);
    }

    private static void write(Writer out, RouteGenerator routes) throws IOException {
        for (int i = 0; i < routes.count; i++) {
            out.write(routes.prefix(i) + "=198.51.100." + routes.hops[i] + ":3322\n");
        }
    }
}
