package org.tamanoir.ee;

import java.util.concurrent.CopyOnWriteArrayList;
import org.tamanoir.transport.UdpSocket;

/**
 * The sockets that packets in one service's queues came through: there they stand as an index beside the sender's port.
 *
 * <p>Thread contract: any thread.
 */
final class ArrivalSockets {
    private final CopyOnWriteArrayList<UdpSocket> sockets = new CopyOnWriteArrayList<>();

    /** What stands for port and socket in a queue. */
    int portAndSocket(Arrival arrival) {
        UdpSocket through = arrival.socket();
        int index = sockets.indexOf(through);
        if (index < 0) {
            sockets.addIfAbsent(through);
            index = sockets.indexOf(through);
        }
        return index << 16 | arrival.port();
    }

    UdpSocket socket(int portAndSocket) {
        return sockets.get(portAndSocket >>> 16);
    }

    static int port(int portAndSocket) {
        return portAndSocket & 0xFFFF;
    }
}
