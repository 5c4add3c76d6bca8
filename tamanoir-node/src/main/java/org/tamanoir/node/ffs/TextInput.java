package org.tamanoir.node.ffs;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.tamanoir.format.FfsReader;
import org.tamanoir.format.Format;
import org.tamanoir.format.FormatException;
import org.tamanoir.format.FormatFault;
import org.tamanoir.format.FormatId;
import org.tamanoir.format.ItemKind;
import org.tamanoir.format.RecordView;
import org.tamanoir.format.text.JsonRecords;
import org.tamanoir.format.text.RecordJson;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.dataformat.cbor.CBORFactory;

/** Reads what {@code dump} prints, or the same as CBOR. */
final class TextInput {
    private TextInput() {}

    static Map<FormatId, Format> formats(FfsReader reader) throws IOException {
        Map<FormatId, Format> formats = new HashMap<>();
        for (ItemKind kind = reader.next(); kind != null; kind = reader.next()) {
            if (kind == ItemKind.FORMAT) {
                formats.put(reader.format().id(), reader.format());
            }
        }
        return formats;
    }

    static void read(Path file, Map<FormatId, Format> formats, RecordOutput out) throws IOException {
        Map<FormatId, JsonRecords> encoders = new HashMap<>();
        RecordView view = new RecordView();
        try (InputStream in = Files.newInputStream(file);
                JsonParser parser = parser(file, in)) {
            while (parser.nextToken() == JsonToken.START_OBJECT) {
                Format format = null;
                byte[] record = null;
                while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
                    String name = parser.currentName();
                    parser.nextToken();
                    if (name.equals("format")) {
                        FormatId id = FormatId.parse(parser.getString());
                        format = formats.get(id);
                        if (format == null) {
                            throw new FormatException(
                                    FormatFault.UNKNOWN_FORMAT, "record of format " + id + ", which --formats lacks");
                        }
                    } else if (name.equals("value") && format != null) {
                        Format known = format;
                        record = encoders.computeIfAbsent(format.id(), id -> new JsonRecords(known))
                                .encode(parser);
                    } else {
                        parser.skipChildren();
                    }
                }
                if (format == null || record == null) {
                    throw new FormatException(FormatFault.VALUE, "object without \"format\" and then \"value\"");
                }
                out.write(view.wrap(format, ByteBuffer.wrap(record), 0, record.length));
            }
        } catch (JacksonException e) {
            throw new FormatException(FormatFault.VALUE, e.getOriginalMessage());
        }
    }

    private static JsonParser parser(Path file, InputStream in) {
        if (!file.toString().endsWith(".cbor")) {
            return RecordJson.factory().createParser(ObjectReadContext.empty(), in);
        }
        return CBORFactory.builder()
                .streamReadConstraints(
                        StreamReadConstraints.builder().maxNestingDepth(10_000).build())
                .build()
                .createParser(ObjectReadContext.empty(), in);
    }
}
