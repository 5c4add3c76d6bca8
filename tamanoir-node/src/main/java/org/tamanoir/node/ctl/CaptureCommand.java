package org.tamanoir.node.ctl;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Path;
import java.time.Duration;
import org.tamanoir.node.cli.CommandException;
import org.tamanoir.node.cli.ExitCode;
import org.tamanoir.node.cli.OutputFile;
import org.tamanoir.node.cli.Version;
import org.tamanoir.node.config.Quantity;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code tamanoir node capture}: packets of a running node as a pcap file. */
@Command(name = "capture", mixinStandardHelpOptions = true, versionProvider = Version.class, sortOptions = false)
public final class CaptureCommand implements Runnable {
    private static final int MAX_PACKETS = 65_536;
    private static final Duration MIN_TIME = Duration.ofSeconds(1);
    private static final Duration MAX_TIME = Duration.ofHours(1);

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private CommandSpec spec;

    @Mixin
    private final AdminOptions admin = new AdminOptions();

    @Option(names = "--count", paramLabel = "N", defaultValue = "100")
    private int packets;

    @Option(names = "--time", paramLabel = "TIME", defaultValue = "60s")
    private String time = "60s";

    @Option(names = "-o", required = true, paramLabel = "FILE")
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private Path file;

    /** Made by picocli. */
    CaptureCommand() {}

    @Override
    public void run() {
        long seconds;
        try {
            if (packets < 1 || packets > MAX_PACKETS) {
                throw new IllegalArgumentException("--count " + packets + ": 1 to " + MAX_PACKETS + " are allowed");
            }
            seconds = Quantity.duration(time, MIN_TIME, MAX_TIME).toSeconds();
        } catch (IllegalArgumentException e) {
            throw new CommandException(ExitCode.USAGE, e);
        }
        try (InputStream in = admin.client()
                        .open(
                                "/v1/capture?packets=" + packets + "&seconds=" + seconds,
                                "application/vnd.tcpdump.pcap");
                OutputStream out = OutputFile.open(file)) {
            long bytes = in.transferTo(out);
            spec.commandLine()
                    .getErr()
                    .println(bytes + " bytes written to " + (OutputFile.isStandard(file) ? "standard output" : file));
            spec.commandLine().getErr().flush();
        } catch (IOException e) {
            throw new CommandException(ExitCode.FAILED, "the capture ended: " + CommandException.line(e), e);
        }
    }
}
