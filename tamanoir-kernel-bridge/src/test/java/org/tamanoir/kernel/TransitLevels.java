package org.tamanoir.kernel;

import java.net.InetSocketAddress;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import org.tamanoir.nodeos.Flow;
import org.tamanoir.nodeos.Level;
import org.tamanoir.nodeos.LevelException;
import org.tamanoir.nodeos.LevelStatus;
import org.tamanoir.nodeos.NodeOs;
import org.tamanoir.nodeos.Offload;
import org.tamanoir.nodeos.Policy;

/** Notes what a node tells its levels, whose work rules of nftables do. */
final class TransitLevels implements NodeOs {
    static final int MARK = 0x5400_0000;

    final AtomicIntegerArray settled = new AtomicIntegerArray(SLOT_MASK + 1);
    final AtomicIntegerArray arrived = new AtomicIntegerArray(SLOT_MASK + 1);
    final AtomicInteger calls = new AtomicInteger();
    final AtomicLong lost = new AtomicLong();
    volatile List<InetSocketAddress> udp = List.of();
    volatile List<InetSocketAddress> tcp = List.of();
    volatile boolean closed;
    private final String refusal;

    /** @param refusal why they cannot be attached; empty when they can */
    TransitLevels(String refusal) {
        this.refusal = refusal;
    }

    @Override
    public List<LevelStatus> levels() {
        return List.of();
    }

    @Override
    public void attach(List<InetSocketAddress> udpPorts, List<InetSocketAddress> tcpPorts, int typeId)
            throws LevelException {
        if (!refusal.isEmpty()) {
            throw new LevelException(refusal);
        }
        udp = udpPorts;
        tcp = tcpPorts;
    }

    @Override
    public int upMark() {
        return udp.isEmpty() ? 0 : MARK;
    }

    @Override
    public void arrived(int slot, long packets) {
        arrived.addAndGet(slot, (int) packets);
    }

    @Override
    public boolean isAwaited(int slot) {
        return false;
    }

    @Override
    public void awaitLeft() {
        // Nothing was sent by them.
    }

    @Override
    public void awaitPassed() {
        // Nothing passes by them.
    }

    @Override
    public void move(Offload offload, Policy policy, Set<Level> levels, boolean isOrdered) {
        throw new IllegalStateException("rules of nftables have no policies");
    }

    @Override
    public void follow(Offload offload, List<Long> keys) {
        throw new IllegalStateException("rules of nftables have no policies");
    }

    @Override
    public BooleanSupplier awaitRead() {
        return () -> true;
    }

    @Override
    public void caughtUp(Offload offload) {
        throw new IllegalStateException("rules of nftables have no policies");
    }

    @Override
    public boolean passesUnknown() {
        return false;
    }

    @Override
    public void settled(int slot, long packets) {
        settled.addAndGet(slot, (int) packets);
        calls.incrementAndGet();
    }

    @Override
    public void lost(long packets) {
        lost.addAndGet(packets);
    }

    @Override
    public Offload offload(List<Long> keys, Flow flow, Policy policy, Set<Level> levels, boolean isOrdered)
            throws LevelException {
        throw new LevelException("rules of nftables have no policies");
    }

    @Override
    public List<Offload> offloads() {
        return List.of();
    }

    @Override
    public void release() {
        // What it has taken up comes on.
    }

    @Override
    public void close() {
        closed = true;
    }
}
