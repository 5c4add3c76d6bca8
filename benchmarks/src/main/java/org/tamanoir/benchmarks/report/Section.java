package org.tamanoir.benchmarks.report;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import tools.jackson.databind.json.JsonMapper;

/** What the report says of one experiment. Files have names of their own behind the section's. One thread. */
public final class Section {
    /** One figure beside what the paper measured, or what is asked for. */
    record Finding(String quantity, String reference, String measured) {}

    private final String id;
    private final String title;
    private final List<String> paragraphs = new ArrayList<>();
    private final List<Finding> findings = new ArrayList<>();
    private final List<Rows> tables = new ArrayList<>();
    private final Map<String, byte[]> plots = new LinkedHashMap<>();
    private final Map<String, byte[]> data = new LinkedHashMap<>();

    Section(String id, String title) {
        this.id = id;
        this.title = title;
    }

    private static String text(String format, Object[] values) {
        return values.length == 0 ? format : format.formatted(values);
    }

    /** Adds a paragraph; a format where values follow. */
    public Section say(String paragraph, Object... values) {
        paragraphs.add(text(paragraph, values));
        return this;
    }

    /** Adds a figure beside what the paper measured, or what is asked for; a format where values follow. */
    public Section find(String quantity, String reference, String measured, Object... values) {
        findings.add(new Finding(quantity, reference, text(measured, values)));
        return this;
    }

    /** Adds a table. */
    public Section table(Rows table) {
        tables.add(table);
        return this;
    }

    /** Adds a PNG image. */
    public Section plot(String name, byte[] png) {
        plots.put(id + name + ".png", png);
        return this;
    }

    /** Adds comma-separated values. */
    public Section csv(String name, Rows rows) {
        data.put(id + name + ".csv", rows.csv().getBytes(StandardCharsets.UTF_8));
        return this;
    }

    /** Adds what this is as JSON. */
    public Section json(Object value) {
        data.put(
                id + ".json",
                JsonMapper.shared().writerWithDefaultPrettyPrinter().writeValueAsBytes(value));
        return this;
    }

    /** As the page shows it. */
    public String title() {
        return title;
    }

    List<Finding> findings() {
        return findings;
    }

    /** Returns what lies beside the page, by name. */
    Map<String, byte[]> files() {
        Map<String, byte[]> files = new LinkedHashMap<>(plots);
        files.putAll(data);
        return files;
    }

    /** Adds the figures to a table of all experiments. */
    void summarize(Rows all) {
        findings.forEach(found -> all.row(List.of(id, found.quantity, found.reference, found.measured)));
    }

    String markdown() {
        StringBuilder text = new StringBuilder("\n## " + title + "\n");
        paragraphs.forEach(paragraph -> text.append("\n" + paragraph + "\n"));
        Rows figures = new Rows("quantity | paper, or asked | measured");
        findings.forEach(found -> figures.row(List.of(found.quantity, found.reference, found.measured)));
        text.append(figures.markdown());
        tables.forEach(table -> text.append(table.markdown()));
        plots.keySet().forEach(file -> text.append("\n![" + title + "](" + file + ")\n"));
        if (!data.isEmpty()) {
            text.append("\nData: ")
                    .append(data.keySet().stream()
                            .map(file -> "[" + file + "](" + file + ")")
                            .collect(Collectors.joining(", ", "", ".\n")));
        }
        return text.toString();
    }
}
