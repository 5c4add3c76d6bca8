package org.tamanoir.cluster.setup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.tamanoir.cluster.lvs.ClusterException;
import org.tamanoir.cluster.setup.SetupFile.Made;

class SetupFileTest {
    private static final Made MADE = new Made(Step.interfaceSetting("e0", "arp_ignore", 1), "0");

    @TempDir
    private Path folder;

    @Test
    void whatIsWrittenIsRead() throws Exception {
        Path path = folder.resolve("a").resolve("setup.json");
        SetupFile file = new SetupFile(path);

        assertThat(file.read()).isEmpty();
        file.write(List.of(MADE));
        assertThat(new SetupFile(path).read()).containsExactly(MADE);
        file.write(List.of());
        assertThat(path).doesNotExist();
    }

    @Test
    void aRecordOfAnotherBootCountsForNothing() throws Exception {
        Path path = folder.resolve("setup.json");
        SetupFile file = new SetupFile(path);
        file.write(List.of(MADE));
        Files.writeString(path, Files.readString(path).replaceFirst("\"boot\":\"[^\"]*\"", "\"boot\":\"another\""));

        assertThat(file.read()).isEmpty();
    }

    @Test
    void whatIsNoRecordIsRefused() throws Exception {
        for (String text : List.of("", "{", "{}", "null", "{\"boot\":1,\"namespace\":\"\",\"made\":[{\"step\":3}]}")) {
            Path path = Files.writeString(folder.resolve("setup.json"), text);
            assertThatThrownBy(() -> new SetupFile(path).read())
                    .as(text)
                    .isInstanceOf(ClusterException.class)
                    .hasMessageStartingWith(path + ": no record of a host set-up: ")
                    .hasMessageNotContaining("\n");
        }
    }
}
