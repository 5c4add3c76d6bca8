package org.tamanoir.benchmarks.soak;

import org.tamanoir.anep.Packet;
import org.tamanoir.service.Service;
import org.tamanoir.service.Verdict;

/** The service that is deployed: needs no other class, and forwards. */
public final class Passing extends Service {
    /** Made by the node. */
    public Passing() {}

    @Override
    public Verdict process(Packet packet) {
        return Verdict.FORWARD;
    }
}
