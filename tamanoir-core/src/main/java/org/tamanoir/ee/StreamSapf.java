package org.tamanoir.ee;

import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;
import org.tamanoir.sapf.Sapf;
import org.tamanoir.transport.Buffer;
import org.tamanoir.transport.StreamCodec;
import org.tamanoir.transport.TcpConnection;

/**
 * SAPF over TCP, where the node does that: which connections carry it.
 *
 * <p>Thread contract: any thread.
 */
final class StreamSapf {
    private volatile @Nullable Sapf sapf;

    /** Has connections carry SAPF from now on. */
    void begin(Sapf made) {
        sapf = made;
    }

    /** Returns the codec of a connection that begins now to this next hop; null = none, it carries ANEP. */
    @Nullable
    StreamCodec to(InetSocketAddress nextHop) {
        Sapf known = sapf;
        // Others than plain addresses are those of QUIC and of gateways.
        return known == null || nextHop.getClass() != InetSocketAddress.class ? null : known.streamTo(nextHop);
    }

    /**
     * Has a connection be translated whose sender begins in SAPF.
     *
     * @return whether it does, so that its packets come by and by
     */
    boolean takes(TcpConnection connection) {
        Sapf known = sapf;
        Buffer input = connection.input();
        if (known == null || input == null) {
            return false;
        }
        StreamCodec codec =
                known.streamFrom(connection.remoteAddress(), input.nio(), connection.start(), connection.end());
        return codec != null && connection.translate(codec);
    }
}
