package org.tamanoir.client;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.Packet;
import org.tamanoir.routing.Addresses;

/** A handler that keeps what it was given. Thread contract: any thread. */
final class Collected implements PacketHandler {
    private final List<Packet> packets = new ArrayList<>();
    private final List<String> peers = new ArrayList<>();
    private final List<String> ends = new ArrayList<>();
    private final boolean answers;

    Collected(boolean answers) {
        this.answers = answers;
    }

    @Override
    public void packet(Packet packet, Peer peer) throws java.io.IOException {
        synchronized (this) {
            packets.add(packet.copy());
            peers.add((peer.isUdp() ? "UDP " : "TCP ") + Addresses.text(peer.address()));
        }
        if (answers) {
            peer.reply(packet);
        }
    }

    @Override
    public synchronized void closed(@Nullable String fault) {
        ends.add(fault == null ? "end" : fault);
    }

    synchronized List<Packet> packets() {
        return List.copyOf(packets);
    }

    synchronized List<String> peers() {
        return List.copyOf(peers);
    }

    synchronized List<String> ends() {
        return List.copyOf(ends);
    }
}
