package org.tamanoir.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Two processors whose backlogs the test writes down. */
class BacklogsTest {
    @TempDir
    Path folder;

    private Path statistics = Path.of("");
    private Backlogs backlogs = new Backlogs();

    @BeforeEach
    void open() {
        statistics = folder.resolve("softnet_stat");
        backlogs = new Backlogs(statistics);
    }

    private void waiting(String... packets) throws IOException {
        StringBuilder text = new StringBuilder();
        for (String each : packets) {
            text.append("0000001f 00000000 00000001 ")
                    .append("00000000 ".repeat(8))
                    .append(each)
                    .append(" 00000000\n");
        }
        Files.writeString(statistics, text);
    }

    @Test
    void eachIsSeenEmptyOnce() throws IOException {
        waiting("00000000", "0000000a");
        assertThat(backlogs.areThrough()).isFalse();
        waiting("00000007", "00000003");
        assertThat(backlogs.areThrough()).isFalse();
        waiting("00000007", "00000000");
        assertThat(backlogs.areThrough()).as("the first was empty before").isTrue();

        backlogs.begin();
        assertThat(backlogs.areThrough()).isFalse();
        waiting("00000000", "00000009");
        assertThat(backlogs.areThrough()).isTrue();
    }

    @Test
    void whereNothingIsSaidNothingWaits() throws IOException {
        assertThat(backlogs.areThrough()).as("no file").isTrue();
        Files.writeString(statistics, "0000001f 00000000 00000001\n");
        backlogs.begin();
        assertThat(backlogs.areThrough()).as("of an older kernel").isTrue();
    }
}
