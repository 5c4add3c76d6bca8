package org.tamanoir.benchmarks.levels;

import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.Callable;
import org.tamanoir.benchmarks.Control;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * Forwards ANEP packets over TCP the way that blocking streams suggest: read a header, read the rest, write both. It
 * shows what TCP_NODELAY and the number of writes do, which the node leaves no choice of.
 */
@Command(name = "level-relay", hidden = true, description = "Forwards packets over TCP by blocking streams.")
public final class Relay implements Callable<Integer> {
    private static final int HEADER_OCTETS = 8;
    private static final int BUFFER_OCTETS = 65_536;

    @Option(names = "--on", required = true)
    private String on = "";

    @Option(names = "--to", required = true)
    private String to = "";

    @Option(names = "--no-delay")
    private boolean noDelay;

    @Option(names = "--one-write")
    private boolean oneWrite;

    /** Made by picocli. */
    public Relay() {}

    @Override
    public Integer call() throws Exception {
        InetSocketAddress address = Source.address(on);
        try (ServerSocket listener = new ServerSocket(address.getPort(), 1, address.getAddress())) {
            Thread relay = new Thread(() -> accept(listener), "relay");
            relay.setDaemon(true);
            relay.start();
            Control.serve("", words -> "0");
        }
        return 0;
    }

    private void accept(ServerSocket listener) {
        while (true) {
            try (Socket in = listener.accept();
                    Socket out = new Socket()) {
                out.setTcpNoDelay(noDelay);
                out.connect(Source.address(to));
                forward(new DataInputStream(new BufferedInputStream(in.getInputStream(), BUFFER_OCTETS)), out);
            } catch (EOFException e) {
                // The stream has ended between two packets.
            } catch (IOException e) {
                System.err.println("relay: " + e.getMessage());
            }
        }
    }

    private void forward(DataInputStream in, Socket socket) throws IOException {
        OutputStream out = socket.getOutputStream();
        byte[] packet = new byte[BUFFER_OCTETS];
        while (true) {
            in.readFully(packet, 0, HEADER_OCTETS);
            int octets = (packet[6] & 0xFF) << 8 | packet[7] & 0xFF;
            in.readFully(packet, HEADER_OCTETS, octets - HEADER_OCTETS);
            if (oneWrite) {
                out.write(packet, 0, octets);
            } else {
                out.write(packet, 0, HEADER_OCTETS);
                out.write(packet, HEADER_OCTETS, octets - HEADER_OCTETS);
            }
        }
    }
}
