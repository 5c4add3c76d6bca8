package org.tamanoir.gateway;

import java.net.InetSocketAddress;
import java.util.concurrent.atomic.LongAdder;
import org.tamanoir.transport.StreamCodec;
import org.tamanoir.transport.StreamGateway;

/**
 * A gateway that counts the octets of both its sides as they are on the wire: packets have a header more, which the gateway
 * makes.
 *
 * <p>Thread contract: any thread.
 */
public final class CountedGateway implements StreamGateway {
    private final Gateway gateway;
    private final LongAdder in = new LongAdder();
    private final LongAdder out = new LongAdder();

    public CountedGateway(Gateway gateway) {
        this.gateway = gateway;
    }

    /** Returns the gateway that is counted. */
    public Gateway gateway() {
        return gateway;
    }

    /** Returns the octets that came from both sides and became packets. */
    public long bytesIn() {
        return in.sum();
    }

    /** Returns the octets that packets became, to both sides. */
    public long bytesOut() {
        return out.sum();
    }

    @Override
    public InetSocketAddress address() {
        return gateway.address();
    }

    @Override
    public InetSocketAddress to() {
        return gateway.to();
    }

    @Override
    public StreamCodec codec(InetSocketAddress sender) {
        return gateway.codec(sender, in, out);
    }

    @Override
    public StreamCodec farCodec() {
        return gateway.farCodec(in, out);
    }
}
