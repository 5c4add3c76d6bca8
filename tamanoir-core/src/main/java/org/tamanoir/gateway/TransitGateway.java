package org.tamanoir.gateway;

import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;
import org.tamanoir.service.FailurePolicy;
import org.tamanoir.transport.StreamCodec;
import org.tamanoir.transport.StreamGateway;

/**
 * Carries TCP connections of others, which are delivered here on their way, through a service and on to where they were
 * going: from their own address and port, to their own.
 *
 * @param octets their packets, and where they lead: of the socket that listens nowhere, of a connection where it was going
 * @param from the sender; null of the socket that listens
 * @param mark of what goes on
 * @param onFailure not DROP, which would leave holes
 */
public record TransitGateway(Gateway octets, @Nullable InetSocketAddress from, int mark, FailurePolicy onFailure)
        implements StreamGateway {
    /**
     * Makes what listens for the connections of a rule.
     *
     * @param address a loopback address, which nothing from outside reaches but what is delivered here
     */
    public static TransitGateway listening(
            InetSocketAddress address,
            long serviceKey,
            int classOfService,
            int typeId,
            int mark,
            boolean breaksOnFailure) {
        return new TransitGateway(
                new Gateway(address, address, new Octets(), serviceKey, classOfService, typeId),
                null,
                mark,
                breaksOnFailure ? FailurePolicy.CLOSE : FailurePolicy.PASS);
    }

    @Override
    public InetSocketAddress address() {
        return octets.address();
    }

    @Override
    public InetSocketAddress to() {
        return octets.to();
    }

    @Override
    public boolean isInTransit() {
        return true;
    }

    @Override
    public @Nullable StreamGateway of(InetSocketAddress sender, InetSocketAddress local) {
        if (local.getAddress().isLoopbackAddress()) {
            return null; // A program of this host has found the port by itself.
        }
        Gateway its = new Gateway(
                octets.address(),
                local,
                octets.format(),
                octets.serviceKey(),
                octets.classOfService(),
                octets.typeId());
        return new TransitGateway(its, sender, mark, onFailure);
    }

    @Override
    public StreamCodec codec(InetSocketAddress sender) {
        return octets.codec(sender);
    }

    @Override
    public StreamCodec farCodec() {
        return octets.farCodec();
    }
}
