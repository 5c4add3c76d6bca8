package org.tamanoir.node;

import com.sun.net.httpserver.HttpServer;
import java.io.File;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HexFormat;
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
import org.tamanoir.support.Ports;
import org.tamanoir.support.SecretFile;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * An archive of the classes that a node and a director load (class data sharing), with which the program starts in half
 * the processor time. The JVM takes such classes from jars alone and checks that they are the same files: folders of
 * the class path are packed beside the archive.
 *
 * <p>Processes of tests share an archive that is made once a build, by the first JVM of tests that starts a process, in
 * {@code target/class-archive}. It is made again when the class path or the JVM is another. Where it cannot be made,
 * processes start without. Any thread.
 */
public final class ClassArchive {
    private static final Path ROOT = Path.of("target", "class-archive").toAbsolutePath();
    private static final String CLASS_PATH = "class.path";
    private static final String CLASSES = "classes.jsa";
    /** Newer JVMs call it an error, on standard output, that an option opens native access: they use the classes. */
    private static final String QUIET = "-Xlog:cds=off,cds+dynamic=off";

    private static final Duration KEPT = Duration.ofHours(1);
    private static final int PATIENCE_S = 120;

    private ClassArchive() {}

    /** Makes the archive of this build when it is first asked for. */
    private static final class OfBuild {
        static final List<String> OPTIONS = options();

        @SuppressWarnings("try") // the lock is held, and nothing else done with it
        private static List<String> options() {
            try {
                Path folder = ROOT.resolve(key());
                Files.createDirectories(folder);
                try (FileChannel file = FileChannel.open(
                                ROOT.resolve("lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
                        FileLock lock = file.lock()) {
                    Path failed = folder.resolve("failed");
                    if (!Files.exists(folder.resolve(CLASSES)) && !Files.exists(failed)) {
                        removeOld();
                        try {
                            make(folder, Program.JVM, false);
                        } catch (Exception e) {
                            // Only now, as a JVM killed while it made the archive says nothing about the next try.
                            Files.createFile(failed);
                            throw e;
                        }
                    }
                    if (Files.exists(failed)) {
                        throw new IOException("it could not be made, see " + folder + "; delete that to try again");
                    }
                }
                return ClassArchive.options(folder);
            } catch (Exception e) {
                System.err.println("without an archive of classes: " + e);
                return List.of("-cp", System.getProperty("java.class.path"));
            }
        }
    }

    /** Returns the JVM options of a process that runs this build's classes: class path, and archive where there is one. */
    static List<String> options() {
        return OfBuild.OPTIONS;
    }

    /** Returns the JVM options of a process that runs the classes of an archive, class path included. */
    public static List<String> options(Path folder) {
        try {
            return List.of(
                    "-XX:SharedArchiveFile=" + folder.resolve(CLASSES),
                    QUIET,
                    "-cp",
                    Files.readString(folder.resolve(CLASS_PATH)));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Returns a name for the content of the class path, by sizes and times of files, and for the JVM. */
    private static String key() throws IOException, NoSuchAlgorithmException {
        MessageDigest digest = MessageDigest.getInstance("SHA-256");
        add(digest, System.getProperty("java.home") + System.getProperty("java.vm.version") + Program.JVM);
        for (String entry : classPath()) {
            try (Stream<Path> files = Files.walk(Path.of(entry))) {
                for (Path file : files.filter(Files::isRegularFile).sorted().toList()) {
                    add(digest, file + " " + Files.size(file) + " " + Files.getLastModifiedTime(file));
                }
            }
        }
        return HexFormat.of().formatHex(digest.digest(), 0, 8);
    }

    private static void add(MessageDigest digest, String text) {
        digest.update((text + "\n").getBytes(StandardCharsets.UTF_8));
    }

    /** Returns what there is of the class path; Maven puts a module without classes there by its pom. */
    private static List<String> classPath() {
        return Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
                .filter(entry -> Files.isDirectory(Path.of(entry)) || entry.endsWith(".jar"))
                .filter(entry -> Files.exists(Path.of(entry)))
                .toList();
    }

    /** Removes archives of former builds, which are 50 MB each; recent ones may be in use. */
    private static void removeOld() throws IOException {
        Instant before = Instant.now().minus(KEPT);
        try (Stream<Path> folders = Files.list(ROOT)) {
            for (Path folder : folders.filter(Files::isDirectory).toList()) {
                if (Files.getLastModifiedTime(folder).toInstant().isBefore(before)) {
                    try (Stream<Path> files = Files.walk(folder)) {
                        files.sorted(Comparator.reverseOrder())
                                .forEach(file -> file.toFile().delete());
                    }
                }
            }
        }
    }

    /**
     * Makes an archive.
     *
     * @param folder for it; must not be moved afterwards
     * @param jvm options of the JVMs that use it
     * @param hasAll whether it has all classes of cluster and node, or those that a node's start takes: that is made faster
     */
    public static void make(Path folder, List<String> jvm, boolean hasAll) throws Exception {
        String classPath = String.join(File.pathSeparator, jars(folder));
        Files.writeString(folder.resolve(CLASS_PATH), classPath);
        Path part = folder.resolve(CLASSES + ".part");
        Files.deleteIfExists(part);
        Files.deleteIfExists(folder.resolve(CLASSES));
        Path output = folder.resolve("output");
        HttpServer director = welcoming();
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.add("-XX:ArchiveClassesAtExit=" + part);
        command.add(QUIET);
        command.addAll(jvm);
        command.addAll(List.of("-cp", classPath, Load.class.getName(), folder.toString(), String.valueOf(hasAll)));
        command.addAll(List.of(
                "node", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:" + Ports.free(), "--json", "--stats", "1h"));
        command.addAll(
                List.of("--cluster", "http://127.0.0.1:" + director.getAddress().getPort()));
        Path token = SecretFile.write(folder.resolve("token"), "the-token-of-this-test\n");
        command.addAll(List.of("--cluster-token-file", token.toString()));
        command.addAll(List.of("--cache", folder.resolve("cache").toString()));
        Process node = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        try {
            use(node, output);
            node.destroy(); // it writes the archive when it ends in order
            if (!node.waitFor(PATIENCE_S, TimeUnit.SECONDS)) {
                throw new IllegalStateException("no archive of classes in " + PATIENCE_S + " s");
            }
        } finally {
            node.destroyForcibly();
            director.stop(0);
        }
        Files.move(part, folder.resolve(CLASSES), StandardCopyOption.ATOMIC_MOVE);
    }

    /** Starts a server that a node takes for its director, and that has no streams for it: without IPVS none runs here. */
    private static HttpServer welcoming() throws IOException {
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
        byte[] welcome = new JsonMapper()
                .writeValueAsBytes(new Welcome(
                        "a", "a", "joining", 0, 500, List.of(), new Welcome.Code(List.of(), List.of(), List.of())));
        server.createContext("/", exchange -> {
            exchange.getResponseHeaders().add("Content-Type", "application/json");
            exchange.sendResponseHeaders(200, welcome.length);
            exchange.getResponseBody().write(welcome);
            exchange.close();
        });
        server.start();
        return server;
    }

    /** Runs a director's command, then a node, while the JVM notes which classes that takes. */
    static final class Load {
        private Load() {}

        /** The folder, whether to load all classes, then the arguments of the program. */
        public static void main(String[] arguments) throws Exception {
            if (Boolean.parseBoolean(arguments[1])) {
                String[] own =
                        Files.readString(Path.of(arguments[0], CLASS_PATH)).split(File.pathSeparator);
                for (String jar : own) {
                    load(Path.of(jar));
                }
            }
            Path file = Files.writeString(
                    Path.of(arguments[0], "director.yaml"), "services: [{name: anep, address: 10.0.0.100}]\n");
            PrintWriter out = new PrintWriter(System.err, true, StandardCharsets.UTF_8);
            Programs.run(out, "director", "--validate", "--config", file.toString());
            Main.main(Arrays.copyOfRange(arguments, 2, arguments.length));
        }

        private static void load(Path jar) throws IOException, ClassNotFoundException {
            try (JarFile file = new JarFile(jar.toFile())) {
                for (JarEntry entry : file.stream().toList()) {
                    if (entry.getName().matches("org/tamanoir/(cluster|node)/[^-]*\\.class")
                            && !entry.getName().matches(".*(Test|InGuest|Live|Documented).*")) {
                        String name = entry.getName().replace('/', '.').replaceAll("\\.class$", "");
                        Class.forName(name, false, ClassArchive.class.getClassLoader());
                    }
                }
            }
        }
    }

    /** Asks the node what tests ask, and sends a stream. */
    private static void use(Process node, Path output) throws Exception {
        JsonNode started = Awaitility.await()
                .atMost(Duration.ofSeconds(PATIENCE_S))
                .failFast("the node has ended", () -> !node.isAlive())
                .until(() -> started(output), event -> event != null);
        HttpClient client = HttpClient.newHttpClient();
        for (String path : List.of("/ready", "/v1/streams", "/v1/load", "/metrics")) {
            URI uri = URI.create(started.get("servers").get("admin API").asString() + path);
            client.send(
                    HttpRequest.newBuilder(uri)
                            .timeout(Duration.ofSeconds(PATIENCE_S))
                            .build(),
                    HttpResponse.BodyHandlers.discarding());
        }
        String[] at = started.get("tcp").get(0).asString().split(":");
        try (AnepSender sender = AnepSender.tcp(new InetSocketAddress(at[0], Integer.parseInt(at[1])))) {
            sender.send(new PacketBuilder().service("org.tamanoir.services.Monitor").stream(1), ByteBuffer.allocate(9));
            sender.finish();
        }
    }

    private static @Nullable JsonNode started(Path output) throws IOException {
        return Files.readAllLines(output).stream()
                .filter(line -> line.contains("\"started\"") && line.endsWith("}"))
                .findAny()
                .map(line -> new JsonMapper().readTree(line))
                .orElse(null);
    }

    private static List<String> jars(Path folder) throws IOException {
        List<String> jars = new ArrayList<>();
        for (String entry : classPath()) {
            Path path = Path.of(entry).toAbsolutePath();
            jars.add((Files.isDirectory(path) ? jar(path, folder.resolve(jars.size() + ".jar")) : path).toString());
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
