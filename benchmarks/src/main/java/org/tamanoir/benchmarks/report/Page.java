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
            for (Map.Entry<String, byte[]> file : section.files().entrySet()) {
                Files.write(folder.resolve(file.getKey()), file.getValue());
            }
        }
        return Files.writeString(folder.resolve(fileName), markdown());
    }

    private String markdown() {
        StringBuilder text = new StringBuilder("# " + title + ", ")
                .append(started.format(DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm")))
                .append("\n\n");
        host.forEach((name, value) -> text.append("- " + name + ": " + value + "\n"));
        text.append("- " + settings + "\n");
        if (!failures.isEmpty()) {
            text.append("\n## Failed\n\n");
            failures.forEach(failure -> text.append("- " + failure + "\n"));
        }
        Rows all = new Rows("experiment | quantity | paper, or asked | measured");
        sections.forEach(section -> section.summarize(all));
        text.append("\n## All figures\n").append(all.markdown());
        sections.forEach(section -> text.append(section.markdown()));
        return text.toString();
    }
}
