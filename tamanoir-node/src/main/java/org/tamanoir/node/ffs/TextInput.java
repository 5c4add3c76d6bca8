package org.tamanoir.node.ffs;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import javax.xml.stream.XMLStreamConstants;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamReader;
import org.tamanoir.format.FfsReader;
import org.tamanoir.format.Format;
import org.tamanoir.format.FormatException;
import org.tamanoir.format.FormatFault;
import org.tamanoir.format.FormatId;
import org.tamanoir.format.ItemKind;
import org.tamanoir.format.RecordView;
import org.tamanoir.format.text.JsonRecords;
import org.tamanoir.format.text.RecordJson;
import org.tamanoir.format.text.XmlRecords;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.dataformat.cbor.CBORFactory;

/** Reads what {@code convert} writes as JSON, which {@code dump} prints, as CBOR and as XML. */
final class TextInput {
    private TextInput() {}

    /** Returns whether the file's ending says that it does not describe its records. */
    static boolean isText(Path file) {
        return Set.of("json", "cbor", "xml").contains(ending(file));
    }

    /** Returns what follows the last dot, in small letters. */
    static String ending(Path file) {
        String name = file.toString().toLowerCase(Locale.ROOT);
        return name.substring(name.lastIndexOf('.') + 1);
    }

    static Map<FormatId, Format> formats(FfsReader reader) throws IOException {
        Map<FormatId, Format> formats = new HashMap<>();
        for (ItemKind kind = reader.next(); kind != null; kind = reader.next()) {
            if (kind == ItemKind.FORMAT) {
                formats.put(reader.format().id(), reader.format());
            }
        }
        return formats;
    }

    static void read(Path file, Map<FormatId, Format> formats, RecordSink out) throws IOException {
        if (ending(file).equals("xml")) {
            readXml(file, formats, out);
            return;
        }
        Map<FormatId, JsonRecords> encoders = new HashMap<>();
        RecordView view = new RecordView();
        try (InputStream in = Files.newInputStream(file);
                JsonParser parser = parser(file, in)) {
            for (JsonToken next = parser.nextToken(); next != null; next = parser.nextToken()) {
                if (next != JsonToken.START_OBJECT) {
                    throw new FormatException(FormatFault.VALUE, next + " where an object for each record is due");
                }
                Format format = null;
                byte[] record = null;
                while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
                    String name = parser.currentName();
                    parser.nextToken();
                    if (name.equals("format")) {
                        format = format(formats, parser.getString());
                    } else if (name.equals("value") && format != null && record == null) {
                        Format known = format;
                        record = encoders.computeIfAbsent(format.id(), id -> new JsonRecords(known))
                                .encode(parser);
                    } else if (name.equals("value")) {
                        throw new FormatException(
                                FormatFault.VALUE, "\"value\" without \"format\" before it, or a second one");
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

    private static void readXml(Path file, Map<FormatId, Format> formats, RecordSink out) throws IOException {
        Map<FormatId, XmlRecords> encoders = new HashMap<>();
        RecordView view = new RecordView();
        try (InputStream in = Files.newInputStream(file)) {
            XMLStreamReader parser = XmlRecords.parser(in);
            parser.nextTag();
            while (parser.nextTag() == XMLStreamConstants.START_ELEMENT) {
                String id = parser.getAttributeValue(null, "format");
                if (id == null) {
                    throw new FormatException(FormatFault.VALUE, "element without a format=\"...\"");
                }
                Format format = format(formats, id);
                byte[] record = encoders.computeIfAbsent(format.id(), any -> new XmlRecords(format))
                        .encode(parser);
                out.write(view.wrap(format, ByteBuffer.wrap(record), 0, record.length));
            }
        } catch (XMLStreamException e) {
            throw new FormatException(
                    FormatFault.VALUE, String.valueOf(e.getMessage()).replaceAll("\\s+", " "));
        }
    }

    private static Format format(Map<FormatId, Format> formats, String text) {
        FormatId id = FormatId.parse(text);
        Format format = formats.get(id);
        if (format == null) {
            throw new FormatException(FormatFault.UNKNOWN_FORMAT, "record of format " + id + ", which --formats lacks");
        }
        return format;
    }

    private static JsonParser parser(Path file, InputStream in) {
        if (!ending(file).equals("cbor")) {
            return RecordJson.factory().createParser(ObjectReadContext.empty(), in);
        }
        return CBORFactory.builder()
                .streamReadConstraints(
                        StreamReadConstraints.builder().maxNestingDepth(10_000).build())
                .build()
                .createParser(ObjectReadContext.empty(), in);
    }
}
