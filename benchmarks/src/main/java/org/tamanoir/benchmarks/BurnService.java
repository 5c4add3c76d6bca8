package org.tamanoir.benchmarks;

import org.tamanoir.anep.Packet;
import org.tamanoir.service.Service;
import org.tamanoir.service.ServiceConfig;
import org.tamanoir.service.Verdict;

/** Computes on each packet for a time, {@code us}; for ever, until it is interrupted, where that is 0. */
public final class BurnService extends Service {
    private long ns;

    @Override
    public void init(ServiceConfig config) {
        ns = config.number("us", 0, 0, 1_000_000) * 1000;
    }

    @Override
    public Verdict process(Packet packet) {
        long endNs = System.nanoTime() + ns;
        while (ns == 0 ? !Thread.currentThread().isInterrupted() : System.nanoTime() < endNs) {
            Thread.onSpinWait();
        }
        return Verdict.FORWARD;
    }
}
