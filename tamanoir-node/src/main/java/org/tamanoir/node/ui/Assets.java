package org.tamanoir.node.ui;

import com.google.common.hash.Hasher;
import com.google.common.hash.Hashing;
import java.io.IOException;
import java.io.InputStream;
import java.net.JarURLConnection;
import java.net.URISyntaxException;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * The files of the page, with a version that changes with any byte of any of them: a browser may keep them for ever
 * under a path that has it. Immutable.
 */
final class Assets {
    static final String PAGE = "index.html";

    private static final String FOLDER = "/ui/";

    private static final Map<String, String> LIBRARIES = Map.of(
            "chart.js", "/META-INF/resources/webjars/chart.js/4.5.1/dist/chart.umd.min.js",
            "pico.css", "/META-INF/resources/webjars/picocss__pico/2.1.1/css/pico.min.css");

    private final String version;
    private final Map<String, Asset> files = new HashMap<>();
    private final String page;

    /** Makes what is served of these files, by their names, and this text of the page. */
    Assets(Map<String, byte[]> contents, String page) {
        Hasher hasher = Hashing.sha256().newHasher();
        new TreeMap<>(contents).forEach((name, bytes) -> {
            hasher.putBytes(bytes);
            files.put(name, Asset.of(name, bytes));
        });
        version = hasher.hash().toString().substring(0, 16);
        this.page = page;
    }

    /** Reads them from the class path; costs some ten milliseconds, most of it compression. */
    static Assets read() {
        Map<String, byte[]> contents = new HashMap<>();
        own().forEach(name -> contents.put(name, resource(FOLDER + name)));
        contents.remove(PAGE);
        LIBRARIES.forEach((name, path) -> contents.put(name, resource(path)));
        return new Assets(contents, new String(resource(FOLDER + PAGE), StandardCharsets.UTF_8));
    }

    /** Returns the names of all files in the folder of the page: a jar's, or where they were compiled to. */
    private static List<String> own() {
        try {
            URL page = Objects.requireNonNull(Assets.class.getResource(FOLDER + PAGE));
            if (page.openConnection() instanceof JarURLConnection jar) {
                return jar.getJarFile().stream()
                        .map(entry -> "/" + entry.getName())
                        .filter(path -> path.startsWith(FOLDER) && !path.endsWith("/"))
                        .map(path -> path.substring(FOLDER.length()))
                        .toList();
            }
            try (Stream<Path> files = Files.list(Path.of(page.toURI()).resolveSibling("."))) {
                return files.map(file -> file.getFileName().toString()).toList();
            }
        } catch (IOException | URISyntaxException e) {
            throw new IllegalStateException("the folder " + FOLDER + " of the program cannot be read", e);
        }
    }

    private static byte[] resource(String path) {
        try (InputStream in = Assets.class.getResourceAsStream(path)) {
            return Objects.requireNonNull(in, path).readAllBytes();
        } catch (IOException e) {
            throw new IllegalStateException("the file " + path + " of the program cannot be read", e);
        }
    }

    String version() {
        return version;
    }

    /** Returns a file; none when this is not the version, or there is no such file. */
    Optional<Asset> file(String wantedVersion, String name) {
        return wantedVersion.equals(version) ? Optional.ofNullable(files.get(name)) : Optional.empty();
    }

    /**
     * Returns the page, which names the files of this version.
     *
     * @param server what it belongs to, {@code node} or {@code director}
     */
    Asset page(String server) {
        String text = page.replace("{version}", version).replace("{server}", server);
        return Asset.of(PAGE, text.getBytes(StandardCharsets.UTF_8));
    }
}
