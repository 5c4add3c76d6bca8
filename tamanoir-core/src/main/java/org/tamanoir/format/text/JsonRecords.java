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
    /** Levels of values within one another: what is deeper is refused before the stack ends. */
    private static final int MAX_DEPTH = 1_500;

    private final Format format;
    private final RecordEncoder encoder;
    private final Map<Integer, Known> byId = new HashMap<>();

    /** A structure that others may refer to. */
    private record Known(Structure structure, Map<String, @Nullable Object> fields) {}

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
            throw fault(e.getOriginalMessage());
        }
    }

    /** Encodes the object that begins at the parser's current token. */
    public byte[] encode(JsonParser in) {
        byId.clear();
        return encoder.encode(structure(in, format.top(), 1));
    }

    private Map<String, @Nullable Object> structure(JsonParser in, Structure structure, int depth) {
        if (in.currentToken() != JsonToken.START_OBJECT) {
            throw fault("structure '" + structure.name() + "' is no object but " + in.currentToken());
        }
        if (depth > MAX_DEPTH) {
            throw fault("values within one another more than " + MAX_DEPTH + " deep");
        }
        Map<String, @Nullable Object> fields = new LinkedHashMap<>();
        while (in.nextToken() == JsonToken.PROPERTY_NAME) {
            String name = in.currentName();
            JsonToken token = in.nextToken();
            Field field = structure.field(name);
            if (field != null && fields.containsKey(name)) {
                throw fault("structure '" + structure.name() + "' has '" + name + "' twice");
            } else if (field != null) {
                fields.put(name, value(in, field.type(), depth + 1));
            } else if (name.equals("@id") && token == JsonToken.VALUE_NUMBER_INT) {
                if (byId.put(in.getIntValue(), new Known(structure, fields)) != null) {
                    throw fault("@id " + in.getIntValue() + " is given twice");
                }
            } else if (name.equals("@ref") && token == JsonToken.VALUE_NUMBER_INT) {
                Known known = byId.get(in.getIntValue());
                if (known == null || known.structure != structure || known.fields == fields) {
                    throw fault("@ref to a structure '" + structure.name() + "' that no @id before it names");
                }
                if (!fields.isEmpty() || in.nextToken() != JsonToken.END_OBJECT) {
                    throw fault("@ref stands beside other fields: it is alone");
                }
                return known.fields;
            } else {
                throw fault("structure '" + structure.name() + "' has no field '" + name + "'");
            }
        }
        return fields;
    }

    private @Nullable Object value(JsonParser in, Type of, int depth) {
        Type type = of;
        while (type.isPointer()) {
            type = type.target();
        }
        if (in.currentToken() == JsonToken.VALUE_NULL) {
            return null;
        }
        if (type.isArray()) {
            return list(in, type, type.dimensions().size(), depth);
        }
        Structure structure = type.structure();
        return structure != null ? structure(in, structure, depth) : leaf(in, type);
    }

    private @Nullable Object list(JsonParser in, Type array, int dimensions, int depth) {
        if (in.currentToken() != JsonToken.START_ARRAY) {
            throw fault("array of " + array.kind() + " is no list but " + in.currentToken());
        }
        List<@Nullable Object> list = new ArrayList<>();
        while (in.nextToken() != JsonToken.END_ARRAY) {
            list.add(dimensions > 1 ? list(in, array, dimensions - 1, depth) : value(in, array.target(), depth + 1));
        }
        return list;
    }

    private static @Nullable Object leaf(JsonParser in, Type type) {
        return switch (in.currentToken()) {
            case VALUE_NUMBER_INT -> in.getBigIntegerValue();
            case VALUE_NUMBER_FLOAT -> in.getDoubleValue();
            case VALUE_TRUE -> true;
            case VALUE_FALSE -> false;
            case VALUE_STRING -> type.kind() == Kind.FLOAT ? number(in.getString()) : in.getString();
            case START_OBJECT -> hex(in);
            default -> throw fault(type.kind() + " is " + in.currentToken());
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
        in.nextToken();
        String digits = in.getString();
        if (in.nextToken() != JsonToken.END_OBJECT || name == null) {
            throw fault("bytes are one property, hex or octets");
        }
        try {
            byte[] bytes = HexFormat.of().parseHex(digits == null ? "" : digits);
            return name.equals("octets") ? new Opaque(bytes) : bytes;
        } catch (IllegalArgumentException e) {
            throw fault("bytes are not hexadecimal");
        }
    }

    private static FormatException fault(String message) {
        return new FormatException(FormatFault.VALUE, message);
    }
}
