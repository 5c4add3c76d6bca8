package org.tamanoir.benchmarks.emulate;

import java.nio.ByteBuffer;
import org.tamanoir.transport.UdpSender;

/** Collects departures as a socket's sender does, and counts them where that would call the system. */
final class Departing implements UdpSender {
    private static final int ROOM = 1024;
    private final EmulatedPort.Departures departures;
    private final ByteBuffer[] buffers = new ByteBuffer[ROOM];
    private final int[] offsets = new int[ROOM];
    private final int[] lengths = new int[ROOM];
    private final long[] highs = new long[ROOM];
    private final long[] lows = new long[ROOM];
    private final int[] ports = new int[ROOM];
    private int added;
    /** One thread adds; others look. */
    private volatile long packets;

    private long bytes;

    Departing(EmulatedPort.Departures departures) {
        this.departures = departures;
    }

    @Override
    public void add(ByteBuffer buffer, int offset, int length, long high, long low, int port) {
        if (added == ROOM) {
            flush();
        }
        buffers[added] = buffer;
        offsets[added] = offset;
        lengths[added] = length;
        highs[added] = high;
        lows[added] = low;
        ports[added++] = port;
    }

    @Override
    public void discard() {
        added = 0;
    }

    @Override
    public void flush() {
        for (int i = 0; i < added; i++) {
            departures.departs(buffers[i], offsets[i], lengths[i], highs[i], lows[i], ports[i]);
            bytes += lengths[i];
        }
        packets += added;
        added = 0;
    }

    @Override
    public long sentPackets() {
        return packets;
    }

    @Override
    public long sentBytes() {
        return bytes;
    }

    @Override
    public long failedPackets() {
        return 0;
    }

    @Override
    public String lastError() {
        return "";
    }
}
