package org.tamanoir.node.ffs;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.tamanoir.format.Format;
import org.tamanoir.format.FormatException;
import org.tamanoir.format.Layout;
import org.tamanoir.format.RecordTree;
import org.tamanoir.format.RecordView;
import org.tamanoir.format.text.CborInput;
import org.tamanoir.format.text.JsonRecords;
import org.tamanoir.format.text.RecordJson;
import org.tamanoir.support.Damage;
import org.tamanoir.support.Seeds;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.JsonParser;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.ObjectWriteContext;
import tools.jackson.dataformat.cbor.CBORFactory;

/** Random CBOR: what is whole is what was written, or refused; what is damaged is refused or comes back as it was read. */
@Tag("once")
class CborFuzzTest {
    private static final int ROUNDS = 2_000;
    private static final CBORFactory CBOR = new CBORFactory();
    private static final Format ALL = Format.builder(Layout.X86_64)
            .structure("all")
            .field("i8", "integer", 8)
            .field("u8", "unsigned integer", 8)
            .field("f4", "float", 4)
            .field("f8", "float", 8)
            .field("s", "string")
            .build();
    private static final String[] TEXTS = {
        "",
        "41",
        "c3a9",
        "f09f9880",
        "efbbbf",
        "efbfbd",
        "80",
        "c080",
        "c181",
        "e08181",
        "eda080",
        "f4908080",
        "ff",
        "00",
        "c3"
    };

    private static byte @Nullable [] record(byte[] item) {
        try (JsonParser in =
                CBOR.createParser(ObjectReadContext.empty(), new CborInput(new ByteArrayInputStream(item)))) {
            return new JsonRecords(ALL).next(in);
        } catch (FormatException | JacksonException e) {
            return null;
        }
    }

    private static Map<String, @Nullable Object> tree(byte[] record) {
        return RecordTree.read(new RecordView().wrap(ALL, ByteBuffer.wrap(record), 0, record.length));
    }

    private static void head(ByteArrayOutputStream out, int major, long argument, Random random) {
        int bytes = 1 << random.nextInt(4);
        if (argument >= 0 && argument < 24 && random.nextBoolean()) {
            out.write(major << 5 | (int) argument);
        } else if (bytes < 8 && argument >>> 8 * bytes == 0) {
            out.write(major << 5 | 24 + Integer.numberOfTrailingZeros(bytes));
            for (int i = bytes - 1; i >= 0; i--) {
                out.write((int) (argument >>> 8 * i));
            }
        } else {
            out.write(major << 5 | 27);
            out.writeBytes(ByteBuffer.allocate(8).putLong(argument).array());
        }
    }

    private static void text(ByteArrayOutputStream out, byte[] text, Random random) {
        head(out, 3, text.length, random);
        out.writeBytes(text);
    }

    private static boolean isUtf8(byte[] bytes) {
        String text = new String(bytes, StandardCharsets.UTF_8);
        return text.indexOf(0) < 0 && Arrays.equals(text.getBytes(StandardCharsets.UTF_8), bytes);
    }

    @Test
    void aRecordIsWhatWasWrittenOrRefused() {
        for (long seed : Seeds.ofCommit(CborFuzzTest.class, ROUNDS)) {
            Random random = Damage.random(seed);
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            Map<String, Object> wanted = new HashMap<>();
            boolean fits = true;
            head(out, 5, 5, random);
            for (String name : new String[] {"i8", "u8"}) {
                text(out, name.getBytes(StandardCharsets.US_ASCII), random);
                int major = random.nextInt(2);
                long argument = random.nextLong() >>> random.nextInt(64);
                head(out, major, argument, random);
                BigInteger value = new BigInteger(Long.toUnsignedString(argument));
                value = major == 0 ? value : value.not();
                fits &= name.equals("i8") ? value.bitLength() < 64 : value.signum() >= 0;
                wanted.put(name, value.toString());
            }
            text(out, "f8".getBytes(StandardCharsets.US_ASCII), random);
            double f8 = Double.longBitsToDouble(random.nextLong());
            out.write(0xFB);
            out.writeBytes(ByteBuffer.allocate(8).putDouble(f8).array());
            text(out, "f4".getBytes(StandardCharsets.US_ASCII), random);
            double f4 = random.nextBoolean() ? f8 : Float.intBitsToFloat(random.nextInt());
            out.write(0xFB);
            out.writeBytes(ByteBuffer.allocate(8).putDouble(f4).array());
            fits &= !Double.isFinite(f4)
                    || f4 == 0
                    || Math.abs(new BigDecimal(f4).floatValue()) > 0 && Math.abs((float) f4) <= Float.MAX_VALUE;
            text(out, "s".getBytes(StandardCharsets.US_ASCII), random);
            byte[] s = HexFormat.of().parseHex(Damage.any(random, TEXTS) + Damage.any(random, TEXTS));
            text(out, s, random);
            fits &= isUtf8(s);
            byte[] record = record(out.toByteArray());
            String shown = "seed " + seed + ": " + HexFormat.of().formatHex(out.toByteArray());
            assertEquals(fits, record != null, shown);
            if (record != null) {
                Map<String, @Nullable Object> read = tree(record);
                assertEquals(wanted.get("i8"), String.valueOf(read.get("i8")), shown);
                assertEquals(wanted.get("u8"), String.valueOf(read.get("u8")), shown);
                assertEquals(f8, read.get("f8"), shown);
                assertEquals((double) (float) f4, read.get("f4"), shown);
                assertArrayEquals(s, (byte[]) read.get("s"), shown);
            }
        }
    }

    @Test
    void whatIsDamagedIsRefusedOrComesBack() {
        for (long seed : Seeds.ofCommit(CborFuzzTest.class, ROUNDS)) {
            Random random = Damage.random(seed);
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            out.write(0xBF);
            for (int n = random.nextInt(4); n > 0; n--) {
                text(out, Damage.any(random, "i8", "u8", "f4", "f8", "s").getBytes(StandardCharsets.US_ASCII), random);
                out.writeBytes(HexFormat.of()
                        .parseHex(Damage.any(
                                random,
                                "00",
                                "20",
                                "1bffffffffffffffff",
                                "f93c00",
                                "fa7f800000",
                                "fb3fb999999999999a",
                                "c24101",
                                "c48221190fa0",
                                "6161",
                                "7f61616162ff",
                                "5f4101ff",
                                "f6",
                                "f7",
                                "f5",
                                "9f01ff",
                                "bfff",
                                "a163686578643331",
                                "d9d9f701",
                                "62c181",
                                "63eda080")));
            }
            out.write(0xFF);
            byte[] item = Damage.of(out.toByteArray(), random);
            byte[] record = record(item);
            String shown = "seed " + seed + ": " + HexFormat.of().formatHex(item);
            if (record != null) {
                RecordView view = new RecordView().wrap(ALL, ByteBuffer.wrap(record), 0, record.length);
                ByteArrayOutputStream again = new ByteArrayOutputStream();
                try (JsonGenerator generator = CBOR.createGenerator(ObjectWriteContext.empty(), again)) {
                    new RecordJson().write(view, generator);
                }
                byte[] back = record(again.toByteArray());
                assertNotNull(back, shown);
                Map<String, @Nullable Object> read = tree(record);
                Map<String, @Nullable Object> same = tree(back);
                assertArrayEquals((byte[]) read.remove("s"), (byte[]) same.remove("s"), shown);
                assertEquals(read, same, shown); // One NaN is as good as another.
            }
        }
    }
}
