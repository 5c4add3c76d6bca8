package org.tamanoir.node.element;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.cluster.element.Distribution;
import org.tamanoir.cluster.element.Distributor;
import org.tamanoir.cluster.element.Sprayer;
import org.tamanoir.cluster.element.Unit;
import org.tamanoir.node.cli.CommandException;
import org.tamanoir.node.cli.ExitCode;
import org.tamanoir.node.cli.Output;
import org.tamanoir.node.cli.StopSignal;
import org.tamanoir.node.config.Converters;
import org.tamanoir.node.config.Endpoint;
import org.tamanoir.node.config.NodeConfigBuilder;
import org.tamanoir.node.load.Rates;
import org.tamanoir.transport.TransportKind;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

/** Sprays plain datagrams over the units of a distributed element. */
@Command(name = "distribute", sortOptions = false, mixinStandardHelpOptions = true)
public final class DistributeCommand implements Callable<Integer> {
    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private CommandSpec spec;

    @Option(
            names = "--listen",
            paramLabel = "HOST:PORT",
            defaultValue = "127.0.0.1:5004",
            converter = Converters.Address.class)
    @SuppressWarnings("NullAway.Init")
    private InetSocketAddress address;

    @Option(names = "--unit", paramLabel = "N=HOST:PORT[,WEIGHT]", required = true, converter = UnitText.class)
    private final List<Unit> units = new ArrayList<>();

    @Option(names = "--mode", paramLabel = "MODE", defaultValue = "round-robin", converter = ModeText.class)
    @SuppressWarnings("NullAway.Init")
    private Distribution mode;

    @Option(names = "--round-size", paramLabel = "N")
    private @Nullable Integer roundSize;

    @Option(names = "--key", paramLabel = "KEY", defaultValue = "source", converter = KeyText.class)
    @SuppressWarnings("NullAway.Init")
    private Distributor.Key key;

    @Option(names = "--burst", paramLabel = "N", defaultValue = "32")
    private int burst;

    @Option(names = "--to", paramLabel = "ADDR[:PORT]")
    private @Nullable String destination;

    @Option(names = "--service", paramLabel = "NAME")
    private @Nullable String service;

    @Option(names = "--type-id", paramLabel = "ID", defaultValue = "0x544D", converter = Converters.TypeId.class)
    private int typeId;

    @Option(names = "--stream-id", paramLabel = "ID", defaultValue = "1")
    private int streamId;

    @Mixin
    private final RingOptions ring = new RingOptions();

    @Mixin
    private final EndOptions end = new EndOptions();

    /** Its last round is what the ring is told; it is made after the ring's part. */
    private volatile @Nullable Distributor distributor;

    @Override
    public Integer call() {
        Output output =
                new Output(spec.commandLine().getOut(), spec.commandLine().getErr(), end.json, Output.isTerminal());
        try (StopSignal signal = new StopSignal(EndOptions.STOP_GRACE);
                Sprayer sprayer = sprayer();
                RingPart part = ring.open(units, mode == Distribution.WEIGHTED, this::round, output);
                Distributor distributor = new Distributor(address, TransportKind.AUTO, sprayer, key, part)) {
            this.distributor = distributor;
            part.begin(sprayer);
            output.message("listening on " + Endpoint.toString(distributor.address()));
            double seconds =
                    end.run(distributor, distributor::stop, distributor::packets, distributor::bytes, signal, output);
            tell(output, report(distributor, sprayer, part, seconds));
            if (distributor.failure() != null) {
                throw new CommandException(ExitCode.FAILED, distributor.failure(), null);
            }
            return ExitCode.OK;
        } catch (IOException | IllegalArgumentException e) {
            throw new CommandException(ExitCode.USAGE, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return ExitCode.FAILED;
        }
    }

    private long round() {
        Distributor running = distributor;
        return running == null ? 0 : running.round();
    }

    private Sprayer sprayer() throws IOException {
        if (units.stream().allMatch(unit -> unit.weight() == 0)) {
            throw new IllegalArgumentException(
                    "--unit: all weights are 0, so that no unit gets packets; give one a weight of 1 to 1000");
        }
        Sprayer.Settings settings = Sprayer.over(units)
                .distribution(mode)
                .burst(burst)
                .typeId(typeId)
                .streamId(streamId);
        if (roundSize != null) {
            settings.roundSize(roundSize);
        }
        if (destination != null) {
            Endpoint endpoint = Endpoint.parse(destination, 1);
            settings.destination(endpoint.address());
            if (endpoint.port() != Endpoint.NO_PORT) {
                settings.destinationPort(endpoint.port());
            }
        }
        if (service != null) {
            settings.service(NodeConfigBuilder.serviceName(service));
        }
        return settings.open();
    }

    private DistributeReport report(Distributor distributor, Sprayer sprayer, RingPart part, double seconds) {
        Map<String, Long> dropped = new TreeMap<>();
        dropped.put("TOO_LONG", distributor.tooLong());
        dropped.put("NO_UNIT", distributor.withoutUnit());
        dropped.put("SEND_ERROR", sprayer.refusedPackets());
        dropped.values().removeIf(count -> count == 0);
        return new DistributeReport(
                distributor.packets(),
                distributor.bytes(),
                sprayer.markers(),
                sprayer.sentPackets(),
                sprayer.sentBytes(),
                dropped,
                sprayer.round(),
                seconds,
                Rates.perSecond(distributor.packets(), seconds),
                sprayer.lastError(),
                part.pathLost(),
                units.stream()
                        .map(unit -> new DistributeReport.UnitReport(
                                unit.path(),
                                Endpoint.toString(unit.address()),
                                unit.weight(),
                                sprayer.packets(unit.path())))
                        .toList());
    }

    private static void tell(Output output, DistributeReport report) {
        output.line(Rates.count(report.in()) + " in + " + Rates.count(report.made()) + " markers = "
                + Rates.count(report.out()) + " out + " + Rates.count(report.droppedPackets()) + " dropped"
                + (report.dropped().isEmpty() ? "" : " " + report.dropped()) + "; " + Rates.bytes(report.inBytes())
                + " in " + String.format(Locale.ROOT, "%.2f", report.seconds()) + " s; last round " + report.round());
        for (DistributeReport.UnitReport unit : report.units()) {
            output.line("unit " + unit.unit() + " at " + unit.address() + ", weight " + unit.weight() + ": "
                    + Rates.count(unit.packets()) + " packets");
        }
        if (report.pathLost() > 0) {
            output.line(Rates.count(report.pathLost()) + " packets were lost with units, " + DropReason.PATH_LOST
                    + ", as far as the ring tells");
        }
        if (!report.lastError().isEmpty()) {
            output.message("distribute: " + report.lastError());
        }
        output.json(report);
    }

    /** Reads N=HOST:PORT[,WEIGHT]. picocli makes and calls it. */
    static final class UnitText implements ITypeConverter<Unit> {
        @Override
        public Unit convert(String text) {
            String[] parts = text.split("[=,]", -1);
            boolean isWhole = text.matches("\\d{1,5}=[^=,]+(,\\d{1,9})?");
            if (!isWhole) {
                throw new TypeConversionException(
                        "'" + text + "' is no unit: N=HOST:PORT[,WEIGHT] is wanted, as in 0=127.0.0.1:3322,2");
            }
            try {
                Endpoint endpoint = Endpoint.parse(parts[1], 1);
                if (endpoint.port() == Endpoint.NO_PORT || endpoint.host().isEmpty()) {
                    throw new IllegalArgumentException(
                            "'" + parts[1] + "': a host and a port are wanted, as in 127.0.0.1:3322");
                }
                int weight = parts.length > 2 ? Integer.parseInt(parts[2]) : 1;
                return new Unit(
                        Integer.parseInt(parts[0]), new InetSocketAddress(endpoint.address(), endpoint.port()), weight);
            } catch (IllegalArgumentException e) {
                throw new TypeConversionException(e.getMessage());
            }
        }
    }

    /** Reads a mode. picocli makes and calls it. */
    static final class ModeText implements ITypeConverter<Distribution> {
        @Override
        public Distribution convert(String text) {
            return constant(Distribution.values(), text);
        }
    }

    /** Reads a key. picocli makes and calls it. */
    static final class KeyText implements ITypeConverter<Distributor.Key> {
        @Override
        public Distributor.Key convert(String text) {
            return constant(Distributor.Key.values(), text);
        }
    }

    private static <E extends Enum<E>> E constant(E[] constants, String text) {
        List<String> names = new ArrayList<>();
        for (E constant : constants) {
            String name = constant.name().toLowerCase(Locale.ROOT).replace('_', '-');
            if (name.equals(text)) {
                return constant;
            }
            names.add(name);
        }
        throw new TypeConversionException("'" + text + "': must be one of " + String.join(", ", names));
    }
}
