package org.tamanoir.benchmarks.morph;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.Framing;
import org.tamanoir.anep.Packet;
import org.tamanoir.benchmarks.Arguments;
import org.tamanoir.benchmarks.Control;
import org.tamanoir.benchmarks.Load;
import org.tamanoir.format.Accessor;
import org.tamanoir.format.Format;
import org.tamanoir.format.RecordView;

/**
 * Receives flights over TCP and reads some fields of each: a process of its own. Where nobody has made them what it wants,
 * it does that itself, by the same plan as a node. It answers all questions with the time and the flights that it has read.
 */
public final class MessageReceiver {
    private static final int BUFFER_BYTES = 1 << 18;

    private final AtomicLong taken = new AtomicLong();

    private MessageReceiver() {}

    /** Runs the process: {@code plan=} is a file, or {@code none}. */
    public static void run(Arguments arguments) throws Exception {
        MessageReceiver receiver = new MessageReceiver();
        String plan = arguments.text("plan");
        try (ServerSocketChannel server = ServerSocketChannel.open().bind(Load.loopback(0))) {
            Load.accept(server, channel -> receiver.read(channel, plan));
            Control.serve(server.socket().getLocalPort(), words -> System.nanoTime() + " " + receiver.taken.get());
        }
    }

    private void read(SocketChannel channel, String plan) {
        ByteBuffer buffer = ByteBuffer.allocateDirect(BUFFER_BYTES);
        Packet packet = new Packet();
        try (channel;
                Reading reading = new Reading(plan)) {
            while (channel.read(buffer) >= 0) {
                buffer.flip();
                int at = 0;
                int length;
                while ((length = Framing.next(buffer, at, buffer.limit())) > 0) {
                    if (packet.parse(buffer, at, length) == null) {
                        reading.take(packet.payload());
                    }
                    at += length;
                }
                taken.lazySet(reading.taken);
                buffer.position(at).compact();
            }
        } catch (IOException e) {
            System.err.println("a stream ends: " + e);
        }
    }

    /** What becomes of one stream's flights. */
    private static final class Reading implements AutoCloseable {
        private final RecordView view = new RecordView();
        /** The plan's own object for it, where there is a plan. */
        private Format format = Flights.FLIGHT;

        private Accessor id = format.accessor("id");
        private Accessor delay = format.accessor("delay");
        private Accessor fuel = format.accessor("fuel_lb");
        private final @Nullable PlanRun run;
        private double sum;
        private long taken;

        Reading(String plan) throws IOException {
            run = plan.equals("none") ? null : new PlanRun(Path.of(plan), this::use);
        }

        void take(ByteBuffer record) {
            taken++;
            if (run == null) {
                use(view.wrap(Flights.FLIGHT, record, record.position(), record.remaining()));
            } else {
                run.handle(Flights.FOREIGN, record, record.position(), record.remaining());
            }
        }

        private void use(RecordView flight) {
            if (flight.format() != format) {
                format = flight.format();
                id = format.accessor("id");
                delay = format.accessor("delay");
                fuel = format.accessor("fuel_lb");
            }
            sum += id.getLong(flight) + delay.getLong(flight) + fuel.getDouble(flight);
        }

        @Override
        public void close() {
            if (run != null) {
                run.close();
            }
            System.err.println(taken + " flights, sum " + sum);
        }
    }
}
