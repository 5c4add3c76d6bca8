package org.tamanoir.services.extra.crypt;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.tamanoir.service.ControlHost;
import org.tamanoir.service.ServiceConfig;
import org.tamanoir.service.ServiceControl;

/**
 * The keys of {@link Crypt} and {@link Decrypt}, which all instances share, and what has come with them.
 *
 * <table><caption>Operations of {@link #change}</caption>
 * <tr><th>operation</th><th>arguments</th><th>does</th></tr>
 * <tr><td>{@code add}</td><td>{@code id}, 1 and up; {@code key}, 32 or 64 hexadecimal digits</td><td>adds a key, of 16 at
 * most; Decrypt takes packets with any of them</td></tr>
 * <tr><td>{@code use}</td><td>{@code id}</td><td>has Crypt encrypt with this key from its next packet on</td></tr>
 * <tr><td>{@code remove}</td><td>{@code id}</td><td>forgets a key that is not in use</td></tr>
 * </table>
 *
 * <p>So keys change without loss: {@code add} at both ends, {@code use} where Crypt is, and {@code remove} when what was
 * on its way has come. The setting {@code keys} names a file of lines {@code ID KEY}, of which one may end with {@code
 * use}; it is read when the service is defined. What operations change lasts as long as the node runs, and the file says
 * what it did.
 *
 * <p>{@link #view} shows {@code keys}, each with {@code id}, {@code bits}, {@code used}, and the first 16 digits of its
 * SHA-256, never the key; and {@code sessions}, of which packets have come.
 *
 * <p>Thread contract: any threads.
 */
public final class CryptControl implements ServiceControl {
    private volatile ReplayWindows windows = new ReplayWindows();
    private volatile Keys keys = Keys.NONE;
    /** As the file has them that the settings name. */
    private Keys ofFile = Keys.NONE;

    private volatile LongSupplier clockMs = System::currentTimeMillis;

    /** For the node; {@link #init} follows. */
    public CryptControl() {}

    @Override
    public void init(ServiceConfig config, ControlHost host) throws IOException {
        String file = config.text("keys", "");
        if (!file.isEmpty()) {
            ofFile = Keys.read(Path.of(file));
            keys = ofFile;
        }
    }

    /** What has come has come; what operations changed holds until the file changes. */
    @Override
    public void follow(ServiceControl before) {
        CryptControl other = (CryptControl) before;
        windows = other.windows;
        if (ofFile.view().equals(other.ofFile.view())) {
            keys = other.keys;
        }
    }

    Keys keys() {
        return keys;
    }

    ReplayWindows windows() {
        return windows;
    }

    /** Returns the host's time of day now, in ms since 1970: a clock that was set right is right from then on. */
    long timeMs() {
        return clockMs.getAsLong();
    }

    /** Goes by another clock from now on; for tests. */
    void clock(LongSupplier otherMs) {
        clockMs = otherMs;
    }

    @Override
    public Map<String, Object> view() {
        return Map.of("keys", keys.view(), "sessions", windows.sessions());
    }

    @Override
    public synchronized Map<String, Object> change(String operation, Map<String, Object> arguments) {
        switch (operation) {
            case "add" -> {
                allow(arguments, "id", "key");
                keys = keys.with(id(arguments), text(arguments.get("key")));
            }
            case "use" -> {
                allow(arguments, "id");
                keys = keys.using(id(arguments));
            }
            case "remove" -> {
                allow(arguments, "id");
                keys = keys.without(id(arguments));
            }
            default -> throw new IllegalArgumentException("operation: must be one of add, use, remove");
        }
        return Map.of("keys", keys.view());
    }

    private static int id(Map<String, Object> arguments) {
        return Keys.id(text(arguments.get("id")));
    }

    private static String text(@Nullable Object value) {
        return String.valueOf(value);
    }

    private static void allow(Map<String, Object> arguments, String... known) {
        Set<String> names = new TreeSet<>(arguments.keySet());
        names.removeAll(Set.of(known));
        if (!names.isEmpty()) {
            throw new IllegalArgumentException("no such argument: " + names + "; known: " + String.join(", ", known));
        }
    }
}
