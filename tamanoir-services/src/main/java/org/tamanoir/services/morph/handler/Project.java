package org.tamanoir.services.morph.handler;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.tamanoir.format.Conversion;
import org.tamanoir.format.Field;
import org.tamanoir.format.Format;
import org.tamanoir.format.Kind;
import org.tamanoir.format.RecordWriter;
import org.tamanoir.format.Target;
import org.tamanoir.message.Bound;
import org.tamanoir.message.Effect;
import org.tamanoir.message.Message;
import org.tamanoir.message.MessageHandler;
import org.tamanoir.message.Outcome;
import org.tamanoir.message.Outlet;
import org.tamanoir.services.morph.expression.Expression;
import org.tamanoir.services.morph.expression.ResultType;

/**
 * Makes a record of another format, or of the same one: fields by expressions, the rest taken over by name. A field that
 * is given a whole array, structure or string of the input by its name alone takes it over as well.
 */
final class Project implements MessageHandler {
    private final @Nullable Target output;
    private final Map<String, Condition> fields = new LinkedHashMap<>();

    Project(HandlerSettings settings) {
        output = settings.has("output") ? settings.target("output") : null;
        settings.textMap("fields").forEach((name, text) -> {
            if (output != null && output.format().top().field(name) == null) {
                throw settings.problem(
                        "fields",
                        "format " + output.format().name() + " has no field '" + name + "'; it has " + names(output));
            }
            fields.put(name, Condition.of(settings, "fields." + name, text));
        });
        if (fields.isEmpty()) {
            throw settings.problem("fields", "is missing: say field: expression, or use translate");
        }
    }

    private static String names(Target target) {
        return target.format().top().fields().stream().map(Field::name).collect(Collectors.joining(", "));
    }

    /** Writes records that a conversion begins and assignments end, in memory of its own. */
    private static final class Projecting implements Bound {
        private final Format output;
        private final Conversion taken;
        private final List<Assignment> assignments;
        private final RecordWriter writer;
        private final Message made = new Message();

        Projecting(Format output, Conversion taken, List<Assignment> assignments) {
            this.output = output;
            this.taken = taken;
            this.assignments = assignments;
            writer = new RecordWriter(output);
        }

        @Override
        public Format output(int port) {
            return output;
        }

        @Override
        public Outcome handle(Message message, Outlet outlet) {
            writer.begin(output);
            taken.fill(message.record(), writer);
            for (int i = 0; i < assignments.size(); i++) {
                assignments.get(i).write(message.record(), writer);
            }
            int length = writer.finish();
            outlet.replace(made.wrapLike(message, output, writer.memory(), 0, length));
            return Outcome.FORWARD;
        }
    }

    @Override
    public Bound bind(Format input) {
        Target target = output == null ? Target.of(input) : output;
        Map<String, String> taken = new HashMap<>();
        List<Assignment> assignments = new ArrayList<>();
        for (Field field : target.format().top().fields()) {
            Condition condition = fields.get(field.name());
            if (condition == null) {
                // The empty name is the target's default.
                taken.put(field.name(), input.top().field(field.name()) == null ? "" : field.name());
                continue;
            }
            Expression expression = condition.compile(input);
            String whole = expression.wholeField();
            if (whole != null && (expression.type() == ResultType.OTHER || expression.type() == ResultType.STRING)) {
                taken.put(field.name(), whole);
            } else {
                assignments.add(Assignment.of(field, expression));
            }
        }
        for (String name : fields.keySet()) {
            Assignment.require(target.format(), name);
        }
        return new Projecting(target.format(), Conversion.compileFields(input, target, taken), assignments);
    }

    /** Keeps the values of fields that it takes over and that are as wide as their kind can be. */
    @Override
    public Effect effect() {
        Set<String> kept = null;
        if (output != null) {
            Map<String, String> defaults =
                    output.defaults().getOrDefault(output.format().name(), Map.of());
            kept = output.format().top().fields().stream()
                    .filter(field ->
                            !fields.containsKey(field.name()) && !defaults.containsKey(field.name()) && holdsAll(field))
                    .map(Field::name)
                    .collect(Collectors.toUnmodifiableSet());
        }
        return new Effect(false, null, output == null ? Set.copyOf(fields.keySet()) : null, kept, Double.NaN);
    }

    private static boolean holdsAll(Field field) {
        Kind kind = field.type().kind();
        boolean wide = (kind == Kind.INTEGER || kind == Kind.FLOAT) && field.size() == Long.BYTES;
        return field.type().isLeaf() && (wide || kind == Kind.STRING);
    }
}
