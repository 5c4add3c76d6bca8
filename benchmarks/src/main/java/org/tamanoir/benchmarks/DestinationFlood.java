package org.tamanoir.benchmarks;

import com.sun.jna.LastErrorException;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicLong;
import org.tamanoir.anep.PacketBuilder;

/**
 * Sends one UDP flow of single datagrams as fast as the kernel takes it, whose packets are for the destinations of a
 * file in turn: to a port of 127.0.0.1, or without one to the destinations themselves. The payload begins with the
 * number of the next hop that the file names.
 */
final class DestinationFlood {
    private static final int BATCH = 64;
    /** Where nobody listens. */
    private static final int NOBODY = 9;

    private DestinationFlood() {}

    static void run(Arguments arguments) throws Exception {
        int size = arguments.number("size");
        boolean isIpv4 = arguments.flag("ipv4");
        int destinations = arguments.number("destinations");
        ByteBuffer file = read(Path.of(arguments.text("file")), destinations);
        InetAddress mark = InetAddress.getByName(isIpv4 ? "1.2.3.4" : "102:304:506:708:90a:b0c:d0e:f10");
        PacketBuilder header = Load.header(mark, 1);
        ByteBuffer payload = Load.payload(header, size);
        ByteBuffer batch = ByteBuffer.allocateDirect(BATCH * size);
        for (int i = 0; i < BATCH; i++) {
            header.write(batch, payload);
        }
        batch.flip();
        int address = indexOf(batch, mark.getAddress());
        int number = header.headerLength();
        int port = Integer.parseInt(arguments.text("port", "0"));
        int socket = port == 0 ? UdpCalls.openSender(isIpv4) : UdpCalls.openSender(Load.loopback(port));
        ByteBuffer messages = UdpCalls.messages(batch, size);
        ByteBuffer names = port == 0 ? UdpCalls.names(messages, isIpv4, NOBODY) : null;
        AtomicLong sent = new AtomicLong();
        Threads.start("flood", () -> {
            int next = 0;
            while (true) {
                for (int i = 0; i < BATCH; i++) {
                    int record = next * DestinationTable.RECORD_BYTES;
                    put(file, record, batch, i * size + address, isIpv4);
                    batch.putInt(i * size + number, file.getInt(record + 2 * Long.BYTES));
                    if (names != null) {
                        put(file, record, names, UdpCalls.nameAt(i, isIpv4), isIpv4);
                    }
                    next = next + 1 == destinations ? 0 : next + 1;
                }
                try {
                    sent.lazySet(sent.get() + UdpCalls.sendEach(socket, messages));
                } catch (LastErrorException e) {
                    // The refusal of earlier datagrams (ECONNREFUSED) or a full queue: those count as not sent.
                    Thread.onSpinWait();
                }
            }
        });
        Control.serve("", words -> System.nanoTime() + " " + sent.get());
    }

    private static void put(ByteBuffer file, int record, ByteBuffer into, int at, boolean isIpv4) {
        if (isIpv4) {
            into.putInt(at, file.getInt(record + Long.BYTES + Integer.BYTES));
        } else {
            into.putLong(at, file.getLong(record)).putLong(at + Long.BYTES, file.getLong(record + Long.BYTES));
        }
    }

    private static ByteBuffer read(Path file, int destinations) throws IOException {
        try (FileChannel channel = FileChannel.open(file)) {
            return channel.map(FileChannel.MapMode.READ_ONLY, 0, (long) destinations * DestinationTable.RECORD_BYTES);
        }
    }

    private static int indexOf(ByteBuffer packets, byte[] bytes) {
        int at = 0;
        while (!packets.slice(at, bytes.length).equals(ByteBuffer.wrap(bytes))) {
            at++;
        }
        return at;
    }
}
