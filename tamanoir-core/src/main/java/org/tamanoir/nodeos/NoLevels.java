package org.tamanoir.nodeos;

import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BooleanSupplier;

/** A node that asks for no level below the Java virtual machine. */
final class NoLevels implements NodeOs {
    private static final String OFF =
            "off: name the network interfaces that packets come in through, in levels.interfaces";

    @Override
    public List<LevelStatus> levels() {
        List<LevelStatus> levels = new ArrayList<>();
        for (Level level : Level.values()) {
            boolean isThere = level == Level.JVM;
            levels.add(new LevelStatus(level, isThere, isThere ? "always there" : OFF, Map.of()));
        }
        return levels;
    }

    @Override
    public void attach(List<InetSocketAddress> udp, List<InetSocketAddress> tcp, int typeId) {
        // Nothing to look at packets with.
    }

    @Override
    public int upMark() {
        return 0;
    }

    @Override
    public void arrived(int slot, long packets) {
        // Nothing comes up.
    }

    @Override
    public void settled(int slot, long packets) {
        // Nothing comes up.
    }

    @Override
    public boolean isAwaited(int slot) {
        return false;
    }

    @Override
    public void awaitLeft() {
        // Nothing was sent.
    }

    @Override
    public void awaitPassed() {
        // Nothing passes.
    }

    @Override
    public void lost(long packets) {
        // Nothing comes up.
    }

    @Override
    public Offload offload(List<Long> serviceKeys, Flow flow, Policy policy, Set<Level> levels, boolean isOrdered)
            throws LevelException {
        throw new LevelException("no level below the JVM: " + OFF);
    }

    @Override
    public void move(Offload offload, Policy policy, Set<Level> levels, boolean isOrdered) {
        // There is no policy.
    }

    @Override
    public void follow(Offload offload, List<Long> serviceKeys) {
        // There is no policy.
    }

    @Override
    public BooleanSupplier awaitRead() {
        return () -> true;
    }

    @Override
    public void caughtUp(Offload offload) {
        // There is no policy.
    }

    @Override
    public boolean passesUnknown() {
        return false;
    }

    @Override
    public List<Offload> offloads() {
        return List.of();
    }

    @Override
    public void release() {
        // Nothing comes up.
    }

    @Override
    public void close() {
        // Nothing was put anywhere.
    }
}
