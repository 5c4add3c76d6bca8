package org.tamanoir.benchmarks.levels;

import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import org.tamanoir.benchmarks.Arguments;
import org.tamanoir.benchmarks.Control;
import org.tamanoir.benchmarks.Threads;

/**
 * Forwards ANEP packets over TCP the way that blocking streams suggest: read a header, read the rest, write both. It
 * shows what TCP_NODELAY and the number of writes do, which the node leaves no choice of.
 */
public final class Relay {
    private static final int HEADER_BYTES = 8;
    private static final int BUFFER_BYTES = 65_536;

    private Relay() {}

    /** Runs until nobody asks any more. */
    public static void run(Arguments arguments) throws Exception {
        InetSocketAddress address = arguments.address("on");
        try (ServerSocket listener = new ServerSocket(address.getPort(), 1, address.getAddress())) {
            Threads.start("relay", () -> {
                while (true) {
                    relay(listener, arguments);
                }
            });
            Control.serve("", words -> "0");
        }
    }

    private static void relay(ServerSocket listener, Arguments arguments) {
        try (Socket in = listener.accept();
                Socket out = new Socket()) {
            out.setTcpNoDelay(arguments.flag("no-delay"));
            out.connect(arguments.address("to"));
            DataInputStream packets = new DataInputStream(new BufferedInputStream(in.getInputStream(), BUFFER_BYTES));
            forward(packets, out.getOutputStream(), arguments.flag("one-write"));
        } catch (EOFException e) {
            // The stream has ended between two packets.
        } catch (IOException e) {
            System.err.println("relay: " + e.getMessage());
        }
    }

    private static void forward(DataInputStream in, OutputStream out, boolean oneWrite) throws IOException {
        byte[] packet = new byte[BUFFER_BYTES];
        while (true) {
            in.readFully(packet, 0, HEADER_BYTES);
            int bytes = (packet[6] & 0xFF) << 8 | packet[7] & 0xFF;
            in.readFully(packet, HEADER_BYTES, bytes - HEADER_BYTES);
            if (oneWrite) {
                out.write(packet, 0, bytes);
            } else {
                out.write(packet, 0, HEADER_BYTES);
                out.write(packet, HEADER_BYTES, bytes - HEADER_BYTES);
            }
        }
    }
}
