package org.tamanoir.client;

import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Packet;
import org.tamanoir.auth.Authentication;
import org.tamanoir.auth.PacketGuard;

/**
 * Keeps packets from a handler that are not authenticated, and counts them.
 *
 * <p>Thread contract: that of the handler.
 */
final class AuthenticatedPackets implements PacketHandler {
    private final Authentication authentication;
    private final PacketHandler handler;
    private final ReceiverStatistics statistics;
    private @Nullable PacketGuard guard;

    AuthenticatedPackets(Authentication authentication, PacketHandler handler, ReceiverStatistics statistics) {
        this.authentication = authentication;
        this.handler = handler;
        this.statistics = statistics;
    }

    @Override
    public void packet(Packet packet, Peer peer) throws IOException {
        guard = authentication.guard(guard);
        DropReason refusal = guard == null ? null : guard.check(packet);
        if (refusal == null) {
            handler.packet(packet, peer);
        } else {
            statistics.countRefused(refusal);
        }
    }

    @Override
    public void batchEnd() throws IOException {
        handler.batchEnd();
    }

    @Override
    public void closed(@Nullable String fault) {
        handler.closed(fault);
    }
}
