package org.tamanoir.support;

import java.io.IOException;
import java.net.BindException;
import java.net.DatagramSocket;
import java.net.ServerSocket;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Ports for what has to know its port before it listens, or that nobody listens on. They lie below those that Linux
 * gives to a socket that names none (32768 to 60999, {@code ip_local_port_range} of ip(7)): between the choice of such a
 * port and its use, any connection of any other process may have taken it. Each process of a test run has ports of its
 * own. Any thread.
 */
public final class Ports {
    private static final int FIRST = 11_000;
    private static final int PER_PROCESS = 1_000;
    private static final int PROCESSES = 10;

    /** Surefire numbers its processes from 1. */
    private static final int OFFSET = Integer.getInteger("surefire.forkNumber", 0) % PROCESSES * PER_PROCESS;

    private static final AtomicInteger TAKEN = new AtomicInteger();

    private Ports() {}

    /**
     * Returns a port that is free for TCP and UDP on all addresses, and was not returned before.
     *
     * @throws IOException if a socket cannot be opened
     * @throws IllegalStateException if this process has had all of its 1,000 ports
     */
    public static int free() throws IOException {
        while (true) {
            int taken = TAKEN.getAndIncrement();
            if (taken >= PER_PROCESS) {
                throw new IllegalStateException("a test process has " + PER_PROCESS + " ports, and all were taken");
            }
            int port = FIRST + OFFSET + taken;
            try (ServerSocket tcp = new ServerSocket(port);
                    DatagramSocket udp = new DatagramSocket(tcp.getLocalPort())) {
                return udp.getLocalPort();
            } catch (BindException e) {
                // Somebody else's: take the next.
            }
        }
    }

    /** Returns this many ports, each as of {@link #free()}. */
    public static int[] free(int count) throws IOException {
        int[] ports = new int[count];
        for (int i = 0; i < count; i++) {
            ports[i] = free();
        }
        return ports;
    }
}
