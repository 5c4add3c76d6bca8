package org.tamanoir.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.tamanoir.cluster.lvs.ClusterException;

class StateFileTest {
    private static final DirectorState STATE = new DirectorState(
            DirectorState.FORMAT,
            List.of(
                    new DirectorState.Known("b1", "10.99.1.1", "http://10.99.1.1:3324", null),
                    new DirectorState.Known("b2", "fd00::2", "https://[fd00::2]:3324", 7)),
            List.of(new DirectorState.Drain("b1", "2026-01-01T00:00:00Z"), new DirectorState.Drain("b2", null)),
            List.of("Monitor:1.0"),
            Map.of("expire_nodest_conn", "0"));

    @TempDir
    private Path folder;

    private Path file() {
        return folder.resolve("director.json");
    }

    @Test
    void aNewFolderHasNothingToRemember() throws ClusterException {
        Path none = folder.resolve("none");
        assertThat(StateFile.open(none).saved()).isEqualTo(DirectorState.EMPTY);
        assertThat(none).doesNotExist();
    }

    @Test
    void whatIsSavedIsReadAgain() throws ClusterException {
        StateFile.open(folder).save(STATE);
        assertThat(StateFile.open(folder).saved()).isEqualTo(STATE);
        assertThat(folder.toFile().list()).containsExactly("director.json");
    }

    @Test
    void whatIsOnTheDiskIsNotWrittenAgain() throws Exception {
        StateFile state = StateFile.open(folder);
        state.save(STATE);
        Files.delete(file());
        state.save(STATE);
        assertThat(file()).doesNotExist();
        state.save(DirectorState.EMPTY);
        assertThat(file()).exists();
    }

    @Test
    void aHalfWrittenSuccessorIsIgnored() throws Exception {
        StateFile.open(folder).save(STATE);
        Files.writeString(folder.resolve("director.json.new"), "{\"format\"");
        assertThat(StateFile.open(folder).saved()).isEqualTo(STATE);
        StateFile.open(folder).save(DirectorState.EMPTY);
        assertThat(StateFile.open(folder).saved()).isEqualTo(DirectorState.EMPTY);
    }

    @Test
    void aBrokenFileIsNamedWithTheRemedy() throws Exception {
        StateFile.open(folder).save(STATE);
        String good = Files.readString(file());
        for (String bad : List.of(
                "",
                "null",
                "{}",
                "[]",
                good.substring(0, good.length() / 2),
                good.replace("\"format\" : 1", "\"format\" : 2"),
                good.replace("2026-01-01T00:00:00Z", "yesterday"),
                good.replace("\"services\"", "\"others\""))) {
            assertBroken(bad);
        }
    }

    private void assertBroken(String text) throws IOException {
        Files.writeString(file(), text);
        assertThatThrownBy(() -> StateFile.open(folder))
                .as(text)
                .isInstanceOf(ClusterException.class)
                .satisfies(e -> assertThat(e.getMessage())
                        .contains(file().toString(), "is broken", "remove it")
                        .doesNotContain("\n"));
    }

    @Test
    void aFolderThatCannotBeWrittenIsNamed() throws Exception {
        Path notAFolder = Files.writeString(folder.resolve("x"), "");
        StateFile state = StateFile.open(folder.resolve("y"));
        Files.writeString(folder.resolve("y"), "");
        assertThatThrownBy(() -> state.save(STATE))
                .isInstanceOf(ClusterException.class)
                .hasMessageContaining("cannot be written");
        assertThat(state.saved()).isEqualTo(DirectorState.EMPTY);
        assertThat(notAFolder).exists();
    }
}
