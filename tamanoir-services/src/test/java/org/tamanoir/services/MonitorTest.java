package org.tamanoir.services;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.service.ServiceConfig;
import org.tamanoir.service.StreamInfo.Transport;
import org.tamanoir.testkit.ServiceHarness;

class MonitorTest {
    private static final Map<String, String> DEFAULTS = Map.of();

    private static List<Packet> numbered(PacketBuilder builder, long... sequences) {
        List<Packet> packets = new ArrayList<>();
        for (long sequence : sequences) {
            packets.add(builder.nextSequence(sequence).build(ByteBuffer.allocate(10)));
        }
        return packets;
    }

    private static ServiceHarness monitor(List<Packet> packets) {
        return ServiceHarness.run(new Monitor(), Transport.UDP, DEFAULTS, packets);
    }

    private static ServiceHarness monitor(long... sequences) {
        return monitor(numbered(new PacketBuilder().stream(1), sequences));
    }

    private static void assertCounts(
            ServiceHarness host, int missing, int reordered, int duplicates, int stale, int restarts) {
        assertThat(List.of(
                        host.count("lost") - host.count("late"),
                        host.count("reordered"),
                        host.count("duplicates"),
                        host.count("stale"),
                        host.count("restarts")))
                .as("missing, reordered, duplicates, stale, restarts")
                .containsExactly((long) missing, (long) reordered, (long) duplicates, (long) stale, (long) restarts);
    }

    @ParameterizedTest
    @EnumSource(Transport.class)
    void marksCountsAndForwards(Transport transport) {
        List<Packet> packets = new ArrayList<>();
        PacketBuilder builder = Packets.full("org.tamanoir.services.Monitor");
        for (int bytes : new int[] {100, 10, 1000}) {
            packets.add(builder.build(ByteBuffer.allocate(bytes)));
        }
        ServiceHarness host = ServiceHarness.run(new Monitor(), transport, Map.of("mark", "46"), packets);

        int header = builder.headerLength();
        assertThat(host.packets()).hasSize(3).allMatch(p -> p.classOfService() == 46);
        assertThat(host.count("packets")).isEqualTo(3);
        assertThat(host.count("bytes")).isEqualTo(1110 + 3 * header);
        assertThat(host.count("smallest-bytes")).isEqualTo(10 + header);
        assertThat(host.count("largest-bytes")).isEqualTo(1000 + header);
        assertThat(host.count("unmarked")).isZero();
        assertThat(host.count("streams")).isEqualTo(1);
        assertCounts(host, 0, 0, 0, 0, 0);
        Packets.assertWellFormed(host.packets());
    }

    @Test
    void marksClassOneUnlessToldOtherwise() {
        List<Packet> packets = List.of(new PacketBuilder().classOfService(9, 0).build(ByteBuffer.allocate(0)));
        assertThat(monitor(packets).packets().get(0).classOfService()).isEqualTo(1);
    }

    @Test
    void leavesPacketsAsTheyAreWithMarkNone() {
        List<Packet> packets = List.of(new PacketBuilder().classOfService(9, 0).build(ByteBuffer.allocate(0)));
        ServiceHarness host = ServiceHarness.run(new Monitor(), Transport.TCP, Map.of("mark", "none"), packets);
        assertThat(host.packets().get(0).classOfService()).isEqualTo(9);
    }

    @Test
    void countsPacketsThatHaveNoOptionToMark() {
        ServiceHarness host = monitor(List.of(new PacketBuilder().build(ByteBuffer.allocate(0))));
        assertThat(host.count("unmarked")).isEqualTo(1);
        assertThat(host.count("streams")).isZero();
        assertThat(host.packets().get(0).length()).isEqualTo(8);
    }

    @Test
    void refusesMarksThatAreNoClass() {
        assertThatThrownBy(() -> new Monitor().init(new ServiceConfig(Map.of("mark", "256"))))
                .hasMessage("mark: 256 must be a whole number from 0 to 255, or none");
        assertThatThrownBy(() -> new Monitor().init(new ServiceConfig(Map.of("marks", "1"))))
                .hasMessageContaining("known: mark");
    }

    @Test
    void countsGapsAsLost() {
        assertCounts(monitor(5, 6, 9, 10, 200), 2 + 189, 0, 0, 0, 0);
    }

    @Test
    void takesLatePacketsBackFromTheLost() {
        assertCounts(monitor(0, 1, 4, 3, 2, 5), 0, 2, 0, 0, 0);
    }

    @Test
    void whatItCountsNeverFalls() {
        try (ServiceHarness host = ServiceHarness.start(new Monitor(), Transport.UDP, DEFAULTS)) {
            long[] before = new long[2];
            for (Packet packet : numbered(new PacketBuilder().stream(1), 0, 3, 2, 1, 9, 4, 10)) {
                host.send(packet);
                long[] now = {host.count("lost"), host.count("late")};
                assertThat(now[0]).isGreaterThanOrEqualTo(before[0]);
                assertThat(now[1]).isGreaterThanOrEqualTo(before[1]);
                before = now;
            }
            assertThat(before).containsExactly(2 + 5, 3);
        }
    }

    @Test
    void doesNotTakeBackWhatWasNeverLost() {
        assertCounts(monitor(2, 1, 0, 3), 0, 2, 0, 0, 0);
    }

    @Test
    void countsDuplicates() {
        assertCounts(monitor(0, 1, 1, 2, 0, 3, 2), 0, 0, 3, 0, 0);
    }

    @Test
    void seesReorderingUpTo63PacketsBack() {
        assertCounts(monitor(0, 64, 1), 62, 1, 0, 0, 0);
        assertCounts(monitor(0, 65, 1), 64, 0, 0, 1, 0);
    }

    @Test
    void followsAStreamThatBeginsAnew() {
        assertCounts(monitor(1000, 1001, 0, 1, 2), 0, 0, 0, 0, 1);
        assertCounts(monitor(1000, 1001, 3, 4, 5), 0, 0, 0, 1, 1);
    }

    @Test
    void keepsInterleavedStreamsApart() {
        List<Packet> packets = new ArrayList<>();
        int streams = 1000;
        for (int sequence = 0; sequence < 3; sequence++) {
            for (int id = 0; id < streams; id++) {
                packets.addAll(numbered(new PacketBuilder().stream(id * 0x1000_0001), sequence * 2));
            }
        }
        ServiceHarness host = monitor(packets);
        assertThat(host.count("streams")).isEqualTo(streams);
        assertCounts(host, streams * 2, 0, 0, 0, 0);
    }

    @Test
    void boundsTheTableOfStreams() {
        List<Packet> packets = new ArrayList<>();
        int streams = SequenceTable.MAX_STREAMS + 5;
        for (int sequence = 0; sequence < 2; sequence++) {
            for (int id = 0; id < streams; id++) {
                packets.addAll(numbered(new PacketBuilder().stream(id), sequence));
            }
        }
        ServiceHarness host = monitor(packets);
        assertThat(host.count("streams")).isEqualTo(SequenceTable.MAX_STREAMS);
        assertThat(host.count("untracked")).isEqualTo(10);
        assertCounts(host, 0, 0, 0, 0, 0);
    }

    @Test
    void allocatesNothingPerPacket() {
        assertThat(Allocation.perPacket(new Monitor(), DEFAULTS, Packets.full("org.tamanoir.services.Monitor")))
                .isLessThan(1);
    }
}
