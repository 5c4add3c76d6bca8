package org.tamanoir.benchmarks.report;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What the report says of one experiment.
 *
 * <p>Thread contract: one thread.
 */
public final class Section {
    /**
     * One figure beside what the paper measured, or what is asked for.
     *
     * @param reference empty = there is none
     */
    public record Finding(String quantity, String reference, String measured) {}

    /** A table of text. */
    public record Table(List<String> head, List<List<String>> rows) {}

    private final String id;
    private final String title;
    private final List<String> paragraphs = new ArrayList<>();
    private final List<Finding> findings = new ArrayList<>();
    private final List<Table> tables = new ArrayList<>();
    private final Map<String, byte[]> plots = new LinkedHashMap<>();
    private final Map<String, String> data = new LinkedHashMap<>();

    Section(String id, String title) {
        this.id = id;
        this.title = title;
    }

    /** Adds a paragraph. */
    public Section say(String paragraph) {
        paragraphs.add(paragraph);
        return this;
    }

    /** Adds a figure; see {@link Finding}. */
    public Section find(String quantity, String reference, String measured) {
        findings.add(new Finding(quantity, reference, measured));
        return this;
    }

    /** Adds a table. */
    public Section table(List<String> head, List<List<String>> rows) {
        tables.add(new Table(head, rows));
        return this;
    }

    /** A PNG image; its file has this name, with the section's in front. */
    public Section plot(String name, byte[] png) {
        plots.put(id + name + ".png", png);
        return this;
    }

    /** Comma-separated values; the file has this name, with the section's in front. */
    public Section csv(String name, String text) {
        data.put(id + name + ".csv", text);
        return this;
    }

    /** JSON; the file has this name, with the section's in front. */
    public Section json(String name, String text) {
        data.put(id + name + ".json", text);
        return this;
    }

    /** As {@code --only} names it. */
    public String id() {
        return id;
    }

    /** As the page shows it. */
    public String title() {
        return title;
    }

    List<String> paragraphs() {
        return paragraphs;
    }

    List<Finding> findings() {
        return findings;
    }

    List<Table> tables() {
        return tables;
    }

    Map<String, byte[]> plots() {
        return plots;
    }

    Map<String, String> data() {
        return data;
    }
}
