package org.tamanoir.format;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.tamanoir.format.text.JsonRecords;
import org.tamanoir.format.text.RecordJson;
import org.tamanoir.support.Seeds;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.JsonParser;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.ObjectWriteContext;

/**
 * Damages the C library's files at random: whatever comes, it is read or refused, in bounded time and memory. {@code
 * -Dtamanoir.fuzz.mutations=100000000} for more.
 */
@Tag("once")
class FormatFuzzTest {
    private static final int MUTATIONS = Seeds.number("tamanoir.fuzz.mutations", Seeds.scaled(25_000));
    private static final long SEED = Seeds.ofCommit(FormatFuzzTest.class);
    /** Numbers at which bounds lie. */
    private static final long[] EDGES = {
        0, 1, -1, 7, 8, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0xFFFF, 0x7FFFFFFF, 0x80000000L, 0xFFFFFFFFL, 1L << 62
    };

    private final SplittableRandom random = new SplittableRandom(SEED);
    private final Map<FormatFault, Integer> refused = new EnumMap<>(FormatFault.class);

    /** A record, and what it is read by. */
    private record Sample(
            Format format,
            byte[] bytes,
            List<Accessor> accessors,
            @Nullable Conversion conversion) {}

    private static List<Sample> samples() throws IOException {
        List<Sample> samples = new ArrayList<>();
        for (var file : Vectors.files()) {
            if (file.get("case").asString().equals("many-fields")) {
                continue;
            }
            try (FfsReader reader = Vectors.open(file.get("file").asString())) {
                for (ItemKind kind = reader.next(); kind != null; kind = reader.next()) {
                    if (kind == ItemKind.DATA) {
                        RecordView record = reader.record();
                        byte[] bytes = new byte[record.length()];
                        record.memory().get(record.start(), bytes);
                        samples.add(sample(record.format(), bytes));
                    }
                }
            }
        }
        return samples;
    }

    private static Sample sample(Format format, byte[] bytes) {
        List<Accessor> accessors = new ArrayList<>();
        for (Field field : format.top().fields()) {
            accessors.add(format.accessor(field.name()));
        }
        return new Sample(format, bytes, accessors, Conversion.compile(format, Target.of(format)));
    }

    @Test
    void aDamagedRecordIsReadOrRefused() throws IOException {
        List<Sample> samples = samples();
        RecordView view = new RecordView();
        for (int i = 0; i < MUTATIONS; i++) {
            Sample sample = samples.get(random.nextInt(samples.size()));
            // Nothing lies behind the record: what reads past its end fails otherwise than by a refusal.
            byte[] damaged = damage(sample.bytes, sample.format.headerBytes());
            ByteBuffer memory = ByteBuffer.wrap(damaged);
            attempt(i, () -> {
                view.wrap(sample.format, memory, 0, damaged.length);
                RecordTree.read(view);
            });
            attempt(i, () -> {
                view.wrap(sample.format, memory, 0, damaged.length);
                sample.accessors.forEach(accessor -> read(accessor, view));
            });
            attempt(i, () -> {
                view.wrap(sample.format, memory, 0, damaged.length);
                if (sample.conversion != null) {
                    sample.conversion.convert(view);
                }
            });
            if (i % 4 == 0) {
                attempt(i, () -> writtenAgain(view.wrap(sample.format, memory, 0, damaged.length)));
            }
        }
        assertTrue(!refused.isEmpty());
    }

    /** What is read can be written, as memory and as JSON, and read again; neither grows without bound. */
    private static void writtenAgain(RecordView view) {
        Format format = view.format();
        StringWriter text = new StringWriter();
        try (JsonGenerator out = RecordJson.factory().createGenerator(ObjectWriteContext.empty(), text)) {
            new RecordJson().write(view, out);
        }
        // Values, texts and names each are bounded by the record; the descriptions of the samples have short names.
        assertTrue(text.getBuffer().length() <= 1_000L * (view.bodyLength() + 1_024));
        byte[] parsed;
        try (JsonParser in = RecordJson.factory().createParser(ObjectReadContext.empty(), text.toString())) {
            parsed = Objects.requireNonNull(new JsonRecords(format).next(in));
        }
        RecordView back = new RecordView().wrap(format, ByteBuffer.wrap(parsed), 0, parsed.length);
        new RecordWalker().check(back);
        byte[] encoded = new RecordEncoder(format).encode(RecordTree.read(view));
        new RecordWalker().check(back.wrap(format, ByteBuffer.wrap(encoded), 0, encoded.length));
    }

    private static void read(Accessor accessor, RecordView view) {
        if (accessor.isArray()) {
            int count = Math.min(4, accessor.count(view, 0));
            for (int i = 0; i < count; i++) {
                readLeaf(accessor.element(), view, accessor.elementAt(view, 0, i));
            }
        } else {
            readLeaf(accessor, view, 0);
        }
    }

    private static void readLeaf(Accessor accessor, RecordView view, int from) {
        if (accessor.isArray()) {
            accessor.count(view, from);
        } else if (accessor.kind() == Kind.STRING) {
            accessor.getText(view, from);
        } else if (accessor.kind() == Kind.STRUCTURE) {
            accessor.structureAt(view, from);
        } else {
            accessor.getLong(view, from);
        }
    }

    @Test
    void aDamagedDescriptionIsReadOrRefused() throws IOException {
        List<Sample> samples = samples();
        for (int i = 0; i < MUTATIONS; i++) {
            Sample sample = samples.get(random.nextInt(samples.size()));
            byte[] description = damage(sample.format.description(), 0);
            attempt(i, () -> {
                Format format = Format.of(description);
                // The record under the damaged description, under which nothing fits any more.
                byte[] record = new byte[format.headerBytes() + sample.bytes.length];
                System.arraycopy(sample.bytes, 0, record, format.headerBytes(), sample.bytes.length);
                ByteBuffer memory = ByteBuffer.wrap(record);
                format.id().write(memory, 0);
                if (format.lengthAt() >= 0) {
                    int bytes = format.layout().version() == 2 ? 8 : 4;
                    Memory.put(memory, format.lengthAt(), bytes, format.layout().big(), sample.bytes.length);
                }
                RecordTree.read(new RecordView().wrap(format, memory, 0, record.length));
            });
        }
        assertTrue(!refused.isEmpty());
    }

    @Test
    void aDamagedStreamIsReadOrRefused() {
        List<byte[]> files = new ArrayList<>();
        Vectors.files().forEach(file -> files.add(Vectors.bytes(file.get("file").asString())));
        for (int i = 0; i < MUTATIONS / 10; i++) {
            byte[] damaged = damage(files.get(random.nextInt(files.size())), 0);
            attempt(i, () -> {
                ItemDecoder decoder = new ItemDecoder(true);
                decoder.feed(ByteBuffer.wrap(damaged));
                for (ItemKind kind = decoder.next(); kind != null; kind = decoder.next()) {
                    if (kind == ItemKind.INDEX) {
                        IndexBlock.read(decoder.memory(), decoder.itemAt(), decoder.itemBytes());
                    }
                }
                decoder.end();
            });
        }
        assertTrue(!refused.isEmpty());
    }

    @Test
    void aDamagedFileIsReadOrRefused() {
        List<byte[]> files = new ArrayList<>();
        Vectors.files().stream()
                .map(file -> file.get("file").asString())
                .filter(name -> name.endsWith(".ffs"))
                .forEach(name -> files.add(Vectors.bytes(name)));
        for (int i = 0; i < MUTATIONS / 10; i++) {
            byte[] damaged = damage(files.get(random.nextInt(files.size())), 0);
            int mutation = i;
            attempt(i, () -> {
                try (FfsReader reader = FfsReader.ofFile(new ByteArrayInputStream(damaged))) {
                    for (ItemKind kind = reader.next(); kind != null; kind = reader.next()) {
                        if (kind == ItemKind.DATA) {
                            attempt(mutation, () -> new RecordWalker().check(reader.record()));
                        }
                    }
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
        }
        assertTrue(!refused.isEmpty());
    }

    private void attempt(int mutation, Runnable reading) {
        try {
            reading.run();
        } catch (FormatException e) {
            refused.merge(e.fault(), 1, Integer::sum);
        } catch (RuntimeException | StackOverflowError | OutOfMemoryError e) {
            throw new AssertionError("mutation " + mutation + " of -Dtamanoir.seed=" + SEED, e);
        }
    }

    /** Changes one to four places from {@code from} on, or cuts the end. */
    private byte[] damage(byte[] bytes, int from) {
        byte[] damaged = bytes.clone();
        for (int changes = random.nextInt(1, 5); changes > 0; changes--) {
            int at = random.nextInt(random.nextInt(8) == 0 ? 0 : Math.min(from, bytes.length - 1), bytes.length);
            switch (random.nextInt(5)) {
                case 0 -> damaged[at] ^= (byte) (1 << random.nextInt(8));
                case 1 -> damaged[at] = (byte) random.nextInt();
                case 2 -> put(damaged, at & -4, 4);
                case 3 -> put(damaged, at & -8, 8);
                default -> {
                    if (random.nextInt(10) == 0) {
                        return Arrays.copyOf(damaged, at);
                    }
                }
            }
        }
        return damaged;
    }

    private void put(byte[] bytes, int at, int width) {
        if (at + width <= bytes.length) {
            long value = random.nextBoolean() ? EDGES[random.nextInt(EDGES.length)] : random.nextInt(bytes.length + 1);
            Memory.put(ByteBuffer.wrap(bytes), at, width, random.nextBoolean(), value);
        }
    }
}
