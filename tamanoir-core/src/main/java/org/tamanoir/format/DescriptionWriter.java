package org.tamanoir.format;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;

/** Writes descriptions, see {@link DescriptionReader} for how they look. */
final class DescriptionWriter {
    private static final int INFORMATION = 12;

    private DescriptionWriter() {}

    /** Returns a description of these structures, which have one version and order; the top one is the first. */
    static byte[] write(List<StructureText> structures) {
        Layout layout = structures.get(0).layout();
        if (structures.size() > FormatLimits.STRUCTURES) {
            throw fault(structures.size() + " structures: at most " + FormatLimits.STRUCTURES);
        }
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        out.writeBytes(new byte[DescriptionReader.HEAD]);
        for (StructureText structure : structures) {
            out.writeBytes(block(structure, layout.version() == 0));
        }
        byte[] bytes = out.toByteArray();
        requireLength(bytes.length, layout.version() == 0 ? 0xFFFF : FormatLimits.DESCRIPTION_BYTES);
        ByteBuffer head = ByteBuffer.wrap(bytes);
        head.putShort(0, (short) bytes.length);
        head.put(2, (byte) (layout.big() ? 1 : 0)).put(3, (byte) layout.version());
        head.put(4, (byte) (structures.size() - 1));
        if (layout.version() > 0) {
            head.putShort(6, (short) (bytes.length >> 16));
        }
        return bytes;
    }

    private static byte[] block(StructureText structure, boolean old) {
        int table = old ? DescriptionReader.TABLE_0 : DescriptionReader.TABLE;
        int entry = old ? 12 : 16;
        List<FieldText> fields = structure.fields();
        int texts = table + entry * fields.size();
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        addText(out, structure.name());
        int[] places = new int[2 * fields.size()];
        for (int i = 0; i < fields.size(); i++) {
            places[2 * i] = texts + out.size();
            addText(out, fields.get(i).name());
            places[2 * i + 1] = texts + out.size();
            addText(out, fields.get(i).type());
        }
        pad(out, texts);
        int information = texts + out.size();
        int length = addInformation(out, structure, texts);
        requireLength(length, old ? 0xFFFF : FormatLimits.DESCRIPTION_BYTES);
        byte[] bytes = new byte[length];
        System.arraycopy(out.toByteArray(), 0, bytes, texts, out.size());
        ByteBuffer block = ByteBuffer.wrap(bytes).order(structure.layout().order());
        for (int i = 0; i < fields.size(); i++) {
            int at = table + entry * i;
            if (old) {
                block.putShort(at, (short) places[2 * i]).putShort(at + 2, (short) places[2 * i + 1]);
            } else {
                block.putInt(at, places[2 * i]).putInt(at + 4, places[2 * i + 1]);
            }
            block.putInt(at + entry - 8, fields.get(i).size())
                    .putInt(at + entry - 4, fields.get(i).offset());
        }
        head(block, structure, texts, information);
        return bytes;
    }

    private static void head(ByteBuffer block, StructureText structure, int name, int information) {
        Layout layout = structure.layout();
        int floats = layout.floats().ordinal();
        int fields = structure.fields().size();
        block.put(2, (byte) layout.version()).put(3, (byte) (layout.big() ? 1 : 0));
        block.putInt(12, structure.recordLength());
        byte columns = (byte) (layout.columnMajor() ? 1 : 0);
        byte alignment = (byte) structure.alignment();
        if (layout.version() == 0) {
            block.put(4, (byte) layout.pointerBytes()).put(5, (byte) DescriptionReader.TABLE_0);
            block.putShort(6, (short) name).putShort(8, (short) fields).putShort(10, (short) floats);
            block.putShort(16, (short) information).put(18, columns).put(19, alignment);
        } else {
            block.putInt(4, name).putInt(8, fields);
            block.put(16, (byte) layout.pointerBytes()).put(17, (byte) DescriptionReader.TABLE);
            block.putShort(18, (short) floats).putShort(20, (short) information);
            block.put(22, columns).put(23, alignment).putShort(26, (short) (information >> 16));
        }
        block.order(ByteOrder.BIG_ENDIAN).putShort(0, (short) block.capacity());
        if (layout.version() > 0) {
            block.putShort(24, (short) (block.capacity() >> 16));
        }
    }

    /** Adds the entries, the closing one and what they tell of; returns the length of the block. */
    private static int addInformation(ByteArrayOutputStream out, StructureText structure, int texts) {
        List<OptionalInformation> all = structure.information();
        int from = texts + out.size();
        ByteBuffer entries = ByteBuffer.allocate(INFORMATION * (all.size() + 1))
                .order(structure.layout().order());
        int at = from + entries.capacity();
        for (OptionalInformation one : all) {
            entries.putInt(one.type()).putInt(one.bytes().length).putInt(at);
            at += one.bytes().length + 3 & ~3;
        }
        out.writeBytes(entries.array());
        for (OptionalInformation one : all) {
            out.writeBytes(one.bytes());
            pad(out, texts);
        }
        return texts + out.size();
    }

    private static void addText(ByteArrayOutputStream out, String text) {
        if (text.indexOf(0) >= 0) {
            throw fault("name or type '" + Texts.shown(text) + "' has a 0 in it, which ends texts");
        }
        out.writeBytes(Texts.encode(text));
        out.write(0);
    }

    private static void pad(ByteArrayOutputStream out, int before) {
        while ((before + out.size()) % 4 != 0) {
            out.write(0);
        }
    }

    private static void requireLength(int length, int bound) {
        if (length > bound) {
            throw fault("description or structure of " + length + " bytes: at most " + bound);
        }
    }

    private static FormatException fault(String message) {
        return new FormatException(FormatFault.DESCRIPTION, message);
    }
}
