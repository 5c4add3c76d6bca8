package org.tamanoir.node.cli;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class TextTableTest {
    @Test
    void numbersStandRightAndTextsLeft() {
        TextTable table = new TextTable("NAME", "N", "NOTE");
        table.row("a", 5, "x");
        table.row("longer", 1234, "");
        assertThat(table.lines())
                .containsExactly(
                        "NAME       N  NOTE", //
                        "a          5  x",
                        "longer  1234");
    }
}
