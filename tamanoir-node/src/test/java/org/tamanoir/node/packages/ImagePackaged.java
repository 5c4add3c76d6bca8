package org.tamanoir.node.packages;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.node.config.Endpoint;
import org.tamanoir.support.Tiers;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The folder that brings its own Java, as {@code -Pimage} has packed it, unpacked elsewhere and without an environment. */
@Tag("packages")
class ImagePackaged {
    private static final int PATIENCE_MS = 40_000;

    @TempDir
    static Path folder;

    private static Path command;

    @BeforeAll
    static void unpack() throws Exception {
        boolean isLinux = System.getProperty("os.name").equals("Linux");
        Tiers.require("image", isLinux, "the image is of Linux");
        Path packed = Shell.only(Path.of("target").toAbsolutePath(), "tamanoir-node-*-linux-*.tar.gz");
        Shell.run("tar", "-xzf", packed.toString(), "-C", folder.toString());
        command = Shell.only(folder, "tamanoir-node-*").resolve("bin/tamanoir");
    }

    private static ProcessBuilder program(String... arguments) {
        ProcessBuilder builder = new ProcessBuilder(arguments);
        builder.command().add(0, command.toString());
        builder.environment().clear();
        return builder;
    }

    @Test
    void aNodeServesAPacketWithoutAJavaOnThePath() throws Exception {
        try (DatagramSocket end = new DatagramSocket(0, InetAddress.getByName("127.0.0.1"))) {
            end.setSoTimeout(PATIENCE_MS);
            String route = "10.0.2.0/24=127.0.0.1:" + end.getLocalPort() + ",udp,host";
            Process node = program("node", "--listen", "0", "--admin", "off", "--json", "--route", route)
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            try (BufferedReader out = node.inputReader()) {
                JsonNode started = new JsonMapper().readTree(out.readLine());
                Endpoint udp = Endpoint.parse(started.get("udp").get(0).asString(), 1);
                ByteBuffer packet = ByteBuffer.allocate(200);
                new PacketBuilder()
                        .destination(InetAddress.getByName("10.0.2.7"))
                        .service("org.tamanoir.services.Monitor")
                        .write(packet, ByteBuffer.wrap(new byte[] {1, 2, 3}));
                end.send(new DatagramPacket(packet.array(), packet.position(), udp.address(), udp.port()));
                DatagramPacket received = new DatagramPacket(new byte[2_000], 2_000);
                end.receive(received);
                assertThat(Arrays.copyOf(received.getData(), received.getLength()))
                        .endsWith(1, 2, 3);
            } finally {
                node.destroyForcibly();
            }
        }
    }

    @Test
    void aNewServiceBuildsAgainstItsJarWhereNoApiIsInstalled() throws Exception {
        Path log = folder.resolve("new-service.log");
        Path none = folder.resolve("none");
        ProcessBuilder program = program(
                "new-service", "org.example.Foo", "--dir", folder.resolve("foo") + "", "--local-repository", none + "");
        assertThat(program.redirectOutput(log.toFile()).start().waitFor()).isZero();
        Path jar = command.resolveSibling("../lib/tamanoir-node.jar").toRealPath();
        assertThat(Files.readString(log))
                .containsPattern("(?m)^builds against " + jar
                        + ", since org.tamanoir:tamanoir-service-api:[0-9].* is not in " + none + "$");
    }

    /** Wherever it was unpacked: the archive is of another folder. */
    @Test
    void classesComeFromTheArchive() throws Exception {
        Path log = folder.resolve("classes");
        ProcessBuilder program = program("--version");
        program.environment().put("JAVA_OPTS", "-Xlog:class+load:file=" + log);
        assertThat(program.start().waitFor()).isZero();
        assertThat(Files.readString(log)).contains("org.tamanoir.node.Main source: shared objects file (top)");
    }
}
