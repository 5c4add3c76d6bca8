package org.tamanoir.node.cluster;

import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestFactory;
import org.tamanoir.support.guest.Guest;

/**
 * All classes {@code *InGuest} of this module, in the virtual machine: the kernel of the host need not have IPVS. They
 * take minutes, most of which go by until five programs in Java have started under the emulator.
 */
@Tag("guest")
class GuestTest {
    @TestFactory
    List<DynamicTest> inGuest() throws IOException, InterruptedException {
        return Guest.tests("tamanoir-node", "--before", ClusterArchive.class.getName());
    }
}
