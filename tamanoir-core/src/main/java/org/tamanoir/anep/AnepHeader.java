package org.tamanoir.anep;

import java.nio.ByteBuffer;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** The header of ANEP: see {@link Anep}. */
final class AnepHeader extends HeaderFormat {
    static final AnepHeader FORMAT = new AnepHeader();

    private static final int FIRST_OPTION = Anep.BASIC_HEADER_OCTETS;
    private static final int UNKNOWN = 0;
    /** Shorter shapes are filled up with the packet's first word. */
    private static final int MIN_SHAPE_WORDS = 6;

    private static final int[] WORDS = new int[Option.slots()];

    static {
        for (Option option : Option.values()) {
            WORDS[option.slot()] = option.words();
        }
    }

    @Override
    @Nullable
    ParseFault parse(HeaderView view, ByteBuffer buffer, int offset, int available) {
        view.length = available;
        if (available < Anep.BASIC_HEADER_OCTETS) {
            return reject(view, ParseFault.SHORT);
        }
        long header = buffer.getLong(offset);
        if (header >>> 56 != Anep.VERSION) {
            return reject(view, ParseFault.VERSION);
        }
        int packetLength = (int) header & 0xFFFF;
        int headerOctets = ((int) (header >>> 16) & 0xFFFF) << 2;
        if (headerOctets < Anep.MIN_HEADER_WORDS * 4 || headerOctets > packetLength) {
            return reject(view, ParseFault.HEADER_LENGTH);
        }
        if (packetLength > available) {
            return reject(view, ParseFault.TRUNCATED);
        }
        if (view.buffer != buffer) {
            // Storing a reference costs a collector's barrier, and the packets of a batch share their buffer.
            view.buffer = buffer;
        }
        view.offset = offset;
        view.length = packetLength;
        view.trailer = packetLength < available;
        if (header >>> 16 == view.shapeHeader && hasShape(view, buffer, offset)) {
            view.present = view.shapePresent;
            return view.has(HeaderView.CHECKSUM) && !checksumHolds(view) ? reject(view, ParseFault.CHECKSUM) : null;
        }
        view.shapeHeader = HeaderView.NO_SHAPE;
        view.headerLength = headerOctets;
        view.flags = (int) (header >>> 48) & 0xFF;
        view.typeId = (int) (header >>> 32) & 0xFFFF;
        return walkOptions(view, buffer, offset, offset + headerOctets, header >>> 16);
    }

    /**
     * Returns whether the options have the types, lengths and schemes of those that were walked last. Compares the first
     * six words without a loop, which costs as much again as the words do: most packets have no more.
     */
    private static boolean hasShape(HeaderView view, ByteBuffer buffer, int offset) {
        int[] shape = view.shape;
        return hasWord(shape, 0, buffer, offset)
                && hasWord(shape, 1, buffer, offset)
                && hasWord(shape, 2, buffer, offset)
                && hasWord(shape, 3, buffer, offset)
                && hasWord(shape, 4, buffer, offset)
                && hasWord(shape, 5, buffer, offset)
                && (view.shapeWords <= MIN_SHAPE_WORDS || hasOtherWords(view, buffer, offset));
    }

    private static boolean hasOtherWords(HeaderView view, ByteBuffer buffer, int offset) {
        for (int i = MIN_SHAPE_WORDS; i < view.shapeWords; i++) {
            if (!hasWord(view.shape, i, buffer, offset)) {
                return false;
            }
        }
        return true;
    }

    private static boolean hasWord(int[] shape, int i, ByteBuffer buffer, int offset) {
        return buffer.getInt(offset + shape[2 * i]) == shape[2 * i + 1];
    }

    private @Nullable ParseFault walkOptions(HeaderView view, ByteBuffer buffer, int start, int end, long first48Bits) {
        boolean privateCount = view.typeId == view.tamanoirTypeId;
        int found = 0;
        boolean repeated = false;
        boolean twoChecksums = false;
        boolean discard = false;
        boolean misfit = false;
        int next;
        view.shapeWords = 0;
        view.destinationScheme = 0;
        for (int tlv = start + FIRST_OPTION; tlv < end; tlv = next) {
            int head = buffer.getInt(tlv);
            int words = head & 0xFFFF;
            next = tlv + (words << 2);
            if (words == 0 || next > end) {
                return reject(view, ParseFault.OPTION_LENGTH);
            }
            remember(view, tlv - start, head);
            int type = head >>> 16;
            if ((type & Anep.OPTION_PRIVATE) != 0 && !privateCount) {
                continue;
            }
            int slot = Option.slot(type);
            if (slot == UNKNOWN) {
                discard |= (type & Anep.OPTION_DISCARD) != 0;
                continue;
            }
            int bit = 1 << slot;
            if ((found & bit) != 0) {
                repeated = true;
                twoChecksums |= slot == HeaderView.CHECKSUM;
                continue;
            }
            found |= bit;
            view.at[slot] = tlv - start;
            int expected = WORDS[slot];
            if (expected != 0) {
                misfit |= words != expected;
            } else if (slot == HeaderView.SOURCE
                    || slot == HeaderView.DESTINATION
                    || slot == HeaderView.PREVIOUS_NODE) {
                int scheme = words < 2 ? 0 : buffer.getInt(tlv + 4);
                misfit |= words < 2 || misfits(scheme, slot, words);
                remember(view, tlv + 4 - start, scheme);
                if (slot == HeaderView.DESTINATION) {
                    view.destinationScheme = scheme;
                }
            }
        }
        if ((found & 1 << HeaderView.CHECKSUM) != 0 && (twoChecksums || !checksumHolds(view))) {
            return reject(view, ParseFault.CHECKSUM);
        }
        if (discard) {
            return reject(view, ParseFault.OPTION);
        }
        if (misfit) {
            return reject(view, ParseFault.OPTION_FORMAT);
        }
        view.present = found;
        view.repeatedOption = repeated;
        while (view.shapeWords < MIN_SHAPE_WORDS) {
            remember(view, 0, (int) (first48Bits >>> 16));
        }
        if (!repeated && view.shapeWords <= HeaderView.MAX_SHAPE_WORDS) {
            view.shapePresent = found;
            view.shapeHeader = first48Bits;
        }
        return null;
    }

    private static void remember(HeaderView view, int relativeOffset, int word) {
        if (view.shapeWords < HeaderView.MAX_SHAPE_WORDS) {
            view.shape[2 * view.shapeWords] = relativeOffset;
            view.shape[2 * view.shapeWords + 1] = word;
        }
        view.shapeWords++;
    }

    /** A packet that is dropped has no options: what was found of them may lie outside it. */
    private ParseFault reject(HeaderView view, ParseFault reason) {
        view.present = 0;
        return reason;
    }

    /** Rule 8 for options whose view.length depends on their scheme. */
    private static boolean misfits(int scheme, int slot, int words) {
        int extra = slot == HeaderView.PREVIOUS_NODE ? 1 : 0;
        return switch (scheme) {
            case Anep.SCHEME_IPV4 -> words != 3 + extra;
            case Anep.SCHEME_IPV6 -> words != 6 + extra;
            case Anep.SCHEME_802_3 -> words != 4 + extra;
            default -> false;
        };
    }

    private boolean checksumHolds(HeaderView view) {
        // A checksum option of another view.length than 2 words has no checksum where one must be.
        return (view.buffer.getShort(view.at(HeaderView.CHECKSUM) + 2) & 0xFFFF) == Option.CHECKSUM.words()
                && (view.checksumStale || Checksum.sum(view.buffer, view.offset, view.length) == 0xFFFF);
    }

    @Override
    void putWord(HeaderView view, int index, int word) {
        if (view.folded) {
            throw new IllegalStateException("a folded packet's header is others' too: join it first");
        }
        if (view.has(HeaderView.CHECKSUM) && !view.checksumStale) {
            int field = view.at(HeaderView.CHECKSUM) + 4;
            int updated = Checksum.update(view.buffer.getShort(field), view.buffer.getShort(index), word);
            view.buffer.putShort(field, (short) updated);
        }
        view.buffer.putShort(index, (short) word);
    }

    @Override
    boolean swapEnds(HeaderView view) {
        if (!view.has(HeaderView.SOURCE)
                || !view.has(HeaderView.DESTINATION)
                || view.contentLength(HeaderView.SOURCE) != view.contentLength(HeaderView.DESTINATION)) {
            return false;
        }
        view.join();
        // The checksum is a sum of words: it does not change when words change places.
        for (int i = 0, end = view.contentLength(HeaderView.SOURCE); i < end; i += 4) {
            int source = view.buffer.getInt(view.at(HeaderView.SOURCE) + 4 + i);
            view.buffer.putInt(
                    view.at(HeaderView.SOURCE) + 4 + i, view.buffer.getInt(view.at(HeaderView.DESTINATION) + 4 + i));
            view.buffer.putInt(view.at(HeaderView.DESTINATION) + 4 + i, source);
        }
        view.displaced = true;
        int scheme = view.buffer.getInt(view.at(HeaderView.DESTINATION) + 4);
        if (scheme != view.destinationScheme) {
            view.destinationScheme = scheme;
            view.shapeHeader = HeaderView.NO_SHAPE;
        }
        return true;
    }

    @Override
    void resize(HeaderView view, int payloadBytes) {
        view.length = view.headerLength + payloadBytes;
        view.displaced = true;
        view.buffer.putShort(view.offset + Anep.LENGTH_AT, (short) view.length);
        view.checksumStale = true;
    }

    @Override
    int lengthWith(HeaderView view, Option option) {
        if (option.words() == 0 || view.has(option.slot())) {
            throw new IllegalArgumentException(option + " cannot be added: it is there already, or varies in length");
        }
        if (option.isPrivate() && view.typeId != view.tamanoirTypeId) {
            throw new IllegalArgumentException(String.format(
                    Locale.ROOT,
                    "%s cannot be added: it is private to Type ID 0x%04x, the packet has 0x%04x",
                    option,
                    view.tamanoirTypeId,
                    view.typeId));
        }
        return view.length + option.words() * 4;
    }

    @Override
    void addOption(HeaderView view, Option option, ByteBuffer room, int start) {
        int bytes = option.words() * 4;
        int tlv = start + view.headerLength;
        room.put(start, view.buffer, view.offset, view.headerLength);
        room.putInt(tlv, option.wireType() << 16 | option.words());
        for (int field = tlv + 4; field < tlv + bytes; field += 4) {
            room.putInt(field, 0);
        }
        int payload = view.length - view.headerLength;
        room.put(tlv + bytes, view.buffer, view.offset + view.headerLength, payload);
        view.moveTo(room, start);
        view.at[option.slot()] = view.headerLength;
        view.headerLength += bytes;
        view.present |= 1 << option.slot();
        view.shapeHeader = HeaderView.NO_SHAPE;
        room.putShort(start + 4, (short) (view.headerLength / 4));
        resize(view, payload);
    }

    @Override
    void seal(HeaderView view) {
        if (view.checksumStale) {
            view.checksumStale = false;
            if (view.has(HeaderView.CHECKSUM)) {
                int field = view.at(HeaderView.CHECKSUM) + 4;
                view.buffer.putShort(field, (short) 0);
                view.buffer.putShort(field, (short) ~Checksum.sum(view.buffer, view.offset, view.length));
            }
        }
    }

    @Override
    void forget(HeaderView view) {
        view.headerLength = 0;
        view.present = 0;
        view.shapeHeader = HeaderView.NO_SHAPE;
    }
}
