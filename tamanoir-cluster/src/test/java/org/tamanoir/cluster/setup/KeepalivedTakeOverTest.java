package org.tamanoir.cluster.setup;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.tamanoir.Tiers;
import org.tamanoir.kernel.Namespaces;

/** Real keepalived on both sides; what needs IPVS is in {@link KeepalivedInGuest}. */
class KeepalivedTakeOverTest {
    @TempDir
    private Path folder;

    @Test
    void theAddressesMoveWhenTheActiveDirectorIsNotWell() throws Exception {
        Tiers.require("keepalived", Command.find("keepalived") != null, "needs keepalived: apt-get install keepalived");
        Namespaces.require("namespace");
        try (DirectorPair pair = new DirectorPair(folder, false)) {
            assertThat(pair.south().hasAddresses()).isFalse();

            pair.north().answer(503);

            pair.north().awaitNoAddresses();
            pair.south().awaitAddresses();
        }
    }
}
