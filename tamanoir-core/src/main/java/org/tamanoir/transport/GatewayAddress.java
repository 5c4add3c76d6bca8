package org.tamanoir.transport;

import java.net.InetSocketAddress;

/** Where a gateway leads: the far side there speaks as the gateway's senders do. */
public final class GatewayAddress extends InetSocketAddress {
    private static final long serialVersionUID = 1L;

    private final transient StreamGateway gateway;

    public GatewayAddress(StreamGateway gateway) {
        super(gateway.to().getAddress(), gateway.to().getPort());
        this.gateway = gateway;
    }

    StreamGateway gateway() {
        return gateway;
    }
}
