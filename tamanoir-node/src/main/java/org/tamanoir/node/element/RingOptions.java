package org.tamanoir.node.element;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.tamanoir.cluster.element.Unit;
import org.tamanoir.cluster.element.ring.RingSettings;
import org.tamanoir.cluster.element.ring.RingWatch;
import org.tamanoir.node.cli.Output;
import org.tamanoir.node.config.Converters;
import org.tamanoir.node.config.RingKey;
import picocli.CommandLine.Option;

/** The ring that a distributor takes part in. Thread contract: filled in by picocli, then one thread. */
final class RingOptions {
    @Option(names = "--control", paramLabel = "HOST:PORT", converter = Converters.Address.class)
    private @Nullable InetSocketAddress control;

    @Option(names = "--ring-units", paramLabel = "HOST:PORT", split = ",", converter = Converters.Address.class)
    private List<InetSocketAddress> units = List.of();

    @Option(names = "--ring-key-file", paramLabel = "FILE")
    private @Nullable Path keyFile;

    @Option(names = "--ring-id", paramLabel = "N", defaultValue = "1")
    private int id;

    /**
     * Joins the ring, if there is one.
     *
     * @param sprayed the units that get packets
     * @param adapts whether weights follow what waits in units
     * @param round gives the last round
     * @param output is told what units and rounds it goes without
     * @throws IllegalArgumentException in one line, if the options do not fit each other
     * @throws IOException if the control address cannot be had
     */
    RingPart open(Collection<Unit> sprayed, boolean adapts, LongSupplier round, Output output) throws IOException {
        if (control == null && units.isEmpty() && keyFile == null) {
            return new RingPart(null, sprayed, adapts, output);
        }
        if (control == null || units.isEmpty() || keyFile == null) {
            throw new IllegalArgumentException(
                    "--control, --ring-units and --ring-key-file: a ring needs all three; give all or none");
        }
        for (Unit unit : sprayed) {
            if (unit.path() >= units.size()) {
                throw new IllegalArgumentException("--unit " + unit.path() + ": --ring-units has " + units.size()
                        + " addresses, for units from number 0 on; add its control address");
            }
        }
        Map<Integer, InetSocketAddress> addresses = new TreeMap<>();
        units.forEach(address -> addresses.put(addresses.size(), address));
        RingSettings settings = RingSettings.of(id, RingKey.read(keyFile), addresses, control);
        return new RingPart(RingWatch.open(settings, round), sprayed, adapts, output);
    }
}
