package org.tamanoir.cluster.setup;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.tamanoir.cluster.lvs.Program;
import org.tamanoir.support.Namespaces;
import org.tamanoir.support.Tiers;

/** Real keepalived on both sides; what needs IPVS is in {@link KeepalivedInGuest}. */
@Tag("once")
@Tag("process")
@Tag("namespace")
class KeepalivedTakeOverTest {
    @TempDir
    private Path folder;

    @Test
    void theAddressesMoveWhenTheActiveDirectorIsNotWell() throws Exception {
        Tiers.require("keepalived", Program.find("keepalived") != null, "needs keepalived: apt-get install keepalived");
        Namespaces.require("namespace");
        try (DirectorPair pair = new DirectorPair(folder, false)) {
            assertThat(pair.south().hasAddresses()).isFalse();

            pair.north().answer(503);

            pair.north().awaitNoAddresses();
            pair.south().awaitAddresses();
        }
    }
}
