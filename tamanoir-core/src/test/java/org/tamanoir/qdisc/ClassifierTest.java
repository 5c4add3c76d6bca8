package org.tamanoir.qdisc;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.routing.Prefix;

class ClassifierTest {
    private static final int GOLD = 0;
    private static final int SILVER = 1;
    private static final int REST = 2;
    private static final List<TrafficClass> CLASSES = List.of(
            new TrafficClass("gold", Set.of(0, 1), 6),
            new TrafficClass("silver", Set.of(2), 3),
            new TrafficClass("rest", Set.of(), 1));

    private static Classifier classifier(ClassRule... rules) {
        return new Classifier(new QosConfig(CLASSES, "rest", List.of(rules), null, List.of()));
    }

    private static ClassRule service(String service, String trafficClass) {
        return new ClassRule(service, null, null, null, null, trafficClass);
    }

    private static Packet packet(PacketBuilder builder) {
        return builder.build(ByteBuffer.allocate(8));
    }

    private static InetAddress address(String text) throws UnknownHostException {
        return InetAddress.getByName(text);
    }

    @Test
    void theClassOfServiceOptionCounts() {
        assertThat(classifier().classOf(packet(new PacketBuilder().classOfService(1, 0))))
                .isEqualTo(GOLD);
        assertThat(classifier().classOf(packet(new PacketBuilder().classOfService(2, 0))))
                .isEqualTo(SILVER);
    }

    @Test
    void theClassOfServiceOptionCountsMoreThanARule() {
        Classifier classifier = classifier(service("org.example.A", "silver"));

        assertThat(classifier.classOf(
                        packet(new PacketBuilder().service("org.example.A").classOfService(0, 0))))
                .isEqualTo(GOLD);
    }

    @Test
    void aClassOfServiceThatNoClassHasLeavesItToTheRules() {
        Classifier classifier = classifier(service("org.example.A", "silver"));

        assertThat(classifier.classOf(
                        packet(new PacketBuilder().service("org.example.A").classOfService(99, 0))))
                .isEqualTo(SILVER);
    }

    @Test
    void itSaysWhatItGoesBy() {
        Classifier classifier = classifier(service("org.example.A", "silver"), service("org.example.B", "gold"));

        assertThat(classifier.why(packet(new PacketBuilder().classOfService(1, 0))))
                .isEqualTo("class of service 1");
        assertThat(classifier.why(packet(new PacketBuilder().service("org.example.B"))))
                .isEqualTo("rule 2 fits");
        assertThat(classifier.why(packet(new PacketBuilder().classOfService(99, 0))))
                .isEqualTo("class of service 99 is of no class; no rule fits: the default class");
    }

    @Test
    void whatNothingFitsIsOfTheDefaultClass() {
        assertThat(classifier(service("org.example.A", "silver")).classOf(packet(new PacketBuilder())))
                .isEqualTo(REST);
    }

    @Test
    void theFirstRuleThatFitsCounts() {
        Classifier classifier = classifier(service("org.example.A", "silver"), service("org.example.A", "gold"));

        assertThat(classifier.classOf(packet(new PacketBuilder().service("org.example.A"))))
                .isEqualTo(SILVER);
    }

    @Test
    void aRuleFitsBySourceAndDestinationTogether() throws UnknownHostException {
        Classifier classifier = classifier(
                new ClassRule(null, Prefix.parse("10.0.0.0/8"), Prefix.parse("2001:db8::/32"), null, null, "gold"));
        PacketBuilder fitting = new PacketBuilder().source(address("10.1.2.3")).destination(address("2001:db8::1"));
        PacketBuilder elsewhere =
                new PacketBuilder().source(address("10.1.2.3")).destination(address("2001:db9::1"));
        PacketBuilder fromElsewhere =
                new PacketBuilder().source(address("11.1.2.3")).destination(address("2001:db8::1"));

        assertThat(classifier.classOf(packet(fitting))).isEqualTo(GOLD);
        assertThat(classifier.classOf(packet(elsewhere))).isEqualTo(REST);
        assertThat(classifier.classOf(packet(fromElsewhere))).isEqualTo(REST);
    }

    @Test
    void aRuleForARangeOfStreamsIncludesItsEnds() {
        Classifier classifier = classifier(new ClassRule(null, null, null, 10L, 0xFFFF_FFFFL, "silver"));

        assertThat(classifier.classOf(packet(new PacketBuilder().stream(9)))).isEqualTo(REST);
        assertThat(classifier.classOf(packet(new PacketBuilder().stream(10)))).isEqualTo(SILVER);
        assertThat(classifier.classOf(packet(new PacketBuilder().stream(-1)))).isEqualTo(SILVER);
    }

    @Test
    void aPacketWithoutAStreamFitsNoRuleForStreams() {
        Classifier classifier = classifier(new ClassRule(null, null, null, 0L, 0xFFFF_FFFFL, "silver"));

        assertThat(classifier.classOf(packet(new PacketBuilder()))).isEqualTo(REST);
    }

    @Test
    void packetsOfOneStreamMayBeOfDifferentClasses() {
        Classifier classifier = classifier();
        PacketBuilder stream = new PacketBuilder().stream(7);

        assertThat(classifier.classOf(packet(stream.classOfService(0, 0)))).isEqualTo(GOLD);
        assertThat(classifier.classOf(packet(new PacketBuilder().stream(7).classOfService(2, 0))))
                .isEqualTo(SILVER);
    }

    @Test
    void theHashTellsStreamsAndEndsApart() throws UnknownHostException {
        PacketBuilder one = new PacketBuilder().source(address("10.0.0.1")).destination(address("10.0.0.2")).stream(1);
        PacketBuilder sameAgain =
                new PacketBuilder().source(address("10.0.0.1")).destination(address("10.0.0.2")).stream(1);
        PacketBuilder otherStream =
                new PacketBuilder().source(address("10.0.0.1")).destination(address("10.0.0.2")).stream(2);
        PacketBuilder otherSource =
                new PacketBuilder().source(address("10.0.0.3")).destination(address("10.0.0.2")).stream(1);

        long hash = Classifier.streamHash(packet(one));
        assertThat(Classifier.streamHash(packet(sameAgain))).isEqualTo(hash);
        assertThat(Classifier.streamHash(packet(otherStream))).isNotEqualTo(hash);
        assertThat(Classifier.streamHash(packet(otherSource))).isNotEqualTo(hash);
    }
}
