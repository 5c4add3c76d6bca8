package org.tamanoir.node.cli;

import tools.jackson.databind.MapperFeature;
import tools.jackson.databind.json.JsonMapper;

/** Writes records, maps, lists, texts, numbers and booleans as one line of JSON; fields keep their order. */
public final class Json {
    private static final JsonMapper MAPPER = JsonMapper.builder()
            .disable(MapperFeature.SORT_PROPERTIES_ALPHABETICALLY)
            .build();

    private Json() {}

    public static String of(Object value) {
        return MAPPER.writeValueAsString(value);
    }
}
