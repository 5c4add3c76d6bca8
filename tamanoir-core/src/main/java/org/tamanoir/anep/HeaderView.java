package org.tamanoir.anep;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Where a packet lies and what its header says, for {@link Packet}, which services see. What a {@link HeaderFormat}
 * finds stands in fields, and options are read where {@link #at} says that they lie, so that reading costs no call
 * whose target is unknown. {@link Packet} extends this class: as an object of its own it costs a packet 2 ns of 24.
 *
 * <p>Thread contract: one thread.
 */
abstract class HeaderView {
    /** No packet has it: its version would be 0xFF. */
    static final long NO_SHAPE = -1;

    static final int MAX_SHAPE_WORDS = 16;

    static final int SOURCE = Option.SOURCE.slot();
    static final int DESTINATION = Option.DESTINATION.slot();
    static final int CHECKSUM = Option.CHECKSUM.slot();
    static final int KEY = Option.SERVICE_KEY.slot();
    static final int CLASS = Option.CLASS_OF_SERVICE.slot();
    static final int PREVIOUS_NODE = Option.PREVIOUS_NODE.slot();
    static final int STREAM = Option.STREAM.slot();
    static final int ROUND = Option.ROUND.slot();
    static final int FORMAT = Option.FORMAT.slot();
    static final int HOPS = Option.HOP_BUDGET.slot();
    static final int TIMESTAMPS = Option.TIMESTAMPS.slot();
    static final int AUTHENTICATION = Option.AUTHENTICATION.slot();
    static final int PORT = Option.DESTINATION_PORT.slot();

    final int tamanoirTypeId;
    final HeaderFormat format;
    /** Where each option's TLV starts behind {@link #offset}, by {@link Option#slot}, where {@link #present} says so. */
    final int[] at = new int[Option.slots()];

    /** Scheme of the destination identifier; 0 when there is none. */
    int destinationScheme;

    /**
     * The shape of the header walked last: its first 48 bits, and the words that give each option's type, length
     * and scheme. The packets of a stream are mostly alike, and comparing is several times cheaper than walking.
     */
    long shapeHeader = NO_SHAPE;

    /** Where each word stands behind the packet's start, and the word. */
    final int[] shape = new int[2 * MAX_SHAPE_WORDS];

    int shapeWords;
    int shapePresent;

    ByteBuffer buffer = BufferView.NOTHING;
    int offset;
    int length;
    int headerLength;
    int flags;
    int typeId;
    int present;
    boolean trailer;
    boolean repeatedOption;
    /** Octets have changed since the checksum was computed. */
    boolean checksumStale;
    /**
     * Only the header lies in {@link #buffer}, where it is other packets' too and is never changed; the payload lies in
     * {@link #body}, from {@link #bodyOffset} on.
     */
    boolean folded;

    ByteBuffer body = BufferView.NOTHING;
    int bodyOffset;
    /** The packet lies elsewhere, is longer or shorter, or goes elsewhere than when the view was pointed at it. */
    boolean displaced;

    HeaderView(int tamanoirTypeId, HeaderFormat format) {
        this.tamanoirTypeId = tamanoirTypeId;
        this.format = format;
    }

    /** Has a folded packet lie in the packet space. */
    abstract void unfold();

    /** The packet's bytes have been copied to {@code start} in {@code room}, where it lies from now on. */
    final void moveTo(ByteBuffer room, int start) {
        buffer = room;
        offset = start;
        folded = false;
        displaced = true;
    }

    final boolean has(int slot) {
        return (present & 1 << slot) != 0;
    }

    /** Returns where the option's TLV starts in {@link #buffer}. */
    final int at(int slot) {
        return offset + at[slot];
    }

    /** Returns the bytes of the option's content. */
    final int contentLength(int slot) {
        return (buffer.getShort(at(slot) + 2) & 0xFFFF) * 4 - 4;
    }

    /** Returns the first 32 bits of the option's content, of an identifier its scheme; 0 when it is not there. */
    final int getInt(int slot) {
        return has(slot) ? buffer.getInt(at(slot) + 4) : 0;
    }

    /** Has the packet lie in one piece: before anything in it changes, and for who wants it whole. */
    final void join() {
        if (folded) {
            unfold();
        }
    }

    /** Writes the first 16 bits of the content of an option that is there. */
    final void putShort(int slot, int value) {
        join();
        format.putWord(this, at(slot) + 4, value);
    }

    /** Writes 32 bits from this index on of the content of an option that is there. */
    final void putInt(int slot, int index, int value) {
        join();
        int field = at(slot) + 4 + index;
        format.putWord(this, field, value >>> 16);
        format.putWord(this, field + 2, value);
    }

    /** Writes the first byte of the content of an option that is there. */
    final void putFirstByte(int slot, int value) {
        if (folded && buffer.get(at(slot) + 4) == (byte) value) {
            return;
        }
        join();
        int field = at(slot) + 4;
        if (has(CHECKSUM)) {
            format.putWord(this, field, value << 8 | buffer.get(field + 1) & 0xFF);
        } else {
            buffer.put(field, (byte) value);
        }
    }

    static void require(int value, int max, String what) {
        if (value < 0 || value > max) {
            throw new IllegalArgumentException(what + " " + value + ": must be 0 to " + max);
        }
    }

    static boolean isInternet(int scheme) {
        return scheme == Anep.SCHEME_IPV4 || scheme == Anep.SCHEME_IPV6;
    }

    /** Returns the upper 64 bits of an address; 0 for IPv4, which stands as ::ffff:a.b.c.d. */
    final long high(int slot, int scheme) {
        return scheme == Anep.SCHEME_IPV6 ? buffer.getLong(at(slot) + 8) : 0;
    }

    /** Returns the lower 64 bits of an address. */
    final long low(int slot, int scheme) {
        return scheme == Anep.SCHEME_IPV6
                ? buffer.getLong(at(slot) + 16)
                : 0xFFFF_0000_0000L | (buffer.getInt(at(slot) + 8) & 0xFFFF_FFFFL);
    }

    /** Returns the address; null when there is none of IPv4 or IPv6. Allocates. */
    final @Nullable InetAddress addressOf(int slot) {
        int scheme = getInt(slot);
        if (!isInternet(scheme)) {
            return null;
        }
        byte[] address = new byte[scheme == Anep.SCHEME_IPV4 ? 4 : 16];
        buffer.get(at(slot) + 8, address);
        try {
            return InetAddress.getByAddress(address);
        } catch (UnknownHostException e) {
            throw new IllegalStateException("4 or 16 octets are an address", e);
        }
    }
}
