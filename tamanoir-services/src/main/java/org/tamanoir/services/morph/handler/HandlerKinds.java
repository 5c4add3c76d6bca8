package org.tamanoir.services.morph.handler;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.tamanoir.message.MessageHandler;

/** The kinds that there are. */
public final class HandlerKinds {
    private static final Map<String, HandlerKind> ALL = table(List.of(
            // One line each, in the order of the documentation.
            new Row("filter", "when", Filter::new),
            new Row("route", "port", Route::new),
            new Row("project", "", Project::new),
            new Row("translate", "output", Translate::new),
            new Row("select", "fields", Select::new),
            new Row("merge", "", Merge::new),
            new Row("reduce", "", Reduce::new),
            new Row("split", "to", Split::new),
            new Row("enrich", "", Enrich::new),
            new Row("versions", "steps", Versions::new),
            new Row("nothing", "", Nothing::new)));

    private record Row(String name, String main, Function<HandlerSettings, MessageHandler> maker)
            implements HandlerKind {
        @Override
        public MessageHandler make(HandlerSettings settings) {
            return maker.apply(settings);
        }
    }

    private HandlerKinds() {}

    private static Map<String, HandlerKind> table(List<Row> rows) {
        Map<String, HandlerKind> table = new LinkedHashMap<>();
        rows.forEach(row -> table.put(row.name, row));
        return table;
    }

    /** Returns all kinds by name. */
    public static Map<String, HandlerKind> all() {
        return Map.copyOf(ALL);
    }

    /**
     * Makes the handler that a plan describes, and refuses settings that its kind did not ask for.
     *
     * @param path of the kind's name in the plan, such as {@code handlers.late.filter}, for messages
     * @param value what stands behind the name: a map of settings, or the main one, or nothing
     * @throws IllegalArgumentException what is wrong, as {@link HandlerKind#make}
     */
    public static MessageHandler make(String path, String kind, @Nullable Object value, PlanNames names) {
        HandlerKind row = ALL.get(kind);
        if (row == null) {
            throw new IllegalArgumentException(
                    path + ": '" + kind + "' is no kind of handler; known: " + String.join(", ", ALL.keySet()));
        }
        HandlerSettings settings = HandlerSettings.of(path, row.main(), value, names);
        MessageHandler handler = row.make(settings);
        try {
            settings.requireNoOthers();
        } catch (IllegalArgumentException e) {
            handler.close();
            throw e;
        }
        return handler;
    }
}
