package org.tamanoir.anep;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * A format of headers: how they are parsed into a {@link HeaderView}, and written. The seam for packets whose header is
 * not ANEP's: they stand behind the same {@link Packet}. Stateless; the view keeps what was found.
 */
abstract class HeaderFormat {
    /** Points the view at a packet, as {@link Packet#parse}; verifies the checksum only where it is not stale. */
    abstract @Nullable ParseFault parse(HeaderView view, ByteBuffer buffer, int offset, int available);

    /** Writes a 16-bit field at an even distance from the packet's start and keeps the checksum right. */
    abstract void putWord(HeaderView view, int index, int word);

    /** Swaps source and destination, as {@link Packet#swapEnds}. */
    abstract boolean swapEnds(HeaderView view);

    /** Writes the length that the packet has with so many bytes of payload. */
    abstract void resize(HeaderView view, int payloadBytes);

    /**
     * Returns the length of the packet with this option added.
     *
     * @throws IllegalArgumentException if it cannot be added, as {@link Packet#addOption}
     */
    abstract int lengthWith(HeaderView view, Option option);

    /** Moves the packet to {@code start} in {@code room}, with a zeroed option behind its others. */
    abstract void addOption(HeaderView view, Option option, ByteBuffer room, int start);

    /** Brings a stale checksum up to date. */
    abstract void seal(HeaderView view);

    /** Forgets all that was parsed: the packet has no header any more. */
    abstract void forget(HeaderView view);
}
