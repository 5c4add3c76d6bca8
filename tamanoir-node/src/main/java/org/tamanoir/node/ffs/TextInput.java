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
import org.tamanoir.format.text.CborInput;
import org.tamanoir.format.text.JsonFaults;
import org.tamanoir.format.text.JsonRecords;
import org.tamanoir.format.text.RecordJson;
import org.tamanoir.format.text.StrictUtf8;
import org.tamanoir.format.text.XmlRecords;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.dataformat.cbor.CBORFactory;

/** Reads what {@code convert} writes as JSON, which {@code dump} prints, as CBOR and as XML. */
final class TextInput {
    private static final String ROOT = "records";
    /** Characters of what is refused that a message has. */
    private static final int SHOWN = 60;

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
        boolean isCbor = ending(file).equals("cbor");
        try (InputStream in = Files.newInputStream(file);
                JsonParser parser = isCbor
                        ? cborParser(in)
                        : RecordJson.factory().createParser(ObjectReadContext.empty(), new StrictUtf8(in))) {
            readObjects(parser, isCbor, formats, out);
        }
    }

    private static void readObjects(JsonParser parser, boolean isCbor, Map<FormatId, Format> formats, RecordSink out)
            throws IOException {
        Map<FormatId, JsonRecords> encoders = new HashMap<>();
        RecordView view = new RecordView();
        String place = isCbor ? "record 0" : "line 1";
        try {
            long number = 0;
            for (JsonToken next = parser.nextToken(); next != null; next = parser.nextToken()) {
                place = isCbor ? "record " + number : line(parser);
                if (next != JsonToken.START_OBJECT) {
                    throw fault(JsonFaults.named(next) + " where an object for each record is due");
                }
                Encoded record = object(parser, formats, encoders);
                out.write(view.wrap(record.format, ByteBuffer.wrap(record.bytes), 0, record.bytes.length));
                number++;
            }
        } catch (FormatException e) {
            throw at(place, e);
        } catch (JacksonException e) {
            throw at(isCbor ? place : line(parser), fault(JsonFaults.why(e)));
        }
    }

    private static String line(JsonParser parser) {
        return "line " + parser.currentLocation().getLineNr();
    }

    private record Encoded(Format format, byte[] bytes) {}

    /** Reads {@code {"format":"ID","name":"NAME","value":{...}}}; the name may be left out. */
    private static Encoded object(
            JsonParser parser, Map<FormatId, Format> formats, Map<FormatId, JsonRecords> encoders) {
        Format format = null;
        byte[] record = null;
        String said = null;
        while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
            String name = parser.currentName();
            parser.nextToken();
            if (name.equals("format") && format == null) {
                format = format(formats, text(parser, name));
            } else if (name.equals("name") && said == null) {
                said = text(parser, name);
            } else if (name.equals("value") && format != null && record == null) {
                Format known = format;
                record = encoders.computeIfAbsent(format.id(), id -> new JsonRecords(known))
                        .encode(parser);
            } else if (Set.of("value", "format", "name").contains(name)) {
                throw fault("\"" + name + "\" a second time, or \"value\" without \"format\" before it");
            } else {
                throw fault("\"" + shown(name) + "\" beside \"format\", \"name\" and \"value\"");
            }
        }
        if (format == null || record == null) {
            throw fault("object without \"format\" and then \"value\"");
        }
        if (said != null && !said.equals(format.name())) {
            throw fault("\"name\" is '" + shown(said) + "', but the format's is '" + shown(format.name()) + "'");
        }
        return new Encoded(format, record);
    }

    private static String text(JsonParser parser, String name) {
        if (parser.currentToken() != JsonToken.VALUE_STRING) {
            throw fault("\"" + name + "\" is no text but " + JsonFaults.named(parser.currentToken()));
        }
        return parser.getString();
    }

    private static String shown(String text) {
        String start = text.length() > SHOWN ? text.substring(0, SHOWN) + "…" : text;
        return start.replaceAll("[\\p{Cntrl}\\p{Cs}]", "?");
    }

    private static void readXml(Path file, Map<FormatId, Format> formats, RecordSink out) throws IOException {
        Map<FormatId, XmlRecords> encoders = new HashMap<>();
        RecordView view = new RecordView();
        int line = 1;
        try (InputStream in = Files.newInputStream(file)) {
            XMLStreamReader parser = XmlRecords.parser(in);
            parser.nextTag();
            if (!parser.getLocalName().equals(ROOT)) {
                throw fault("the document is no <" + ROOT + "> but another element");
            }
            if (parser.getAttributeCount() > 0) {
                throw fault("attribute '" + shown(XmlRecords.attribute(parser, 0)) + "' of <" + ROOT
                        + ">, which means nothing here");
            }
            while (parser.nextTag() == XMLStreamConstants.START_ELEMENT) {
                line = parser.getLocation().getLineNumber();
                String id = parser.getAttributeValue(null, "format");
                if (id == null) {
                    throw fault("element without a format=\"...\"");
                }
                Format format = format(formats, id);
                byte[] record = encoders.computeIfAbsent(format.id(), any -> new XmlRecords(format))
                        .encode(parser);
                out.write(view.wrap(format, ByteBuffer.wrap(record), 0, record.length));
            }
            while (parser.hasNext()) {
                // The parser refuses all but comments and instructions.
                if (parser.next() == XMLStreamConstants.PROCESSING_INSTRUCTION) {
                    throw fault("processing instruction behind the end of <" + ROOT + ">");
                }
            }
        } catch (FormatException e) {
            throw at("line " + line, e);
        } catch (XMLStreamException e) {
            int at = e.getLocation() == null
                    ? line
                    : Math.max(line, e.getLocation().getLineNumber());
            throw at("line " + at, fault(XmlRecords.why(e)));
        }
    }

    private static FormatException fault(String message) {
        return new FormatException(FormatFault.VALUE, message);
    }

    /** Returns the refusal with the place in the file. */
    private static FormatException at(String place, FormatException e) {
        return new FormatException(e.fault(), place + ": " + e.getMessage());
    }

    private static Format format(Map<FormatId, Format> formats, String text) {
        FormatId id = FormatId.parse(text);
        Format format = formats.get(id);
        if (format == null) {
            throw new FormatException(FormatFault.UNKNOWN_FORMAT, "record of format " + id + ", which --formats lacks");
        }
        return format;
    }

    private static JsonParser cborParser(InputStream in) {
        return CBORFactory.builder()
                .streamReadConstraints(
                        StreamReadConstraints.builder().maxNestingDepth(10_000).build())
                .build()
                .createParser(ObjectReadContext.empty(), new CborInput(in));
    }
}
