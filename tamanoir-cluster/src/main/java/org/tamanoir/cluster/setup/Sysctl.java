package org.tamanoir.cluster.setup;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.tamanoir.cluster.lvs.ClusterException;
import org.tamanoir.platform.Causes;

/**
 * Settings of the network below {@code /proc/sys}, named by their paths there: {@code net/ipv4/ip_forward}. The kernel
 * shows each thread those of the thread's own network namespace.
 */
final class Sysctl {
    private static final Path ROOT = Path.of("/proc/sys");
    static final String FORWARDING = "net/ipv4/ip_forward";
    /** Those of all interfaces. */
    static final String ALL = "net/ipv4/conf/all/";

    private static final String ALL_REDIRECTS = ALL + "accept_redirects";

    private Sysctl() {}

    /** Returns its value; null if the kernel has no such setting, as for an interface that is not there. */
    static @Nullable String read(String path) {
        try {
            return Files.readString(ROOT.resolve(path)).strip();
        } catch (IOException e) {
            return null;
        }
    }

    /** Returns whether an interface's setting does what back-ends need, together with that of all interfaces. */
    static boolean works(String path) {
        String name = path.substring(path.lastIndexOf('/') + 1);
        int effective = Math.max(number(path), number(ALL + name)); // IN_DEV_MAXCONF in Linux
        return switch (name) {
            // 1: answers for addresses of this interface alone; 2: and to its own network alone; 3 is weaker again
            case "arp_ignore" -> effective == 1 || effective == 2;
            case "arp_announce" -> effective == 2; // never names an address of another interface as the sender's
            case "rp_filter" -> effective != 1; // 1: drops what comes in elsewhere than answers would go out
            default -> throw new IllegalArgumentException(name);
        };
    }

    /** Returns its value as a number; 0 if it has none. */
    static int number(String path) {
        String value = read(path);
        return value != null && value.matches("\\d{1,9}") ? Integer.parseInt(value) : 0;
    }

    /** Changes this setting and no other. */
    static void write(String path, String value) throws ClusterException {
        try {
            // The kernel sets accept_redirects along with ip_forward.
            String redirects = path.equals(FORWARDING) ? read(ALL_REDIRECTS) : null;
            Files.writeString(ROOT.resolve(path), value + "\n");
            if (redirects != null) {
                Files.writeString(ROOT.resolve(ALL_REDIRECTS), redirects + "\n");
            }
        } catch (IOException e) {
            throw new ClusterException(command(path, value) + ": " + Causes.text(e), e);
        }
    }

    /** Returns the name that people use; with slashes where an interface's name has a dot. */
    static String name(String path) {
        return path.contains(".") ? path : path.replace('/', '.');
    }

    static String command(String path, String value) {
        return "sysctl -w " + name(path) + "=" + value;
    }
}
