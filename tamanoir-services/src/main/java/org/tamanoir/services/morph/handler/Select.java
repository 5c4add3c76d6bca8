package org.tamanoir.services.morph.handler;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.tamanoir.format.Conversion;
import org.tamanoir.format.Format;
import org.tamanoir.format.Target;
import org.tamanoir.message.Bound;
import org.tamanoir.message.Effect;
import org.tamanoir.message.MessageHandler;

/**
 * Keeps some fields: in a smaller format, or in the same one with the rest 0 and null; or the same format without what
 * strings and pointers lead to.
 */
final class Select implements MessageHandler {
    private final List<String> fields;
    private final boolean cut;
    private final String name;

    Select(HandlerSettings settings) {
        fields = settings.texts("fields");
        cut = settings.flag("cut", false);
        name = settings.text("name", "");
        if (fields.isEmpty() && !cut) {
            throw settings.problem("fields", "is missing: list fields, as in [id, hub], or say cut: true");
        }
        if (cut && !name.isEmpty()) {
            throw settings.problem("name", "'" + name + "' for a format that is kept: leave out name, or cut");
        }
    }

    @Override
    public Bound bind(Format input) {
        if (fields.isEmpty()) {
            return input.isVariable() ? new Converting(Conversion.compileBase(input)) : new Passing(input);
        }
        Set<String> taken = DerivedFormat.withCounts(input, fields);
        Format output = cut
                ? input
                : new DerivedFormat(name.isEmpty() ? input.name() : name)
                        .take(input, fields)
                        .build();
        Map<String, String> same = taken.stream().collect(Collectors.toMap(Function.identity(), Function.identity()));
        return new Converting(Conversion.compileFields(input, Target.of(output), same));
    }

    @Override
    public Effect effect() {
        Set<String> kept = fields.isEmpty() ? null : Set.copyOf(fields);
        return new Effect(false, kept, null, kept, Double.NaN);
    }
}
