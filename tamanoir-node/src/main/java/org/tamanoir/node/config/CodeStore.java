package org.tamanoir.node.config;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.tamanoir.deploy.CodeCache;

/** Where a node keeps the code it fetched. */
public final class CodeStore {
    private CodeStore() {}

    /**
     * Opens the folder that is asked for, or the user's own for a node on this port. The latter need not be to be had;
     * nor need the former while a node takes the place of another one, which has its lock.
     *
     * @throws IOException in one line, if the folder that was asked for cannot be had
     */
    public static CodeCache open(NodeConfig config, int port, boolean takesOver) throws IOException {
        long size = config.get(NodeSettings.CACHE_SIZE);
        Path folder = folder(config.values(), port);
        return config.values().isGiven(NodeSettings.CACHE) && !takesOver
                ? CodeCache.open(folder, size)
                : CodeCache.openBeside(folder, size);
    }

    /** Returns the file beside the code in which a node notes the host's classes that it has changed. */
    public static Path trafficControl(NodeConfig config) {
        List<InetSocketAddress> tcp = config.environment().tcp();
        return folder(config.values(), tcp.isEmpty() ? 0 : tcp.get(0).getPort()).resolve("traffic-control");
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
