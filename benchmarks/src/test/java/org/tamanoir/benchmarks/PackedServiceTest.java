package org.tamanoir.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.jar.JarFile;
import java.util.zip.ZipEntry;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.tamanoir.services.Monitor;

class PackedServiceTest {
    @TempDir
    private Path folder;

    @Test
    void aServiceComesWithTheClassesThatItNeeds() throws Exception {
        Path file = folder.resolve("service.jar");
        PackedService.write(file, Monitor.class, "org.example.Foo", 30_000);
        try (JarFile jar = new JarFile(file.toFile())) {
            assertThat(jar.stream().map(ZipEntry::getName))
                    .containsExactly(
                            "org/tamanoir/services/Monitor.class",
                            "org/tamanoir/services/OffloadSetting.class",
                            "org/tamanoir/services/SequenceTable.class",
                            "org.example.Foo");
        }
        assertThat(Files.size(file)).isBetween(28_000L, 32_000L);
    }
}
