package org.tamanoir.kernel.guest;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestFactory;
import org.tamanoir.support.Tiers;
import org.tamanoir.support.guest.Guest;

/** All classes {@code *InGuest} of this module, in the virtual machine. */
@Tag("guest")
class GuestTest {
    private static final Path MODULE = Path.of("target", "native", "module", "tamanoir.ko");

    @TestFactory
    List<DynamicTest> inGuest() throws IOException, InterruptedException {
        Tiers.require("vm", Files.exists(MODULE), "the module is not built: the build says SKIPPED and why");
        return Guest.tests("tamanoir-kernel-bridge");
    }
}
