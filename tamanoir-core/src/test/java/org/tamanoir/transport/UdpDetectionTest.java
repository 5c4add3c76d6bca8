package org.tamanoir.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("process")
class UdpDetectionTest {
    /** Tells the report from what Netty logs. */
    private static final String MARK = "REPORT ";

    /** Runs in a JVM of its own: prints what AUTO becomes and why, then what NATIVE says. */
    static final class Report {
        private Report() {}

        public static void main(String[] arguments) {
            System.out.println(MARK + UdpSockets.resolve(TransportKind.AUTO));
            System.out.println(MARK + UdpSockets.explain(TransportKind.AUTO));
            try {
                UdpSockets.bind(TransportKind.AUTO, new InetSocketAddress("127.0.0.1", 0))
                        .close();
                UdpSockets.bind(TransportKind.NATIVE, new InetSocketAddress("127.0.0.1", 0))
                        .close();
                System.out.println(MARK + "bound");
            } catch (IOException e) {
                System.out.println(MARK + e.getMessage());
            }
        }
    }

    private static List<String> report(String... options) throws Exception {
        Path java = Path.of(System.getProperty("java.home"), "bin", "java");
        List<String> command = new ArrayList<>(List.of(java.toString(), "-XX:TieredStopAtLevel=1"));
        command.addAll(List.of(options));
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), Report.class.getName()));
        Process process = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(40, TimeUnit.SECONDS)).isTrue();
        return output.lines()
                .filter(line -> line.startsWith(MARK))
                .map(line -> line.substring(MARK.length()))
                .toList();
    }

    @Test
    void withoutJnaItFallsBackAndNamesTheRemedy() throws Exception {
        UdpTesting.assumeNative();
        List<String> lines = report("-Djna.nosys=true", "-Djna.nounpack=true");
        assertThat(lines).hasSize(3);
        assertThat(lines.get(0)).isEqualTo("NIO");
        assertThat(lines.get(1)).contains("JNA does not load").contains("-Djna.tmpdir");
        assertThat(lines.get(2)).startsWith("cannot bind UDP 127.0.0.1:0: ").contains("use AUTO or NIO");
    }

    @Test
    void withoutEpollItFallsBackAndNamesTheRemedy() throws Exception {
        UdpTesting.assumeNative();
        List<String> lines = report("-Dio.netty.transport.noNative=true");
        assertThat(lines).hasSize(3);
        assertThat(lines.get(0)).isEqualTo("NIO");
        assertThat(lines.get(1)).contains("epoll does not load").contains("-Dio.netty.native.workdir");
    }

    @Test
    void onAnotherSystemItSaysWhatIsMissing() throws Exception {
        List<String> lines = report("-Dos.name=Plan 9");
        assertThat(lines.get(0)).isEqualTo("NIO");
        assertThat(lines.get(1)).contains("needs Linux, this is Plan 9");
    }

    @Test
    void whatIsAskedForByNameIsUsed() {
        assertThat(UdpSockets.resolve(TransportKind.NIO)).isEqualTo(TransportKind.NIO);
        assertThat(UdpSockets.explain(TransportKind.NIO)).isEqualTo("NIO, as configured");
        assertThat(UdpSockets.explain(TransportKind.AUTO)).doesNotContain("\n");
    }

    @Test
    void anUnknownHostIsNamed() {
        assertThatThrownBy(() ->
                        UdpSockets.bind(TransportKind.AUTO, InetSocketAddress.createUnresolved("no.such.invalid", 5)))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("no.such.invalid:5")
                .hasMessageContaining("does not resolve");
    }
}
