package org.tamanoir.cluster.element;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Objects;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The vectors of the Fast Circulating Token. */
final class Vectors {
    private Vectors() {}

    static JsonNode read(String file) {
        try (InputStream in = Vectors.class.getResourceAsStream("/vectors/fct/" + file)) {
            return JsonMapper.shared().readTree(Objects.requireNonNull(in, file));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Returns a number, or another one where there is none. */
    static long number(JsonNode node, String name, long otherwise) {
        JsonNode value = node.get(name);
        return value == null ? otherwise : value.asLong();
    }

    /** Returns the settings of a sender, without an idle state. */
    static FctSettings settings(JsonNode node, int unit) {
        long holdMax = number(node, "holdMax", 20);
        boolean discard = node.has("policy") && node.get("policy").asString().equals("DISCARD");
        return new FctSettings(
                unit, discard, (int) number(node, "budget", 0), number(node, "barrier", 0), holdMax, holdMax, 1);
    }
}
