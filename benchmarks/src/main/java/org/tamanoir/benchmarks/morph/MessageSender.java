package org.tamanoir.benchmarks.morph;

import com.google.protobuf.CodedOutputStream;
import com.sun.jna.LastErrorException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.tamanoir.anep.Option;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.benchmarks.Arguments;
import org.tamanoir.benchmarks.Control;
import org.tamanoir.benchmarks.Load;
import org.tamanoir.benchmarks.Threads;
import org.tamanoir.benchmarks.UdpCalls;
import org.tamanoir.format.Format;
import org.tamanoir.format.RecordEncoder;
import tools.jackson.dataformat.cbor.CBORMapper;

/**
 * Sends messages, one in each packet, as fast as they are taken or at a rate, to one of several services in turns: a
 * process of its own. It answers {@code to N} by going over to the N-th service (0 is the first; -1 none), and
 * all questions with the time, the packets that were sent and their mean length.
 */
public final class MessageSender {
    /** Whom packets ask for; a number follows where there are several. */
    static final String SERVICE = "org.tamanoir.services.Morph";

    private static final int HOP_BUDGET = 16;
    private static final int UDP_PACKETS = 64;
    private static final int MAX_PACKET_BYTES = 2048;
    private static final double REST_S = 0.001;

    private final boolean udp;
    private final int rate;
    private final int port;
    private final AtomicLong sent = new AtomicLong();
    private volatile int target;
    /** The mean of all packets. */
    private volatile long packetBytes = 1;

    private MessageSender(Arguments arguments) {
        udp = arguments.flag("udp");
        rate = arguments.number("rate");
        port = arguments.number("port");
    }

    /** Runs the process: {@code port=, udp=, services=, kind=, records=, rate=} (0: as fast as they are taken). */
    public static void run(Arguments arguments) throws Exception {
        MessageSender sender = new MessageSender(arguments);
        List<byte[]> payloads = payloads(arguments.text("kind"), arguments.number("records"));
        Format format = format(arguments.text("kind"));
        int services = arguments.number("services");
        Threads.start("the node ended the stream", () -> sender.send(services, format, payloads));
        Control.serve("", words -> {
            if (words[0].equals("to")) {
                sender.target = Integer.parseInt(words[1]);
            }
            return System.nanoTime() + " " + sender.sent.get() + " " + sender.packetBytes;
        });
    }

    /** Returns the name of one of several services. */
    static String service(int number) {
        return SERVICE + number;
    }

    private static Format format(String kind) {
        return switch (kind) {
            case "flight" -> Flights.FLIGHT;
            case "foreign" -> Flights.FOREIGN;
            default -> Flights.FLAT;
        };
    }

    static List<byte[]> payloads(String kind, int count) throws IOException {
        if (kind.equals("flight") || kind.equals("foreign")) {
            return new Flights(1).records(format(kind), count);
        }
        List<byte[]> payloads = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            payloads.add(
                    switch (kind) {
                        case "flat" -> new RecordEncoder(Flights.FLAT).encode(Flights.flatValues(i));
                        case "cbor" -> new CBORMapper().writeValueAsBytes(Flights.flatValues(i));
                        case "protobuf" -> protobuf(i);
                        default -> throw new IllegalArgumentException("kind=" + kind + ": none of this name");
                    });
        }
        return payloads;
    }

    private static byte[] protobuf(int id) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        CodedOutputStream out = CodedOutputStream.newInstance(bytes);
        for (int i = 0; i < Flights.NUMBERS; i++) {
            out.writeInt64(i + 1, 100 + i);
        }
        out.writeString(Flights.NUMBERS + 1, id % 2 == 0 ? "ATL" : "DFW");
        out.writeDouble(Flights.NUMBERS + 2, 12.5);
        out.flush();
        return bytes.toByteArray();
    }

    private void send(int services, Format format, List<byte[]> payloads) throws IOException {
        List<PacketBuilder> headers = new ArrayList<>();
        for (int i = 0; i < services; i++) {
            headers.add(new PacketBuilder()
                    .destination(InetAddress.getByAddress(new byte[] {127, 0, 0, 1}))
                    .service(service(i))
                    .hopBudget(HOP_BUDGET)
                    .option(Option.FORMAT.wireType(), format.id().toBytes()));
        }
        if (udp) {
            flood(headers, payloads.get(0));
        } else {
            stream(headers, payloads);
        }
    }

    private void flood(List<PacketBuilder> headers, byte[] payload) {
        int socket = UdpCalls.openSender(Load.loopback(port));
        List<ByteBuffer> batches = new ArrayList<>(); // They have to outlive the vectors.
        List<ByteBuffer> vectors = new ArrayList<>();
        for (PacketBuilder header : headers) {
            ByteBuffer batch = ByteBuffer.allocateDirect(UDP_PACKETS * MAX_PACKET_BYTES);
            for (int i = 0; i < UDP_PACKETS; i++) {
                header.write(batch, ByteBuffer.wrap(payload));
            }
            batches.add(batch.flip());
            packetBytes = batch.limit() / UDP_PACKETS;
            vectors.add(UdpCalls.messages(batch, batch.limit() / UDP_PACKETS));
        }
        while (true) {
            int to = target;
            if (to < 0) {
                Threads.pause(REST_S);
                continue;
            }
            try {
                sent.lazySet(sent.get() + UdpCalls.sendEach(socket, vectors.get(to)));
            } catch (LastErrorException e) {
                Thread.onSpinWait(); // The refusal of earlier datagrams, or a full queue: those count as not sent.
            }
        }
    }

    private void stream(List<PacketBuilder> headers, List<byte[]> payloads) throws IOException {
        List<SocketChannel> channels = new ArrayList<>();
        List<ByteBuffer> batches = new ArrayList<>();
        for (PacketBuilder header : headers) {
            channels.add(Load.connect(Load.loopback(port)));
            batches.add(batch(header, payloads));
            packetBytes = batches.get(0).limit() / payloads.size();
        }
        if (rate > 0) {
            headers.forEach(PacketBuilder::timestamps);
            paced(headers, payloads, channels);
        }
        while (true) {
            int to = target;
            if (to < 0) {
                Threads.pause(REST_S);
                continue;
            }
            Load.write(channels.get(to), batches.get(to).rewind());
            sent.lazySet(sent.get() + payloads.size());
        }
    }

    private static ByteBuffer batch(PacketBuilder header, List<byte[]> payloads) {
        ByteBuffer batch = ByteBuffer.allocateDirect(payloads.size() * MAX_PACKET_BYTES);
        payloads.forEach(payload -> header.write(batch, ByteBuffer.wrap(payload)));
        return batch.flip();
    }

    private void paced(List<PacketBuilder> headers, List<byte[]> payloads, List<SocketChannel> channels)
            throws IOException {
        ByteBuffer packet = ByteBuffer.allocateDirect(MAX_PACKET_BYTES);
        long dueNs = System.nanoTime();
        for (int i = 0; ; i = (i + 1) % payloads.size()) {
            Threads.until(dueNs += 1_000_000_000L / rate);
            int to = target;
            if (to >= 0) {
                headers.get(to).write(packet.clear(), ByteBuffer.wrap(payloads.get(i)));
                Load.write(channels.get(to), packet.flip());
                sent.lazySet(sent.get() + 1);
            }
        }
    }
}
