package org.tamanoir.format;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Reads descriptions.
 *
 * <pre>
 * head: u16 length, low bits | order | version | N | 0 | u16 length, high bits; then the top structure and N others:
 *
 * version 0                          versions 1 and 2
 *  0 u16 BE length of the block       0 u16 BE length of the block, low bits
 *  2 version, 3 order                 2 version, 3 order
 *  4 pointer size, 5 size of this     4 u32 place of the name
 *  6 u16 place of the name            8 u32 number of fields
 *  8 u16 number of fields            12 s32 record length
 * 10 u16 float format                16 pointer size, 17 size of this
 * 12 s32 record length               18 u16 float format
 * 16 u16 place of information        20 u16 place of information, low bits
 * 18 column-major, 19 alignment      22 column-major, 23 alignment
 *                                    24 u16 BE length of the block, high bits
 *                                    26 u16 place of information, high bits
 * fields: name, type, size, offset: u16 u16 s32 s32, or u32 u32 s32 s32
 * </pre>
 */
final class DescriptionReader {
    static final int HEAD = 8;
    static final int TABLE_0 = 20;
    static final int TABLE = 28;

    private final byte[] bytes;
    private final ByteBuffer memory;
    private final int version;
    private int fieldsLeft = FormatLimits.FIELDS;
    /** Bytes of texts and information that may still come: writers share nothing, so they are no more than there are. */
    private int bytesLeft;

    /** The block that is read. */
    private int start;

    private int end;

    private DescriptionReader(byte[] bytes, int version, boolean big) {
        this.bytes = bytes;
        this.version = version;
        bytesLeft = bytes.length;
        memory = ByteBuffer.wrap(bytes).order(big ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN);
    }

    /** Returns the structures as they are described, the top one first. */
    static List<StructureText> read(byte[] bytes) {
        if (bytes.length < HEAD || bytes.length > FormatLimits.DESCRIPTION_BYTES) {
            throw fault("description of " + bytes.length + " bytes: " + HEAD + " to " + FormatLimits.DESCRIPTION_BYTES
                    + " are read");
        }
        int version = bytes[3];
        if (version < 0 || version > 2) {
            throw fault("description of version " + version + ": 0 to 2 are known");
        }
        return new DescriptionReader(bytes, version, (bytes[2] & 1) == 1).blocks();
    }

    private List<StructureText> blocks() {
        ByteBuffer head = ByteBuffer.wrap(bytes);
        int length = head.getShort(0) & 0xFFFF | (version == 0 ? 0 : head.getShort(6) & 0xFFFF) << 16;
        if (length != bytes.length) {
            throw fault("description says " + length + " bytes and has " + bytes.length);
        }
        int others = bytes[4] & 0xFF;
        if (others >= FormatLimits.STRUCTURES) {
            throw fault("description of " + (others + 1) + " structures: at most " + FormatLimits.STRUCTURES);
        }
        List<StructureText> structures = new ArrayList<>();
        start = HEAD;
        for (int i = 0; i <= others; i++) {
            structures.add(block());
            start = end;
        }
        if (end != bytes.length) {
            throw fault((bytes.length - end) + " bytes behind the last structure of a description");
        }
        return structures;
    }

    private StructureText block() {
        int table = version == 0 ? TABLE_0 : TABLE;
        if (start + table > bytes.length) {
            throw fault("description ends in the head of a structure at " + start);
        }
        ByteBuffer bigEndian = ByteBuffer.wrap(bytes);
        int length =
                bigEndian.getShort(start) & 0xFFFF | (version == 0 ? 0 : bigEndian.getShort(start + 24) & 0xFFFF) << 16;
        if (length < table || length > bytes.length - start) {
            throw fault("structure at " + start + " of " + length + " bytes, " + (bytes.length - start) + " are there");
        }
        end = start + length;
        if (bytes[start + 2] != version || (bytes[start + 3] & 1) != (bytes[2] & 1)) {
            throw fault("version or order of the structure at " + start + " is not the description's");
        }
        boolean old = version == 0;
        int tableSays = bytes[start + (old ? 5 : 17)] & 0xFF;
        if (tableSays < table || tableSays > length) {
            throw fault("fields of the structure at " + start + " begin at " + tableSays + ", not " + table);
        }
        long fields = old ? u16(8) : u32(8);
        int entry = old ? 12 : 16;
        if (fields > fieldsLeft || fields * entry > length - tableSays) {
            throw fault("structure at " + start + " announces " + fields + " fields: room for "
                    + Math.min(fieldsLeft, (length - tableSays) / entry));
        }
        fieldsLeft -= (int) fields;
        String name = text(old ? u16(6) : u32(4));
        int recordLength = memory.getInt(start + 12);
        if (recordLength < 0) {
            throw fault("structure '" + Texts.shown(name) + "' of " + recordLength + " bytes");
        }
        long information = old ? u16(16) : u16(20) | u16(26) << 16;
        return new StructureText(
                name,
                recordLength,
                bytes[start + (old ? 19 : 23)] & 0xFF,
                new Layout(
                        memory.order(),
                        bytes[start + (old ? 4 : 16)],
                        FloatFormat.of((int) u16(old ? 10 : 18)),
                        version,
                        bytes[start + (old ? 18 : 22)] != 0),
                fields((int) fields, tableSays, entry),
                information == 0 ? List.of() : information(information));
    }

    private List<FieldText> fields(int count, int table, int entry) {
        List<FieldText> fields = new ArrayList<>(count);
        boolean old = version == 0;
        for (int at = table; fields.size() < count; at += entry) {
            String name = text(old ? u16(at) : u32(at));
            String type = text(old ? u16(at + 2) : u32(at + 4));
            int size = memory.getInt(start + at + entry - 8);
            int offset = memory.getInt(start + at + entry - 4);
            if (size < 0 || offset < 0) {
                throw fault("field '" + Texts.shown(name) + "' of " + size + " bytes at " + offset);
            }
            fields.add(new FieldText(name, type, size, offset));
        }
        return fields;
    }

    private List<OptionalInformation> information(long from) {
        List<OptionalInformation> all = new ArrayList<>();
        for (long at = from; ; at += 12) {
            // The closing entry may end behind its type.
            if (at + 4 > end - start) {
                throw fault("optional information at " + from + " is not ended within its structure");
            }
            int type = memory.getInt(start + (int) at);
            if (type == 0) {
                return all;
            }
            if (at + 12 > end - start) {
                throw fault("optional information at " + from + " is not ended within its structure");
            }
            int length = memory.getInt(start + (int) at + 4);
            int offset = memory.getInt(start + (int) at + 8);
            if (length < 0 || offset < 0 || (long) offset + length > end - start) {
                throw fault("optional information of " + length + " bytes at " + offset + ", the structure has "
                        + (end - start));
            }
            spend(length);
            all.add(new OptionalInformation(type, Arrays.copyOfRange(bytes, start + offset, start + offset + length)));
            if (all.size() > FormatLimits.STRUCTURES) {
                throw fault("more than " + FormatLimits.STRUCTURES + " pieces of optional information");
            }
        }
    }

    private long u16(int at) {
        return memory.getShort(start + at) & 0xFFFF;
    }

    private long u32(int at) {
        return memory.getInt(start + at) & 0xFFFFFFFFL;
    }

    private String text(long offset) {
        if (offset < end - start) {
            for (int i = start + (int) offset; i < end; i++) {
                if (bytes[i] == 0) {
                    spend(i - start - (int) offset);
                    return Texts.decode(bytes, start + (int) offset, i);
                }
            }
        }
        throw fault("text at " + offset + " of the structure at " + start + " does not end within it");
    }

    private void spend(int length) {
        bytesLeft -= length;
        if (bytesLeft < 0) {
            throw fault("texts and information of a description are more than its " + bytes.length
                    + " bytes: they lie in one another");
        }
    }

    private static FormatException fault(String message) {
        return new FormatException(FormatFault.DESCRIPTION, message);
    }
}
