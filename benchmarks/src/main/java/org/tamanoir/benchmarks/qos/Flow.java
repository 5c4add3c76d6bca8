package org.tamanoir.benchmarks.qos;

import java.nio.ByteBuffer;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.benchmarks.Load;

/**
 * Packets of one class that ask for one service.
 *
 * @param name as the plots show it
 * @param classOfService the value that its packets carry
 * @param work the service
 * @param packetBytes of each packet
 * @param udp over UDP, else over TCP
 * @param bytesPerSecond that are offered; 0 = as fast as they are taken
 * @param startS when it starts, in seconds, or as a part of the run: see {@link Bed#run}
 */
record Flow(
        String name, int classOfService, Work work, int packetBytes, boolean udp, long bytesPerSecond, double startS) {
    private static final int HOP_BUDGET = 16;

    PacketBuilder header(int stream) {
        return new PacketBuilder()
                        .destination(Load.loopback(0).getAddress())
                        .service(work.service())
                        .classOfService(classOfService, 0)
                        .stream(stream)
                        .hopBudget(HOP_BUDGET);
    }

    ByteBuffer payload(PacketBuilder header) {
        return Load.payload(header, packetBytes);
    }
}
