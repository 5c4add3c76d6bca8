package org.tamanoir.transport;

import java.io.BufferedReader;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import org.tamanoir.routing.Addresses;

/** What to do where an address cannot be listened on, for TCP and UDP alike. Stateless; any thread. */
public final class BindFailure {
    private static final Path FIRST_FREE = Path.of("/proc/sys/net/ipv4/ip_unprivileged_port_start");
    private static final int USUAL_FIRST_FREE = 1024;

    private BindFailure() {}

    /**
     * Returns a line of what failed, why, and the remedy.
     *
     * @param what was tried, as in {@code cannot bind UDP}
     * @param reason as the host says it
     */
    public static String line(String what, InetSocketAddress address, String reason) {
        return what + " " + Addresses.text(address) + ": " + reason + remedy(address, reason);
    }

    private static String remedy(InetSocketAddress address, String reason) {
        String lower = reason.toLowerCase(Locale.ROOT);
        if (lower.contains("in use")) {
            return "; is the port taken? choose another, or 0 for a free one";
        }
        int firstFree = firstFree();
        if (lower.contains("permission denied") && address.getPort() > 0 && address.getPort() < firstFree) {
            return "; ports below " + firstFree + " are for root and programs with CAP_NET_BIND_SERVICE: choose one "
                    + "from " + firstFree + " on, or give that capability";
        }
        return lower.contains("cannot assign") ? "; it is no address of this host: 'ip address' lists those" : "";
    }

    private static int firstFree() {
        // At once: the kernel gives such a number from its beginning alone.
        try (BufferedReader number = Files.newBufferedReader(FIRST_FREE)) {
            return Integer.parseInt(String.valueOf(number.readLine()).strip());
        } catch (IOException | NumberFormatException e) {
            return USUAL_FIRST_FREE; // Of kernels before 4.11, and where it cannot be read.
        }
    }
}
