package org.tamanoir.node.config;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.deploy.CodeCache;

/** Where a node keeps the code it fetched. */
public final class CodeStore {
    private static final Logger LOG = LoggerFactory.getLogger(CodeStore.class);

    private CodeStore() {}

    /**
     * Opens the folder that is asked for, or the user's own for a node on this port; if that one cannot be had, one
     * that lasts as long as the process.
     *
     * @throws IOException in one line, if the folder that was asked for cannot be had
     */
    public static CodeCache open(NodeConfig config, int port) throws IOException {
        long size = config.get(NodeSettings.CACHE_SIZE);
        Path folder = folder(config.values(), port);
        try {
            return CodeCache.open(folder, size);
        } catch (IOException e) {
            if (config.values().isGiven(NodeSettings.CACHE)) {
                throw e;
            }
            Path temporary = Files.createTempDirectory("tamanoir-code");
            LOG.warn(
                    "{}; code is kept in {} until it is removed; give a folder with --cache",
                    e.getMessage(),
                    temporary);
            return CodeCache.open(temporary, size);
        }
    }

    /** The folder that is asked for, or the user's own for a node on this port. */
    static Path folder(Values values, int port) {
        Path given = values.find(NodeSettings.CACHE);
        return given != null
                ? given
                : usualFolder(System.getenv(), System.getProperty("user.home", "."))
                        .resolve("node-" + port);
    }

    /** Where the XDG base directory specification wants caches. */
    static Path usualFolder(Map<String, String> environment, String home) {
        String xdg = environment.getOrDefault("XDG_CACHE_HOME", "");
        Path base = Path.of(xdg).isAbsolute() ? Path.of(xdg) : Path.of(home, ".cache");
        return base.resolve("tamanoir");
    }
}
