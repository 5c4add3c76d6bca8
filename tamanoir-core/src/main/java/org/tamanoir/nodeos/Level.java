package org.tamanoir.nodeos;

import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/** Where packets can be handled, from the farthest from the wire to the nearest. */
public enum Level {
    /** The Java virtual machine: every service runs here. */
    JVM("jvm"),
    /** The kernel, by the netfilter module {@code tamanoir.ko}. */
    MODULE("kernel"),
    /** The kernel, by BPF programs of traffic control. */
    TC("kernel"),
    /** The network interface, by BPF programs in its driver (XDP). */
    XDP("nic");

    private final String manifestName;

    Level(String manifestName) {
        this.manifestName = manifestName;
    }

    /** Returns how operators and commands write it: {@code jvm}, {@code module}, {@code tc} or {@code xdp}. */
    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }

    /**
     * The levels that a manifest allows.
     *
     * @param manifestNames {@code jvm}, {@code kernel} (module and tc) and {@code nic} (xdp)
     */
    public static Set<Level> allowedBy(List<String> manifestNames) {
        Set<Level> allowed = EnumSet.noneOf(Level.class);
        for (Level level : values()) {
            if (manifestNames.contains(level.manifestName)) {
                allowed.add(level);
            }
        }
        return allowed;
    }

    /**
     * The level of this {@link #label}.
     *
     * @throws IllegalArgumentException for any other text
     */
    public static Level of(String label) {
        for (Level level : values()) {
            if (level.label().equals(label)) {
                return level;
            }
        }
        throw new IllegalArgumentException("level \"" + label + "\": must be one of jvm, module, tc, xdp");
    }
}
