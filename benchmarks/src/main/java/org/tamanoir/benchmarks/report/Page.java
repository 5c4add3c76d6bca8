package org.tamanoir.benchmarks.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Map;

/**
 * A report: one page of Markdown, with a plot and the data of each experiment beside it.
 *
 * @param title without the date
 * @param started when the first experiment began
 * @param host what it ran on
 * @param settings of the run
 * @param sections in order
 * @param failures experiments that ended early, and why
 */
record Page(
        String title,
        ZonedDateTime started,
        Map<String, String> host,
        String settings,
        List<Section> sections,
        List<String> failures) {
    /** Writes all files; the page. */
    Path write(Path folder, String fileName) throws IOException {
        Files.createDirectories(folder);
        for (Section section : sections) {
            for (Map.Entry<String, byte[]> plot : section.plots().entrySet()) {
                Files.write(folder.resolve(plot.getKey()), plot.getValue());
            }
            for (Map.Entry<String, String> data : section.data().entrySet()) {
                Files.writeString(folder.resolve(data.getKey()), data.getValue());
            }
        }
        Path page = folder.resolve(fileName);
        Files.writeString(page, markdown());
        return page;
    }

    String markdown() {
        StringBuilder text = new StringBuilder("# " + title + ", ")
                .append(started.format(DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm")))
                .append("\n\n");
        host.forEach((name, value) ->
                text.append("- ").append(name).append(": ").append(value).append('\n'));
        text.append("- ").append(settings).append("\n");
        if (!failures.isEmpty()) {
            text.append("\n## Failed\n\n");
            failures.forEach(failure -> text.append("- ").append(failure).append('\n'));
        }
        text.append("\n## All figures\n");
        table(
                text,
                List.of("experiment", "quantity", "paper, or asked", "measured"),
                sections.stream()
                        .flatMap(section -> section.findings().stream()
                                .map(found ->
                                        List.of(section.id(), found.quantity(), found.reference(), found.measured())))
                        .toList());
        for (Section section : sections) {
            text.append("\n## ").append(section.title()).append('\n');
            section.paragraphs()
                    .forEach(paragraph -> text.append('\n').append(paragraph).append('\n'));
            table(
                    text,
                    List.of("quantity", "paper, or asked", "measured"),
                    section.findings().stream()
                            .map(found -> List.of(found.quantity(), found.reference(), found.measured()))
                            .toList());
            section.tables().forEach(table -> table(text, table.head(), table.rows()));
            section.plots()
                    .keySet()
                    .forEach(file -> text.append("\n![")
                            .append(section.title())
                            .append("](")
                            .append(file)
                            .append(")\n"));
            if (!section.data().isEmpty()) {
                text.append("\nData: ")
                        .append(String.join(
                                ", ",
                                section.data().keySet().stream()
                                        .map(file -> "[" + file + "](" + file + ")")
                                        .toList()))
                        .append(".\n");
            }
        }
        return text.toString();
    }

    private static void table(StringBuilder text, List<String> head, List<List<String>> rows) {
        if (rows.isEmpty()) {
            return;
        }
        text.append("\n| ").append(String.join(" | ", head)).append(" |\n");
        text.append("|---".repeat(head.size())).append("|\n");
        rows.forEach(row -> text.append("| ").append(String.join(" | ", row)).append(" |\n"));
    }
}
