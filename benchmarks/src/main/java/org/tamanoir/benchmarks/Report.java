package org.tamanoir.benchmarks;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import org.tamanoir.benchmarks.report.Numbers;
import org.tamanoir.benchmarks.report.Rows;
import tools.jackson.databind.json.JsonMapper;

/**
 * Writes results as Markdown for people, CSV and JSON for programs.
 *
 * @param started when the comparison began
 * @param host what it ran on
 * @param versions what ran, by forwarder
 * @param settings rounds, warm-up and window
 * @param results what was measured
 */
record Report(
        ZonedDateTime started,
        Map<String, String> host,
        Map<String, String> versions,
        String settings,
        Results results) {

    private static final String NONE = "–";

    /** Writes the three files; the Markdown one. */
    Path write(Path folder) throws IOException {
        Files.createDirectories(folder);
        String name = "compare-" + started.format(DateTimeFormatter.ofPattern("yyyyMMdd-HHmmss"));
        Path markdown = folder.resolve(name + ".md");
        Files.writeString(markdown, markdown());
        Files.writeString(folder.resolve(name + ".csv"), csv());
        Files.writeString(folder.resolve(name + ".json"), json());
        return markdown;
    }

    String markdown() {
        StringBuilder text =
                new StringBuilder("# Comparison of " + started.format(DateTimeFormatter.ISO_LOCAL_DATE) + "\n\n");
        host.forEach((key, value) -> text.append("- " + key + ": " + value + "\n"));
        versions.forEach((key, value) -> text.append("- " + key + ": " + value + "\n"));
        text.append("- " + settings + "\n");
        if (!results.interrupted().isEmpty()) {
            text.append("- interrupted at " + results.interrupted() + ": what follows had been measured before\n");
        }
        for (String scenario : results.scenarios()) {
            text.append("\n## " + scenario + "\n\n" + medians(scenario) + ratios(scenario));
        }
        if (!results.failures().isEmpty()) {
            text.append("\n## Failed\n\n");
            results.failures().forEach(failure -> text.append("- " + failure + "\n"));
        }
        return text.toString();
    }

    /** Makes one row per load and figure that was measured, one column per forwarder. */
    private String table(String scenario, List<String> forwarders, List<Figure> figures, Cell cell) {
        StringBuilder text = new StringBuilder();
        text.append("| | " + String.join(" | ", forwarders) + " |\n|---" + "|---:".repeat(forwarders.size()) + "|\n");
        for (String load : results.loads(scenario)) {
            for (Figure figure : figures) {
                List<String> cells = forwarders.stream()
                        .map(forwarder -> cell.of(load, forwarder, figure))
                        .toList();
                if (!cells.stream().allMatch(NONE::equals)) {
                    text.append("| " + load + ": " + figure.unit() + " | " + String.join(" | ", cells) + " |\n");
                }
            }
        }
        return text.toString();
    }

    private interface Cell {
        String of(String load, String forwarder, Figure figure);
    }

    private List<Figure> figures(String scenario) {
        return results.rows().stream()
                .filter(row -> row.scenario().equals(scenario))
                .flatMap(row -> row.figures().keySet().stream())
                .distinct()
                .sorted()
                .toList();
    }

    /** Makes the table of medians, with the least and the most over the rounds. */
    private String medians(String scenario) {
        return table(
                scenario,
                results.forwarders(scenario),
                figures(scenario),
                (load, forwarder, figure) ->
                        value(figure, results.cell(scenario, load, forwarder).getOrDefault(figure, List.of())));
    }

    private static String value(Figure figure, List<Double> values) {
        return switch (values.size()) {
            case 0 -> NONE;
            case 1 -> figure.format(values.get(0));
            default ->
                "%s (%s–%s)"
                        .formatted(
                                figure.format(Numbers.median(values)),
                                figure.format(Collections.min(values)),
                                figure.format(Collections.max(values)));
        };
    }

    /** Makes the table of the node's medians over those of each peer. */
    private String ratios(String scenario) {
        List<String> peers = results.forwarders(scenario).stream()
                .filter(name -> !name.startsWith(Peers.NODE) && !name.equals(Peers.DIRECT))
                .toList();
        List<Figure> figures = figures(scenario).stream()
                .filter(figure -> figure != Figure.LOST && figure != Figure.FAULTS && figure != Figure.SENT_RATE)
                .toList();
        if (peers.isEmpty() || !results.forwarders(scenario).contains(Peers.NODE)) {
            return "";
        }
        return "\n" + Peers.NODE + " as a multiple of each peer:\n\n"
                + table(scenario, peers, figures, (load, peer, figure) -> ratio(scenario, load, peer, figure));
    }

    private String ratio(String scenario, String load, String peer, Figure figure) {
        OptionalDouble ours = results.median(scenario, load, Peers.NODE, figure);
        OptionalDouble theirs = results.median(scenario, load, peer, figure);
        return ours.isEmpty() || theirs.isEmpty() || theirs.getAsDouble() == 0
                ? NONE
                : "%.2f".formatted(ours.getAsDouble() / theirs.getAsDouble());
    }

    String csv() {
        Rows csv = new Rows("scenario,load,forwarder,round,figure,value");
        results.rows()
                .forEach(row -> row.figures()
                        .forEach((figure, value) -> csv.row(
                                "\"%s\",\"%s\",\"%s\",%d,\"%s\",%s",
                                row.scenario(), row.load(), row.forwarder(), row.round(), figure.unit(), value)));
        return csv.csv();
    }

    String json() {
        Map<String, Object> document = new LinkedHashMap<>();
        document.put(
                "started",
                started.truncatedTo(ChronoUnit.SECONDS).toOffsetDateTime().toString());
        document.put("host", host);
        document.put("forwarders", versions);
        document.put("settings", settings);
        document.put("measurements", results.rows());
        document.put("failures", results.failures());
        document.put("interrupted", results.interrupted());
        return JsonMapper.shared().writerWithDefaultPrettyPrinter().writeValueAsString(document);
    }
}
