package org.tamanoir.benchmarks.morph;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.tamanoir.benchmarks.report.Plot;
import org.tamanoir.benchmarks.report.Rows;
import org.tamanoir.benchmarks.report.Section;
import org.tamanoir.benchmarks.report.Series;
import org.tamanoir.format.Accessor;
import org.tamanoir.format.Format;
import org.tamanoir.format.Layout;
import org.tamanoir.format.RecordEncoder;
import org.tamanoir.format.RecordView;

/** Figure 4: merging 2, 3 and 4 streams by key, in the node and in the receiver, and what a memory limit does. */
final class MergeFigures {
    private static final int FAN_IN = 4;
    private static final int KEYS = 4_096;
    /** By how many records each stream is behind the one before it. */
    private static final int BEHIND = 200;
    /** Of three streams 600 parts wait, of four 1,200. */
    private static final String STATE = "160KiB";

    private MergeFigures() {}

    private static String declared(int part) {
        return "  part%d: {id: integer(8), value%d: double, text%d: string}\n".formatted(part, part, part);
    }

    private static String plan(int fanIn, String state) {
        String parts = IntStream.range(0, fanIn).mapToObj(i -> "part" + i).collect(Collectors.joining(", "));
        StringBuilder text = new StringBuilder("declare:\n");
        StringBuilder merged = new StringBuilder("id: integer(8)");
        for (int i = 0; i < fanIn; i++) {
            text.append(declared(i));
            merged.append(", value%d: double, text%d: string".formatted(i, i));
        }
        return text + "  merged: {" + merged + "}\nhandlers:\n  m: {merge: {key: id, from: [" + parts
                + "], output: merged, window: 60s, state: " + state + "}, then: out}\npaths: [{enter: m}]\n";
    }

    private static Format part(int part) {
        return Format.builder(Layout.X86_64)
                .structure("part" + part)
                .field("id", "integer", 8)
                .field("value" + part, "float", 8)
                .field("text" + part, "string")
                .build();
    }

    static void run(Settings settings, Section section) throws IOException {
        section.say(
                "Streams of records of some 60 bytes that belong together by a key, each stream %d records behind the one "
                        + "before; one record out for each key. Processor time of a thread for each merged record: the merge, by "
                        + "the same handler wherever it is, and a receiver that reads a number of each part. In the receiver: both; "
                        + "with the node's help, the receiver is left with reading. Then the same with %s for what waits.",
                BEHIND, STATE);
        Path folder = Files.createTempDirectory("tamanoir-morph-");
        Rows table = new Rows(
                "streams | merge, ns/merged | receiver that merges, ns | receiver behind the node, ns | merged with "
                        + STATE + ", % | of all");
        Rows csv = new Rows("streams,merge ns,receiver ns,receiver behind node ns,merged percent with " + STATE);
        Series plot = new Series();
        for (int fanIn = 2; fanIn <= FAN_IN; fanIn++) {
            double all = ns(settings, folder, fanIn, true);
            double merge = ns(settings, folder, fanIn, false);
            double reading = readingNs(settings, folder, fanIn);
            double percent = percentMerged(folder, fanIn);
            table.row("%d | %.0f | %.0f | %.0f | %.0f", fanIn, merge, all, reading, percent);
            csv.row("%d,%.1f,%.1f,%.1f,%.1f", fanIn, merge, all, reading, percent);
            plot.add("receiver merges", all).add("node merges", reading);
            section.find(
                    fanIn + " streams: receiver's time, merging to behind the node; merged with " + STATE,
                    fanIn == FAN_IN ? "> 1.5 times; falls" : "> 1.5 times",
                    "%.0f to %.0f ns, %.1f times; %.0f %%",
                    all,
                    reading,
                    all / reading,
                    percent);
        }
        section.table(table)
                .csv("", csv)
                .plot("", Plot.bars("Receiver's time for a merged record", "ns", List.of("2", "3", "4"), plot));
    }

    /** Reads a number of each part. */
    private static final class Reader {
        private final int fanIn;
        private Accessor[] numbers = {};
        private @Nullable Format format;
        private double sum;

        Reader(int fanIn) {
            this.fanIn = fanIn;
        }

        void read(RecordView record) {
            if (record.format() != format) {
                Format of = record.format();
                numbers = IntStream.range(0, fanIn)
                        .mapToObj(i -> of.accessor("value" + i))
                        .toArray(Accessor[]::new);
                format = of;
            }
            for (Accessor number : numbers) {
                sum += number.getDouble(record);
            }
        }
    }

    private static Format merged(int fanIn) {
        var builder = Format.builder(Layout.X86_64).structure("merged").field("id", "integer", 8);
        for (int i = 0; i < fanIn; i++) {
            builder.field("value" + i, "float", 8).field("text" + i, "string");
        }
        return builder.build();
    }

    private static Format[] formats(int fanIn) {
        return IntStream.range(0, fanIn).mapToObj(MergeFigures::part).toArray(Format[]::new);
    }

    private static ByteBuffer[][] parts(int fanIn) {
        ByteBuffer[][] parts = new ByteBuffer[fanIn][];
        for (int part = 0; part < fanIn; part++) {
            RecordEncoder encoder = new RecordEncoder(part(part));
            int number = part;
            parts[part] = PlanRun.direct(IntStream.range(0, KEYS)
                    .mapToObj(id ->
                            encoder.encode(Map.of("id", id, "value" + number, id * 0.5, "text" + number, "some words")))
                    .toList());
        }
        return parts;
    }

    private static double ns(Settings settings, Path folder, int fanIn, boolean reading) throws IOException {
        Path plan = Files.writeString(folder.resolve("merge.yaml"), plan(fanIn, "16MiB"));
        Reader reader = new Reader(fanIn);
        ByteBuffer[][] parts = parts(fanIn);
        Format[] formats = formats(fanIn);
        try (PlanRun run = new PlanRun(plan, record -> {
            if (reading) {
                reader.read(record);
            }
        })) {
            return Costs.ns(settings, index -> {
                for (int part = 0; part < fanIn; part++) {
                    int at = Math.floorMod(index - part * BEHIND, KEYS);
                    run.handle(formats[part], parts[part][at]);
                }
            });
        }
    }

    private static double readingNs(Settings settings, Path folder, int fanIn) throws IOException {
        Path plan = Files.writeString(folder.resolve("pass.yaml"), "default: pass\n");
        Format merged = merged(fanIn);
        Reader reader = new Reader(fanIn);
        RecordEncoder encoder = new RecordEncoder(merged);
        ByteBuffer[] records = PlanRun.direct(IntStream.range(0, KEYS)
                .mapToObj(id -> {
                    Map<String, Object> values = new HashMap<>(Map.of("id", id));
                    for (int i = 0; i < fanIn; i++) {
                        values.put("value" + i, id * 0.5);
                        values.put("text" + i, "some words");
                    }
                    return encoder.encode(values);
                })
                .toList());
        try (PlanRun run = new PlanRun(plan, reader::read)) {
            return Costs.ns(settings, index -> run.handle(merged, records[index % KEYS]));
        }
    }

    /** Returns the share of keys of which a merged record comes, in percent. */
    private static double percentMerged(Path folder, int fanIn) throws IOException {
        Path plan = Files.writeString(folder.resolve("narrow.yaml"), plan(fanIn, STATE));
        ByteBuffer[][] parts = parts(fanIn);
        Format[] formats = formats(fanIn);
        try (PlanRun run = new PlanRun(plan, record -> {})) {
            for (int at = 0; at < KEYS + (fanIn - 1) * BEHIND; at++) {
                for (int part = 0; part < fanIn; part++) {
                    int id = at - part * BEHIND;
                    if (id >= 0 && id < KEYS) {
                        run.handle(formats[part], parts[part][id]);
                    }
                }
            }
            return 100.0 * run.left / KEYS;
        }
    }
}
