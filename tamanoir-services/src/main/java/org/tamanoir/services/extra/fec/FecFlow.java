package org.tamanoir.services.extra.fec;

import java.nio.ByteBuffer;
import java.util.zip.CRC32C;
import org.tamanoir.services.extra.FlowTable;
import org.tamanoir.services.extra.Header;

/** The block that a flow is in, on the side that makes repairs. Thread contract: one thread. */
final class FecFlow implements FlowTable.Flow {
    private final Header header;
    private final long session;
    private final RepairNeed need;
    private final int maxData;
    private final RepairSums sums = new RepairSums();
    private final CRC32C crc = new CRC32C();
    private ByteBuffer symbol = ByteBuffer.allocate(2048);
    private int block;
    private int data;
    private int repairs;
    private long beganNs;
    private long lastSequence;
    private long lastOriginNs;

    FecFlow(Header header, long session, int maxData, RepairNeed need) {
        this.header = header;
        this.session = session;
        this.maxData = maxData;
        this.need = need;
    }

    @Override
    public Header header() {
        return header;
    }

    long session() {
        return session;
    }

    RepairNeed need() {
        return need;
    }

    int block() {
        return block;
    }

    /** Returns how many data packets the block has. */
    int data() {
        return data;
    }

    /** Returns m of the block, which is settled with its first packet. */
    int repairs() {
        return repairs;
    }

    boolean isFull() {
        return data == maxData;
    }

    long beganNs() {
        return beganNs;
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
        return sums.keptBytes() + symbol.capacity();
    }

    /** Takes a packet into the block, and begins one with it where there is none. */
    void add(ByteBuffer payload, Header own, long nowNs) {
        if (data == 0) {
            beganNs = nowNs;
            repairs = need.repairs(maxData);
            sums.begin(repairs);
        }
        int bytes = FecHeader.OWN_BYTES + payload.remaining();
        if (symbol.capacity() < bytes) {
            symbol = ByteBuffer.allocate(Integer.highestOneBit(bytes - 1) << 1);
        }
        lastSequence = own.sequence();
        lastOriginNs = own.originNs();
        FecHeader.writeOwn(symbol.clear(), payload.remaining(), lastSequence, lastOriginNs);
        symbol.put(FecHeader.OWN_BYTES, payload, payload.position(), payload.remaining());
        seal(crc, symbol.array(), 0, bytes);
        sums.add(data++, symbol.array(), 0, bytes);
    }

    /** Writes the CRC of what is summed up for a packet. */
    static void seal(CRC32C crc, byte[] octets, int at, int bytes) {
        int sum = sum(crc, octets, at, bytes);
        octets[at] = (byte) (sum >>> 24);
        octets[at + 1] = (byte) (sum >>> 16);
        octets[at + 2] = (byte) (sum >>> 8);
        octets[at + 3] = (byte) sum;
    }

    static int sum(CRC32C crc, byte[] octets, int at, int bytes) {
        crc.reset();
        crc.update(octets, at + FecHeader.CRC_BYTES, bytes - FecHeader.CRC_BYTES);
        return (int) crc.getValue();
    }

    void writeRepair(int repair, ByteBuffer target) {
        sums.write(repair, target);
    }

    void nextBlock() {
        block++;
        data = 0;
    }
}
