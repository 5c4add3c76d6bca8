package org.tamanoir.format.text;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
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
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;

/**
 * Encodes records from what a parser of Jackson reads, JSON or CBOR, in the notation that {@link RecordJson} writes. A
 * field that is not there is 0 or null, one that the format does not have is refused.
 *
 * <p>Thread contract: one thread.
 */
public final class JsonRecords {
    private final Format format;
    private final RecordEncoder encoder;
    private final Map<Integer, Known> byId = new HashMap<>();
    /** The objects and lists that are read, the innermost last: a stack of its own, for input may nest deep. */
    private final List<Frame> open = new ArrayList<>();

    /** A structure that others may refer to. */
    private record Known(Structure structure, Map<String, @Nullable Object> fields) {}

    /** An object, or a list of one dimension of an array. */
    private static final class Frame {
        final @Nullable Structure structure;
        final @Nullable Type array;
        final int dimensions;
        final Map<String, @Nullable Object> fields = new LinkedHashMap<>();
        final List<@Nullable Object> list = new ArrayList<>();
        String name = "";

        Frame(@Nullable Structure structure, @Nullable Type array, int dimensions) {
            this.structure = structure;
            this.array = array;
            this.dimensions = dimensions;
        }

        void add(@Nullable Object value) {
            if (structure != null) {
                fields.put(name, value);
            } else {
                list.add(value);
            }
        }
    }

    /** Makes an encoder of records of this format. */
    public JsonRecords(Format format) {
        this.format = format;
        encoder = new RecordEncoder(format);
    }

    /**
     * Reads the next object.
     *
     * @return the encoded record; null where nothing follows
     * @throws FormatException if it is no record of the format
     */
    public byte @Nullable [] next(JsonParser in) {
        try {
            return in.nextToken() == null ? null : encode(in);
        } catch (JacksonException e) {
            throw fault(JsonFaults.why(e));
        }
    }

    /**
     * Encodes the object that begins at the parser's current token.
     *
     * @throws FormatException if it is no record of the format
     * @throws JacksonException with the field as its path, if the parser refuses it
     */
    public byte[] encode(JsonParser in) {
        byId.clear();
        open.clear();
        Map<String, @Nullable Object> fields;
        try {
            fields = read(in);
        } catch (FormatException e) {
            throw e.inField(path());
        } catch (JacksonException e) {
            throw open.isEmpty() ? e : e.prependPath(this, brokenPath(in.currentName()));
        }
        return encoder.encode(fields);
    }

    /** Returns the place of what the parser refuses, which reads on to a value when the name before it is asked for. */
    private String brokenPath(@Nullable String name) {
        Frame frame = open.get(open.size() - 1);
        if (name != null && frame.structure != null && frame.structure.field(name) != null) {
            frame.name = name;
        }
        return path();
    }

    /** Returns the place of the value that is read. */
    private String path() {
        StringBuilder path = new StringBuilder();
        for (Frame frame : open) {
            path.append(frame.structure == null || path.isEmpty() || frame.name.isEmpty() ? "" : ".")
                    .append(frame.structure == null ? "[" + frame.list.size() + "]" : frame.name);
        }
        return path.toString();
    }

    private Map<String, @Nullable Object> read(JsonParser in) {
        Frame top = begin(in, format.top());
        while (!open.isEmpty()) {
            Frame frame = open.get(open.size() - 1);
            JsonToken token = in.nextToken();
            if (token == JsonToken.END_OBJECT || token == JsonToken.END_ARRAY) {
                end(frame.structure == null ? frame.list : frame.fields);
            } else if (frame.structure != null) {
                property(in, frame, frame.structure);
            } else if (frame.array != null && frame.dimensions > 1) {
                begin(in, frame.array, frame.dimensions - 1);
            } else if (frame.array != null) {
                value(in, frame, frame.array.target());
            }
        }
        return top.fields;
    }

    private Frame begin(JsonParser in, Structure structure) {
        if (in.currentToken() != JsonToken.START_OBJECT) {
            throw fault("structure '" + structure.name() + "' is no object but " + JsonFaults.named(in.currentToken()));
        }
        return push(new Frame(structure, null, 0));
    }

    private void begin(JsonParser in, Type array, int dimensions) {
        if (in.currentToken() != JsonToken.START_ARRAY) {
            throw fault("array of " + array.kind() + " is no list but " + JsonFaults.named(in.currentToken()));
        }
        push(new Frame(null, array, dimensions));
    }

    private Frame push(Frame frame) {
        if (open.size() >= FormatLimits.NESTING) {
            throw fault("values within one another more than " + FormatLimits.NESTING + " deep");
        }
        open.add(frame);
        return frame;
    }

    /** Ends the innermost object or list, and gives the one around it what it stands for. */
    private void end(Object value) {
        open.remove(open.size() - 1);
        if (!open.isEmpty()) {
            open.get(open.size() - 1).add(value);
        }
    }

    private void property(JsonParser in, Frame frame, Structure structure) {
        String name = in.currentName();
        Field field = structure.field(name);
        frame.name = "";
        if (frame.fields.containsKey(name)) {
            throw fault("structure '" + structure.name() + "' has '" + name + "' twice");
        }
        frame.name = field == null ? "" : name;
        JsonToken token = in.nextToken();
        if (field != null) {
            value(in, frame, field.type());
        } else if (name.equals("@id") && token == JsonToken.VALUE_NUMBER_INT) {
            if (byId.put(in.getIntValue(), new Known(structure, frame.fields)) != null) {
                throw fault("@id " + in.getIntValue() + " is given twice");
            }
        } else if (name.equals("@ref") && token == JsonToken.VALUE_NUMBER_INT) {
            Known known = byId.get(in.getIntValue());
            if (known == null || known.structure != structure || known.fields == frame.fields) {
                throw fault("@ref to a structure '" + structure.name() + "' that no @id before it names");
            }
            if (!frame.fields.isEmpty() || in.nextToken() != JsonToken.END_OBJECT) {
                throw fault("@ref stands beside other fields: it is alone");
            }
            end(known.fields);
        } else {
            throw fault("structure '" + structure.name() + "' has no field '" + name + "'");
        }
    }

    private void value(JsonParser in, Frame frame, Type of) {
        Type type = of;
        while (type.isPointer()) {
            type = type.target();
        }
        Structure structure = type.structure();
        if (in.currentToken() == JsonToken.VALUE_NULL) {
            frame.add(null);
        } else if (type.isArray()) {
            begin(in, type, type.dimensions().size());
        } else if (structure != null) {
            begin(in, structure);
        } else {
            frame.add(leaf(in, type));
        }
    }

    private static @Nullable Object leaf(JsonParser in, Type type) {
        return switch (in.currentToken()) {
            case VALUE_NUMBER_INT -> type.kind() == Kind.FLOAT ? floating(in, type) : in.getBigIntegerValue();
            case VALUE_NUMBER_FLOAT -> floating(in, type);
            case VALUE_TRUE -> true;
            case VALUE_FALSE -> false;
            case VALUE_STRING -> type.kind() == Kind.FLOAT ? number(in.getString()) : in.getString();
            case START_OBJECT -> hex(in);
            default -> throw fault(type.kind() + " is " + JsonFaults.named(in.currentToken()));
        };
    }

    private static Object floating(JsonParser in, Type type) {
        if (type.kind() != Kind.FLOAT) {
            throw fault(
                    "needs a " + (type.kind() == Kind.STRING ? "text" : "whole number") + ", not " + in.getString());
        }
        return switch (in.getNumberTypeFP()) {
            case FLOAT16, FLOAT32, DOUBLE64 -> in.getDoubleValue();
            case BIG_DECIMAL, UNKNOWN -> Decimals.floating(in.getString(), type.bytes());
        };
    }

    private static double number(String text) {
        return switch (text) {
            case "NaN" -> Double.NaN;
            case "Infinity" -> Double.POSITIVE_INFINITY;
            case "-Infinity" -> Double.NEGATIVE_INFINITY;
            default -> throw fault("float is a text that is neither NaN nor an infinity");
        };
    }

    private static Object hex(JsonParser in) {
        in.nextToken();
        String name = in.currentName();
        boolean isKnown = "hex".equals(name) || "octets".equals(name);
        boolean isText = in.nextToken() == JsonToken.VALUE_STRING;
        String digits = in.getString();
        if (!isKnown || !isText || in.nextToken() != JsonToken.END_OBJECT) {
            throw fault("bytes are one property, hex or octets, with a text of digits");
        }
        try {
            byte[] bytes = HexFormat.of().parseHex(digits);
            return "octets".equals(name) ? new Opaque(bytes) : bytes;
        } catch (IllegalArgumentException e) {
            throw fault("bytes are not hexadecimal");
        }
    }

    private static FormatException fault(String message) {
        return new FormatException(FormatFault.VALUE, message);
    }
}
