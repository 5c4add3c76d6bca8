package org.tamanoir.format;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class AccessorTest {
    private static final Map<String, Object> VALUES = Map.of(
            "delay",
            -25,
            "big",
            -1L >>> 1,
            "rate",
            0.5,
            "hub",
            "ATL",
            "origin",
            Map.of("city", "Łódź", "temperatures", List.of(7, 8, 9)),
            "pax",
            List.of(Map.of("name", "Ann", "bags", List.of(1.5, 2.5)), Map.of("name", "Bo")),
            "grid",
            List.of(List.of(1, 2, 3), List.of(4, 5, 6)),
            "next",
            Map.of("name", "Cy"));

    static List<Layout> layouts() {
        return Stream.of(ByteOrder.LITTLE_ENDIAN, ByteOrder.BIG_ENDIAN)
                .map(Layout.X86_64::withOrder)
                .flatMap(layout -> Stream.of(layout, layout.withPointerBytes(4), layout.withVersion(0)))
                .flatMap(layout -> Stream.of(layout, layout.withColumnMajor(true)))
                .toList();
    }

    private static Format flight(Layout layout) {
        return Format.builder(layout)
                .structure("flight")
                .field("delay", "integer", 2)
                .field("big", "unsigned", 8)
                .field("rate", "float", 4)
                .field("hub", "string")
                .field("none", "string")
                .field("origin", "place")
                .field("npax", "integer", 1)
                .field("pax", "passenger[npax]")
                .field("rows", "integer")
                .field("columns", "integer")
                .field("grid", "integer[rows][columns]", 4)
                .field("next", "*passenger")
                .field("nobody", "*passenger")
                .structure("place")
                .field("city", "string")
                .field("temperatures", "integer[3]", 2)
                .structure("passenger")
                .field("name", "string")
                .field("nbags", "integer")
                .field("bags", "float[nbags]", 8)
                .build();
    }

    /** Puts the record between other bytes, so that what looks outside it finds something else. */
    private static RecordView record(Format format) {
        byte[] encoded = new RecordEncoder(format).encode(VALUES);
        ByteBuffer memory = ByteBuffer.allocateDirect(encoded.length + 26);
        for (int i = 0; i < memory.capacity(); i++) {
            memory.put(i, (byte) 0x5A);
        }
        memory.put(13, encoded);
        return new RecordView().wrap(format, memory, 13, encoded.length);
    }

    private static byte[] text(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    @ParameterizedTest
    @MethodSource("layouts")
    void aNumberIsReadWithItsSignAndWidth(Layout layout) {
        Format format = flight(layout);
        RecordView record = record(format);
        assertEquals(-25, format.accessor("delay").getLong(record));
        assertEquals(Long.MAX_VALUE, format.accessor("big").getLong(record));
        assertEquals(0.5, format.accessor("rate").getDouble(record));
        assertEquals(-25.0, format.accessor("delay").getDouble(record));
    }

    @ParameterizedTest
    @MethodSource("layouts")
    void aPathLeadsThroughStructuresArraysAndPointers(Layout layout) {
        Format format = flight(layout);
        RecordView record = record(format);
        assertEquals("Łódź", format.accessor("origin.city").getText(record, 0));
        assertEquals(9, format.accessor("flight.origin.temperatures[2]").getLong(record));
        assertEquals(2.5, format.accessor("pax[0].bags[1]").getDouble(record));
        assertEquals("Bo", format.accessor("pax[1].name").getText(record, 0));
        assertEquals("Cy", format.accessor("next.name").getText(record, 0));
        assertEquals(6, format.accessor("grid[5]").getLong(record));
    }

    @ParameterizedTest
    @MethodSource("layouts")
    void elementsComeInTheOrderOfRows(Layout layout) {
        Format format = flight(layout);
        RecordView record = record(format);
        Accessor grid = format.accessor("grid");
        long[] elements = new long[grid.count(record, 0)];
        for (int i = 0; i < elements.length; i++) {
            elements[i] = grid.element().getLong(record, grid.elementAt(record, 0, i));
        }
        assertEquals("[1, 2, 3, 4, 5, 6]", Arrays.toString(elements));
        assertEquals(3, grid.count(record, 0, 1));
    }

    @Test
    void fieldsOfElementsAreReadFromTheirPlaces() {
        Format format = flight(Layout.X86_64);
        RecordView record = record(format);
        Accessor pax = format.accessor("pax");
        Accessor name = format.accessor(Objects.requireNonNull(pax.type().structure()), "name");
        assertTrue(name.textEquals(record, pax.elementAt(record, 0, 1), text("Bo")));
    }

    @Test
    void textsAreComparedAsBytes() {
        Format format = flight(Layout.X86_64);
        RecordView record = record(format);
        Accessor hub = format.accessor("hub");
        assertTrue(hub.textEquals(record, 0, text("ATL")));
        assertFalse(hub.textEquals(record, 0, text("ATLA")));
        assertTrue(hub.compareText(record, 0, text("DFW")) < 0);
        assertTrue(hub.textStartsWith(record, 0, text("AT")));
        assertTrue(hub.textEndsWith(record, 0, text("TL")));
        assertTrue(hub.textContains(record, 0, text("T")));
        assertFalse(hub.textContains(record, 0, text("TA")));
    }

    @Test
    void nullReadsAsNothing() {
        Format format = flight(Layout.X86_64);
        RecordView record = record(format);
        assertTrue(format.accessor("none").isNull(record, 0));
        assertTrue(format.accessor("none").textEquals(record, 0, text("")));
        assertTrue(format.accessor("nobody.name").isNull(record, 0));
        assertEquals(0, format.accessor("nobody.bags").count(record, 0));
        assertEquals(0, format.accessor("nobody.nbags").getLong(record));
    }

    @Test
    void aNumberIsChangedInPlace() {
        Format format = flight(Layout.X86_64.withOrder(ByteOrder.BIG_ENDIAN));
        RecordView record = record(format);
        assertTrue(format.accessor("pax[1].nbags").setLong(record, 0, 7));
        assertEquals(7, format.accessor("pax[1].nbags").getLong(record));
        assertEquals("Bo", format.accessor("pax[1].name").getText(record, 0));
    }

    @Test
    void anElementBehindTheLastIsRefused() {
        Format format = flight(Layout.X86_64);
        RecordView record = record(format);
        FormatException refused = assertThrows(
                FormatException.class, () -> format.accessor("pax[2].name").getText(record, 0));
        assertEquals("pax[2].name: element 2 of 2", refused.getMessage());
        assertEquals(FormatFault.INDEX, refused.fault());
    }

    @Test
    void aPathThatLeadsNowhereIsRefused() {
        Format format = flight(Layout.X86_64);
        assertEquals(
                "path 'origin.hub': structure 'place' has no field 'hub'",
                assertThrows(FormatException.class, () -> format.accessor("origin.hub"))
                        .getMessage());
        assertThrows(FormatException.class, () -> format.accessor("delay.x"));
        assertThrows(FormatException.class, () -> format.accessor("delay[0]"));
        assertThrows(FormatException.class, () -> format.accessor("grid[x]"));
        assertThrows(FormatException.class, () -> format.accessor("grid[1"));
    }

    @Test
    void aRecordOfAnotherFormatIsRefused() {
        RecordView record = record(flight(Layout.X86_64));
        Accessor other = flight(Layout.X86_64.withPointerBytes(4)).accessor("delay");
        assertThrows(IllegalArgumentException.class, () -> other.getLong(record));
    }

    @Test
    void aPlaceOutsideTheRecordIsRefused() {
        Format format = flight(Layout.X86_64);
        RecordView record = record(format);
        Accessor name = format.accessor(Objects.requireNonNull(format.structure("passenger")), "name");
        assertThrows(IndexOutOfBoundsException.class, () -> name.getText(record, record.bodyLength() - 8));
        assertThrows(IndexOutOfBoundsException.class, () -> name.getText(record, -8));
    }
}
