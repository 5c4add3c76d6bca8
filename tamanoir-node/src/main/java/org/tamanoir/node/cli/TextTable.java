package org.tamanoir.node.cli;

import java.util.ArrayList;
import java.util.List;

/** Rows under column heads; numbers stand right, texts left. One thread. */
public final class TextTable {
    private static final String GAP = "  ";

    private final List<String[]> rows = new ArrayList<>();
    private final boolean[] right;

    public TextTable(String... heads) {
        rows.add(heads);
        right = new boolean[heads.length];
    }

    /** A value for each column. */
    public void row(Object... values) {
        String[] row = new String[right.length];
        for (int i = 0; i < row.length; i++) {
            row[i] = String.valueOf(values[i]);
            right[i] |= values[i] instanceof Number;
        }
        rows.add(row);
    }

    public List<String> lines() {
        int[] widths = new int[right.length];
        for (String[] row : rows) {
            for (int i = 0; i < row.length; i++) {
                widths[i] = Math.max(widths[i], row[i].length());
            }
        }
        List<String> lines = new ArrayList<>();
        for (String[] row : rows) {
            StringBuilder line = new StringBuilder();
            for (int i = 0; i < row.length; i++) {
                String pad = " ".repeat(widths[i] - row[i].length());
                line.append(i == 0 ? "" : GAP).append(right[i] ? pad + row[i] : row[i] + pad);
            }
            lines.add(line.toString().stripTrailing());
        }
        return lines;
    }
}
