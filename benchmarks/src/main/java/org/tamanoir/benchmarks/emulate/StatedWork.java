package org.tamanoir.benchmarks.emulate;

import java.nio.ByteBuffer;
import org.tamanoir.anep.Packet;
import org.tamanoir.service.Service;
import org.tamanoir.service.Verdict;

/** Marks each packet and costs what is stated for it. */
final class StatedWork extends Service {
    static final int MARK = 1;

    /** Spends what a packet costs. The service's thread. */
    interface Costs {
        /**
         * Spends it.
         *
         * @param cameNs when the packet came
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
        costs.spend(bytes.getLong(at), bytes.getInt(at + 8));
        return Verdict.FORWARD;
    }
}
