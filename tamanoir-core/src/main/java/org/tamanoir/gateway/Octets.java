package org.tamanoir.gateway;

import java.nio.ByteBuffer;

/** Any octets: a packet has those that have come, and where one ends means nothing. */
public final class Octets implements StreamFormat {
    /** With any header that a gateway makes, a packet. */
    private static final int MAX_OCTETS = 64_000;

    /** Made by {@link java.util.ServiceLoader}. */
    public Octets() {}

    @Override
    public String name() {
        return "octets";
    }

    @Override
    public int prefixOctets() {
        return 0;
    }

    @Override
    public long unitOctets(ByteBuffer units, int start, int end) {
        return Math.min(end - start, MAX_OCTETS);
    }

    @Override
    public void putPrefix(ByteBuffer units, int at, int payloadOctets) {
        // There is none.
    }

    @Override
    public boolean beginsAtOnce() {
        return true;
    }
}
