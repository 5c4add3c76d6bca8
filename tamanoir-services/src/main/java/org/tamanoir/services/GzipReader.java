package org.tamanoir.services;

import java.nio.ByteBuffer;
import java.util.zip.CRC32;
import java.util.zip.DataFormatException;
import java.util.zip.Inflater;
import org.jspecify.annotations.Nullable;

/**
 * Reads gzip streams (RFC 1952, section 2.3) that come in pieces cut anywhere:
 *
 * <pre>
 *   +---+---+---+---+---+---+---+---+---+---+  FLG bit 2: +--------+-------+   FLG bit 3: +----------+
 *   |ID1|ID2|CM |FLG|     MTIME     |XFL|OS |             | XLEN 2 | extra |              | name, 0  |
 *   +---+---+---+---+---+---+---+---+---+---+             +--------+-------+              +----------+
 *   FLG bit 4: +------------+  FLG bit 1: +-------+  +------------------+---------+---------+
 *              | comment, 0 |             | CRC16 |  | deflated data    | CRC32 4 | ISIZE 4 |  little-endian
 *              +------------+             +-------+  +------------------+---------+---------+
 * </pre>
 *
 * <p>Thread contract: one thread. After a fault only {@link #reset} and {@link #close} may follow.
 */
final class GzipReader {
    static final String NOT_GZIP = "not gzip";
    static final String CORRUPT = "corrupt gzip";
    static final String WRONG_CHECKSUM = "wrong gzip checksum";
    static final String WRONG_LENGTH = "wrong gzip length";
    static final String PAST_RATIO = "inflates past max-ratio";
    static final String PAST_PACKET = "inflates past max-packet-bytes";

    private static final int FIXED_BYTES = 10;
    private static final int TRAILER_BYTES = 8;
    private static final int HAS_HEADER_CRC = 2;
    private static final int HAS_EXTRA = 4;
    private static final int HAS_NAME = 8;
    private static final int HAS_COMMENT = 16;
    private static final int RESERVED = 0xE0;
    private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

    /** Parts of a gzip stream in their order. */
    private enum Part {
        FIXED,
        EXTRA_LENGTH,
        EXTRA,
        NAME,
        COMMENT,
        HEADER_CRC,
        DATA,
        TRAILER
    }

    private final long maxRatio;
    private final long maxPieceBytes;
    private final Inflater inflater = new Inflater(true);
    private final CRC32 crc = new CRC32();

    private Part part = Part.FIXED;
    /** Bytes of the part that have been read. */
    private int partBytes;
    /** The part's bytes as a little-endian number, where it is one. */
    private long number;

    private int flags;
    private int extraBytes;
    private long headerBytes;
    private long pieceBytes;
    private long members;

    /**
     * @param maxRatio bytes out for each byte in, within one gzip stream
     * @param maxPieceBytes bytes out of one piece
     */
    GzipReader(long maxRatio, long maxPieceBytes) {
        this.maxRatio = maxRatio;
        this.maxPieceBytes = maxPieceBytes;
    }

    /** Returns how many gzip streams were whole and right; {@link #reset} does not forget them. */
    long members() {
        return members;
    }

    /** Returns whether no byte of a gzip stream was read since the end of the last one. */
    boolean isBetweenMembers() {
        return part == Part.FIXED && partBytes == 0;
    }

    /** Goes back to the start of a gzip stream. */
    void reset() {
        inflater.reset();
        crc.reset();
        headerBytes = 0;
        enter(Part.FIXED);
    }

    /**
     * Reads one piece to its end.
     *
     * @return null, or the fault in a few words
     */
    @Nullable
    String read(ByteBuffer piece, PayloadWriter out) {
        pieceBytes = 0;
        String fault = null;
        while (fault == null && piece.hasRemaining()) {
            fault = part == Part.DATA ? inflate(piece, out) : take(piece.get());
        }
        return fault;
    }

    void close() {
        inflater.end();
    }

    private @Nullable String inflate(ByteBuffer piece, PayloadWriter out) {
        inflater.setInput(piece);
        try {
            ByteBuffer room;
            do {
                room = out.room();
                int start = room.position();
                inflater.inflate(room);
                String fault = account(room, start);
                if (fault != null) {
                    return fault;
                }
            } while (!inflater.finished() && !room.hasRemaining());
        } catch (DataFormatException e) {
            return CORRUPT;
        } finally {
            inflater.setInput(NOTHING);
        }
        if (inflater.finished()) {
            enter(Part.TRAILER);
            return null;
        }
        return piece.hasRemaining() ? CORRUPT : null;
    }

    private @Nullable String account(ByteBuffer room, int start) {
        int end = room.position();
        int limit = room.limit();
        crc.update(room.limit(end).position(start));
        room.limit(limit);
        pieceBytes += end - start;
        if (pieceBytes > maxPieceBytes) {
            return PAST_PACKET;
        }
        long memberBytes = headerBytes + inflater.getBytesRead();
        return inflater.getBytesWritten() > maxRatio * memberBytes ? PAST_RATIO : null;
    }

    /** Takes one byte of header or trailer. */
    private @Nullable String take(byte octet) {
        int value = octet & 0xFF;
        if (part != Part.TRAILER) {
            headerBytes++;
            if (part != Part.HEADER_CRC) {
                crc.update(value);
            }
        }
        number |= partBytes < 8 ? (long) value << 8 * partBytes : 0;
        partBytes++;
        return switch (part) {
            case FIXED -> fixed(value);
            case EXTRA_LENGTH -> {
                if (partBytes == 2) {
                    extraBytes = (int) number;
                    enter(extraBytes > 0 ? Part.EXTRA : Part.NAME);
                }
                yield null;
            }
            case EXTRA -> partBytes == extraBytes ? enter(Part.NAME) : null;
            case NAME -> value == 0 ? enter(Part.COMMENT) : null;
            case COMMENT -> value == 0 ? enter(Part.HEADER_CRC) : null;
            case HEADER_CRC -> headerCrc();
            case TRAILER -> partBytes == TRAILER_BYTES ? trailer() : null;
            case DATA -> throw new IllegalStateException("data go to the inflater");
        };
    }

    private @Nullable String fixed(int value) {
        boolean fits = switch (partBytes) {
            case 1 -> value == 0x1F;
            case 2 -> value == 0x8B;
            case 3 -> value == 8;
            case 4 -> {
                flags = value;
                yield (value & RESERVED) == 0;
            }
            default -> true;
        };
        if (!fits) {
            return NOT_GZIP;
        }
        return partBytes == FIXED_BYTES ? enter(Part.EXTRA_LENGTH) : null;
    }

    private @Nullable String headerCrc() {
        if (partBytes < 2) {
            return null;
        }
        return number == (crc.getValue() & 0xFFFF) ? enter(Part.DATA) : WRONG_CHECKSUM;
    }

    private @Nullable String trailer() {
        if ((number & 0xFFFF_FFFFL) != crc.getValue()) {
            return WRONG_CHECKSUM;
        }
        if (number >>> 32 != (inflater.getBytesWritten() & 0xFFFF_FFFFL)) {
            return WRONG_LENGTH;
        }
        members++;
        reset();
        return null;
    }

    /** Goes to a part, or behind it where the flags say that there is none. Returns null: no fault. */
    private @Nullable String enter(Part next) {
        partBytes = 0;
        number = 0;
        Part entered = next;
        if (entered == Part.EXTRA_LENGTH && (flags & HAS_EXTRA) == 0) {
            entered = Part.NAME;
        }
        if (entered == Part.NAME && (flags & HAS_NAME) == 0) {
            entered = Part.COMMENT;
        }
        if (entered == Part.COMMENT && (flags & HAS_COMMENT) == 0) {
            entered = Part.HEADER_CRC;
        }
        if (entered == Part.HEADER_CRC && (flags & HAS_HEADER_CRC) == 0) {
            entered = Part.DATA;
        }
        if (entered == Part.DATA) {
            crc.reset();
        }
        part = entered;
        return null;
    }
}
