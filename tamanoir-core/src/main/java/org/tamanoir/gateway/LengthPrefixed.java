package org.tamanoir.gateway;

import java.nio.ByteBuffer;

/** Messages, each behind its length: an unsigned big-endian number of 4 octets, which does not count itself. */
public final class LengthPrefixed implements StreamFormat {
    private static final int PREFIX_OCTETS = 4;

    /** Made by {@link java.util.ServiceLoader}. */
    public LengthPrefixed() {}

    @Override
    public String name() {
        return "length-prefixed";
    }

    @Override
    public int prefixOctets() {
        return PREFIX_OCTETS;
    }

    @Override
    public long unitOctets(ByteBuffer units, int start, int end) {
        return end - start < PREFIX_OCTETS ? 0 : PREFIX_OCTETS + (units.getInt(start) & 0xFFFF_FFFFL);
    }

    @Override
    public void putPrefix(ByteBuffer units, int at, int payloadOctets) {
        units.putInt(at, payloadOctets);
    }
}
