package org.tamanoir.format;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What is refused because it is too much. */
class FormatBoundsTest {
    private static final Format NODE = Format.builder(Layout.X86_64)
            .structure("node")
            .field("number", "integer")
            .field("next", "*node")
            .build();

    private static RecordView list(int pointers) {
        byte[] record = new byte[NODE.headerBytes() + 16 * (pointers + 1)];
        ByteBuffer memory = ByteBuffer.wrap(record).order(ByteOrder.LITTLE_ENDIAN);
        NODE.id().write(memory, 0);
        memory.putLong(NODE.lengthAt(), record.length - NODE.headerBytes());
        for (int i = 0; i < pointers; i++) {
            memory.putLong(NODE.headerBytes() + 16 * i + 8, 16L * (i + 1));
        }
        return new RecordView().wrap(NODE, memory, 0, record.length);
    }

    @Test
    void aThousandPointersAreFollowedAndNoMore() {
        RecordTree.read(list(FormatLimits.POINTER_DEPTH));
        FormatException refused =
                assertThrows(FormatException.class, () -> RecordTree.read(list(FormatLimits.POINTER_DEPTH + 1)));
        assertEquals(FormatFault.DEPTH, refused.fault());
    }

    @Test
    void aConversionFollowsAsManyPointersAsAReader() {
        Conversion conversion = Conversion.compile(NODE, Target.of(NODE));
        conversion.convert(list(FormatLimits.POINTER_DEPTH));
        assertEquals(
                FormatFault.DEPTH,
                assertThrows(FormatException.class, () -> conversion.convert(list(FormatLimits.POINTER_DEPTH + 1)))
                        .fault());
    }

    @Test
    void valuesThatNestDeeperAreNotWritten() {
        Map<String, Object> values = new HashMap<>();
        for (int i = 0; i <= FormatLimits.POINTER_DEPTH; i++) {
            values = new HashMap<>(Map.of("number", i, "next", values));
        }
        Map<String, Object> all = values;
        assertEquals(
                FormatFault.DEPTH,
                assertThrows(FormatException.class, () -> new RecordEncoder(NODE).encode(all))
                        .fault());
    }

    @Test
    void aCircleThroughTheTopStructureIsNotWritten() {
        Map<String, Object> values = new HashMap<>();
        values.put("next", values);
        assertThrows(FormatException.class, () -> new RecordEncoder(NODE).encode(values));
    }

    @Test
    void parenthesesAndPointersOfATypeAreBounded() {
        assertThrows(FormatException.class, () -> TypeText.steps("(".repeat(1_000) + "integer" + ")".repeat(1_000)));
        assertThrows(FormatException.class, () -> TypeText.steps("*".repeat(1_000) + "integer"));
        assertThrows(FormatException.class, () -> TypeText.steps("integer" + "[2]".repeat(1_000)));
    }

    /** Names that lie in one another would take gigabytes: 60 KiB of text under 3,000 names. */
    @Test
    void textsThatLieInOneAnotherAreRefused() {
        int fields = 3_000;
        int texts = 28 + 16 * fields;
        int length = texts + (1 << 16);
        ByteBuffer description = ByteBuffer.allocate(8 + length).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = texts; i < length - 1; i++) {
            description.put(8 + i, (byte) 'a');
        }
        description.putInt(8 + 4, length - 2).putInt(8 + 8, fields).putInt(8 + 12, 4 * fields);
        description.put(8 + 2, (byte) 2).put(8 + 16, (byte) 8).put(8 + 17, (byte) 28);
        for (int i = 0; i < fields; i++) {
            description.putInt(8 + 28 + 16 * i, texts + i);
        }
        description.order(ByteOrder.BIG_ENDIAN);
        description.putShort(0, (short) (8 + length)).put(3, (byte) 2).putShort(6, (short) (8 + length >> 16));
        description.putShort(8, (short) length).putShort(8 + 24, (short) (length >> 16));
        FormatException refused = assertThrows(FormatException.class, () -> Format.of(description.array()));
        assertEquals(
                "texts and information of a description are more than its " + (8 + length)
                        + " bytes: they lie in one another",
                refused.getMessage());
    }

    @Test
    void aStructureInAnotherIsBoundedByTheirNumber() {
        FormatBuilder builder = Format.builder(Layout.X86_64);
        assertThrows(FormatException.class, () -> {
            for (int i = 0; i < 1_000; i++) {
                builder.structure("s" + i).field("inner", "s" + (i + 1));
            }
        });
    }

    /** Returns a record of so many strings that all are the same text of so many bytes. */
    private static RecordView sharedText(int strings, int bytes) {
        Format format = Format.builder(Layout.X86_64)
                .structure("r")
                .field("n", "integer", 8)
                .field("s", "string[n]")
                .build();
        int body = 16 + 8 * strings + bytes + 1;
        byte[] record = new byte[format.headerBytes() + body];
        ByteBuffer memory = ByteBuffer.wrap(record).order(ByteOrder.LITTLE_ENDIAN);
        int base = format.headerBytes();
        format.id().write(memory, 0);
        memory.putLong(format.lengthAt(), body).putLong(base, strings).putLong(base + 8, 16);
        for (int i = 0; i < strings; i++) {
            memory.putLong(base + 16 + 8 * i, 16 + 8 * strings);
        }
        Arrays.fill(record, base + body - 1 - bytes, base + body - 1, (byte) 'a');
        return new RecordView().wrap(format, memory, 0, record.length);
    }

    @Test
    void aTextThatManyStringsShareCountsForEach() {
        RecordTree.read(sharedText(1_000, 200));
        assertEquals(
                FormatFault.BUDGET,
                assertThrows(FormatException.class, () -> RecordTree.read(sharedText(1_000, 10_000)))
                        .fault());
    }

    @Test
    void aLongNameCountsWithEachValue() {
        Format format = Format.builder(Layout.X86_64)
                .structure("r")
                .field("n", "integer", 4)
                .field("e", "element[n]")
                .structure("element")
                .field("x".repeat(100_000), "char")
                .build();
        byte[] record = new RecordEncoder(format).encode(Map.of("e", Collections.nCopies(1_000, Map.of())));
        RecordView view = new RecordView().wrap(format, ByteBuffer.wrap(record), 0, record.length);
        assertEquals(
                FormatFault.BUDGET,
                assertThrows(FormatException.class, () -> RecordTree.read(view)).fault());
    }

    @Test
    void structuresThatNestBetweenPointersAreBounded() {
        FormatBuilder builder = Format.builder(Layout.X86_64);
        for (int i = 0; i < 90; i++) {
            builder.structure("s" + i).field("inner", i < 89 ? "s" + (i + 1) : "*s0");
            builder.field("room", "char[4]");
        }
        Format format = builder.build();
        Map<String, Object> values = Map.of();
        for (int i = 0; i < 90 * 50; i++) {
            values = Map.of("inner", values);
        }
        byte[] deep = new RecordEncoder(format).encode(values);
        assertEquals(
                FormatFault.DEPTH,
                assertThrows(
                                FormatException.class,
                                () -> RecordTree.read(
                                        new RecordView().wrap(format, ByteBuffer.wrap(deep), 0, deep.length)))
                        .fault());
    }

    @Test
    void typesThatAreAlikeAreOne() {
        Format format = Format.builder(Layout.X86_64)
                .structure("r")
                .field("a", "***char")
                .field("b", "***char")
                .build();
        assertSame(
                format.top().fields().get(0).type(),
                format.top().fields().get(1).type());
    }

    @Test
    void structuresOfSeveralOrdersOfArraysAreRefused() {
        byte[] description = Format.builder(Layout.X86_64)
                .structure("a")
                .field("b", "b")
                .structure("b")
                .field("m", "integer[2][3]")
                .build()
                .description();
        int second = 8 + (description[8] & 0xFF) * 256 + (description[9] & 0xFF);
        description[second + 22] = 1;
        FormatException refused = assertThrows(FormatException.class, () -> Format.of(description));
        assertEquals("structure 'b' has arrays in another order than the top structure", refused.getMessage());
    }

    /** A structure may hold another that points back to it. */
    @Test
    void whatIsHeldMayLeadBack() {
        Format format = Format.builder(Layout.X86_64)
                .structure("list")
                .field("head", "node")
                .field("n", "integer", 8)
                .structure("node")
                .field("owner", "*list")
                .build();
        assertEquals(16, format.top().recordLength());
        assertEquals(16, format.structures().get(1).fields().get(0).size());
        assertThrows(
                FormatException.class,
                () -> Format.builder(Layout.X86_64)
                        .structure("list")
                        .field("head", "node")
                        .structure("node")
                        .field("owner", "list")
                        .build());
    }

    @Test
    void aDescriptionThatContradictsTheKnownOneIsRefused() throws IOException {
        byte[] file = Vectors.bytes("le64/scalars.ffs");
        ByteArrayOutputStream twice = new ByteArrayOutputStream();
        int item = 4 + 8 + ByteBuffer.wrap(file).getInt(4) % (1 << 24);
        twice.write(file);
        twice.write(file, 4, file.length - 4);
        byte[] both = twice.toByteArray();
        assertEquals(2, formats(both));
        both[file.length + item + 12] ^= 1;
        assertThrows(FormatException.class, () -> formats(both));
    }

    private static int formats(byte[] file) {
        int formats = 0;
        try (FfsReader reader = FfsReader.ofFile(new ByteArrayInputStream(file))) {
            for (ItemKind kind = reader.next(); kind != null; kind = reader.next()) {
                formats += kind == ItemKind.FORMAT ? 1 : 0;
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return formats;
    }
}
