package org.tamanoir.node.ctl;

import static org.tamanoir.node.ctl.JsonTable.text;

import java.io.IOException;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.tamanoir.deploy.SmallFile;
import org.tamanoir.node.cli.CommandException;
import org.tamanoir.node.cli.ExitCode;
import org.tamanoir.node.cli.Version;
import org.tamanoir.node.config.Endpoint;
import org.tamanoir.node.config.NodeConfigBuilder;
import org.tamanoir.node.config.Quantity;
import org.tamanoir.node.ctl.JsonTable.Column;
import org.tamanoir.routing.Addresses;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;
import tools.jackson.databind.JsonNode;

/** {@code tamanoir ctl trace}: sends one packet through a running node and prints what is decided about it. */
@Command(name = "trace", mixinStandardHelpOptions = true, versionProvider = Version.class, sortOptions = false)
final class CtlTrace implements Runnable {
    private static final int MAX_PAYLOAD_BYTES = 30_000;
    private static final Duration MIN_TIME = Duration.ofMillis(1);
    private static final Duration MAX_TIME = Duration.ofSeconds(50);
    private static final String HEX = "0x";

    @ParentCommand
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private CtlCommand ctl;

    @Parameters(paramLabel = "DESTINATION", description = "ADDR[:PORT] of the packet, as in 10.0.2.7:4000.")
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private String destination;

    @Option(names = "--service", paramLabel = "NAME")
    private @Nullable String service;

    @Option(names = "--class-of-service", paramLabel = "0-255")
    private @Nullable Integer classOfService;

    @Option(names = "--source", paramLabel = "ADDR[:PORT]")
    private @Nullable String source;

    @Option(names = "--payload", paramLabel = "TEXT|@FILE|0xDIGITS")
    private @Nullable String payload;

    @Option(names = "--timeout", paramLabel = "TIME", defaultValue = "5s")
    private String timeout = "5s";

    /** Made by picocli. */
    CtlTrace() {}

    @Override
    public void run() {
        Map<String, Object> fields = new LinkedHashMap<>();
        try {
            put(fields, "destination", "port", destination);
            if (source != null) {
                put(fields, "source", "sourcePort", source);
            }
            if (service != null) {
                fields.put("service", NodeConfigBuilder.serviceName(service));
            }
            if (classOfService != null) {
                fields.put("classOfService", classOfService);
            }
            if (payload != null) {
                fields.put("payload", HexFormat.of().formatHex(octets(payload)));
            }
            fields.put(
                    "timeoutSeconds",
                    Quantity.duration(timeout, MIN_TIME, MAX_TIME).toMillis() / 1000.0);
        } catch (IllegalArgumentException e) {
            throw new CommandException(ExitCode.USAGE, e);
        }
        ctl.change("POST", "/v1/trace", fields, CtlTrace::print);
    }

    private static void put(Map<String, Object> fields, String addressField, String portField, String text) {
        Endpoint endpoint = Endpoint.parse(text, 1);
        InetAddress address = new Endpoint(endpoint.host(), 0).address();
        fields.put(addressField, Addresses.host(address));
        if (endpoint.port() != Endpoint.NO_PORT) {
            fields.put(portField, endpoint.port());
        }
    }

    private static byte[] octets(String text) {
        if (text.startsWith(HEX)) {
            try {
                return HexFormat.of().parseHex(text.substring(HEX.length()));
            } catch (IllegalArgumentException e) {
                throw new IllegalArgumentException(
                        "--payload " + text + ": two hexadecimal digits for each octet are wanted behind 0x", e);
            }
        }
        if (!text.startsWith("@")) {
            return text.getBytes(StandardCharsets.UTF_8);
        }
        Path file = Path.of(text.substring(1));
        try {
            return SmallFile.read(file, MAX_PAYLOAD_BYTES);
        } catch (SmallFile.TooLargeException e) {
            throw new IllegalArgumentException(
                    "--payload " + file + ": it has more than " + MAX_PAYLOAD_BYTES + " octets; shorten it", e);
        } catch (IOException e) {
            throw new IllegalArgumentException(
                    "--payload " + file + ": cannot be read: no such file, or no permission; correct the path", e);
        }
    }

    private static void print(JsonNode answer, Consumer<String> lines) {
        JsonTable.print(
                answer.get("steps"),
                lines,
                new Column(
                        "AFTER-MS",
                        step -> String.format(
                                Locale.ROOT, "%.3f", step.get("afterMillis").asDouble())),
                text("STAGE", "stage"),
                text("DECISION", "decision"),
                text("REASON", "reason"));
        String outcome = text(answer, "outcome");
        lines.accept(
                outcome.equals("waiting")
                        ? "waiting " + text(answer, "waits")
                        : outcome + " after "
                                + String.format(
                                        Locale.ROOT,
                                        "%.3f",
                                        answer.get("millis").asDouble()) + " ms, "
                                + text(answer, "bytes") + " bytes");
    }
}
