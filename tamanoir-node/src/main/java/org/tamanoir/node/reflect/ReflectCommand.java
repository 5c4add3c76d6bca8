package org.tamanoir.node.reflect;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.tamanoir.cluster.reflect.Format;
import org.tamanoir.cluster.reflect.MemberConfig;
import org.tamanoir.cluster.reflect.Reflector;
import org.tamanoir.cluster.reflect.SessionConfig;
import org.tamanoir.cluster.reflect.Terms;
import org.tamanoir.node.admin.AdminSettings;
import org.tamanoir.node.admin.ReflectorServer;
import org.tamanoir.node.cli.CommandException;
import org.tamanoir.node.cli.ExitCode;
import org.tamanoir.node.cli.Output;
import org.tamanoir.node.cli.StopSignal;
import org.tamanoir.node.config.AdminConfig;
import org.tamanoir.node.config.Converters;
import org.tamanoir.node.config.Endpoint;
import org.tamanoir.node.config.MemberText;
import org.tamanoir.node.config.Problems;
import org.tamanoir.repository.Token;
import org.tamanoir.routing.Prefix;
import org.tamanoir.transport.TransportKind;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

/** {@code tamanoir reflect}: what a member of a session sends goes to all its others. */
@Command(name = "reflect", mixinStandardHelpOptions = true, sortOptions = false)
public final class ReflectCommand implements Callable<Integer> {
    private static final Duration STOP_GRACE = Duration.ofSeconds(10);
    private static final long LOOK_NS = Duration.ofMillis(200).toNanos();
    private static final String ON_COMMAND_LINE = "session";

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private CommandSpec spec;

    @Option(
            names = {"-c", "--config"},
            paramLabel = "FILE")
    private @Nullable Path file;

    @Option(names = "--listen", paramLabel = "HOST:PORT")
    private @Nullable String listen;

    @Option(names = "--format", paramLabel = "FORMAT", defaultValue = "udp", converter = FormatWord.class)
    @SuppressWarnings("NullAway.Init")
    private Format format;

    @Option(names = "--member", paramLabel = "MEMBER", converter = MemberWord.class)
    private List<MemberConfig> members = List.of();

    @Option(names = "--join", paramLabel = "PREFIX", converter = PrefixWord.class)
    private List<Prefix> joinFrom = List.of();

    @Option(names = "--admin", paramLabel = "HOST:PORT")
    private @Nullable String admin;

    /** A word of {@link AdminConfig#PLAIN}, as text: to picocli a boolean option with a word is a flag. */
    @Option(names = "--admin-plain", paramLabel = "WHETHER")
    private @Nullable String plain;

    @Option(names = "--token-file", paramLabel = "FILE")
    private @Nullable Path tokenFile;

    @Option(names = "--status-every", paramLabel = "T", converter = Converters.Time.class)
    private @Nullable Duration statusEvery;

    @Option(names = "--validate")
    private boolean validate;

    @Option(names = "--json")
    private boolean json;

    /** Made by picocli. */
    ReflectCommand() {}

    @Override
    public Integer call() {
        ReflectSettings settings = settings();
        if (settings == null) {
            return ExitCode.USAGE;
        }
        ReflectReport report = new ReflectReport(
                new Output(spec.commandLine().getOut(), spec.commandLine().getErr(), json, Output.isTerminal()));
        if (validate) {
            check(settings);
            report.valid(settings.sessions().size());
            return ExitCode.OK;
        }
        return run(settings, report);
    }

    /** Null = there are problems, which are printed. */
    private @Nullable ReflectSettings settings() {
        Path known = file;
        String address = listen;
        if (known != null) {
            if (address != null
                    || !members.isEmpty()
                    || !joinFrom.isEmpty()
                    || admin != null
                    || plain != null
                    || tokenFile != null) {
                throw new ParameterException(
                        spec.commandLine(), "--config says everything: leave the options of a session out");
            }
            Problems problems = new Problems();
            ReflectSettings settings = ReflectSettings.read(known, problems);
            problems.lines().forEach(spec.commandLine().getErr()::println);
            return settings;
        }
        if (address == null) {
            throw new ParameterException(spec.commandLine(), "--listen HOST:PORT or --config FILE is missing");
        }
        try {
            InetSocketAddress api =
                    admin == null || admin.equals("off") ? null : Endpoint.listening(admin, ReflectTable.ADMIN_PORT);
            ReflectSettings.whyNotPlain(api, isPlainAllowed()).ifPresent(why -> {
                throw new IllegalArgumentException("--admin " + why);
            });
            InetSocketAddress input = Endpoint.ofAny(address, ReflectTable.DEFAULT_PORT);
            return new ReflectSettings(
                    List.of(new SessionConfig(
                            ON_COMMAND_LINE,
                            input,
                            null,
                            format,
                            members,
                            joinFrom,
                            List.of(),
                            Terms.OPEN,
                            SessionConfig.DEFAULT_TIMEOUT,
                            SessionConfig.DEFAULT_MEMBERS,
                            SessionConfig.DEFAULT_PER_ADDRESS,
                            SessionConfig.DEFAULT_CLOCK)),
                    api,
                    tokenFile == null ? null : AdminConfig.TOKEN_FILE.parser().apply(tokenFile.toString()));
        } catch (IllegalArgumentException e) {
            throw new CommandException(ExitCode.USAGE, e);
        }
    }

    private boolean isPlainAllowed() {
        try {
            return plain != null && AdminConfig.PLAIN.parser().apply(plain);
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), "--admin-plain: " + e.getMessage(), e);
        }
    }

    private static void check(ReflectSettings settings) {
        try {
            Reflector.check(settings.sessions());
        } catch (IllegalArgumentException e) {
            throw new CommandException(ExitCode.USAGE, e);
        }
    }

    private int run(ReflectSettings settings, ReflectReport report) {
        try (StopSignal stop = new StopSignal(STOP_GRACE);
                Reflector reflector = new Reflector(settings.sessions(), TransportKind.AUTO);
                ReflectorServer server = server(settings, reflector)) {
            reflector.start();
            report.started(
                    settings.sessions(),
                    reflector,
                    server == null ? "off" : "http://" + Endpoint.toString(server.address()));
            int shown = json ? SessionConfig.MAX_MEMBERS : 0;
            long shownNs = System.nanoTime();
            while (!stop.await(LOOK_NS)) {
                Throwable failure = reflector.failure();
                if (failure != null) {
                    throw new CommandException(ExitCode.LOST, "the reflector has ended: " + failure, failure);
                }
                if (statusEvery != null && System.nanoTime() - shownNs >= statusEvery.toNanos()) {
                    shownNs += statusEvery.toNanos();
                    report.status("status", reflector.status(shown));
                }
            }
            report.status("stopped", reflector.status(shown));
            return ExitCode.OK;
        } catch (IOException | IllegalArgumentException e) {
            throw new CommandException(ExitCode.USAGE, "the reflector cannot start: " + CommandException.line(e), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return ExitCode.FAILED;
        }
    }

    /** Null = it has none. */
    private static @Nullable ReflectorServer server(ReflectSettings settings, Reflector reflector) throws IOException {
        InetSocketAddress address = settings.admin();
        if (address == null) {
            return null;
        }
        Path token = settings.tokenFile();
        ReflectorServer server = new ReflectorServer(
                reflector, new AdminSettings(address, token == null ? null : Token.read(token), false, null));
        server.start();
        return server;
    }

    /** A word of {@link ReflectTable#FORMAT}. */
    static final class FormatWord implements ITypeConverter<Format> {
        @Override
        public Format convert(String value) {
            try {
                return ReflectTable.FORMAT.parser().apply(value);
            } catch (IllegalArgumentException e) {
                throw new TypeConversionException(e.getMessage());
            }
        }
    }

    /** See {@link MemberText}. */
    static final class MemberWord implements ITypeConverter<MemberConfig> {
        @Override
        public MemberConfig convert(String value) {
            try {
                return MemberText.member(value);
            } catch (IllegalArgumentException e) {
                throw new TypeConversionException(e.getMessage());
            }
        }
    }

    /** See {@link Prefix#parse}. */
    static final class PrefixWord implements ITypeConverter<Prefix> {
        @Override
        public Prefix convert(String value) {
            try {
                return Prefix.parse(value);
            } catch (IllegalArgumentException e) {
                throw new TypeConversionException(e.getMessage());
            }
        }
    }
}
