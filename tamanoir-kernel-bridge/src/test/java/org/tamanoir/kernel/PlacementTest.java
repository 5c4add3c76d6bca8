package org.tamanoir.kernel;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.tamanoir.nodeos.Level;
import org.tamanoir.support.TestNet;

/** Monitor and Filter at every level that needs no module. */
@Tag("once")
@Tag("namespace")
class PlacementTest extends PlacementTesting {
    private static TestNet net;

    @BeforeAll
    static void link() {
        BpfBed.require();
        net = new TestNet("placement");
    }

    @AfterAll
    static void unlink() {
        if (net != null) {
            net.close();
        }
    }

    @ParameterizedTest
    @CsvSource({
        "JVM, " + TestNet.CLIENT4 + ", " + TestNet.SERVER4,
        "TC, " + TestNet.CLIENT4 + ", " + TestNet.SERVER4,
        "TC, " + TestNet.CLIENT6 + ", " + TestNet.SERVER6,
        "XDP, " + TestNet.CLIENT4 + ", " + TestNet.SERVER4,
        "XDP, " + TestNet.CLIENT6 + ", " + TestNet.SERVER6
    })
    void countersAndBytesAreThoseOfTheJvm(Level level, String client, String server) throws Exception {
        assertSameAsInAHarness(net, level, client, server);
    }

    @Test
    void aChangeUnderTrafficLosesNothingAndKeepsTheOrder() throws Exception {
        assertNothingIsLostOrOvertaken(net, Level.TC);
    }
}
