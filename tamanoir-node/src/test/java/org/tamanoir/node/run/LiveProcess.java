package org.tamanoir.node.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.tamanoir.node.Program;
import org.tamanoir.node.config.Endpoint;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** A node as a process of its own, and what it says. One thread. */
final class LiveProcess implements AutoCloseable {
    private static final long PATIENCE_SECONDS = 60;

    final Process process;
    final JsonNode started;
    private final BufferedReader out;

    /** Starts the program {@code node --json}; returns when it has started. What it logs goes behind what is in the file. */
    LiveProcess(ProcessBuilder program, Path log) throws IOException {
        process = program.redirectError(ProcessBuilder.Redirect.appendTo(log.toFile()))
                .start();
        out = process.inputReader();
        String line = out.readLine();
        assertThat(line).as(Files.readString(log)).isNotNull();
        started = new JsonMapper().readTree(line);
        assertThat(started.get("event").asString()).isEqualTo("started");
    }

    /** Starts a node with a configuration; its log is beside that. */
    static LiveProcess of(Path config, String... more) throws IOException {
        return new LiveProcess(program(config, more), config.resolveSibling("log"));
    }

    static ProcessBuilder program(Path config, String... more) {
        return Program.builder(
                Stream.concat(Stream.of("node", "--config", config.toString(), "--json"), Stream.of(more))
                        .toArray(String[]::new));
    }

    InetSocketAddress address(String transport) {
        Endpoint endpoint = Endpoint.parse(started.get(transport).get(0).asString(), 1);
        return new InetSocketAddress(endpoint.host(), endpoint.port());
    }

    String admin() {
        return started.get("servers").get("admin API").asString();
    }

    /** Has it stop in order. */
    void terminate() {
        process.toHandle().destroy(); // Process.destroy would close the pipe too.
    }

    /** Returns what it says at its end, when it has ended. */
    JsonNode stopped() throws IOException, InterruptedException {
        JsonNode event = new JsonMapper().readTree(out.readLine());
        while (!event.get("event").asString().equals("stopped")) {
            event = new JsonMapper().readTree(out.readLine());
        }
        assertThat(process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)).isTrue();
        return event;
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }
}
