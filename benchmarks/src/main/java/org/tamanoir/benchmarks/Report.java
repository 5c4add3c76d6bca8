package org.tamanoir.benchmarks;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.stream.Collectors;
import tools.jackson.databind.SerializationFeature;
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
        StringBuilder text = new StringBuilder();
        text.append("# Comparison of ")
                .append(started.format(DateTimeFormatter.ISO_LOCAL_DATE))
                .append("\n\n");
        host.forEach((key, value) ->
                text.append("- ").append(key).append(": ").append(value).append('\n'));
        versions.forEach((key, value) ->
                text.append("- ").append(key).append(": ").append(value).append('\n'));
        text.append("- ").append(settings).append("\n");
        for (String scenario : results.scenarios()) {
            text.append("\n## ").append(scenario).append("\n\n").append(table(scenario));
            text.append(ratios(scenario));
        }
        if (!results.failures().isEmpty()) {
            text.append("\n## Failed\n\n");
            results.failures()
                    .forEach(failure -> text.append("- ").append(failure).append('\n'));
        }
        return text.toString();
    }

    /** Medians, ± half the range over the rounds; one row per load, one column per forwarder. */
    private String table(String scenario) {
        List<String> forwarders = results.forwarders(scenario);
        List<Figure> figures = figures(scenario);
        StringBuilder text =
                new StringBuilder(figures.stream().map(Figure::unit).collect(Collectors.joining(" · ", "", "\n\n")));
        text.append("| | ").append(String.join(" | ", forwarders)).append(" |\n|---");
        text.append("|---:".repeat(forwarders.size())).append("|\n");
        for (String load : results.loads(scenario)) {
            text.append("| ").append(load).append(" |");
            for (String forwarder : forwarders) {
                text.append(' ')
                        .append(cell(results.cell(scenario, load, forwarder), figures))
                        .append(" |");
            }
            text.append('\n');
        }
        return text.toString();
    }

    private List<Figure> figures(String scenario) {
        return results.rows().stream()
                .filter(row -> row.scenario().equals(scenario))
                .flatMap(row -> row.figures().keySet().stream())
                .distinct()
                .sorted()
                .toList();
    }

    private static String cell(Map<Figure, List<Double>> values, List<Figure> figures) {
        if (values.isEmpty()) {
            return "–";
        }
        return figures.stream()
                .map(figure -> {
                    List<Double> measured = values.get(figure);
                    return measured == null ? "–" : value(figure, measured);
                })
                .collect(Collectors.joining(" · "));
    }

    private static String value(Figure figure, List<Double> values) {
        String median = figure.format(Results.median(values));
        return values.size() == 1
                ? median
                : median + String.format(Locale.ROOT, " ±%.0f%%", Results.spreadPercent(values));
    }

    /** The node's medians over those of each peer. */
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
        StringBuilder text = new StringBuilder("\n").append(Peers.NODE).append(" as a multiple of ");
        text.append("each peer: ")
                .append(figures.stream().map(Figure::unit).collect(Collectors.joining(" · ")))
                .append("\n\n| | ")
                .append(String.join(" | ", peers))
                .append(" |\n|---")
                .append("|---:".repeat(peers.size()))
                .append("|\n");
        for (String load : results.loads(scenario)) {
            text.append("| ").append(load).append(" |");
            for (String peer : peers) {
                text.append(' ')
                        .append(figures.stream()
                                .map(figure -> ratio(scenario, load, peer, figure))
                                .collect(Collectors.joining(" · ")))
                        .append(" |");
            }
            text.append('\n');
        }
        return text.toString();
    }

    private String ratio(String scenario, String load, String peer, Figure figure) {
        OptionalDouble ours = results.median(scenario, load, Peers.NODE, figure);
        OptionalDouble theirs = results.median(scenario, load, peer, figure);
        return ours.isEmpty() || theirs.isEmpty() || theirs.getAsDouble() == 0
                ? "–"
                : String.format(Locale.ROOT, "%.2f", ours.getAsDouble() / theirs.getAsDouble());
    }

    String csv() {
        StringBuilder text = new StringBuilder("scenario,load,forwarder,round,figure,value\n");
        for (Results.Row row : results.rows()) {
            row.figures()
                    .forEach((figure, value) -> text.append(String.format(
                            Locale.ROOT,
                            "\"%s\",\"%s\",\"%s\",%d,\"%s\",%s\n",
                            row.scenario(),
                            row.load(),
                            row.forwarder(),
                            row.round(),
                            figure.unit(),
                            value)));
        }
        return text.toString();
    }

    String json() {
        Map<String, Object> document = new LinkedHashMap<>();
        document.put(
                "started",
                started.truncatedTo(ChronoUnit.SECONDS).toOffsetDateTime().toString());
        document.put("host", host);
        document.put("forwarders", versions);
        document.put("settings", settings);
        document.put("measurements", results.rows().stream().map(Report::json).toList());
        document.put("failures", results.failures());
        return JsonMapper.builder()
                .enable(SerializationFeature.INDENT_OUTPUT)
                .build()
                .writeValueAsString(document);
    }

    private static Map<String, Object> json(Results.Row row) {
        Map<String, Double> figures = new LinkedHashMap<>();
        row.figures().forEach((figure, value) -> figures.put(figure.unit(), value));
        Map<String, Object> object = new LinkedHashMap<>();
        object.put("scenario", row.scenario());
        object.put("load", row.load());
        object.put("forwarder", row.forwarder());
        object.put("round", row.round());
        object.put("figures", figures);
        return object;
    }
}
