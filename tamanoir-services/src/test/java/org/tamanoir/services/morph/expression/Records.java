package org.tamanoir.services.morph.expression;

import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import org.tamanoir.format.Field;
import org.tamanoir.format.Format;
import org.tamanoir.format.FormatBuilder;
import org.tamanoir.format.Kind;
import org.tamanoir.format.Layout;
import org.tamanoir.format.RecordEncoder;
import org.tamanoir.format.RecordView;
import org.tamanoir.format.Structure;

/** Formats and records of tests. */
final class Records {
    private static final long[] LONGS = {0, 1, -1, 2, 10, 127, 255, 32_767, 65_535, Integer.MAX_VALUE, Long.MAX_VALUE};
    private static final double[] DOUBLES = {0, -0.0, 1, -1, 0.5, 1e10, 0x1p53, 0x1p63, -0x1p63, 0x1p64, 1e300};
    private static final String[] TEXTS = {"", "a", "ATL", "DFW", "ATLanta", "ünï", "12", "-7", "€"};

    private Records() {}

    static Format flight() {
        return flight(Layout.X86_64);
    }

    static Format flight(Layout layout) {
        return Format.builder(layout)
                .structure("flight")
                .field("id", "integer", 8)
                .field("delay", "integer", 4)
                .field("fuel_lb", "float", 8)
                .field("hub", "string")
                .field("gate", "char[4]")
                .field("serial", "unsigned", 8)
                .field("late", "boolean", 4)
                .field("n", "integer", 4)
                .field("legs", "leg[n]")
                .field("temp_f", "float[2]", 4)
                .field("origin", "airport")
                .field("alternate", "*airport")
                .field("grid", "integer[2][3]", 4)
                .field("in", "integer", 4)
                .field("odd-name", "integer", 4)
                .structure("leg")
                .field("miles", "integer", 4)
                .field("to", "string")
                .structure("airport")
                .field("city", "string")
                .field("runways", "unsigned", 2)
                .build();
    }

    static Map<String, Object> values() {
        Map<String, Object> values = new HashMap<>();
        values.put("id", 42L);
        values.put("delay", 20);
        values.put("fuel_lb", 1000.5);
        values.put("hub", "ATL");
        values.put("gate", List.of(65, 49, 0, 0));
        values.put("serial", new BigInteger("18446744073709551615"));
        values.put("late", 7);
        values.put("legs", List.of(Map.of("miles", 100, "to", "DFW"), Map.of("miles", 250, "to", "Zürich")));
        values.put("temp_f", List.of(50.0, -40.0));
        values.put("origin", Map.of("city", "Atlanta", "runways", 5));
        values.put("grid", List.of(List.of(1, 2, 3), List.of(4, 5, 6)));
        values.put("in", 9);
        values.put("odd-name", -3);
        return values;
    }

    static RecordView view(Format format, Map<String, Object> values) {
        byte[] bytes = new RecordEncoder(format).encode(values);
        return new RecordView().wrap(format, ByteBuffer.wrap(bytes), 0, bytes.length);
    }

    static Layout layout(Random random) {
        return random.nextBoolean() ? Layout.X86_64 : Layout.X86_64.withOrder(ByteOrder.BIG_ENDIAN);
    }

    /** A format whose fields' names say their kinds: {@code i0}, {@code d1}, {@code s0}, ... and their CEL types. */
    static Format random(Random random) {
        FormatBuilder builder = Format.builder(layout(random)).structure("record");
        add(builder, random);
        builder.field("inner", random.nextBoolean() ? "part" : "*part");
        builder.field("n", "integer", 1 << random.nextInt(4));
        builder.field("parts", "part[n]");
        builder.structure("part");
        add(builder, random);
        return builder.build();
    }

    private static void add(FormatBuilder builder, Random random) {
        builder.field("i0", "integer", 1 << random.nextInt(4));
        builder.field("i1", "unsigned", 1 << random.nextInt(3));
        builder.field("i2", random.nextBoolean() ? "enumeration" : "integer", 8);
        builder.field("u0", "unsigned", 8);
        builder.field("d0", "float", 8);
        builder.field("d1", "float", 4);
        builder.field("b0", "boolean", 1 << random.nextInt(4));
        builder.field("s0", "string");
        builder.field("s1", "string");
        builder.field("y0", "char[5]");
        builder.field("m", "unsigned", 1 << random.nextInt(3));
        builder.field("li", random.nextBoolean() ? "integer[m]" : "integer[3]", 4);
        builder.field("ld", "float[m]", random.nextBoolean() ? 4 : 8);
        builder.field("ls", random.nextBoolean() ? "string[m]" : "string[2]");
    }

    static RecordView record(Format format, Random random) {
        Structure part = Objects.requireNonNull(format.structure("part"));
        Map<String, Object> values = values(format.top(), random);
        if (random.nextInt(4) > 0
                || Objects.requireNonNull(format.top().field("inner"))
                        .typeText()
                        .equals("part")) {
            values.put("inner", values(part, random));
        }
        List<Object> parts = new ArrayList<>();
        for (int i = random.nextInt(4); i > 0; i--) {
            parts.add(values(part, random));
        }
        values.put("parts", parts);
        return view(format, values);
    }

    private static Map<String, Object> values(Structure structure, Random random) {
        Map<String, Object> values = new HashMap<>();
        int m = random.nextInt(4);
        for (Field field : structure.fields()) {
            String text = field.typeText();
            if (!text.endsWith("]")) {
                values.put(field.name(), value(field, random));
            } else if (field.type().kind() != Kind.STRUCTURE) {
                int count = text.endsWith("[m]") ? m : text.charAt(text.length() - 2) - '0';
                List<Object> list = new ArrayList<>();
                for (int i = 0; i < count; i++) {
                    list.add(value(field, random));
                }
                values.put(field.name(), list);
            }
        }
        values.put("m", m);
        values.remove("n");
        values.remove("inner");
        if (random.nextInt(5) == 0) {
            values.remove("s0");
        }
        return values;
    }

    private static Object value(Field field, Random random) {
        int bits = 8 * field.size();
        long edge = LONGS[random.nextInt(LONGS.length)];
        return switch (field.type().kind()) {
            case INTEGER -> {
                long value = edge & (1L << bits - 1) - 1;
                yield random.nextBoolean() ? -value - random.nextInt(2) : value;
            }
            case FLOAT -> {
                double number = number(random);
                yield bits == 32 && number == 1e300 ? 1e30 : number; // What a float does not hold is refused.
            }
            case STRING -> TEXTS[random.nextInt(TEXTS.length)];
            case BOOLEAN -> random.nextInt(2);
            case UNSIGNED ->
                bits == 64
                        ? random.nextBoolean() ? new BigInteger(64, random) : BigInteger.valueOf(Math.abs(edge))
                        : edge & (1L << bits) - 1;
            case CHAR -> random.nextInt(256);
            default -> edge & Long.MAX_VALUE & (bits == 64 ? -1 : (1L << bits) - 1);
        };
    }

    private static double number(Random random) {
        return random.nextBoolean() ? DOUBLES[random.nextInt(DOUBLES.length)] : random.nextInt(2_000) / 8.0 - 100;
    }
}
