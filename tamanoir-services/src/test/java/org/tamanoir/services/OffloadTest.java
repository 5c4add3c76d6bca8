package org.tamanoir.services;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.nodeos.Flow;
import org.tamanoir.nodeos.LevelCounters;
import org.tamanoir.nodeos.LevelException;
import org.tamanoir.nodeos.Offload;
import org.tamanoir.nodeos.Policy;
import org.tamanoir.nodeos.Rule;
import org.tamanoir.nodeos.Rule.Comparison;
import org.tamanoir.nodeos.Rule.Subject;
import org.tamanoir.nodeos.Share;
import org.tamanoir.service.Service;
import org.tamanoir.service.StreamInfo.Transport;
import org.tamanoir.testkit.ServiceHarness;

/** What Monitor and Filter have levels below the JVM do. */
class OffloadTest {
    private static ServiceHarness udp(Service service, Map<String, String> config) {
        return ServiceHarness.startWithLevels(service, Transport.UDP, config);
    }

    private static Policy policy(Service service, Map<String, String> config) throws LevelException {
        try (ServiceHarness harness = udp(service, config)) {
            return harness.levels().place().policy();
        }
    }

    private static Packet numbered(long sequence) {
        return new PacketBuilder()
                .classOfService(0, 0).stream(1).nextSequence(sequence).build(ByteBuffer.allocate(10));
    }

    private static LevelCounters counts(long on, long bytes, long unmarked, long smallest, long largest) {
        return new LevelCounters(on + 5, 5, on, 0, bytes, on - unmarked, unmarked, smallest, largest, new long[17]);
    }

    // ---- when they ask ---------------------------------------------------------------------------------------------

    @ParameterizedTest
    @CsvSource({"all,NONE,0", "every 2,EVERY,2", "first  500,FIRST,500", "first 4294967295,FIRST,4294967295"})
    void asksInInitForWhatTheSettingSays(String setting, Share.Kind kind, long number) {
        for (Service service : List.of(new Monitor(), new Filter())) {
            try (ServiceHarness harness = udp(service, Map.of("offload", setting))) {
                assertThat(harness.levels().offloads()).hasSize(1);
                Offload offload = harness.levels().offloads().get(0);
                assertThat(offload.flow()).isEqualTo(Flow.ANY);
                assertThat(offload.policy().share()).isEqualTo(new Share(kind, number));
            }
        }
    }

    @Test
    void asksForNothingUnlessToldToAndNeverOverTcp() {
        for (String setting : List.of("none", "all")) {
            Transport transport = setting.equals("none") ? Transport.UDP : Transport.TCP;
            for (Service service : List.of(new Monitor(), new Filter())) {
                try (ServiceHarness harness =
                        ServiceHarness.startWithLevels(service, transport, Map.of("offload", setting))) {
                    assertThat(harness.levels().offloads()).isEmpty();
                }
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "every", "every 0", "first 4294967296", "first -1", "half", "every 99999999999"})
    void refusesOtherSettings(String setting) {
        assertThatThrownBy(() -> udp(new Monitor(), Map.of("offload", setting)))
                .hasMessageContaining("offload: " + setting.strip() + " must be none, all, every K or first N");
    }

    @Test
    void goesOnInTheJvmWhereNoLevelCan() {
        for (Service service : List.of(new Monitor(), new Filter())) {
            try (ServiceHarness harness = ServiceHarness.start(service, Transport.UDP, Map.of("offload", "all"))) {
                harness.sendText("hello");
                assertThat(harness.count("not-offloaded")).isEqualTo(1);
                assertThat(harness.count("packets")).isEqualTo(1);
                assertThat(harness.outputs()).hasSize(1);
            }
        }
    }

    // ---- Monitor ---------------------------------------------------------------------------------------------------

    @Test
    void monitorsPolicyMarksAsItDoes() throws LevelException {
        assertThat(policy(new Monitor(), Map.of())).isEqualTo(Policy.forward().markClass(1));
        assertThat(policy(new Monitor(), Map.of("mark", "46")))
                .isEqualTo(Policy.forward().markClass(46));
        assertThat(policy(new Monitor(), Map.of("mark", "none"))).isEqualTo(Policy.forward());
    }

    @Test
    void monitorCountsWhatLevelsHandledLikeItsOwn() throws LevelException {
        try (ServiceHarness harness = udp(new Monitor(), Map.of())) {
            Packet own = numbered(0);
            harness.send(own);
            Offload offload = harness.levels().place();
            harness.levels().handled(offload, counts(10, 1000, 3, 20, 300));
            harness.levels().handled(offload, counts(1, 20, 0, 20, 300));

            assertThat(harness.count("packets")).isEqualTo(12);
            assertThat(harness.count("bytes")).isEqualTo(1020 + own.length());
            assertThat(harness.count("unmarked")).isEqualTo(3);
            assertThat(harness.count("smallest-bytes")).isEqualTo(20);
            assertThat(harness.count("largest-bytes")).isEqualTo(300);

            harness.levels().handled(offload, new LevelCounters(4, 4, 0, 0, 0, 0, 0, 0, 0, new long[17]));
            assertThat(harness.count("packets")).isEqualTo(12); // They come up and are counted there.
            assertThat(harness.count("smallest-bytes")).isEqualTo(20);
        }
    }

    @Test
    void monitorReportsNoLossOfPacketsThatItDidNotGetToSee() throws LevelException {
        try (ServiceHarness harness = udp(new Monitor(), Map.of())) {
            harness.send(numbered(0)).send(numbered(2));
            assertThat(harness.count("lost")).isEqualTo(1);

            Offload offload = harness.levels().place();
            harness.send(numbered(10)).send(numbered(20));
            assertThat(harness.count("lost")).isEqualTo(1);

            offload.close();
            harness.send(numbered(1000)).send(numbered(1001)).send(numbered(1003));
            assertThat(harness.count("lost")).isEqualTo(2);
            assertThat(harness.count("reordered")).isZero();
            assertThat(harness.count("streams")).isEqualTo(1);

            Offload unseen = harness.levels().place();
            harness.levels().handled(unseen, counts(10, 1000, 0, 100, 100));
            unseen.close();
            harness.send(numbered(1014));
            assertThat(harness.count("lost")).isEqualTo(2);
        }
    }

    // ---- Filter ----------------------------------------------------------------------------------------------------

    @Test
    void filtersPolicyHasItsRules() throws Exception {
        String rules = """
                drop source 10.0.0.0/8
                pass destination 2001:db8::/32
                drop source ::/0; pass destination ::ffff:10.1.0.0/112; drop source ::ffff:0:0/90
                drop class 3; pass stream 4294967295
                drop size > 1400; drop size < 20; pass size = 100
                pass all
                """;
        Policy policy = policy(new Filter(), Map.of("rules", rules, "default", "drop"));
        assertThat(policy)
                .isEqualTo(Policy.forward()
                        .rules(
                                List.of(
                                        Rule.prefix(true, Subject.SOURCE, InetAddress.getByName("10.0.0.0"), 8),
                                        Rule.prefix(
                                                false, Subject.DESTINATION, InetAddress.getByName("2001:db8::"), 32),
                                        Rule.prefix(true, Subject.SOURCE, InetAddress.getByName("::"), 0),
                                        Rule.prefix(false, Subject.DESTINATION, InetAddress.getByName("10.1.0.0"), 16),
                                        Rule.prefix(true, Subject.SOURCE, InetAddress.getByName("::ffc0:0:0"), 90),
                                        Rule.number(true, Subject.CLASS, Comparison.EQUAL, 3),
                                        Rule.number(false, Subject.STREAM, Comparison.EQUAL, 4294967295L),
                                        Rule.number(true, Subject.SIZE, Comparison.ABOVE, 1400),
                                        Rule.number(true, Subject.SIZE, Comparison.BELOW, 20),
                                        Rule.number(false, Subject.SIZE, Comparison.EQUAL, 100),
                                        Rule.all(false)),
                                true));
    }

    @Test
    void filterWithoutRulesPassesOrDropsAll() throws LevelException {
        assertThat(policy(new Filter(), Map.of())).isEqualTo(Policy.forward());
        assertThat(policy(new Filter(), Map.of("default", "drop"))).isEqualTo(Policy.drop());
    }

    @Test
    void filterSaysWhatALevelCannotDo() {
        assertThatThrownBy(() -> policy(new Filter(), Map.of("rules", "pass class 1; drop payload-contains \"x\"")))
                .isInstanceOf(LevelException.class)
                .hasMessage("rule 2 looks at the payload: a level below reads headers alone; leave it out,"
                        + " or stay in the JVM");
        String many = String.join(";", Collections.nCopies(17, "drop class 1"));
        assertThatThrownBy(() -> policy(new Filter(), Map.of("rules", many)))
                .isInstanceOf(LevelException.class)
                .hasMessage("17 rules: a level below takes at most 16; join some, or stay in the JVM");
        try (ServiceHarness harness = udp(new Filter(), Map.of("rules", many, "offload", "all"))) {
            assertThat(harness.count("not-offloaded")).isEqualTo(1);
        }
    }

    @Test
    void filterCountsWhatLevelsHandledLikeItsOwn() throws LevelException {
        Map<String, String> config = Map.of("rules", "drop class 1; drop size > 1000", "default", "drop");
        try (ServiceHarness harness = udp(new Filter(), config)) {
            Offload offload = harness.levels().place();
            long[] drops = new long[17];
            drops[0] = 2;
            drops[1] = 1;
            drops[16] = 3;
            harness.levels().handled(offload, new LevelCounters(12, 2, 4, 6, 999, 0, 0, 20, 300, drops));

            assertThat(harness.count("packets")).isEqualTo(10);
            assertThat(harness.count("passed")).isEqualTo(4);
            assertThat(harness.drops())
                    .containsExactly(
                            "rule 1: drop class 1",
                            "rule 1: drop class 1",
                            "rule 2: drop size > 1000",
                            "no rule matched",
                            "no rule matched",
                            "no rule matched");
        }
    }

    @Test
    void filterThatDropsAllBelowNamesTheSameReason() throws LevelException {
        try (ServiceHarness harness = udp(new Filter(), Map.of("default", "drop"))) {
            Offload offload = harness.levels().place();
            harness.levels().handled(offload, new LevelCounters(2, 0, 0, 2, 99, 0, 0, 20, 79, new long[17]));
            assertThat(harness.drops()).containsExactly("no rule matched", "no rule matched");
        }
    }
}
