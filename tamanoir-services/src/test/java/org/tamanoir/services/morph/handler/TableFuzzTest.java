package org.tamanoir.services.morph.handler;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.tamanoir.support.Damage;
import org.tamanoir.support.Seeds;

/** Random tables of CSV, damaged or not, against one pattern of a cell, which shares no code with the reader. */
@Tag("once")
class TableFuzzTest {
    private static final int ROUNDS = 2_000;
    private static final Pattern CELL =
            Pattern.compile("(?:\"((?:[^\"]|\"\")*)\"|([^\",\r\n][^,\r\n]*)?)(,|\r\n|\n|\r|\\z)");
    private static final String[] CELLS = {
        "",
        "a",
        "7",
        "007",
        "\"\"",
        "\"a,b\"",
        "\"a\"\"b\"",
        "\"a\nb\"",
        "\"a\r\nb\"",
        "a\"b",
        " a ",
        "é",
        "😀",
        "\"",
        "\"a\"b"
    };
    private static final String[] ENDS = {"\n", "\r\n", "\r", "\n\n", "\r\n\r\n"};

    private static String table(Random random) {
        StringBuilder text = new StringBuilder(random.nextInt(4) == 0 ? "\uFEFF" : "");
        int columns = 1 + random.nextInt(3);
        String end = Damage.any(random, ENDS);
        text.append("a,b,c", 0, 2 * columns - 1).append(end);
        for (int rows = random.nextInt(4); rows > 0; rows--) {
            for (int i = 0; i < columns; i++) {
                text.append(i == 0 ? "" : ",").append(Damage.any(random, CELLS));
            }
            text.append(random.nextInt(8) == 0 ? "" : end);
        }
        return text.toString();
    }

    /** Returns the rows with the lines on which they begin; null where there is no table. */
    private static @Nullable List<Object> judge(byte[] bytes) {
        String text = new String(bytes, StandardCharsets.UTF_8);
        if (!Arrays.equals(text.getBytes(StandardCharsets.UTF_8), bytes)) {
            return null;
        }
        text = text.startsWith("\uFEFF") ? text.substring(1) : text;
        List<Object> rows = new ArrayList<>();
        List<String> names = null;
        Matcher cell = CELL.matcher(text);
        for (int at = 0; at < text.length(); ) {
            int begin = at;
            List<String> cells = new ArrayList<>();
            String end = ",";
            while (end.equals(",")) {
                if (!cell.region(at, text.length()).lookingAt()) {
                    return null;
                }
                String quoted = cell.group(1);
                cells.add(quoted != null ? quoted.replace("\"\"", "\"") : cell.group(2) == null ? "" : cell.group(2));
                end = cell.group(3);
                at = cell.end();
            }
            if (text.substring(begin, at).equals(end)) {
                continue;
            }
            if (names == null) {
                names = cells;
                if (new HashSet<>(names).size() < names.size() || names.contains("")) {
                    return null;
                }
                continue;
            }
            if (cells.size() != names.size()) {
                return null;
            }
            Map<String, String> row = new LinkedHashMap<>();
            for (int i = 0; i < cells.size(); i++) {
                if (!cells.get(i).isEmpty()) {
                    row.put(names.get(i), cells.get(i));
                }
            }
            int line = (text.substring(0, begin) + "x").split("\r\n|\n|\r", -1).length;
            rows.add(new TableFile.Line(line, row));
        }
        return rows;
    }

    private static @Nullable List<Object> read(byte[] bytes) {
        try {
            return new ArrayList<>(TableFile.parse(bytes, false).rows());
        } catch (IOException e) {
            return null;
        }
    }

    @Test
    void aTableIsWhatItsCellsSayOrRefused() {
        for (long seed : Seeds.ofCommit(TableFuzzTest.class, ROUNDS)) {
            Random random = Damage.random(seed);
            byte[] text = Damage.of(table(random).getBytes(StandardCharsets.UTF_8), random);
            assertEquals(
                    judge(text), read(text), "seed " + seed + ": " + new String(text, StandardCharsets.ISO_8859_1));
        }
    }
}
