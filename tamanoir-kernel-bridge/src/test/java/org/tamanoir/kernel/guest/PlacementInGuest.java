package org.tamanoir.kernel.guest;

import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.tamanoir.kernel.PlacementTesting;
import org.tamanoir.nodeos.Level;
import org.tamanoir.support.Namespaces;
import org.tamanoir.support.TestNet;
import org.tamanoir.support.Tiers;

/** Monitor and Filter at the level of the module. The emulator takes its time to start the commands that link hosts. */
@Timeout(PlacementInGuest.PATIENCE_S)
class PlacementInGuest extends PlacementTesting {
    static final int PATIENCE_S = 200;

    private static final @Nullable String MODULE = System.getenv("TAMANOIR_MODULE");
    private static final Path LOADED = Path.of("/sys/module/tamanoir");

    private static TestNet net;

    @BeforeAll
    @Timeout(PATIENCE_S)
    static void link() {
        Tiers.require(
                "module", MODULE != null, "no module in TAMANOIR_MODULE: this runs in the guest, see native/vm/test");
        if (!Files.exists(LOADED)) {
            Namespaces.shell("insmod " + MODULE);
        }
        net = new TestNet("placement");
    }

    @AfterAll
    static void unlink() {
        if (net != null) {
            net.close();
            Namespaces.shell("rmmod tamanoir");
        }
    }

    @ParameterizedTest
    @CsvSource({
        "MODULE, " + TestNet.CLIENT4 + ", " + TestNet.SERVER4,
        "MODULE, " + TestNet.CLIENT6 + ", " + TestNet.SERVER6
    })
    void countersAndBytesAreThoseOfTheJvm(Level level, String client, String server) throws Exception {
        assertSameAsInAHarness(net, level, client, server);
    }

    @Test
    void aChangeUnderTrafficLosesNothingAndKeepsTheOrder() throws Exception {
        assertNothingIsLostOrOvertaken(net, Level.MODULE);
    }

    /** Between traffic control, the module and the JVM, where packets without a policy go on. */
    @Test
    void eachPacketIsHandledOnceWhereAServiceMovesBetweenLevels() throws Exception {
        assertEachIsHandledOnce(net, Level.TC, Level.MODULE, Level.JVM, Level.MODULE, Level.TC, Level.JVM);
    }
}
