package org.tamanoir.services.morph;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.tamanoir.format.Format;

/** Plans of the tests. */
final class Plans {
    private Plans() {}

    static Map<String, Object> tree(String... lines) {
        return PlanTree.parse("test", Flights.DECLARE + String.join("\n", lines));
    }

    static Plan read(TestKinds kinds, String... lines) {
        return PlanReader.read(tree(lines), Path.of("."), kinds, KNOWN, Map.of());
    }

    static List<String> problems(String... lines) {
        try {
            read(new TestKinds(), lines);
        } catch (PlanException e) {
            return e.problems();
        }
        return List.of();
    }

    /** One object for each identifier, as a node has it. */
    static final UnaryOperator<Format> KNOWN = format -> format.id().equals(Flights.FLIGHT.id())
            ? Flights.FLIGHT
            : format.id().equals(Flights.LATE.id()) ? Flights.LATE : format;
}
