package org.tamanoir.node.demo;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.tamanoir.node.cli.Output;

class ReorderHistogramTest {
    @Test
    void stepsFallIntoTheirBars() {
        ReorderHistogram histogram = new ReorderHistogram();
        histogram.add("run", new long[] {0, 1, 2, 5, 4, 104, 4, 10, 1, 91, 92, 81});

        assertThat(histogram.bars("run"))
                .isEqualTo(Map.of(
                        "-100 and less", 1L,
                        "-99 to -10", 1L,
                        "-9 to -6", 1L,
                        "-1", 1L,
                        "1", 3L,
                        "3", 1L,
                        "6 to 9", 1L,
                        "10 to 99", 1L,
                        "100 and more", 1L));
    }

    @Test
    void isALineForEachBarAndAColumnForEachRun() {
        ReorderHistogram histogram = new ReorderHistogram();
        histogram.add("first", new long[] {0, 1, 2, 3});
        histogram.add("second", new long[] {1, 0});
        StringWriter out = new StringWriter();
        histogram.show(new Output(new PrintWriter(out, true), new PrintWriter(out, true), false, false));

        List<String> lines = out.toString().lines().toList();
        assertThat(lines.get(0)).isEqualTo("step j          first                 second");
        assertThat(lines).anyMatch(line -> line.matches("-1 {36}1 #+"));
        assertThat(lines).anyMatch(line -> line.matches("1 {15}3 #+"));
        assertThat(lines).hasSize(1 + 17);
    }
}
