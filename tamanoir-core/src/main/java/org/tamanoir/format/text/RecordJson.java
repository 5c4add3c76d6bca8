package org.tamanoir.format.text;

import java.math.BigInteger;
import java.nio.ByteBuffer;
import org.tamanoir.format.Field;
import org.tamanoir.format.FormatLimits;
import org.tamanoir.format.Kind;
import org.tamanoir.format.RecordView;
import org.tamanoir.format.RecordVisitor;
import org.tamanoir.format.RecordWalker;
import org.tamanoir.format.Structure;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.StreamWriteConstraints;
import tools.jackson.core.json.JsonFactory;

/**
 * Writes records into a generator of Jackson, be it of JSON or of CBOR: numbers as numbers, a char as its byte, floats
 * without a number as {@code "NaN"}, {@code "Infinity"} and {@code "-Infinity"}, other floats as {@code {"octets":
 * "hex"}}, strings as text or {@code {"hex": "..."}} where they are not UTF-8, arrays as lists, null pointers and arrays
 * without elements by a count as null, structures as objects. Where a structure leads to itself, each has {@code
 * "@id"}, its number in the order of first visits, and a pointer to one that was visited before is {@code {"@ref":
 * number}}.
 *
 * <p>Thread contract: one thread.
 */
public final class RecordJson {
    /** As deep as any record nests, an object around it and one for bytes in it. */
    private static final int MAX_DEPTH = FormatLimits.NESTING + 8;

    private final RecordWalker walker = new RecordWalker();

    /** Makes a factory whose bounds fit what records may hold. */
    public static JsonFactory factory() {
        return JsonFactory.builder()
                .streamWriteConstraints(StreamWriteConstraints.builder()
                        .maxNestingDepth(MAX_DEPTH)
                        .build())
                .streamReadConstraints(StreamReadConstraints.builder()
                        .maxNestingDepth(MAX_DEPTH)
                        .build())
                .build();
    }

    /**
     * Writes a record as an object.
     *
     * @throws org.tamanoir.format.FormatException if it is damaged; part of it is then written
     */
    public void write(RecordView record, JsonGenerator out) {
        walker.walk(record, new Writer(out));
    }

    private static final class Writer implements RecordVisitor {
        private final JsonGenerator out;
        private final Utf8 utf8 = new Utf8();

        Writer(JsonGenerator out) {
            this.out = out;
        }

        @Override
        public void beginStructure(Structure structure, int id) {
            out.writeStartObject();
            if (id != NONE) {
                out.writeNumberProperty("@id", id);
            }
        }

        @Override
        public void field(Field field) {
            out.writeName(field.name());
        }

        @Override
        public void endStructure() {
            out.writeEndObject();
        }

        @Override
        public void beginArray(int count) {
            out.writeStartArray();
        }

        @Override
        public void endArray() {
            out.writeEndArray();
        }

        @Override
        public void nullValue() {
            out.writeNull();
        }

        @Override
        public void reference(int id) {
            out.writeStartObject();
            out.writeNumberProperty("@ref", id);
            out.writeEndObject();
        }

        @Override
        public void whole(Kind kind, long value) {
            if (value < 0 && kind != Kind.INTEGER) {
                out.writeNumber(new BigInteger(Long.toUnsignedString(value)));
            } else {
                out.writeNumber(value);
            }
        }

        @Override
        public void floating(double value, int bytes) {
            if (Double.isFinite(value)) {
                out.writeNumber(value);
            } else {
                out.writeString(Double.toString(value));
            }
        }

        @Override
        public void opaque(ByteBuffer memory, int at, int bytes) {
            hex("octets", memory, at, bytes);
        }

        @Override
        public void text(ByteBuffer memory, int at, int bytes) {
            String text = utf8.decode(memory, at, bytes);
            if (text != null) {
                out.writeString(text);
            } else {
                hex("hex", memory, at, bytes);
            }
        }

        private void hex(String name, ByteBuffer memory, int at, int bytes) {
            out.writeStartObject();
            out.writeStringProperty(name, Utf8.hex(memory, at, bytes));
            out.writeEndObject();
        }
    }
}
