package org.tamanoir.gateway;

import java.util.Map;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The formats of streams on the class path, by name. Any thread. */
public final class StreamFormats {
    private static final Logger LOG = LoggerFactory.getLogger(StreamFormats.class);
    private static final Map<String, StreamFormat> ALL = load();

    private StreamFormats() {}

    private static Map<String, StreamFormat> load() {
        Map<String, StreamFormat> all = new TreeMap<>();
        for (ServiceLoader.Provider<StreamFormat> each : (Iterable<ServiceLoader.Provider<StreamFormat>>)
                ServiceLoader.load(StreamFormat.class).stream()::iterator) {
            try {
                StreamFormat format = each.get();
                int prefix = format.prefixOctets();
                boolean fits = prefix >= 0 && prefix <= (format.beginsAtOnce() ? 0 : StreamFormat.MAX_PREFIX_OCTETS);
                if (!fits || all.putIfAbsent(format.name(), format) != null) {
                    LOG.warn(
                            "format {} of {} is left out: {}",
                            format.name(),
                            each.type().getName(),
                            fits
                                    ? "the name is taken; give it another"
                                    : "its prefix has " + prefix + " octets: must be 0 to "
                                            + StreamFormat.MAX_PREFIX_OCTETS + ", and 0 if it begins at once");
                }
            } catch (ServiceConfigurationError | RuntimeException e) {
                LOG.warn("a format of streams is left out: {}", e.getMessage());
            }
        }
        return all;
    }

    /** Returns the format of this name; null = there is none. */
    public static @Nullable StreamFormat find(String name) {
        return ALL.get(name);
    }

    /** Returns all names, as in {@code length-prefixed, octets}. */
    public static String names() {
        return String.join(", ", ALL.keySet());
    }
}
