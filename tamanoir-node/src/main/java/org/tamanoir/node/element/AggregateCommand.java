package org.tamanoir.node.element;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.tamanoir.cluster.element.Aggregator;
import org.tamanoir.node.cli.CommandException;
import org.tamanoir.node.cli.ExitCode;
import org.tamanoir.node.cli.Output;
import org.tamanoir.node.cli.StopSignal;
import org.tamanoir.node.config.Converters;
import org.tamanoir.node.config.Endpoint;
import org.tamanoir.node.load.Rates;
import org.tamanoir.routing.Prefix;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

/** Joins what the units of a distributed element send. */
@Command(name = "aggregate", sortOptions = false, mixinStandardHelpOptions = true)
public final class AggregateCommand implements Callable<Integer> {
    private static final int MAX_PATHS = 64;

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private CommandSpec spec;

    @Option(
            names = "--listen",
            paramLabel = "HOST:PORT",
            defaultValue = "127.0.0.1:5005",
            converter = Converters.Address.class)
    @SuppressWarnings("NullAway.Init")
    private InetSocketAddress address;

    @Option(names = "--to", paramLabel = "HOST:PORT", required = true, converter = Converters.Address.class)
    @SuppressWarnings("NullAway.Init")
    private InetSocketAddress receiver;

    @Option(names = "--from", paramLabel = "PREFIX", converter = PrefixText.class)
    private final List<Prefix> from = new ArrayList<>();

    @Option(names = "--anep")
    private boolean anep;

    @Option(names = "--exact")
    private boolean exact;

    @Option(names = "--paths", paramLabel = "N")
    private @Nullable Integer paths;

    @Option(names = "--deadline", paramLabel = "T", defaultValue = "100ms", converter = Converters.Time.class)
    @SuppressWarnings("NullAway.Init")
    private Duration deadline;

    @Option(names = "--depth", paramLabel = "N", defaultValue = "1024")
    private int depth;

    @Option(names = "--largest", paramLabel = "BYTES", defaultValue = "2048")
    private int largest;

    @Option(names = "--type-id", paramLabel = "ID", defaultValue = "0x544D", converter = Converters.TypeId.class)
    private int typeId;

    @Mixin
    private final EndOptions end = new EndOptions();

    @Override
    public Integer call() {
        require(exact == (paths != null), "--exact and --paths: give both or neither");
        require(receiver.getPort() != 0, "--to: a port from 1 on");
        Output output =
                new Output(spec.commandLine().getOut(), spec.commandLine().getErr(), end.json, Output.isTerminal());
        try (StopSignal signal = new StopSignal(EndOptions.STOP_GRACE);
                Aggregator aggregator = aggregator()) {
            output.message("listening on " + Endpoint.toString(aggregator.address()));
            double seconds =
                    end.run(aggregator, aggregator::stop, aggregator::packets, aggregator::bytes, signal, output);
            tell(output, report(aggregator, seconds));
            if (aggregator.failure() != null) {
                throw new CommandException(ExitCode.FAILED, aggregator.failure(), null);
            }
            return ExitCode.OK;
        } catch (IOException | IllegalArgumentException e) {
            throw new CommandException(ExitCode.USAGE, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return ExitCode.FAILED;
        }
    }

    private void require(boolean holds, String message) {
        if (!holds) {
            throw new ParameterException(spec.commandLine(), message);
        }
    }

    private Aggregator aggregator() throws IOException {
        Aggregator.Settings settings = Aggregator.between(address, receiver)
                .from(from)
                .typeId(typeId)
                .deadline(deadline)
                .depth(depth)
                .largest(largest);
        if (paths != null) {
            settings.exact(paths);
        }
        return (anep ? settings.anep() : settings).open();
    }

    private static AggregateReport report(Aggregator aggregator, double seconds) {
        SortedMap<Integer, Long> paths = new TreeMap<>();
        for (int path = 0; path < MAX_PATHS; path++) {
            if (aggregator.packetsOf(path) > 0) {
                paths.put(path, aggregator.packetsOf(path));
            }
        }
        Aggregator.Order order = aggregator.order();
        return new AggregateReport(
                aggregator.packets(),
                aggregator.bytes(),
                aggregator.sentPackets(),
                aggregator.sentBytes(),
                aggregator.drops(),
                order.held(),
                order.gaps(),
                order.timeouts(),
                order.overflows(),
                order.restarts(),
                seconds,
                Rates.perSecond(aggregator.packets(), seconds),
                aggregator.lastError(),
                paths);
    }

    private static void tell(Output output, AggregateReport report) {
        output.line(Rates.count(report.in()) + " in = " + Rates.count(report.out()) + " out + "
                + Rates.count(report.droppedPackets()) + " dropped"
                + (report.dropped().isEmpty() ? "" : " " + report.dropped()) + " + " + Rates.count(report.held())
                + " held; " + Rates.bytes(report.inBytes()) + " in "
                + String.format(Locale.ROOT, "%.2f", report.seconds()) + " s; by path " + report.paths());
        if (report.gaps() + report.timeouts() + report.overflows() + report.restarts() > 0) {
            output.line(Rates.count(report.gaps()) + " gaps, " + Rates.count(report.timeouts()) + " deadlines passed, "
                    + Rates.count(report.overflows()) + " waits ended by a full queue, "
                    + Rates.count(report.restarts()) + " new beginnings");
        }
        if (!report.lastError().isEmpty()) {
            output.message("aggregate: " + report.lastError());
        }
        output.json(report);
    }

    /** Reads a prefix. picocli makes and calls it. */
    static final class PrefixText implements ITypeConverter<Prefix> {
        @Override
        public Prefix convert(String text) {
            try {
                return Prefix.parse(text);
            } catch (IllegalArgumentException e) {
                throw new TypeConversionException(e.getMessage());
            }
        }
    }
}
