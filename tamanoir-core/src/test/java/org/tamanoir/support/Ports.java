package org.tamanoir.support;

import java.io.IOException;
import java.net.BindException;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.ServerSocket;

/**
 * Ports for what has to know its port before it listens, or that nobody listens on. They lie below those that Linux
 * gives to a socket that names none (32768 to 60999, {@code ip_local_port_range} of ip(7)): between the choice of such a
 * port and its use, any connection of any other process may have taken it. Each process of a test run has ports of its
 * own. Any thread.
 */
public final class Ports {
    private static final int FIRST = 11_000;
    private static final int EACH = 100;
    private static final int PROCESSES = 100;

    /** Listens on the port before this process's own while it lives, so that no other process takes these. */
    private static final ServerSocket OWNER = own();

    private static int next;

    private Ports() {}

    private static ServerSocket own() {
        for (int i = 0; i < PROCESSES; i++) {
            try {
                return new ServerSocket(FIRST + i * EACH, 1, InetAddress.getLoopbackAddress());
            } catch (IOException e) {
                // Another process's: take the next.
            }
        }
        throw new IllegalStateException("each of " + PROCESSES + " ranges of ports from " + FIRST
                + " is some test process's; end those that hang");
    }

    /**
     * Returns a port that is free for TCP and UDP on all addresses; the same again when some 90 others were returned.
     *
     * @throws IOException if a socket cannot be opened, or none of this process's ports is free
     */
    public static synchronized int free() throws IOException {
        for (int tries = 1; tries < EACH; tries++) {
            next = next % (EACH - 1) + 1;
            try (ServerSocket tcp = new ServerSocket(OWNER.getLocalPort() + next);
                    DatagramSocket udp = new DatagramSocket(tcp.getLocalPort())) {
                return udp.getLocalPort();
            } catch (BindException e) {
                // In use: take the next.
            }
        }
        throw new IOException("none of the " + EACH + " ports from " + OWNER.getLocalPort() + " is free");
    }

    /** Returns this many ports, 99 at most, each as of {@link #free()}. */
    public static int[] free(int count) throws IOException {
        if (count >= EACH) {
            throw new IllegalArgumentException(count + " ports: a process has " + (EACH - 1));
        }
        int[] ports = new int[count];
        for (int i = 0; i < count; i++) {
            ports[i] = free();
        }
        return ports;
    }
}
