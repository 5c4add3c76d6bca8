package org.tamanoir.node;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.node.config.Endpoint;
import tools.jackson.databind.json.JsonMapper;

/** Nodes as processes whose services are after the process itself. */
@Tag("process")
@Timeout(180)
class CoreLossProcessTest {
    private static final int PATIENCE_MS = 180_000;

    private static byte[] packet(Class<?> service, String payload) {
        Packet packet = new PacketBuilder()
                .source(InetAddress.getLoopbackAddress())
                .destination(InetAddress.getLoopbackAddress())
                .service(service.getName())
                .build(ByteBuffer.wrap(payload.getBytes(StandardCharsets.US_ASCII)));
        byte[] bytes = new byte[packet.length()];
        packet.buffer().get(packet.offset(), bytes);
        return bytes;
    }

    private static Endpoint tcp(BufferedReader out) throws IOException {
        return Endpoint.parse(
                new JsonMapper().readTree(out.readLine()).get("tcp").get(0).asString(), 1);
    }

    @ParameterizedTest
    @CsvSource({"blocks, -Xmx48m, -XX:+UseSerialGC", "crumbs, -Xmx96m, -XX:+UseG1GC"})
    void aNodeWithoutMemoryEndsWithStatus70AndSaysWhichThreadItLost(String meal, String heap, String collector)
            throws Exception {
        ProcessBuilder builder =
                Program.builder("node", "--listen", "0", "--json", "--service", HeapEater.class.getName());
        builder.command().remove("-XX:+UseSerialGC"); // The JVM takes one collector alone.
        builder.command().addAll(1, List.of(heap, collector));
        Process process = builder.start();
        try (BufferedReader out = process.inputReader();
                BufferedReader err = process.errorReader()) {
            Endpoint node = tcp(out);
            try (Socket sender = new Socket(node.address(), node.port())) {
                sender.getOutputStream().write(packet(HeapEater.class, meal));
                assertThat(process.waitFor(PATIENCE_MS, TimeUnit.MILLISECONDS))
                        .as("that the process has ended")
                        .isTrue();
            }
            assertThat(process.exitValue()).isEqualTo(70);
            assertThat(err.lines())
                    // Before it in the line may stand the beginning of what the JVM itself says of another thread.
                    .anyMatch(line -> line.matches(".*tamanoir node: the thread \\w+ cannot go on: "
                            + "java.lang.OutOfMemoryError: .*; the process ends with status 70, start it again"));
        } finally {
            process.destroyForcibly();
        }
    }

    @Test
    void aNodeWhoseMainThreadIsInterruptedGoesOn() throws Exception {
        try (ServerSocket end = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            end.setSoTimeout(PATIENCE_MS);
            Process process = Program.start(
                    "node",
                    "--listen",
                    "0",
                    "--json",
                    "--route",
                    "0.0.0.0/0=127.0.0.1:" + end.getLocalPort() + ",host",
                    "--service",
                    MainInterrupter.class.getName());
            try (BufferedReader out = process.inputReader()) {
                Endpoint node = tcp(out);
                for (int i = 0; i < 3; i++) { // The first connection could still cross a node that stops.
                    try (Socket sender = new Socket(node.address(), node.port())) {
                        sender.getOutputStream().write(packet(MainInterrupter.class, "packet " + i));
                        sender.shutdownOutput();
                        try (Socket stream = end.accept()) {
                            stream.setSoTimeout(PATIENCE_MS);
                            assertThat(new String(stream.getInputStream().readAllBytes(), StandardCharsets.US_ASCII))
                                    .endsWith("packet " + i);
                        }
                        sender.getInputStream().readAllBytes(); // The stream has ended, and so its service.
                    }
                }
                assertThat(process.isAlive()).isTrue();
                process.toHandle().destroy();
                assertThat(out.lines().toList()).last().asString().contains("\"stopped\"");
                assertThat(process.waitFor(PATIENCE_MS, TimeUnit.MILLISECONDS)).isTrue();
                assertThat(process.exitValue()).isEqualTo(128 + 15);
            } finally {
                process.destroyForcibly();
            }
        }
    }
}
