package org.tamanoir.benchmarks.element;

import java.io.IOException;
import java.io.InputStream;
import java.util.List;
import java.util.Objects;
import tools.jackson.databind.json.JsonMapper;

/**
 * A row of tables 2 to 4 of <i>Distributed Active Element for High-Performance Data Distribution</i>.
 *
 * @param n units
 * @param mbit Mb/s of 1,472-byte payloads
 * @param none without synchronisation
 * @param fct with the Fast Circulating Token
 */
record PaperRow(int n, int mbit, List<Long> none, List<Long> fct) {
    private static final String FILE = "paper-tables.json";

    private record Tables(String about, List<PaperRow> rows) {}

    /** Returns all rows, as printed. */
    static List<PaperRow> all() throws IOException {
        try (InputStream in = PaperRow.class.getResourceAsStream(FILE)) {
            return JsonMapper.shared()
                    .readValue(Objects.requireNonNull(in, FILE), Tables.class)
                    .rows();
        }
    }

    /** Returns how often H⁻ without synchronisation goes into H⁻ with it. */
    double hRatio() {
        return (double) fct.get(1) / none.get(1);
    }

    /** Returns the same of N⁻. */
    double nRatio() {
        return (double) fct.get(2) / none.get(2);
    }
}
