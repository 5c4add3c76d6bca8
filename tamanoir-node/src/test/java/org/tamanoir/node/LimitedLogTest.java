package org.tamanoir.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.support.Waiting.eventually;

import java.io.BufferedReader;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.tamanoir.node.config.Endpoint;
import org.tamanoir.support.Waiting;
import tools.jackson.databind.json.JsonMapper;

/** A node as a process whose log strangers try to fill. */
@Tag("once")
@Tag("process")
class LimitedLogTest {
    private static final int STRANGERS = 3000;
    private static final byte[] NO_PACKET = "GET / HTTP/1.1\r\n\r\n".getBytes(StandardCharsets.US_ASCII);
    /** Its header claims no length. */
    private static final byte[] OTHER_FAULT = HexFormat.of().parseHex("0100544d00000019");

    private static final Pattern MORE = Pattern.compile("\\(and ([\\d,]+) like it in the last second\\)$");

    @Test
    @Timeout(120)
    void strangersFillNeitherTheLogNorHideOtherLinesAndEachIsCounted(@TempDir Path folder) throws Exception {
        Path log = folder.resolve("log");
        Process node = Program.builder("node", "--listen", "0", "--json")
                .redirectError(log.toFile())
                .start();
        try (BufferedReader out = node.inputReader()) {
            int port = Endpoint.parse(
                            new JsonMapper()
                                    .readTree(out.readLine())
                                    .get("tcp")
                                    .get(0)
                                    .asString(),
                            0)
                    .port();
            for (int i = 0; i < STRANGERS; i++) {
                connect(port, NO_PACKET);
            }
            connect(port, OTHER_FAULT);
            eventually()
                    .untilAsserted(
                            () -> assertThat(told(log, "refused: VERSION")).isEqualTo(STRANGERS));
            assertThat(told(log, "refused: HEADER_LENGTH")).isEqualTo(1);
            assertThat(lines(log, "refused: VERSION")).hasSizeLessThan(STRANGERS / 4);
        } finally {
            node.toHandle().destroy();
            assertThat(node.waitFor(Waiting.PATIENCE.toSeconds(), TimeUnit.SECONDS))
                    .isTrue();
        }
    }

    /** Returns when the node has closed the connection. */
    private static void connect(int port, byte[] bytes) throws IOException {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            socket.setSoTimeout((int) Waiting.PATIENCE.toMillis());
            socket.getOutputStream().write(bytes);
            assertThat(socket.getInputStream().read()).isEqualTo(-1);
        }
    }

    private static List<String> lines(Path log, String part) throws IOException {
        try (var lines = Files.lines(log)) {
            return lines.filter(line -> line.contains(part)).toList();
        }
    }

    /** How many times a line came, or was left out and counted. */
    private static long told(Path log, String part) throws IOException {
        long told = 0;
        for (String line : lines(log, part)) {
            Matcher more = MORE.matcher(line);
            told += 1 + (more.find() ? Long.parseLong(more.group(1).replace(",", "")) : 0);
        }
        return told;
    }
}
