package org.tamanoir.deploy;

import com.google.common.hash.Hashing;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.jar.Attributes;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.StandardLocation;
import javax.tools.ToolProvider;
import org.tamanoir.preemption.CheckpointPolicy;
import org.tamanoir.service.Service;

/** Makes jars of services from source text, for tests. Any thread. */
public final class TestJars {
    /** 2026-01-01 00:00 UTC. */
    private static final long MODIFIED_MS = 1_767_225_600_000L;

    private static final Map<Map<String, String>, TreeMap<String, byte[]>> COMPILED = new ConcurrentHashMap<>();

    private TestJars() {}

    /**
     * Compiles one source file, whatever classes it has, into {@code <className>-<n>.jar}, a new file each time.
     *
     * @param dir where the jar and the classes go
     * @param className of the public class
     * @param manifestAttributes {@code Name: value} for {@code META-INF/MANIFEST.MF}
     */
    public static Path jar(Path dir, String className, String source, String... manifestAttributes) throws IOException {
        return jar(dir, Map.of(className, source), manifestAttributes);
    }

    /**
     * Compiles several source files.
     *
     * @param sources text by name of the public class
     */
    public static Path jar(Path dir, Map<String, String> sources, String... manifestAttributes) throws IOException {
        return zip(dir, new TreeMap<>(sources).firstKey(), entries(dir, sources, manifestAttributes));
    }

    /** What such a jar holds: bytes by entry name. */
    static TreeMap<String, byte[]> entries(Path dir, Map<String, String> sources, String... manifestAttributes)
            throws IOException {
        TreeMap<String, byte[]> entries = compile(dir, sources);
        StringBuilder manifest = new StringBuilder(Attributes.Name.MANIFEST_VERSION + ": 1.0\r\n");
        for (String attribute : manifestAttributes) {
            manifest.append(attribute).append("\r\n");
        }
        entries.put("META-INF/MANIFEST.MF", manifest.append("\r\n").toString().getBytes(StandardCharsets.UTF_8));
        return entries;
    }

    /** Packs bytes, by entry name, into a new jar. */
    static Path zip(Path dir, String name, Map<String, byte[]> entries) throws IOException {
        Path jar = Files.createTempFile(Files.createDirectories(dir), name + "-", ".jar");
        try (OutputStream out = Files.newOutputStream(jar);
                ZipOutputStream zip = new ZipOutputStream(new BufferedOutputStream(out))) {
            for (Map.Entry<String, byte[]> entry : entries.entrySet()) {
                ZipEntry header = new ZipEntry(entry.getKey());
                header.setTime(MODIFIED_MS); // So that the same content gives the same bytes at any time.
                zip.putNextEntry(header);
                zip.write(entry.getValue());
            }
        }
        return jar;
    }

    /** Compiles a service and loads it as a node does. */
    public static LoadedService loaded(Path dir, String className, String source, CheckpointPolicy checkpoints)
            throws IOException, CodeRefusedException {
        return load(code(jar(dir, className, source), className, "1.0"), 1 << 20, checkpoints);
    }

    /** Loads a service, waiting for others as long as that takes. */
    static LoadedService load(ServicePackage code, long maxUnpackedBytes, CheckpointPolicy checkpoints)
            throws CodeRefusedException {
        return load(code, maxUnpackedBytes, checkpoints, JarReading.IN_HEAP);
    }

    static LoadedService load(
            ServicePackage code, long maxUnpackedBytes, CheckpointPolicy checkpoints, JarReading reading)
            throws CodeRefusedException {
        try {
            long deadlineNs = System.nanoTime() + TimeUnit.HOURS.toNanos(1);
            return LoadedService.load(code, maxUnpackedBytes, checkpoints, deadlineNs, reading);
        } catch (TimeoutException | LocalException e) {
            throw new IllegalStateException(e);
        }
    }

    static ServicePackage code(Path jar, String mainClass, String version) throws IOException {
        String name = mainClass.replace('$', '_');
        byte[] bytes = Files.readAllBytes(jar);
        Manifest manifest = new Manifest(
                new ServiceId(name, version),
                mainClass,
                Hashing.sha256().hashBytes(bytes).toString(),
                bytes.length,
                List.of("jvm"),
                ServiceLimits.NONE,
                "");
        return new ServicePackage(manifest, null, jar, "cache");
    }

    /** What classes of a source file compile to, by name. */
    public static Map<String, byte[]> classes(Path dir, String className, String source) throws IOException {
        Map<String, byte[]> classes = new TreeMap<>();
        compile(dir, Map.of(className, source))
                .forEach((entry, bytes) -> classes.put(
                        entry.substring(0, entry.length() - ".class".length()).replace('/', '.'), bytes));
        return classes;
    }

    /** A service that forwards all; more members can be given. */
    public static String forwarder(String className, String members) {
        int dot = className.lastIndexOf('.');
        return (dot < 0 ? "" : "package " + className.substring(0, dot) + ";\n")
                + "import org.tamanoir.anep.Packet;\n"
                + "import org.tamanoir.service.Service;\n"
                + "import org.tamanoir.service.Verdict;\n"
                + "public class " + className.substring(dot + 1) + " extends Service {\n"
                + "    public Verdict process(Packet packet) { return Verdict.FORWARD; }\n"
                + members + "\n}\n";
    }

    /** Compiling takes longer than most tests; the same sources give the same classes. */
    private static TreeMap<String, byte[]> compile(Path dir, Map<String, String> sources) throws IOException {
        Map<String, String> key = Map.copyOf(sources);
        TreeMap<String, byte[]> classes = COMPILED.get(key);
        if (classes == null) {
            classes = compileAnew(dir, sources);
            COMPILED.put(key, classes);
        }
        return new TreeMap<>(classes);
    }

    private static TreeMap<String, byte[]> compileAnew(Path dir, Map<String, String> sources) throws IOException {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        Path work = Files.createTempDirectory(Files.createDirectories(dir), "classes");
        List<Path> files = new ArrayList<>();
        for (Map.Entry<String, String> source : sources.entrySet()) {
            Path file = work.resolve("src").resolve(source.getKey().replace('.', '/') + ".java");
            Files.createDirectories(file.getParent());
            files.add(Files.writeString(file, source.getValue()));
        }
        Path classes = Files.createDirectories(work.resolve("classes"));
        List<String> options = List.of("--release", "17", "-proc:none", "-nowarn", "-parameters");
        try (StandardJavaFileManager manager = compiler.getStandardFileManager(null, null, null)) {
            manager.setLocationFromPaths(StandardLocation.CLASS_OUTPUT, List.of(classes));
            manager.setLocationFromPaths(StandardLocation.CLASS_PATH, List.of(core()));
            StringBuilder errors = new StringBuilder();
            Boolean done = compiler.getTask(
                            null,
                            manager,
                            problem -> errors.append(problem).append('\n'),
                            options,
                            null,
                            manager.getJavaFileObjectsFromPaths(files))
                    .call();
            if (!done) {
                throw new IllegalArgumentException("the source of a test does not compile:\n" + errors);
            }
        }
        TreeMap<String, byte[]> entries = new TreeMap<>();
        try (Stream<Path> found = Files.walk(classes)) {
            for (Path file : found.filter(Files::isRegularFile).toList()) {
                entries.put(classes.relativize(file).toString().replace('\\', '/'), Files.readAllBytes(file));
            }
        }
        return entries;
    }

    /** Where the core's classes lie. */
    private static Path core() {
        try {
            return Path.of(Service.class
                    .getProtectionDomain()
                    .getCodeSource()
                    .getLocation()
                    .toURI());
        } catch (java.net.URISyntaxException e) {
            throw new IllegalStateException("the core's classes lie nowhere", e);
        }
    }
}
