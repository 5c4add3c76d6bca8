package org.tamanoir.benchmarks.emulate;

import java.nio.ByteBuffer;
import org.tamanoir.anep.Packet;
import org.tamanoir.service.Service;
import org.tamanoir.service.Verdict;

/** Marks each packet and costs what is stated for it. */
final class StatedWork extends Service {
    static final int MARK = 1;
    /** Of {@link PacketWriter}'s payload. */
    private static final int STATED_BYTES = 12;

    /** Spends what a packet costs. The service's thread. */
    interface Costs {
        /**
         * Spends it.
         *
         * @param cameNs when the packet came, −1 for one too short to tell
         * @param service by its place
         */
        void spend(long cameNs, int service);
    }

    private final Costs costs;

    StatedWork(Costs costs) {
        this.costs = costs;
    }

    @Override
    public Verdict process(Packet packet) {
        packet.setClassOfService(MARK);
        ByteBuffer bytes = packet.look();
        int at = bytes.position() + packet.headerLength();
        if (packet.length() - packet.headerLength() >= STATED_BYTES) {
            costs.spend(bytes.getLong(at), bytes.getInt(at + 8));
        } else {
            costs.spend(-1, 0);
        }
        return Verdict.FORWARD;
    }
}
