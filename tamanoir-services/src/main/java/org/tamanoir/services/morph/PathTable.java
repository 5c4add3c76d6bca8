package org.tamanoir.services.morph;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.tamanoir.format.Format;

/**
 * Which way messages take, by format and handler: the table of figure 2 of the data morphing paper. In the bitmaps of
 * output queues bit 0 is the way out, bit n the ring of context n.
 *
 * @param rows in the order of stages, and of formats as they came
 */
record PathTable(List<Row> rows) {
    /**
     * The way of one format at one handler.
     *
     * @param format in which messages come
     * @param converted into which they are converted first; null: they are taken as they come
     */
    record Row(
            int stage,
            String handler,
            String context,
            Format format,
            @Nullable Format converted,
            List<Port> ports) {}

    /**
     * What is behind a port.
     *
     * @param queues bitmap of the contexts that messages go to
     */
    record Port(Format format, long queues, List<String> next) {}

    static Row row(Plan plan, int stage, Format format, @Nullable Format converted, List<Format> outputs) {
        StageSpec spec = plan.stages().get(stage);
        List<Port> ports = new ArrayList<>();
        for (int port = 0; port < spec.next().size(); port++) {
            long queues = 0;
            for (int next : spec.next().get(port)) {
                queues |= next == Plan.OUT ? 1 : 1L << plan.stages().get(next).context();
            }
            ports.add(new Port(
                    outputs.get(port),
                    queues,
                    spec.next().get(port).stream().map(plan::nameOf).toList()));
        }
        String context = plan.contexts().get(spec.context()).name();
        return new Row(stage, spec.name(), context, format, converted, ports);
    }

    /** Returns the rows as the view has them. */
    List<Map<String, Object>> tree() {
        return rows.stream().map(PathTable::tree).toList();
    }

    private static Map<String, Object> tree(Row row) {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("format", row.format.name());
        tree.put("id", row.format.id().toString());
        tree.put("handler", row.handler);
        tree.put("context", row.context);
        tree.put("converted", row.converted == null ? null : row.converted.name());
        tree.put("ports", row.ports.stream().map(PathTable::tree).toList());
        return tree;
    }

    private static Map<String, Object> tree(Port port) {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("format", port.format.name());
        tree.put("queues", "0x" + Long.toHexString(port.queues));
        tree.put("next", port.next);
        return tree;
    }

    /** Returns the table as text, a line for each row. */
    String dump() {
        StringBuilder text = new StringBuilder();
        for (Row row : rows) {
            text.append(String.format(Locale.ROOT, "%-16s %-12s %-10s", row.format.name(), row.handler, row.context));
            if (row.converted != null) {
                text.append(" as ").append(row.converted.name());
            }
            for (int port = 0; port < row.ports.size(); port++) {
                Port one = row.ports.get(port);
                text.append(String.format(
                        Locale.ROOT,
                        " %d:%s 0x%x %s",
                        port,
                        one.format.name(),
                        one.queues,
                        String.join("+", one.next)));
            }
            text.append('\n');
        }
        return text.toString();
    }
}
