package org.tamanoir.services.morph.handler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetSocketAddress;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.tamanoir.format.Format;
import org.tamanoir.format.Layout;
import org.tamanoir.message.Outcome;

class SplitTest {
    private static final Format FLIGHT = Format.builder(Layout.X86_64)
            .structure("flight")
            .field("delay", "integer", 4)
            .field("hub", "string")
            .build();
    private static final InetSocketAddress FIRST = new InetSocketAddress("10.0.0.8", 4000);
    private static final InetSocketAddress SECOND = new InetSocketAddress("10.0.0.9", 4000);

    private static Run split(Object... branches) {
        return Run.of("split", Map.of("to", List.of(branches)), FLIGHT);
    }

    private static Map<String, Object> flight(String hub) {
        return Map.of("delay", 5, "hub", hub);
    }

    @Test
    void eachBranchHasADestinationOfItsOwn() {
        Run run = split("10.0.0.8:4000", Map.of("to", "10.0.0.9:4000", "when", "hub == 'ATL'"), Map.of("port", 1));
        run.give(FLIGHT, 1, flight("ATL"));
        run.give(FLIGHT, 1, flight("DFW"));

        assertThat(run.destinations).containsExactly(FIRST, SECOND, null, FIRST, null);
        assertThat(run.out)
                .containsExactly(
                        "0: delay=5 hub=ATL",
                        "0: delay=5 hub=ATL",
                        "1: delay=5 hub=ATL",
                        "0: delay=5 hub=DFW",
                        "1: delay=5 hub=DFW");
        assertThat(run.made).as("the last of each is the message itself").isEqualTo(3);
    }

    @Test
    void theMessageItselfKeepsItsDestination() {
        Run run = split("10.0.0.8:4000");
        byte[] record = new org.tamanoir.format.RecordEncoder(FLIGHT).encode(flight("ATL"));
        var message = new org.tamanoir.message.Message()
                .wrap(FLIGHT, java.nio.ByteBuffer.wrap(record), 0, record.length, run.header(1), 0);
        run.give(message);

        assertThat(run.destinations).containsExactly(FIRST);
        assertThat(message.destination()).as("others may have it too").isNull();
    }

    @Test
    void aMessageThatNoBranchTakesIsDropped() {
        Run run = split(Map.of("to", "[2001:db8::8]:4000", "when", "delay > 10"));

        assertThat(run.give(FLIGHT, 1, flight("ATL"))).isEqualTo(Outcome.DROP);

        assertThat(run.drops).containsOnly(Map.entry(Split.NOBODY, 1L));
    }

    @Test
    void aBranchMaySelectFields() {
        Run run = split("10.0.0.8:4000", Map.of("to", "10.0.0.9:4000", "select", List.of("hub"), "port", 1));
        run.give(FLIGHT, 1, flight("ATL"));

        assertThat(run.out).containsExactly("0: delay=5 hub=ATL", "1: hub=ATL");
        assertThat(run.destinations).containsExactly(FIRST, SECOND);
    }

    @Test
    void branchesOfOnePortGiveOneFormat() {
        Run run = split("10.0.0.8:4000", Map.of("select", List.of("hub")));

        assertThatThrownBy(() -> run.bound(FLIGHT))
                .hasMessage("branches at port 0 select different fields: give one another port");
    }

    @Test
    void namesAreNoAddresses() {
        assertThatThrownBy(() -> split("example.org:4000"))
                .hasMessage("handlers.it.split.to[0].to: 'example.org' is no address: write one as 10.0.0.1 or"
                        + " 2001:db8::1");
        assertThatThrownBy(() -> split("10.0.0.8:0")).hasMessageContaining("the port must be 1 to 65535");
    }

    @Test
    void misspeltSettingsOfABranchAreRefused() {
        assertThatThrownBy(() -> split(Map.of("to", "10.0.0.8:4000", "wen", "true")))
                .hasMessage("handlers.it.split.to[0].wen: unknown setting; known: port, select, to, when");
    }

    @Test
    void filtersBehindItMayStandBeforeItUnlessABranchSelects() {
        assertThat(split("10.0.0.8:4000").handler.effect().leaves(Set.of("hub")))
                .isTrue();
        assertThat(split(Map.of("select", "hub")).handler.effect().leaves(Set.of("hub")))
                .isFalse();
    }
}
