package org.tamanoir.services.morph.handler;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.tamanoir.format.Conversion;
import org.tamanoir.format.Field;
import org.tamanoir.format.Format;
import org.tamanoir.format.FormatException;
import org.tamanoir.format.RecordView;
import org.tamanoir.format.RecordWriter;
import org.tamanoir.format.Target;

/**
 * Puts one record together from the fields of several parts: each field from where the settings say, else from the first
 * part that has one of its name, else by its default.
 *
 * <p>Thread contract: one thread.
 */
final class Assembly {
    private final Format output;
    private final List<Conversion> parts = new ArrayList<>();
    private final RecordWriter writer;

    /**
     * Compiles what the settings {@code output} and {@code fields} say.
     *
     * @param names of the parts in the settings
     * @param formats of the parts
     */
    Assembly(HandlerSettings settings, List<String> names, List<Format> formats) {
        Target target = settings.target("output");
        output = target.format();
        writer = new RecordWriter(output);
        Map<String, String> given = settings.textMap("fields");
        for (String field : given.keySet()) {
            if (output.top().field(field) == null) {
                throw settings.problem(
                        "fields",
                        "format " + output.name() + " has no field '" + field + "'; it has: "
                                + output.top().fields());
            }
        }
        List<Map<String, String>> taken = new ArrayList<>();
        formats.forEach(format -> taken.add(new HashMap<>()));
        for (Field field : output.top().fields()) {
            String source = given.get(field.name());
            int part = source == null ? partWith(field.name(), formats) : partOf(source, names, settings);
            if (part >= 0) {
                String name = source == null ? field.name() : source.substring(source.indexOf('.') + 1);
                taken.get(part).put(field.name(), name);
            } else {
                // The default; every part sets it, since any of them may be missing.
                taken.forEach(fields -> fields.put(field.name(), ""));
            }
        }
        for (int i = 0; i < formats.size(); i++) {
            try {
                parts.add(Conversion.compileFields(formats.get(i), target, taken.get(i)));
            } catch (FormatException e) {
                throw settings.problem("fields", "from " + names.get(i) + ": " + e.getMessage());
            }
        }
    }

    private static int partWith(String field, List<Format> formats) {
        for (int i = 0; i < formats.size(); i++) {
            if (formats.get(i).top().field(field) != null) {
                return i;
            }
        }
        return -1;
    }

    private static int partOf(String source, List<String> names, HandlerSettings settings) {
        int dot = source.indexOf('.');
        int part = names.indexOf(source.substring(0, Math.max(0, dot)));
        if (part < 0) {
            throw settings.problem("fields", "'" + source + "' is no part.field; parts: " + String.join(", ", names));
        }
        return part;
    }

    Format output() {
        return output;
    }

    /** Begins a record in the assembly's own memory. */
    void begin() {
        writer.begin(output);
    }

    /** Takes the fields of one part's record. */
    void add(int part, RecordView record) {
        parts.get(part).fill(record, writer);
    }

    /** Ends the record, and returns its bytes. */
    int finish() {
        return writer.finish();
    }

    /** Returns the memory that the record begins at the start of. */
    ByteBuffer memory() {
        return writer.memory();
    }
}
