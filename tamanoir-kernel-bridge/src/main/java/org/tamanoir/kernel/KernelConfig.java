package org.tamanoir.kernel;

import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.tamanoir.nodeos.Level;

/**
 * What an operator wants of the levels below the JVM.
 *
 * @param levels that may be used; the JVM always is
 * @param interfaces that packets come in through, as {@code ip link} names them; none = no level but the JVM
 * @param unknownUp whether packets with a service key and no policy, and TCP connections to the node's ports, go up to
 *     the node; else they go on
 */
public record KernelConfig(Set<Level> levels, List<String> interfaces, boolean unknownUp) {
    /** The most interfaces. */
    public static final int MAX_INTERFACES = 16;

    private static final int MAX_NAME = 15;

    /** All levels off. */
    public static final KernelConfig OFF = new KernelConfig(EnumSet.allOf(Level.class), List.of(), true);

    /** Checks the names. */
    public KernelConfig {
        levels = Set.copyOf(levels);
        interfaces = List.copyOf(interfaces);
        if (interfaces.size() > MAX_INTERFACES) {
            throw new IllegalArgumentException(interfaces.size() + " interfaces: must be at most " + MAX_INTERFACES);
        }
        for (String name : interfaces) {
            if (name.isEmpty()
                    || name.length() > MAX_NAME
                    || !name.chars().allMatch(c -> c > ' ' && c < 127 && c != '/')) {
                throw new IllegalArgumentException(
                        "interface \"" + name + "\": must be 1 to " + MAX_NAME + " characters, as ip link names it");
            }
        }
    }
}
