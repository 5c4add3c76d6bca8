package org.tamanoir.format;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A format into which a receiver wants records, and the defaults of fields that a sender may lack.
 *
 * @param defaults texts by structure and field: decimal numbers that their fields hold; of a char one byte
 */
public record Target(Format format, Map<String, Map<String, String>> defaults) {
    /**
     * Makes a target.
     *
     * @throws FormatException if a default is not what its field holds
     */
    public Target {
        defaults.forEach((owner, texts) -> texts.forEach((name, text) -> {
            Structure structure = format.structure(owner);
            Field field = structure == null ? null : structure.field(name);
            if (structure != null && field != null) {
                StructurePlan.Preset.of(structure, field, text);
            }
        }));
    }

    /** Makes a target without defaults. */
    public static Target of(Format format) {
        return new Target(format, Map.of());
    }

    @Nullable
    String defaultOf(Structure structure, Field field) {
        return defaults.getOrDefault(structure.name(), Map.of()).get(field.name());
    }
}
