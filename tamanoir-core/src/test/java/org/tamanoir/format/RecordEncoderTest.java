package org.tamanoir.format;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** What is written comes back, and what cannot be written is refused before memory is taken for it. */
class RecordEncoderTest {
    private static Map<String, @Nullable Object> again(Format format, Map<String, ?> values) {
        byte[] record = new RecordEncoder(format).encode(values);
        return RecordTree.read(new RecordView().wrap(format, ByteBuffer.wrap(record), 0, record.length));
    }

    @Test
    void aRecordTellsItsLengthAsSoonAsItsHeaderIsThere() {
        for (int version = 0; version <= 2; version++) {
            Format format = Format.builder(Layout.X86_64.withVersion(version))
                    .structure("s")
                    .field("text", "string")
                    .build();
            byte[] record = new RecordEncoder(format).encode(Map.of("text", "some text"));
            ByteBuffer memory = ByteBuffer.wrap(record);
            assertEquals(-1, format.encodedLength(memory, 0, format.headerBytes() - 1));
            assertEquals(record.length, format.encodedLength(memory, 0, format.headerBytes()));
        }
    }

    @Test
    void aLengthThatLiesIsNoSmallNumber() {
        Format format = Format.builder(Layout.X86_64)
                .structure("s")
                .field("text", "string")
                .build();
        ByteBuffer memory = ByteBuffer.wrap(new RecordEncoder(format).encode(Map.of("text", "some text")));
        memory.putLong(12, -1);
        assertEquals(Long.MAX_VALUE, format.encodedLength(memory, 0, memory.capacity()));
        memory.putLong(12, 0);
        assertThrows(FormatException.class, () -> format.encodedLength(memory, 0, memory.capacity()));
    }

    @Test
    void aNumberBehindPointersOfSeveralTypesIsWrittenForEach() {
        Format format = Format.builder(Layout.X86_64)
                .structure("node")
                .field("p", "*integer", 4)
                .field("q", "*float", 8)
                .field("r", "*integer", 8)
                .field("next", "*node")
                .build();
        Map<String, @Nullable Object> read = again(format, Map.of("p", 5L, "q", 5L, "r", 5L));
        assertEquals(5L, read.get("p"));
        assertEquals(5.0, read.get("q"));
        assertEquals(5L, read.get("r"));
    }

    @Test
    void aMapThatIsTwoStructuresIsWrittenAsBoth() {
        Format format = Format.builder(Layout.X86_64)
                .structure("node")
                .field("a", "*small")
                .field("b", "*large")
                .field("next", "*node")
                .structure("small")
                .field("v", "integer", 1)
                .structure("large")
                .field("v", "integer", 1)
                .field("w", "integer", 8)
                .build();
        Map<String, Object> both = Map.of("v", 3L, "w", 99L);
        Map<String, @Nullable Object> read = again(format, Map.of("a", both, "b", both));
        assertEquals(Map.of("v", 3L), read.get("a"));
        assertEquals(both, read.get("b"));
    }

    @Test
    void aMapThatTwoPointersLeadToIsOne() {
        Format format = Format.builder(Layout.X86_64)
                .structure("node")
                .field("v", "integer")
                .field("left", "*node")
                .field("right", "*node")
                .build();
        Map<String, Object> leaf = Map.of("v", 7L);
        Map<String, @Nullable Object> read = again(format, Map.of("left", leaf, "right", leaf));
        assertSame(read.get("left"), read.get("right"));
    }

    @Test
    void aPointerToAPointerLeadsToTheValue() {
        Format format = Format.builder(Layout.X86_64)
                .structure("node")
                .field("v", "integer")
                .field("pp", "**node")
                .field("qi", "**integer", 4)
                .field("n", "integer", 4)
                .field("pa", "*(integer[n])", 4)
                .build();
        Map<String, @Nullable Object> read =
                again(format, Map.of("pp", Map.of("v", 2L), "qi", 123_456L, "pa", List.of(11L, 12L)));
        assertEquals(2L, read.get("pp") instanceof Map<?, ?> inner ? inner.get("v") : null);
        assertEquals(123_456L, read.get("qi"));
        assertEquals(List.of(11L, 12L), read.get("pa"));
    }

    private static String refusal(Format format, Map<String, ?> values) {
        return String.valueOf(assertThrows(FormatException.class, () -> new RecordEncoder(format).encode(values))
                .getMessage());
    }

    @Test
    void aCountThatTheListDoesNotHaveTakesNoMemory() {
        Format numbers = Format.builder(Layout.X86_64)
                .structure("r")
                .field("n", "unsigned", 8)
                .field("c", "char[n]")
                .build();
        assertEquals(
                "field 'c': needs 2147483647 elements, not 1",
                refusal(numbers, Map.of("n", 3_000_000_000L, "c", List.of(1L))));
        Format nothing = Format.builder(Layout.X86_64)
                .structure("r")
                .field("n", "unsigned", 8)
                .field("e", "empty[n]")
                .structure("empty", 0, 1)
                .build();
        assertEquals(
                "field 'e': needs 2000000000 elements, not 1",
                refusal(nothing, Map.of("n", 2_000_000_000L, "e", List.of(Map.of()))));
    }

    @Test
    void aListThatItsCountDeniesIsRefused() {
        Format format = Format.builder(Layout.X86_64)
                .structure("r")
                .field("n", "unsigned", 4)
                .field("c", "char[n]")
                .build();
        assertEquals("field 'c': needs 0 elements, not 1", refusal(format, Map.of("n", 0, "c", List.of(1L))));
    }
}
