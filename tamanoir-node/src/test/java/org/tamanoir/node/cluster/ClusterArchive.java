package org.tamanoir.node.cluster;

import java.io.File;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.jar.JarOutputStream;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.client.AnepSender;
import org.tamanoir.node.Main;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * What {@code native/vm/test --before} makes on the host: an archive of the classes that a node and a director load,
 * which halves the time in which they start under the emulator, and a published service.
 */
public final class ClusterArchive {
    /** Where the folder is, in the guest. */
    static final String VARIABLE = "TAMANOIR_BEFORE";

    private static final String CLASS_PATH = "class.path";
    private static final String CLASSES = "classes.jsa";
    private static final int PATIENCE_S = 120;

    private ClusterArchive() {}

    /** The folder that was made before. */
    static Path folder() {
        return Path.of(String.valueOf(System.getenv(VARIABLE)));
    }

    /** Options of a JVM that runs the program with the archive, class path included. */
    static List<String> options() {
        try {
            return List.of(
                    "-XX:SharedArchiveFile=" + folder().resolve(CLASSES),
                    "-cp",
                    Files.readString(folder().resolve(CLASS_PATH)));
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    /** Options of both that which makes the archive and those that use it. */
    static List<String> common() {
        return List.of(
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-XX:-UsePerfData",
                "-XX:+UnlockDiagnosticVMOptions",
                "-XX:-BytecodeVerificationRemote",
                "-Xmx96m",
                "--enable-native-access=ALL-UNNAMED");
    }

    /** Makes it: the folder is the only argument. */
    public static void main(String[] arguments) throws Exception {
        Path folder = Files.createDirectories(Path.of(arguments[0])).toAbsolutePath();
        String classPath = String.join(File.pathSeparator, jars(folder));
        Files.writeString(folder.resolve(CLASS_PATH), classPath);
        Files.deleteIfExists(folder.resolve(CLASSES));
        ExampleService.publish(folder);
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.add("-XX:ArchiveClassesAtExit=" + folder.resolve(CLASSES));
        command.add("-Xlog:cds=off,cds+dynamic=off");
        command.addAll(common());
        command.addAll(List.of("-cp", classPath, Main.class.getName()));
        command.addAll(List.of("node", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--json", "--stats", "1h"));
        Process node = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(folder.resolve("output").toFile())
                .start();
        try {
            use(folder.resolve("output"));
            node.destroy(); // it writes the archive when it ends in order
            if (!node.waitFor(PATIENCE_S, TimeUnit.SECONDS)) {
                throw new IllegalStateException("no archive of classes in " + PATIENCE_S + " s");
            }
        } finally {
            node.destroyForcibly();
        }
    }

    /** What a node of the tests is asked, and a stream. */
    private static void use(Path output) throws Exception {
        JsonNode started = Awaitility.await()
                .atMost(Duration.ofSeconds(PATIENCE_S))
                .until(() -> started(output), event -> event != null);
        for (String path : List.of("/ready", "/v1/streams", "/metrics")) {
            Machine.get(started.get("servers").get("admin API").asString() + path);
        }
        String[] at = started.get("tcp").get(0).asString().split(":");
        try (AnepSender sender = AnepSender.tcp(new InetSocketAddress(at[0], Integer.parseInt(at[1])))) {
            sender.send(new PacketBuilder().service("org.tamanoir.services.Monitor").stream(1), ByteBuffer.allocate(9));
            sender.finish();
        }
    }

    private static @Nullable JsonNode started(Path output) throws IOException {
        return Files.readAllLines(output).stream()
                .filter(line -> line.contains("\"started\""))
                .findAny()
                .map(line -> new JsonMapper().readTree(line))
                .orElse(null);
    }

    /** An archive takes no classes from folders. */
    private static List<String> jars(Path folder) throws IOException {
        List<String> jars = new ArrayList<>();
        for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
            Path path = Path.of(entry);
            if (Files.isDirectory(path)) {
                jars.add(jar(path, folder.resolve(jars.size() + ".jar")).toString());
            } else if (Files.exists(path)) {
                jars.add(path.toAbsolutePath().toString());
            }
        }
        return jars;
    }

    private static Path jar(Path from, Path to) throws IOException {
        try (JarOutputStream jar = new JarOutputStream(Files.newOutputStream(to));
                Stream<Path> files = Files.walk(from)) {
            jar.setLevel(0);
            for (Path file : files.filter(Files::isRegularFile).sorted().toList()) {
                jar.putNextEntry(new ZipEntry(from.relativize(file).toString()));
                Files.copy(file, jar);
            }
        }
        return to;
    }
}
