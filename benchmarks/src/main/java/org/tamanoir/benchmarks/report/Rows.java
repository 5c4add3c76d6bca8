package org.tamanoir.benchmarks.report;

import java.util.ArrayList;
import java.util.List;

/** Lines of data under a head: columns parted by commas make a data file, those parted by bars a table. One thread. */
public final class Rows {
    private final String head;
    private final List<String> rows = new ArrayList<>();

    /** @param head as in {@code "name,count"} or {@code "name | count"} */
    public Rows(String head) {
        this.head = head;
    }

    /** Adds a row; {@code format} has the columns parted as the head has. */
    public Rows row(String format, Object... values) {
        rows.add(format.formatted(values));
        return this;
    }

    /** Adds a row of a table. */
    public Rows row(List<String> cells) {
        rows.add(String.join(" | ", cells));
        return this;
    }

    /** Returns head and rows as a data file has them. */
    public String csv() {
        return head + "\n"
                + String.join("", rows.stream().map(row -> row + "\n").toList());
    }

    /** Returns a table of Markdown; nothing without a row. */
    String markdown() {
        if (rows.isEmpty()) {
            return "";
        }
        StringBuilder text = new StringBuilder("\n| ").append(head).append(" |\n");
        text.append("|---".repeat(head.split(" \\| ").length)).append("|\n");
        rows.forEach(row -> text.append("| ").append(row).append(" |\n"));
        return text.toString();
    }
}
