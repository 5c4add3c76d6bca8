package org.tamanoir.node.ui;

import com.google.common.hash.Hasher;
import com.google.common.hash.Hashing;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;

/**
 * The files of the page, with a version that changes with any byte of any of them: a browser may keep them for ever
 * under a path that has it. Immutable.
 */
final class Assets {
    static final String PAGE = "index.html";

    private static final List<String> OWN = List.of(
            "app.css",
            "app.js",
            "charts.js",
            "cluster.js",
            "director.js",
            "dom.js",
            "element.js",
            "events.js",
            "format.js",
            "icon.svg",
            "levels.js",
            "live.js",
            "overview.js",
            "path.js",
            "qos.js",
            "routes.js",
            "server.js",
            "services.js",
            "stream.js",
            "streams.js",
            "worker.js");

    private static final Map<String, String> LIBRARIES = Map.of(
            "chart.js", "/META-INF/resources/webjars/chart.js/4.5.1/dist/chart.umd.min.js",
            "pico.css", "/META-INF/resources/webjars/picocss__pico/2.1.1/css/pico.min.css");

    private final String version;
    private final Map<String, Asset> files = new HashMap<>();
    private final String page;

    private Assets(Map<String, byte[]> contents, String page) {
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
        OWN.forEach(name -> contents.put(name, resource("/ui/" + name)));
        LIBRARIES.forEach((name, path) -> contents.put(name, resource(path)));
        return new Assets(contents, new String(resource("/ui/" + PAGE), StandardCharsets.UTF_8));
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

    /** Returns the page, which names the files of this version. @param server what it belongs to, {@code node} */
    Asset page(String server) {
        String text = page.replace("{version}", version).replace("{server}", server);
        return Asset.of(PAGE, text.getBytes(StandardCharsets.UTF_8));
    }
}
