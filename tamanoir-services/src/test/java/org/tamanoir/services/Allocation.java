package org.tamanoir.services;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.service.Service;
import org.tamanoir.service.StreamInfo.Transport;
import org.tamanoir.testkit.ServiceHarness;

/** Counts the bytes that a service allocates on its own thread. */
final class Allocation {
    private static final int PACKETS = 100_000;
    private static final int BATCH = 256;

    private Allocation() {}

    /** Bytes a packet over 100,000 packets of one stream, after as many to warm up. */
    static double perPacket(Service service, Map<String, String> config, PacketBuilder builder) {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        int packetBytes = builder.headerLength() + 100;
        ByteBuffer batch = ByteBuffer.allocateDirect(BATCH * packetBytes);
        ByteBuffer payload = ByteBuffer.wrap(Packets.text(new java.util.Random(1), 100));
        for (int i = 0; i < BATCH; i++) {
            builder.write(batch, payload);
        }
        AtomicLong allocated = new AtomicLong(-1);
        ServiceHarness host = ServiceHarness.start(service, Transport.TCP, config);
        host.onServiceThread(() -> {
            pass(service, batch, packetBytes);
            long before = threads.getThreadAllocatedBytes(Thread.currentThread().getId());
            pass(service, batch, packetBytes);
            allocated.set(threads.getThreadAllocatedBytes(Thread.currentThread().getId()) - before);
        });
        host.endOfStream().close();
        assertThat(allocated.get()).isNotNegative();
        return (double) allocated.get() / PACKETS;
    }

    private static void pass(Service service, ByteBuffer batch, int packetBytes) {
        Packet view = new Packet();
        try {
            for (int i = 0; i < PACKETS; i++) {
                view.parse(batch, i % BATCH * packetBytes, packetBytes);
                service.process(view);
            }
        } catch (Exception e) {
            throw new AssertionError("thrown by the service", e);
        }
    }
}
