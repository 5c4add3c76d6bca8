package org.tamanoir.node.admin;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.tamanoir.support.Tiers;

/** Wireshark's command line with the ANEP dissector. */
public final class Tshark {
    private static final Path DISSECTOR = Path.of("..", "docs", "wireshark", "anep.lua");
    private static final int PATIENCE_SECONDS = 60;

    private static String whyNot = "";
    private static boolean probed;

    private Tshark() {}

    /** Skips the test where there is no tshark that runs scripts. */
    public static synchronized void require() {
        if (!probed) {
            probed = true;
            whyNot = probe();
        }
        Tiers.require("tshark", whyNot.isEmpty(), whyNot);
    }

    /** Whether it knows the dissector's fields, with a capture of nothing. */
    private static String probe() {
        try {
            Path nothing = Files.createTempFile("nothing", ".pcap");
            new RawCapture(1).writeTo(nothing);
            Process process = command(List.of("-r", nothing.toString(), "-T", "fields", "-e", "anep.length"))
                    .redirectErrorStream(true)
                    .start();
            String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            process.waitFor();
            Files.delete(nothing);
            return process.exitValue() == 0
                    ? ""
                    : "this tshark runs no Lua scripts, or forbids them to root: "
                            + output.strip().replaceAll("\\s+", " ");
        } catch (IOException e) {
            return "no tshark: " + e.getMessage();
        } catch (InterruptedException e) {
            throw new AssertionError("interrupted", e);
        }
    }

    /**
     * What tshark prints for a capture, line by line: that of its frames that are shown, fields separated by {@code
     * |}, a field's several values by a comma.
     */
    public static List<String> fields(Path capture, List<String> options, String... fields)
            throws IOException, InterruptedException {
        List<String> arguments =
                new ArrayList<>(List.of("-r", capture.toString(), "-T", "fields", "-E", "separator=|"));
        arguments.addAll(options);
        for (String field : fields) {
            arguments.add("-e");
            arguments.add(field);
        }
        return run(arguments);
    }

    static List<String> run(List<String> arguments) throws IOException, InterruptedException {
        Process process = command(arguments).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).as(output).isZero();
        assertThat(output).doesNotContain("Lua Error", "anep.lua");
        return output.lines()
                .filter(line -> !line.startsWith("Running as user"))
                .toList();
    }

    private static ProcessBuilder command(List<String> arguments) {
        List<String> command = new ArrayList<>(List.of("tshark", "-n", "-X", "lua_script:" + DISSECTOR));
        command.addAll(arguments);
        ProcessBuilder builder = new ProcessBuilder(command);
        // No settings or scripts of the user's own.
        builder.environment()
                .put("WIRESHARK_CONFIG_DIR", Path.of("target").toAbsolutePath().toString());
        return builder;
    }
}
