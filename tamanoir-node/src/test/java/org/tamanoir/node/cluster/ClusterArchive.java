package org.tamanoir.node.cluster;

import com.sun.net.httpserver.HttpServer;
import java.io.File;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.jar.JarOutputStream;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.client.AnepSender;
import org.tamanoir.cluster.config.Welcome;
import org.tamanoir.node.Main;
import org.tamanoir.node.Programs;
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
                "-Xint", // the emulator translates what a compiler made again, which these short lives do not pay back
                "-XX:+UseSerialGC",
                "-XX:-UsePerfData",
                "-XX:+UnlockDiagnosticVMOptions",
                "-XX:-BytecodeVerificationRemote",
                "-Xmx96m",
                "-Djdk.lang.Process.launchMechanism=VFORK", // no program before the program that is to be started
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
        HttpServer director = welcoming();
        command.addAll(List.of("-cp", classPath, Load.class.getName(), folder.toString()));
        command.addAll(List.of(
                "node", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:" + freePort(), "--json", "--stats", "1h"));
        command.addAll(
                List.of("--cluster", "http://127.0.0.1:" + director.getAddress().getPort()));
        command.addAll(List.of(
                "--cluster-token-file",
                token(folder),
                "--cache",
                folder.resolve("cache").toString()));
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
            director.stop(0);
        }
    }

    /** Directors have to know the port. */
    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        }
    }

    private static String token(Path folder) throws IOException {
        return Files.writeString(folder.resolve("token"), "the-token-of-this-test\n")
                .toString();
    }

    /** What a node takes for its director: without IPVS none runs on the host. */
    private static HttpServer welcoming() throws IOException {
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
        byte[] welcome = new JsonMapper()
                .writeValueAsBytes(new Welcome(
                        "a", "a", "up", 0, 500, List.of(), new Welcome.Code(List.of(), List.of(), List.of())));
        server.createContext("/", exchange -> {
            exchange.getResponseHeaders().add("Content-Type", "application/json");
            exchange.sendResponseHeaders(200, welcome.length);
            exchange.getResponseBody().write(welcome);
            exchange.close();
        });
        server.start();
        return server;
    }

    /** What is run while classes are noted: those of the director are loaded, then a node starts. */
    static final class Load {
        private Load() {}

        /** The folder, then the arguments of the program. */
        public static void main(String[] arguments) throws Exception {
            String[] own = Files.readString(Path.of(arguments[0], CLASS_PATH)).split(File.pathSeparator);
            for (String jar : own) {
                load(Path.of(jar));
            }
            Path file = Files.writeString(
                    Path.of(arguments[0], "director.yaml"), "services: [{name: anep, address: 10.0.0.100}]\n");
            PrintWriter out = new PrintWriter(System.err, true, StandardCharsets.UTF_8);
            Programs.run(out, "director", "--validate", "--config", file.toString());
            Main.main(Arrays.copyOfRange(arguments, 1, arguments.length));
        }

        private static void load(Path jar) throws IOException, ClassNotFoundException {
            try (JarFile file = new JarFile(jar.toFile())) {
                for (JarEntry entry : file.stream().toList()) {
                    if (entry.getName().matches("org/tamanoir/(cluster|node)/[^-]*\\.class")
                            && !entry.getName().matches(".*(Test|InGuest|Live|Documented).*")) {
                        String name = entry.getName().replace('/', '.').replaceAll("\\.class$", "");
                        Class.forName(name, false, ClusterArchive.class.getClassLoader());
                    }
                }
            }
        }
    }

    /** What a node of the tests is asked, and a stream. */
    private static void use(Path output) throws Exception {
        JsonNode started = Awaitility.await()
                .atMost(Duration.ofSeconds(PATIENCE_S))
                .until(() -> started(output), event -> event != null);
        for (String path : List.of("/ready", "/v1/streams", "/v1/load", "/metrics")) {
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
            } else if (entry.endsWith(".jar")
                    && Files.exists(path)) { // Maven puts a module without classes there by its pom.
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
