package org.tamanoir.node.ffs;

import java.io.BufferedOutputStream;
import java.io.BufferedWriter;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.tamanoir.format.Conversion;
import org.tamanoir.format.FfsWriter;
import org.tamanoir.format.Field;
import org.tamanoir.format.Format;
import org.tamanoir.format.FormatBuilder;
import org.tamanoir.format.FormatId;
import org.tamanoir.format.Kind;
import org.tamanoir.format.Layout;
import org.tamanoir.format.RecordView;
import org.tamanoir.format.RecordWalker;
import org.tamanoir.format.Structure;
import org.tamanoir.format.Target;
import org.tamanoir.format.text.RecordCsv;
import org.tamanoir.format.text.RecordJson;
import org.tamanoir.format.text.RecordXml;
import org.tamanoir.node.cli.CommandException;
import org.tamanoir.node.cli.ExitCode;
import org.tamanoir.node.cli.OutputFile;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.ObjectWriteContext;
import tools.jackson.core.StreamWriteConstraints;
import tools.jackson.dataformat.cbor.CBORFactory;

/**
 * Where converted records go; the ending of the file's name says how.
 *
 * <p>Thread contract: one thread at a time.
 */
public abstract class RecordOutput implements RecordSink, AutoCloseable {
    RecordOutput() {}

    @Override
    public abstract void close() throws IOException;

    /**
     * Makes a file.
     *
     * @param named says by its ending how records are written
     */
    static RecordOutput open(Path named, Path file, @Nullable String order, @Nullable Integer pointerBytes)
            throws IOException {
        String ending = OutputFile.isStandard(named) ? "json" : TextInput.ending(named);
        if (order != null && !order.equals("big") && !order.equals("little")) {
            throw usage("--order " + order + ": big or little");
        }
        if (pointerBytes != null && pointerBytes != 4 && pointerBytes != 8) {
            throw usage("--pointer-bytes " + pointerBytes + ": 4 or 8");
        }
        if (!ending.equals("ffs") && (order != null || pointerBytes != null)) {
            throw usage("--order and --pointer-bytes are for an OUTPUT that ends in .ffs");
        }
        return switch (ending) {
            case "ffs" -> new Ffs(new BufferedOutputStream(OutputFile.open(file)), order, pointerBytes);
            case "json" -> new Json(writer(file));
            case "cbor" -> new Cbor(new BufferedOutputStream(OutputFile.open(file)));
            case "xml" -> new Xml(writer(file));
            case "csv" -> new Csv(writer(file));
            default -> throw usage(named + ": the ending has to be .ffs, .json, .cbor, .xml or .csv");
        };
    }

    private static Writer writer(Path file) throws IOException {
        // An encoder reports what it cannot write, where a charset would replace it.
        return new BufferedWriter(new OutputStreamWriter(OutputFile.open(file), StandardCharsets.UTF_8.newEncoder()));
    }

    private static CommandException usage(String line) {
        return new CommandException(ExitCode.USAGE, line, null);
    }

    private static final class Json extends RecordOutput {
        private final Writer out;
        private final JsonLines lines = new JsonLines();

        Json(Writer out) {
            this.out = out;
        }

        @Override
        public void write(RecordView record) throws IOException {
            out.write(lines.line(record) + "\n");
        }

        @Override
        public void close() throws IOException {
            out.close();
        }
    }

    /** A sequence of CBOR objects (RFC 8742). */
    private static final class Cbor extends RecordOutput {
        private final CBORFactory factory = CBORFactory.builder()
                .streamWriteConstraints(
                        StreamWriteConstraints.builder().maxNestingDepth(10_000).build())
                .build();
        private final OutputStream out;
        private final RecordJson json = new RecordJson();

        Cbor(OutputStream out) {
            this.out = out;
        }

        @Override
        public void write(RecordView record) throws IOException {
            // As a whole: half an object of a damaged record would take those behind it in.
            ByteArrayOutputStream object = new ByteArrayOutputStream();
            try (JsonGenerator generator = factory.createGenerator(ObjectWriteContext.empty(), object)) {
                JsonLines.write(json, record, generator);
            }
            object.writeTo(out);
        }

        @Override
        public void close() throws IOException {
            out.close();
        }
    }

    /** An element for each record, on a line of its own. */
    private static final class Xml extends RecordOutput {
        private final Writer out;
        private final RecordXml xml = new RecordXml();

        Xml(Writer out) throws IOException {
            this.out = out;
            out.write("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<records>\n");
        }

        @Override
        public void write(RecordView record) throws IOException {
            out.write(xml.element(record) + "\n");
        }

        @Override
        public void close() throws IOException {
            out.write("</records>\n");
            out.close();
        }
    }

    private static final class Csv extends RecordOutput {
        private final Writer out;
        private final RecordCsv csv;
        private @Nullable Format format;

        Csv(Writer out) {
            this.out = out;
            csv = new RecordCsv(out);
        }

        @Override
        public void write(RecordView record) {
            if (format == null) {
                format = record.format();
                csv.header(format);
            } else if (format != record.format()) {
                throw usage("records of format " + record.format() + " behind those of " + format
                        + ": a table has one format; write .json");
            }
            csv.record(record);
        }

        @Override
        public void close() throws IOException {
            out.close();
        }
    }

    /** FFS, in the order and with the pointers that are asked for. */
    private static final class Ffs extends RecordOutput {
        private final FfsWriter out;
        private final @Nullable String order;
        private final @Nullable Integer pointerBytes;
        private final RecordWalker walker = new RecordWalker();
        private final Map<FormatId, Conversion> conversions = new HashMap<>();

        Ffs(OutputStream out, @Nullable String order, @Nullable Integer pointerBytes) throws IOException {
            this.out = FfsWriter.ofFile(out);
            this.order = order;
            this.pointerBytes = pointerBytes;
        }

        @Override
        public void write(RecordView record) throws IOException {
            if (order == null && pointerBytes == null) {
                walker.check(record);
                out.record(record);
                return;
            }
            Format from = record.format();
            Conversion conversion = conversions.get(from.id());
            if (conversion == null) {
                conversion = Conversion.compile(from, Target.of(relaid(from)));
                conversions.put(from.id(), conversion);
            }
            int bytes = conversion.convert(record);
            out.record(conversion.target(), conversion.memory(), 0, bytes);
        }

        private Format relaid(Format from) {
            Layout layout = from.layout();
            if (order != null) {
                layout = layout.withOrder(order.equals("big") ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN);
            }
            if (pointerBytes != null) {
                layout = layout.withPointerBytes(pointerBytes);
            }
            FormatBuilder builder = Format.builder(layout);
            for (Structure structure : from.structures()) {
                builder.structure(structure.name());
                for (Field field : structure.fields()) {
                    boolean usual = field.type().kind() == Kind.STRING;
                    builder.field(field.name(), field.typeText(), usual ? -1 : field.size());
                }
            }
            return builder.build();
        }

        @Override
        public void close() throws IOException {
            out.close();
        }
    }
}
