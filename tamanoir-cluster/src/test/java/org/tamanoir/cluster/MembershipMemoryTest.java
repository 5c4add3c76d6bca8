package org.tamanoir.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.tamanoir.cluster.config.Welcome;

class MembershipMemoryTest {
    @TempDir
    Path folder;

    @Test
    void whatWasSaidLastIsThereAtTheNextStart() throws Exception {
        Path file = folder.resolve("deep/er/cluster.json");
        MembershipMemory memory = new MembershipMemory(file);
        assertThat(memory.read()).isNull();
        memory.write(Welcomes.FULL);
        assertThat(new MembershipMemory(file).read()).isEqualTo(Welcomes.FULL);
        Welcome other = Welcomes.with(List.of(), Welcomes.CODE);
        memory.write(other);
        assertThat(new MembershipMemory(file).read()).isEqualTo(other);
        try (var files = Files.list(file.getParent())) {
            assertThat(files).containsExactly(file);
        }
    }

    @Test
    void theSameIsNotWrittenAgain() throws Exception {
        Path file = folder.resolve("cluster.json");
        MembershipMemory memory = new MembershipMemory(file);
        memory.write(Welcomes.in("joining"));
        Files.delete(file);
        memory.write(Welcomes.in("up"));
        assertThat(file).doesNotExist();
    }

    @Test
    void aDamagedFileIsAsGoodAsNone() throws Exception {
        Path file = Files.writeString(folder.resolve("cluster.json"), "{\"director\": ");
        assertThat(new MembershipMemory(file).read()).isNull();
        Files.write(file, new byte[MembershipWelcome.LIMIT_BYTES + 1]);
        assertThat(new MembershipMemory(file).read()).isNull();
    }

    @Test
    void aFolderThatCannotBeHadIsNoReasonToFail() throws Exception {
        Path file = Files.writeString(folder.resolve("file"), "");
        MembershipMemory memory = new MembershipMemory(file.resolve("cluster.json"));
        memory.write(Welcomes.FULL);
        assertThat(memory.read()).isNull();
    }
}
