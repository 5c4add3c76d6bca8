package org.tamanoir.node.config;

import java.util.Collection;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.tamanoir.kernel.KernelConfig;
import org.tamanoir.nodeos.Level;

/** Levels and interfaces as users write them. */
final class LevelKinds {
    /** A list in the file, {@code jvm,tc,xdp} on the command line; the JVM is always among them. */
    static final Kind<Set<Level>> KIND = new Kind<>(
            "list of `jvm`, `module`, `tc`, `xdp`",
            (section, key) -> section.has(key) ? withJvm(section.values(key, Level::of)) : null,
            text -> withJvm(List.of(text.split(",", -1)).stream()
                    .map(label -> Level.of(label.strip()))
                    .toList()),
            levels -> levels.stream().sorted().map(Level::label).toList(),
            List.of());

    /** Whether packets for services without a policy go up to the node. */
    static final Kind<Boolean> UNKNOWN_UP = Kind.of("`up`, `on`", LevelKinds::isUp, isUp -> isUp ? "up" : "on");

    private LevelKinds() {}

    private static Boolean isUp(String text) {
        return switch (text) {
            case "up" -> true;
            case "on" -> false;
            default -> throw new IllegalArgumentException("'" + text + "' must be up or on");
        };
    }

    /** A name that an interface can have; whether there is one is seen at the start. */
    static String networkInterface(String name) {
        return new KernelConfig(Set.of(), List.of(name), true).interfaces().get(0);
    }

    private static Set<Level> withJvm(Collection<Level> levels) {
        Set<Level> all = EnumSet.of(Level.JVM);
        all.addAll(levels);
        return all;
    }
}
