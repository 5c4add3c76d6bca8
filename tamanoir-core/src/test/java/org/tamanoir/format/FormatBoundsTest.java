package org.tamanoir.format;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
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
}
