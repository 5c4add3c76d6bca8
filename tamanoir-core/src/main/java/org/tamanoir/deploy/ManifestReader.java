package org.tamanoir.deploy;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.ServiceKey;
import org.tamanoir.format.text.JsonFaults;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.core.TokenStreamFactory;
import tools.jackson.core.TokenStreamLocation;
import tools.jackson.core.json.JsonFactory;

/**
 * Reads manifests, which come from anywhere and are read before their signature is checked: hence the bounds, and no
 * binding of JSON to classes.
 */
final class ManifestReader {
    private static final int MAX_DEPTH = 8;
    private static final int MAX_NUMBER_CHARS = 32;
    private static final JsonFactory JSON = JsonFactory.builder()
            .streamReadConstraints(StreamReadConstraints.builder()
                    .maxNestingDepth(MAX_DEPTH)
                    .maxNumberLength(MAX_NUMBER_CHARS)
                    .maxStringLength(Manifest.MAX_BYTES)
                    .maxNameLength(Manifest.MAX_BYTES)
                    .maxDocumentLength(Manifest.MAX_BYTES)
                    .build())
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            // Names in manifests of strangers are not worth remembering.
            .disable(TokenStreamFactory.Feature.CANONICALIZE_PROPERTY_NAMES)
            .disable(TokenStreamFactory.Feature.INTERN_PROPERTY_NAMES)
            .build();

    private final JsonParser parser;
    private @Nullable Long format;
    private @Nullable String name;
    private @Nullable String version;
    private @Nullable String key;
    private @Nullable String mainClass;
    private @Nullable String jarSha256;
    private @Nullable Long jarBytes;
    private @Nullable List<String> levels;
    private @Nullable ServiceLimits limits;
    private @Nullable String description;

    private ManifestReader(JsonParser parser) {
        this.parser = parser;
    }

    static Manifest read(byte[] json) throws CodeRefusedException {
        if (json.length > Manifest.MAX_BYTES) {
            throw malformed(json.length + " bytes: at most " + Manifest.MAX_BYTES);
        }
        try (JsonParser parser = JSON.createParser(ObjectReadContext.empty(), text(json))) {
            return new ManifestReader(parser).manifest();
        } catch (JacksonException e) {
            throw malformed(line(e) + JsonFaults.why(e));
        } catch (IllegalArgumentException e) {
            throw malformed(String.valueOf(e.getMessage()));
        }
    }

    private static CodeRefusedException malformed(String what) {
        return new CodeRefusedException(
                Refusal.MALFORMED, "manifest that cannot be read: " + what + "; publish the service again");
    }

    /** Returns where it is; empty for the parser's own bounds, which name no place. */
    private static String line(JacksonException e) {
        TokenStreamLocation place = e.getLocation();
        return place == null ? "" : "line " + place.getLineNr() + ": ";
    }

    /** Decodes JSON as UTF-8; a parser that guessed would let other encodings pass. */
    private static String text(byte[] json) {
        try {
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(json))
                    .toString();
        } catch (CharacterCodingException e) {
            throw new IllegalArgumentException("it is no UTF-8 text", e);
        }
    }

    private Manifest manifest() {
        if (parser.nextToken() != JsonToken.START_OBJECT) {
            throw new IllegalArgumentException("it is no JSON object");
        }
        while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
            String field = parser.currentName();
            parser.nextToken();
            read(field);
        }
        if (parser.nextToken() != null) {
            throw new IllegalArgumentException("something stands behind the JSON object");
        }
        return checked();
    }

    private void read(String field) {
        switch (field) {
            case "format" -> format = whole(field);
            case "name" -> name = string(field);
            case "version" -> version = string(field);
            case "key" -> key = string(field);
            case "mainClass" -> mainClass = string(field);
            case "jarSha256" -> jarSha256 = string(field);
            case "jarOctets" -> jarBytes = whole(field);
            case "levels" -> levels = strings(field);
            case "limits" -> limits = limits(field);
            case "description" -> description = string(field);
            default -> skipUnknown(field);
        }
    }

    private void skipUnknown(String field) {
        if (!field.startsWith("x-")) {
            throw new IllegalArgumentException(
                    "field " + OneLine.quoted(field) + ": there is no such field; names of own ones begin with x-");
        }
        parser.skipChildren();
    }

    private Manifest checked() {
        if (required("format", format) != Manifest.FORMAT) {
            throw new IllegalArgumentException(
                    "format " + format + ": this node reads " + Manifest.FORMAT + "; update the node");
        }
        ServiceId id = new ServiceId(required("name", name), required("version", version));
        String wanted = ServiceKey.toString(id.key());
        if (!required("key", key).equals(wanted)) {
            throw new IllegalArgumentException(
                    "key " + OneLine.quoted(required("key", key)) + ": that of " + id + " is " + wanted);
        }
        return new Manifest(
                id,
                required("mainClass", mainClass),
                required("jarSha256", jarSha256),
                required("jarOctets", jarBytes),
                required("levels", levels),
                required("limits", limits),
                required("description", description));
    }

    private static <T> T required(String field, @Nullable T value) {
        if (value == null) {
            throw new IllegalArgumentException("field " + field + ": it is missing");
        }
        return value;
    }

    private ServiceLimits limits(String field) {
        require(field, JsonToken.START_OBJECT, "an object");
        Double processors = null;
        Long allocation = null;
        while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
            String limit = parser.currentName();
            parser.nextToken();
            switch (limit) {
                case "processors" -> processors = number(limit);
                case "allocationOctetsPerSecond" -> allocation = whole(limit);
                default -> skipUnknown(limit);
            }
        }
        return new ServiceLimits(
                required("limits.processors", processors), required("limits.allocationOctetsPerSecond", allocation));
    }

    private List<String> strings(String field) {
        require(field, JsonToken.START_ARRAY, "a list");
        List<String> strings = new ArrayList<>();
        while (parser.nextToken() != JsonToken.END_ARRAY) {
            strings.add(string(field));
        }
        return strings;
    }

    private String string(String field) {
        require(field, JsonToken.VALUE_STRING, "text");
        return parser.getString();
    }

    /** Refuses more than a long holds by Jackson's own check. */
    private long whole(String field) {
        require(field, JsonToken.VALUE_NUMBER_INT, "a whole number");
        return parser.getLongValue();
    }

    private double number(String field) {
        if (parser.currentToken() != JsonToken.VALUE_NUMBER_FLOAT) {
            require(field, JsonToken.VALUE_NUMBER_INT, "a number");
        }
        return parser.getDoubleValue();
    }

    private void require(String field, JsonToken token, String kind) {
        if (parser.currentToken() != token) {
            throw new IllegalArgumentException("field " + field + ": it must be " + kind);
        }
    }
}
