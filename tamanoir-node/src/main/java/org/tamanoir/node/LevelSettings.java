package org.tamanoir.node;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.tamanoir.kernel.KernelConfig;
import org.tamanoir.nodeos.Level;

/** What the node wants of levels below the JVM, while that is put together. One thread. */
final class LevelSettings {
    private static final String UP = "up";
    private static final String ON = "on";

    Set<Level> allowed = EnumSet.allOf(Level.class);
    List<String> interfaces = new ArrayList<>();
    boolean unknownUp = true;

    /** Puts what the section {@code levels} says over it. */
    void read(Section section) {
        section.allow("allowed", "interfaces", "unknown");
        if (section.has("allowed")) {
            Set<Level> levels = EnumSet.of(Level.JVM);
            levels.addAll(section.values("allowed", Level::of));
            allowed = levels;
        }
        if (section.has("interfaces")) {
            interfaces = new ArrayList<>(section.values("interfaces", LevelSettings::networkInterface));
        }
        unknownUp = section.value("unknown", unknownUp, LevelSettings::unknown);
    }

    /** {@code jvm,tc,xdp}. */
    static Set<Level> levels(String text) {
        Set<Level> levels = EnumSet.of(Level.JVM);
        for (String label : text.split(",", -1)) {
            levels.add(Level.of(label.strip()));
        }
        return levels;
    }

    /** A name that an interface can have; whether there is one is seen at the start. */
    static String networkInterface(String name) {
        return new KernelConfig(Set.of(), List.of(name), true).interfaces().get(0);
    }

    private static boolean unknown(String text) {
        return switch (text) {
            case UP -> true;
            case ON -> false;
            default -> throw new IllegalArgumentException("'" + text + "' must be " + UP + " or " + ON);
        };
    }

    static String unknown(boolean isUp) {
        return isUp ? UP : ON;
    }

    /** Looks at what only shows when all is there. */
    void check(Problems problems) {
        if (interfaces.size() > KernelConfig.MAX_INTERFACES) {
            problems.add(
                    "levels.interfaces",
                    interfaces.size() + " interfaces: must be at most " + KernelConfig.MAX_INTERFACES);
        }
    }

    KernelConfig build() {
        return new KernelConfig(allowed, interfaces, unknownUp);
    }
}
