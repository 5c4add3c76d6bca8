package org.tamanoir.node.cluster;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestFactory;
import org.tamanoir.support.Tiers;
import org.tamanoir.support.guest.Guest;

/**
 * All classes {@code *InGuest} of all modules, in one boot of the virtual machine: the kernel of the host need not have
 * IPVS, nor load the netfilter module. This module has it since it depends on the others.
 */
@Tag("guest")
class GuestTest {
    private static final String BRIDGE = "tamanoir-kernel-bridge";
    private static final Path MODULE = Path.of("..", BRIDGE, "target", "native", "module", "tamanoir.ko");

    @TestFactory
    List<DynamicTest> inGuest() throws IOException, InterruptedException {
        List<String> modules = new ArrayList<>();
        if (Files.exists(MODULE)) {
            modules.addAll(List.of("--module", BRIDGE));
        }
        modules.addAll(List.of("--module", "tamanoir-cluster", "--module", "tamanoir-node"));
        modules.addAll(List.of("--before", ClusterArchive.class.getName()));
        List<DynamicTest> tests = new ArrayList<>(Guest.tests(modules));
        tests.add(DynamicTest.dynamicTest(
                "the netfilter module is built",
                () -> Tiers.require(
                        "vm", Files.exists(MODULE), "the module is not built: the build says SKIPPED and why")));
        return tests;
    }
}
