package org.tamanoir.gateway;

import java.nio.ByteBuffer;

/** Lines, each of which ends with a line feed: a format of a user's own, as docs/gateways.md has it. */
public final class Lines implements StreamFormat {
    private static final int MAX_OCTETS = 8192;

    @Override
    public String name() {
        return "lines";
    }

    @Override
    public int prefixOctets() {
        return 0;
    }

    @Override
    public long unitOctets(ByteBuffer units, int start, int end) {
        int stop = Math.min(end, start + MAX_OCTETS);
        for (int i = start; i < stop; i++) {
            if (units.get(i) == '\n') {
                return i + 1 - start;
            }
        }
        return stop - start < MAX_OCTETS ? 0 : MAX_OCTETS;
    }

    @Override
    public void putPrefix(ByteBuffer units, int at, int payloadOctets) {
        // There is none.
    }
}
