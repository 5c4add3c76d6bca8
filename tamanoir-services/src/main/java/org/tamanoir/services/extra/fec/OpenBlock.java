package org.tamanoir.services.extra.fec;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import org.tamanoir.services.extra.Deadlines;
import org.tamanoir.services.extra.Header;

/** The packets that repairs are made for together. Thread contract: one thread. */
final class OpenBlock extends Deadlines.Item<OpenBlock> {
    private final RepairSums sums = new RepairSums();
    private @Nullable FecFlow flow;
    private int number;
    private int data;
    private int repairs;
    private long lastSequence;
    private long lastOriginNs;

    /** Begins anew, in the memory that there is. */
    OpenBlock begin(FecFlow ofFlow, int ofNumber, int ofRepairs) {
        flow = ofFlow;
        number = ofNumber;
        repairs = ofRepairs;
        data = 0;
        sums.begin(repairs);
        return this;
    }

    /** Takes what is summed up of a packet. Returns its index in the block. */
    int add(byte[] symbol, int bytes, Header own) {
        lastSequence = own.sequence();
        lastOriginNs = own.originNs();
        sums.add(data, symbol, 0, bytes);
        return data++;
    }

    FecFlow flow() {
        if (flow == null) {
            throw new IllegalStateException("begin comes first");
        }
        return flow;
    }

    int number() {
        return number;
    }

    /** Returns how many data packets it has. */
    int data() {
        return data;
    }

    /** Returns how many repairs it will have. */
    int repairs() {
        return repairs;
    }

    long lastSequence() {
        return lastSequence;
    }

    long lastOriginNs() {
        return lastOriginNs;
    }

    /** Returns the octets of a repair. */
    int repairBytes() {
        return sums.length();
    }

    /** Returns the memory that is kept, in bytes. */
    long keptBytes() {
        return sums.keptBytes();
    }

    void writeRepair(int repair, ByteBuffer target) {
        sums.write(repair, target);
    }
}
