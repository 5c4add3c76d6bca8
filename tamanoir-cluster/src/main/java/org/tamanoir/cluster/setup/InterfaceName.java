package org.tamanoir.cluster.setup;

import java.util.regex.Pattern;
import org.tamanoir.cluster.lvs.ClusterException;

/** Names of network interfaces, as they may stand in a command, a path and a configuration file. */
final class InterfaceName {
    /** The kernel takes up to 15 bytes (IFNAMSIZ - 1) of nearly any kind; none but these are in use. */
    private static final Pattern WANTED = Pattern.compile("[A-Za-z0-9][A-Za-z0-9_.-]{0,14}");

    private InterfaceName() {}

    static String check(String name) throws ClusterException {
        if (!WANTED.matcher(name).matches()) {
            throw new ClusterException("interface '" + name
                    + "' must be 1 to 15 letters, digits, dots, hyphens and underscores: ip link shows them");
        }
        return name;
    }
}
