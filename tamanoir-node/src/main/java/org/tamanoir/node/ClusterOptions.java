package org.tamanoir.node;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options by which a node becomes a back-end. Thread contract: filled in by picocli, then only read. */
final class ClusterOptions {
    @Option(
            names = "--cluster",
            paramLabel = "URL",
            description = "Serve the cluster of this director, http://HOST:PORT or https://HOST:PORT; see "
                    + "docs/cluster.md. Repeatable, once for each of its directors; replaces the file's.")
    List<String> directors = new ArrayList<>();

    @Option(
            names = "--cluster-token-file",
            paramLabel = "FILE",
            description = "The directors' token of registration is in this file.")
    @Nullable
    Path tokenFile;

    @Option(
            names = "--cluster-name",
            paramLabel = "NAME",
            description = "Name of this back-end, of no other in the cluster. Default: the host's.")
    @Nullable
    String name;

    @Option(
            names = "--cluster-address",
            paramLabel = "ADDRESS",
            description = "Where the directors send packets to. Default: the address that they see.")
    @Nullable
    String address;

    @Option(
            names = "--cluster-interface",
            paramLabel = "NAME",
            description = "Where the cluster's packets come in. Default: the interface that leads to a director.")
    @Nullable
    String networkInterface;

    @Option(
            names = "--cluster-weight",
            paramLabel = "N",
            description = "Fixed share of streams against other back-ends, 1 to 65535. Default: as the directors say.")
    @Nullable
    String weight;

    @Option(
            names = "--cluster-setup",
            paramLabel = "MODE",
            description = "Addresses and kernel settings that the host needs: auto sets them where the node may, and "
                    + "prints the commands where not; print; off. Default: the file's, or auto.")
    @Nullable
    String setUp;

    @Option(
            names = "--cluster-plain",
            description = "Directors beyond loopback may be asked over http: whoever is on the way can read the token, "
                    + "and put in code.")
    boolean plain;

    /** Made by picocli. */
    ClusterOptions() {}
}
