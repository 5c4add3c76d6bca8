package org.tamanoir.services.morph.handler;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.tamanoir.format.Conversion;
import org.tamanoir.format.Field;
import org.tamanoir.format.Format;
import org.tamanoir.format.FormatException;
import org.tamanoir.format.Kind;
import org.tamanoir.format.Structure;
import org.tamanoir.format.Target;
import org.tamanoir.message.Bound;
import org.tamanoir.message.Effect;
import org.tamanoir.message.MessageHandler;

/** Turns records into a declared format: fields by name, what it lacks left out, what the sender lacks by default. */
final class Translate implements MessageHandler {
    private final Target target;
    private final boolean acrossKinds;

    Translate(HandlerSettings settings) {
        target = withDefaults(settings);
        acrossKinds = settings.flag("across-kinds", false);
    }

    /** Returns the output with the settings' defaults before those of the declaration. */
    private static Target withDefaults(HandlerSettings settings) {
        Target declared = settings.target("output");
        Map<String, Map<String, String>> defaults = new HashMap<>();
        declared.defaults().forEach((structure, fields) -> defaults.put(structure, new HashMap<>(fields)));
        settings.textMap("defaults").forEach((name, value) -> {
            int dot = name.indexOf('.');
            Format format = declared.format();
            String owner = dot < 0 ? format.name() : name.substring(0, dot);
            Structure structure = format.structure(owner);
            String field = name.substring(dot + 1);
            if (structure == null || structure.field(field) == null) {
                throw settings.problem("defaults", "format " + format.name() + " has no field '" + name + "'");
            }
            defaults.computeIfAbsent(owner, o -> new HashMap<>()).put(field, value);
        });
        try {
            return new Target(declared.format(), defaults);
        } catch (FormatException e) {
            throw settings.problem("defaults", e.getMessage());
        }
    }

    @Override
    public Bound bind(Format input) {
        if (input.id().equals(target.format().id())) {
            return new Passing(input);
        }
        return new Converting(
                acrossKinds ? Conversion.compileAcrossKinds(input, target) : Conversion.compile(input, target));
    }

    /** Keeps the values of fields that are as wide as their kind can be and have no default. */
    @Override
    public Effect effect() {
        Structure top = target.format().top();
        Map<String, String> defaults = target.defaults().getOrDefault(top.name(), Map.of());
        Set<String> kept = top.fields().stream()
                .filter(field -> !acrossKinds && !defaults.containsKey(field.name()) && holdsAll(field))
                .map(Field::name)
                .collect(Collectors.toUnmodifiableSet());
        return new Effect(false, null, null, kept, Double.NaN);
    }

    private static boolean holdsAll(Field field) {
        Kind kind = field.type().kind();
        boolean wide = (kind == Kind.INTEGER || kind == Kind.FLOAT) && field.size() == Long.BYTES;
        return field.type().isLeaf() && (wide || kind == Kind.STRING);
    }
}
