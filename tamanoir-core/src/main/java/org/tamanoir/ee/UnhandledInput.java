package org.tamanoir.ee;

import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Framing;
import org.tamanoir.anep.ServiceKey;
import org.tamanoir.traffic.Traffic;
import org.tamanoir.transport.Buffer;
import org.tamanoir.transport.TcpConnection;

/** What came over a connection and was not handled. */
final class UnhandledInput {
    private UnhandledInput() {}

    /** Counts packets that came and cannot go on, and part of one. The connection's thread. */
    static void drop(TcpConnection connection, Traffic traffic, DropReason reason, int typeId) {
        dropWhole(connection, traffic, reason, typeId);
        dropRest(connection, traffic);
    }

    private static void dropRest(TcpConnection connection, Traffic traffic) {
        int left = connection.end() - connection.start();
        if (left > 0) {
            traffic.in(left);
            traffic.drop(DropReason.TRUNCATED, connection.remoteAddress(), ServiceKey.NONE, left);
            connection.consumed(connection.end());
        }
    }

    /** Counts whole packets that came and cannot go on, and all that is behind if no packet begins there. The connection's thread. */
    static void dropWhole(TcpConnection connection, Traffic traffic, DropReason reason, int typeId) {
        Buffer input = connection.input();
        if (input == null) {
            return;
        }
        int at = connection.start();
        int length;
        while ((length = Framing.next(input.nio(), at, connection.end())) > 0) {
            traffic.in(length);
            long key = Framing.serviceKey(input.nio(), at, typeId);
            traffic.drop(reason, connection.remoteAddress(), key, length);
            at += length;
        }
        connection.consumed(at);
        if (length == Framing.BROKEN) {
            dropRest(connection, traffic);
        }
    }
}
