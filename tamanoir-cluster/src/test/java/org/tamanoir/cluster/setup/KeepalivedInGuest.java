package org.tamanoir.cluster.setup;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.tamanoir.cluster.lvs.Program;
import org.tamanoir.support.Tiers;

/** Take-over with what the kernel of the virtual machine has: IPVS, and its daemon that tells connections. */
class KeepalivedInGuest {
    @TempDir
    private Path folder;

    @Test
    void whenTheActiveDirectorDiesTheOtherHasTheAddressesAndTellsTheConnections() throws Exception {
        Tiers.require("keepalived", Program.find("keepalived") != null, "needs keepalived: apt-get install keepalived");
        Tiers.require("ipvs", Program.find("ipvsadm") != null, "needs ipvsadm: apt-get install ipvsadm");
        try (DirectorPair pair = new DirectorPair(folder, true)) {
            pair.run(pair.south(), "ipvsadm -A -t " + DirectorPair.VIRTUAL4 + ":3322 -s wlc");
            pair.awaitSays(pair.north(), "ipvsadm -L --daemon", "master sync daemon (mcast=e0, syncid=51");
            pair.awaitSays(pair.south(), "ipvsadm -L --daemon", "backup sync daemon (mcast=f0, syncid=51");

            pair.north().kill();

            pair.south().awaitAddresses();
            pair.awaitSays(pair.south(), "ipvsadm -L --daemon", "master sync daemon (mcast=f0, syncid=51");
            assertThat(pair.run(pair.south(), "ipvsadm -S -n"))
                    .as("the director's table is left alone")
                    .isEqualTo("-A -t " + DirectorPair.VIRTUAL4 + ":3322 -s wlc\n");
        }
    }
}
