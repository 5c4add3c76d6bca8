package org.tamanoir.node.cluster;

import static org.junit.jupiter.api.Assumptions.assumeFalse;

import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.tamanoir.kernel.guest.Guest;

/**
 * All classes {@code *InGuest} of this module, in the virtual machine: the kernel of the host need not have IPVS. They
 * take minutes, most of which go by until five programs in Java have started under the emulator.
 */
class GuestTest {
    private static final String SWITCH = "TAMANOIR_CLUSTER_TESTS";

    @TestFactory
    List<DynamicTest> inGuest() throws IOException, InterruptedException {
        assumeFalse(
                "no".equals(System.getenv(SWITCH)), SWITCH + "=no: the cluster end to end is tested in another run");
        return Guest.tests("tamanoir-node", "--before", ClusterArchive.class.getName());
    }
}
