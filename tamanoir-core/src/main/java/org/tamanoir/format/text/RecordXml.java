package org.tamanoir.format.text;

import java.io.StringWriter;
import java.nio.ByteBuffer;
import java.util.regex.Pattern;
import javax.xml.stream.XMLOutputFactory;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamWriter;
import org.jspecify.annotations.Nullable;
import org.tamanoir.format.Field;
import org.tamanoir.format.FormatException;
import org.tamanoir.format.FormatFault;
import org.tamanoir.format.Kind;
import org.tamanoir.format.RecordView;
import org.tamanoir.format.RecordVisitor;
import org.tamanoir.format.RecordWalker;
import org.tamanoir.format.Structure;

/**
 * Writes records as XML elements:
 *
 * <pre>
 * {@code <record format="ID" name="flight"><delay>25</delay><hub>ATL</hub><gates><item>7</item></gates></record>}
 * </pre>
 *
 * A field is an element of its name, or {@code <field name="its name">} where that is no ASCII name of XML; what is null
 * has {@code null="true"}, a string that XML cannot hold {@code hex="..."}, a float of 12 or 16 bytes {@code
 * octets="..."}. Where a structure leads to itself, each has {@code id}, its number in the order of first visits, and a
 * pointer to one that was visited before has {@code ref}.
 *
 * <p>Thread contract: one thread.
 */
public final class RecordXml {
    static final String ITEM = "item";
    static final String FIELD = "field";
    private static final Pattern NAME = Pattern.compile("[A-Za-z_][A-Za-z0-9_.-]{0,99}");

    private final XMLOutputFactory factory = XMLOutputFactory.newDefaultFactory();
    private final RecordWalker walker = new RecordWalker();

    /**
     * Returns a record as an element.
     *
     * @throws FormatException if it is damaged, or the name of a field has a character that XML does not
     */
    public String element(RecordView record) {
        StringWriter text = new StringWriter();
        try {
            XMLStreamWriter out = factory.createXMLStreamWriter(text);
            walker.walk(record, new Writer(out, record));
            out.close();
        } catch (XMLStreamException e) {
            throw fault(e);
        }
        return text.toString();
    }

    private static FormatException fault(XMLStreamException e) {
        return new FormatException(FormatFault.VALUE, "XML cannot be written: " + e.getMessage());
    }

    /** Returns whether a parser of XML 1.0 gives this text back: it takes no control characters, and CR for LF. */
    private static boolean survives(String text) {
        return text.chars().allMatch(c -> c >= ' ' && c < 0xFFFE || c == '\n' || c == '\t');
    }

    private static final class Writer implements RecordVisitor {
        private final XMLStreamWriter out;
        private final RecordView record;
        private final Utf8 utf8 = new Utf8();
        private boolean begun;
        private @Nullable Field field;

        Writer(XMLStreamWriter out, RecordView record) {
            this.out = out;
            this.record = record;
        }

        /** Begins the element of the next value. */
        private void begin() {
            Field of = field;
            field = null;
            try {
                if (!begun) {
                    begun = true;
                    out.writeStartElement("record");
                    attribute("format", record.format().id().toString());
                    attribute("name", record.format().name());
                } else if (of == null) {
                    out.writeStartElement(ITEM);
                } else if (NAME.matcher(of.name()).matches()) {
                    out.writeStartElement(of.name());
                } else {
                    out.writeStartElement(FIELD);
                    attribute("name", of.name());
                }
            } catch (XMLStreamException e) {
                throw fault(e);
            }
        }

        private void attribute(String name, String value) {
            if (value.indexOf('\n') >= 0 || value.indexOf('\t') >= 0 || !survives(value)) {
                throw new FormatException(
                        FormatFault.VALUE, "a name has a control character, which XML cannot hold: take JSON");
            }
            try {
                out.writeAttribute(name, value);
            } catch (XMLStreamException e) {
                throw fault(e);
            }
        }

        private void end() {
            try {
                out.writeEndElement();
            } catch (XMLStreamException e) {
                throw fault(e);
            }
        }

        /** Writes an element that an attribute says all about. */
        private void empty(String attribute, String value) {
            begin();
            attribute(attribute, value);
            end();
        }

        private void content(String text) {
            begin();
            try {
                out.writeCharacters(text);
            } catch (XMLStreamException e) {
                throw fault(e);
            }
            end();
        }

        @Override
        public void beginStructure(Structure structure, int id) {
            begin();
            if (id != NONE) {
                attribute("id", Integer.toString(id));
            }
        }

        @Override
        public void field(Field next) {
            field = next;
        }

        @Override
        public void endStructure() {
            end();
        }

        @Override
        public void beginArray(int count) {
            begin();
        }

        @Override
        public void endArray() {
            end();
        }

        @Override
        public void nullValue() {
            empty("null", "true");
        }

        @Override
        public void reference(int id) {
            empty("ref", Integer.toString(id));
        }

        @Override
        public void whole(Kind kind, long value) {
            content(kind == Kind.INTEGER ? Long.toString(value) : Long.toUnsignedString(value));
        }

        @Override
        public void floating(double value, int bytes) {
            String text = Double.toString(value);
            content(Double.isInfinite(value) ? text.replace("Infinity", "INF") : text); // As XML Schema does.
        }

        @Override
        public void opaque(ByteBuffer memory, int at, int bytes) {
            empty("octets", Utf8.hex(memory, at, bytes));
        }

        @Override
        public void text(ByteBuffer memory, int at, int bytes) {
            String text = utf8.decode(memory, at, bytes);
            if (text != null && survives(text)) {
                content(text);
            } else {
                empty("hex", Utf8.hex(memory, at, bytes));
            }
        }
    }
}
