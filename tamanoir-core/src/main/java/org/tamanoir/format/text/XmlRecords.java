package org.tamanoir.format.text;

import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.PushbackInputStream;
import java.io.Reader;
import java.nio.charset.MalformedInputException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.xml.stream.XMLInputFactory;
import javax.xml.stream.XMLStreamConstants;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamReader;
import org.jspecify.annotations.Nullable;
import org.tamanoir.format.Field;
import org.tamanoir.format.Format;
import org.tamanoir.format.FormatException;
import org.tamanoir.format.FormatFault;
import org.tamanoir.format.FormatLimits;
import org.tamanoir.format.Kind;
import org.tamanoir.format.Opaque;
import org.tamanoir.format.RecordEncoder;
import org.tamanoir.format.Structure;
import org.tamanoir.format.Type;

/**
 * Encodes records from the elements that {@link RecordXml} writes. A field that is not there is 0 or null, one that the
 * format does not have is refused.
 *
 * <p>Thread contract: one thread.
 */
public final class XmlRecords {
    /** Structures and arrays within one another: deeper than any record nests that is written. */
    private static final int MAX_DEPTH = 4_000;
    /** Bytes in which a declaration of the encoding stands. */
    private static final int START_BYTES = 1_024;
    /** A mark of UTF-8, and the encoding that is declared; each byte a character. */
    private static final Pattern DECLARATION =
            Pattern.compile("^(\u00EF\u00BB\u00BF)?<\\?xml\\s[^>]*?encoding\\s*=\\s*[\"']([^\"'>]*)[\"']");

    /** A declaration that has no end yet. */
    private static final Pattern OPEN_DECLARATION = Pattern.compile("(\u00EF\u00BB\u00BF)?<\\?xml\\s[^>]*");

    /** What the JDK's parser puts before what is wrong. */
    private static final Pattern PARSER_PLACE =
            Pattern.compile("^ParseError at \\[row,col\\]:\\[\\d+,\\d+\\]\\s*Message: ");

    private final Format format;
    private final RecordEncoder encoder;
    private final Map<String, Map<String, @Nullable Object>> byId = new HashMap<>();
    /** What the next element is in; a stack of its own, since that of the thread may be short. */
    private final Deque<Level> open = new ArrayDeque<>();
    /** Place in the innermost level of the value that is read; empty between values. */
    private String place = "";
    /** Elements and characters that the record may still have. */
    private int left;

    /** A structure, or that many dimensions of an array, and its place in the level around it. */
    private record Level(
            String place,
            @Nullable Structure structure,
            Map<String, @Nullable Object> fields,
            @Nullable Type array,
            int dimensions,
            List<@Nullable Object> elements) {}

    /** Makes an encoder of records of this format. */
    public XmlRecords(Format format) {
        this.format = format;
        encoder = new RecordEncoder(format);
    }

    /**
     * Makes a parser that takes no document type, and so no entities but XML's own five.
     *
     * @throws XMLStreamException if it is no XML, or not in UTF-8, UTF-16 with its mark, ISO-8859-1 or US-ASCII
     */
    public static XMLStreamReader parser(InputStream in) throws IOException, XMLStreamException {
        XMLInputFactory factory = XMLInputFactory.newDefaultFactory();
        factory.setProperty(XMLInputFactory.SUPPORT_DTD, false);
        factory.setProperty(XMLInputFactory.IS_SUPPORTING_EXTERNAL_ENTITIES, false);
        factory.setProperty(XMLInputFactory.IS_NAMESPACE_AWARE, false);
        // The JDK's own bounds, from 24 on 100 elements deep and 100,000 characters that follow references such as
        // &lt; (0: none), are below what records hold; ours stand in their place.
        factory.setProperty("jdk.xml.maxElementDepth", 2 * MAX_DEPTH);
        factory.setProperty("jdk.xml.maxGeneralEntitySizeLimit", 0);
        factory.setProperty("jdk.xml.totalEntitySizeLimit", 0);
        return factory.createXMLStreamReader(text(in));
    }

    /** Returns the characters of a document; those that are malformed are refused, which the JDK's parser replaces. */
    private static Reader text(InputStream in) throws IOException, XMLStreamException {
        PushbackInputStream all = new PushbackInputStream(in, START_BYTES);
        byte[] start = all.readNBytes(START_BYTES);
        all.unread(start);
        String shown = new String(start, StandardCharsets.ISO_8859_1);
        Matcher declared = DECLARATION.matcher(shown);
        if (start.length > 1 && (start[0] & start[1] & 0xFF) == 0xFE && (start[0] ^ start[1]) == 1) {
            return new InputStreamReader(all, StandardCharsets.UTF_16.newDecoder());
        }
        boolean isDeclared = declared.find();
        if (!isDeclared
                && start.length == START_BYTES
                && OPEN_DECLARATION.matcher(shown).matches()) {
            throw new XMLStreamException("declaration of more than " + START_BYTES + " bytes: shorten it");
        }
        String encoding = isDeclared ? declared.group(2).toUpperCase(Locale.ROOT) : "UTF-8";
        if (encoding.equals("UTF-8")) {
            return new StrictUtf8(all);
        }
        if (declared.group(1) == null && encoding.equals("ISO-8859-1")) {
            return new InputStreamReader(all, StandardCharsets.ISO_8859_1);
        }
        if (declared.group(1) == null && encoding.equals("US-ASCII")) {
            return new InputStreamReader(all, StandardCharsets.US_ASCII.newDecoder());
        }
        throw new XMLStreamException("encoding " + encoding + ": convert it to UTF-8");
    }

    /**
     * Encodes the record whose element begins at the parser's current event, and leaves the parser at its end.
     *
     * @throws FormatException if it is no record of the format
     * @throws XMLStreamException with the field, if it is no XML
     */
    public byte[] encode(XMLStreamReader in) throws XMLStreamException {
        byId.clear();
        open.clear();
        place = "";
        left = FormatLimits.ITEM_BYTES;
        requireRecord(in);
        Map<String, @Nullable Object> top = structure(in, "", format.top());
        try {
            while (!open.isEmpty()) {
                if (in.nextTag() == XMLStreamConstants.END_ELEMENT) {
                    open.pop();
                } else {
                    element(in, open.element());
                }
            }
        } catch (XMLStreamException e) {
            String message = fault(why(e)).inField(path(place)).getMessage();
            throw e.getLocation() == null
                    ? new XMLStreamException(message, e)
                    : new XMLStreamException(message, e.getLocation(), e);
        }
        return encoder.encode(top);
    }

    /** Returns in one line why a document is refused. */
    public static String why(XMLStreamException e) {
        return e.getNestedException() instanceof MalformedInputException
                ? "bytes that are no text in the document's encoding: convert it to UTF-8"
                : PARSER_PLACE
                        .matcher(String.valueOf(e.getMessage()))
                        .replaceFirst("")
                        .replaceAll("\\s+", " ");
    }

    /** Returns the whole name of an attribute; the parser knows it by the part behind its prefix, too. */
    public static String attribute(XMLStreamReader in, int number) {
        String prefix = in.getAttributePrefix(number);
        return (prefix == null || prefix.isEmpty() ? "" : prefix + ":") + in.getAttributeLocalName(number);
    }

    /** Refuses a record's element whose attributes are others than {@link RecordXml} writes, or name another format. */
    private void requireRecord(XMLStreamReader in) {
        for (int i = 0; i < in.getAttributeCount(); i++) {
            String name = attribute(in, i);
            if (!Set.of("format", "name", "id").contains(name)) {
                throw fault("attribute '" + name + "', which means nothing here");
            }
            if (name.equals("name") && !in.getAttributeValue(i).equals(format.name())) {
                throw fault("attribute name is not the format's");
            }
        }
    }

    /** Returns the place of an element of the innermost level. */
    private String path(String at) {
        StringBuilder path = new StringBuilder();
        open.descendingIterator().forEachRemaining(level -> path.append(level.place));
        String whole = path + at;
        return whole.startsWith(".") ? whole.substring(1) : whole;
    }

    private void element(XMLStreamReader in, Level level) throws XMLStreamException {
        spend(1);
        String name = in.getLocalName();
        if (level.structure != null) {
            String named = name.equals(RecordXml.FIELD) ? in.getAttributeValue(null, "name") : null;
            name = named != null ? named : name;
            Field field = level.structure.field(name);
            if (field == null) {
                throw fault("structure '" + level.structure.name() + "' has no field '" + name + "'")
                        .inField(path(""));
            }
            if (level.fields.containsKey(name)) {
                throw fault("structure '" + level.structure.name() + "' has '" + name + "' twice")
                        .inField(path(""));
            }
            level.fields.put(name, value(in, "." + name, field.type()));
        } else if (level.array != null) {
            if (!name.equals(RecordXml.ITEM)) {
                throw fault("array of " + level.array.kind() + " has an element '" + name + "', not '" + RecordXml.ITEM
                                + "'")
                        .inField(path(""));
            }
            String at = "[" + level.elements.size() + "]";
            if (level.dimensions > 1) {
                requireAttributes(in, Set.of());
                level.elements.add(list(at, level.array, level.dimensions - 1));
            } else {
                level.elements.add(value(in, at, level.array.target()));
            }
        }
    }

    /** Reads a value at a place of the innermost level. */
    private @Nullable Object value(XMLStreamReader in, String at, Type of) throws XMLStreamException {
        place = at;
        try {
            Object value = valueAt(in, at, of);
            place = "";
            return value;
        } catch (FormatException e) {
            throw e.inField(path(at));
        }
    }

    private @Nullable Object valueAt(XMLStreamReader in, String at, Type of) throws XMLStreamException {
        Type type = of;
        while (type.isPointer()) {
            type = type.target();
        }
        requireAttributes(in, attributes(type));
        String absent = in.getAttributeValue(null, "null");
        if (absent != null && truth(absent)) {
            end(in);
            return null;
        }
        if (type.isArray()) {
            return list(at, type, type.dimensions().size());
        }
        Structure structure = type.structure();
        return structure != null ? structure(in, at, structure) : leaf(in, type);
    }

    private static Set<String> attributes(Type type) {
        return type.isArray()
                ? Set.of("null")
                : type.structure() != null
                        ? Set.of("null", "id", "ref")
                        : type.kind() == Kind.STRING ? Set.of("null", "hex") : Set.of("null", "octets");
    }

    /** Refuses attributes that mean nothing here, and two that say what the value is. */
    private static void requireAttributes(XMLStreamReader in, Set<String> known) {
        int values = 0;
        for (int i = 0; i < in.getAttributeCount(); i++) {
            String name = attribute(in, i);
            boolean isFieldName = name.equals("name") && in.getLocalName().equals(RecordXml.FIELD);
            if (!isFieldName && !known.contains(name)) {
                throw fault("attribute '" + name + "', which means nothing here");
            }
            boolean isPresent = name.equals("null") && !truth(in.getAttributeValue(i));
            values += isFieldName || isPresent ? 0 : 1;
        }
        if (values > 1) {
            throw fault("more than one of the attributes null, hex, octets, id and ref");
        }
    }

    /** Returns what an {@code xs:boolean} says. */
    private static boolean truth(String text) {
        return switch (collapsed(text)) {
            case "true", "1" -> true;
            case "false", "0" -> false;
            default -> throw fault("attribute null is neither true nor false");
        };
    }

    /** Returns a text without XML's white space around it, and no other. */
    private static String collapsed(String text) {
        int from = 0;
        int to = text.length();
        while (from < to && isSpace(text.charAt(from))) {
            from++;
        }
        while (from < to && isSpace(text.charAt(to - 1))) {
            to--;
        }
        return text.substring(from, to);
    }

    private static boolean isSpace(char one) {
        return one == ' ' || one == '\t' || one == '\n' || one == '\r';
    }

    /** Returns the fields of a structure, which the elements that follow fill in. */
    private Map<String, @Nullable Object> structure(XMLStreamReader in, String at, Structure structure)
            throws XMLStreamException {
        String ref = in.getAttributeValue(null, "ref");
        if (ref != null) {
            Map<String, @Nullable Object> known = byId.get(ref);
            if (known == null) {
                throw fault("ref to a structure that no id before it names");
            }
            end(in);
            return known;
        }
        Map<String, @Nullable Object> fields = new LinkedHashMap<>();
        String id = in.getAttributeValue(null, "id");
        if (id != null && byId.put(id, fields) != null) {
            throw fault("id " + id + " is given twice");
        }
        push(new Level(at, structure, fields, null, 0, List.of()));
        return fields;
    }

    /** Returns the elements of an array, which those that follow fill in. */
    private List<@Nullable Object> list(String at, Type array, int dimensions) {
        List<@Nullable Object> elements = new ArrayList<>();
        push(new Level(at, null, Map.of(), array, dimensions, elements));
        return elements;
    }

    private void push(Level level) {
        if (open.size() == MAX_DEPTH) {
            throw fault("elements within one another more than " + MAX_DEPTH + " deep");
        }
        open.push(level);
    }

    private Object leaf(XMLStreamReader in, Type type) throws XMLStreamException {
        String hex = in.getAttributeValue(null, "hex");
        String octets = in.getAttributeValue(null, "octets");
        String digits = hex != null ? hex : octets;
        if (digits != null) {
            end(in);
            try {
                byte[] bytes = HexFormat.of().parseHex(digits);
                return hex != null ? bytes : new Opaque(bytes);
            } catch (IllegalArgumentException e) {
                throw fault("bytes are not hexadecimal");
            }
        }
        String text = text(in);
        if (type.kind() == Kind.STRING) {
            return text;
        }
        String number = collapsed(text);
        boolean isTruth = type.kind() == Kind.BOOLEAN && (number.equals("true") || number.equals("false"));
        return isTruth
                ? (Object) number.equals("true")
                : type.kind() == Kind.FLOAT ? Decimals.floating(number, type.bytes()) : (Object) Decimals.whole(number);
    }

    /** Returns the text up to the end of the current element, which has no other inside. */
    private String text(XMLStreamReader in) throws XMLStreamException {
        StringBuilder text = new StringBuilder();
        while (true) {
            switch (in.next()) {
                case XMLStreamConstants.CHARACTERS, XMLStreamConstants.CDATA, XMLStreamConstants.SPACE -> {
                    spend(in.getTextLength());
                    text.append(in.getTextCharacters(), in.getTextStart(), in.getTextLength());
                }
                case XMLStreamConstants.COMMENT -> {}
                case XMLStreamConstants.PROCESSING_INSTRUCTION ->
                    throw fault("text with a processing instruction inside");
                case XMLStreamConstants.END_ELEMENT -> {
                    return text.toString();
                }
                default -> throw fault("text with an element or an entity inside");
            }
        }
    }

    private static void end(XMLStreamReader in) throws XMLStreamException {
        if (in.nextTag() != XMLStreamConstants.END_ELEMENT) {
            throw fault("element with null, ref, hex or octets is not empty");
        }
    }

    private void spend(int what) {
        left -= what;
        if (left < 0) {
            throw fault("record of more than " + FormatLimits.ITEM_BYTES + " elements and characters");
        }
    }

    private static FormatException fault(String message) {
        return new FormatException(FormatFault.VALUE, message);
    }
}
