package org.tamanoir.kernel;

import java.nio.ByteBuffer;
import org.tamanoir.nodeos.Level;
import org.tamanoir.nodeos.LevelException;

/** A level whose program goes by tables that BPF programs share. */
abstract class BpfDriver implements LevelDriver {
    private final Level level;
    private final int abiLevel;

    /** @param abiLevel the level in {@code enum tmn_level} */
    BpfDriver(Level level, int abiLevel) {
        this.level = level;
        this.abiLevel = abiLevel;
    }

    /** Returns where hook, policies, states and counts are. */
    abstract BpfTables tables();

    @Override
    public final Level level() {
        return level;
    }

    @Override
    public final void locals(ByteBuffer addresses) throws LevelException {
        tables().locals(addresses);
    }

    @Override
    public final void set(ByteBuffer flow, ByteBuffer policy) throws LevelException {
        tables().set(flow, policy);
    }

    @Override
    public final void remove(ByteBuffer flow) throws LevelException {
        tables().remove(flow);
    }

    @Override
    public final void clear(int slot) throws LevelException {
        tables().clear(slot);
    }

    @Override
    public final ByteBuffer counters(int slot) throws LevelException {
        return tables().counters(slot);
    }

    @Override
    public final ByteBuffer state(int slot) {
        return tables().state(slot);
    }

    @Override
    public final void settled(int slot, long packets) {
        tables().settled(slot, packets);
    }

    @Override
    public final long[] met() throws LevelException {
        return tables().met(abiLevel);
    }
}
