package org.tamanoir.benchmarks;

import java.io.IOException;
import java.net.InetAddress;
import java.util.concurrent.atomic.AtomicLong;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.client.AnepSender;
import org.tamanoir.client.LoadBatch;

/** Sends one UDP flow whose headers are all the same as fast as the kernel takes it, asking the node for a selector. */
final class WireFlood {
    private static final int BATCH_BYTES = 64 * 1024;

    private WireFlood() {}

    static void run(Arguments arguments) throws Exception {
        AnepSender sender =
                AnepSender.to(Load.loopback(arguments.number("port"))).sapf();
        LoadBatch batch = new LoadBatch(header(), arguments.number("size"), BATCH_BYTES);
        AtomicLong sent = new AtomicLong();
        Threads.start("flood", () -> {
            while (true) {
                try {
                    sender.send(batch, batch.packets());
                    sent.lazySet(sender.sentPackets());
                } catch (IOException e) {
                    throw new IllegalStateException(e);
                }
            }
        });
        Control.serve("", words -> System.nanoTime() + " " + sent.get());
    }

    /** Returns a header with options for source, destination and service key. */
    static PacketBuilder header() throws IOException {
        return new PacketBuilder()
                .source(InetAddress.getByAddress(new byte[] {10, 0, 0, 1}))
                .destination(Load.loopback(1).getAddress())
                .service(Load.SERVICE);
    }
}
