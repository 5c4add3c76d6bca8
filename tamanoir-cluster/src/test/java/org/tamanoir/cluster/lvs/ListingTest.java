package org.tamanoir.cluster.lvs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.tamanoir.cluster.lvs.Tables.tcp;
import static org.tamanoir.cluster.lvs.Tables.udp;

import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SortedMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Lists as Debian's ipvsadm 1.31 printed them on Linux 6.1, with traffic and with the widest numbers. */
class ListingTest {
    private static final String HEADINGS = "IP Virtual Server version 1.2.1 (size=4096)\nProt ...\n  -> ...\n";

    @Test
    void countersAreJoinedFromThreeLists() throws Exception {
        LvsCounters counters = Tally.of(
                Listing.withTotals(Samples.read("stats.txt"), 5),
                Listing.withTotals(Samples.read("rate.txt"), 5),
                Listing.ofServers(Samples.read("persistent.txt"), Tally.CONNECTION_COLUMNS));
        assertThat(counters.services()).hasSize(9).doesNotContainKey(udp("10.0.0.9:99"));
        assertThat(service(counters, tcp("10.1.0.1:3322")))
                .isEqualTo(new LvsCounters.Service(
                        new Counters(3, 2, 0, 5, 3_897, 1_924, 131_442_620, 100_676, 0, 46, 22, 1_986_469, 1_139),
                        Map.of(
                                "10.2.1.2:3322",
                                new Counters(1, 0, 0, 1, 2, 1, 112, 60, 0, 0, 0, 0, 0),
                                "10.2.2.2:3322",
                                new Counters(
                                        2, 2, 0, 4, 3_895, 1_923, 131_442_508, 100_616, 0, 46, 22, 1_986_469, 1_139),
                                "10.9.9.9:4000",
                                Counters.NONE)));
        assertThat(service(counters, tcp("[fd01::1]:3322")).total())
                .isEqualTo(new Counters(1, 1, 1, 2, 13, 10, 20_952, 736, 0, 0, 0, 0, 0));
        assertThat(service(counters, udp("[fd01::1]:3322")).servers())
                .containsEntry("[fd02:1::2]:3322", new Counters(0, 1, 0, 1, 2, 1, 150, 51, 0, 0, 0, 0, 0));
        assertThat(service(counters, udp("10.0.0.4:5060")).servers()).isEmpty();
    }

    @Test
    void aBackEndThatOneListLacksHasZerosThere() throws Exception {
        LvsCounters counters = Tally.of(
                Listing.withTotals(HEADINGS + "TCP 10.0.0.1:1 1 2 3 4 5\n -> 10.0.0.2:1 1 2 3 4 5", 5),
                Listing.withTotals(HEADINGS, 5),
                Listing.ofServers(HEADINGS + "TCP 10.0.0.1:1 rr\n", 4));
        Counters only = new Counters(0, 0, 0, 1, 2, 3, 4, 5, 0, 0, 0, 0, 0);
        assertThat(service(counters, tcp("10.0.0.1:1")))
                .isEqualTo(new LvsCounters.Service(only, Map.of("10.0.0.2:1", only)));
    }

    @Test
    void thresholdsAreReadAlsoWhereTheyFillTheirColumns() throws Exception {
        SortedMap<VirtualAddress, Listing.Row> rows = Listing.ofServers(Samples.read("thresholds.txt"), 4);
        assertThat(row(rows, tcp("10.1.0.1:3322")).servers())
                .isEqualTo(Map.of(
                        "10.2.1.2:3322",
                        List.of(2_147_483_647L, 1_000_000_000L, 1L, 0L),
                        "10.2.2.2:3322",
                        List.of(1_000L, 0L, 2L, 2L),
                        "10.9.9.9:4000",
                        List.of(0L, 0L, 0L, 0L)));
        assertThat(row(rows, udp("[fd00:1111:2222:3333:4444:5555:6666:7777]:65535"))
                        .servers())
                .containsEntry(
                        "[fd00:1111:2222:3333:4444:5555:6666:8888]:65534",
                        List.of(2_147_483_647L, 2_147_483_646L, 0L, 0L));
    }

    @Test
    void thePlainListHasWeightsAndConnections() throws Exception {
        SortedMap<VirtualAddress, Listing.Row> rows = Listing.ofServers(Samples.read("list.txt"), 3);
        assertThat(row(rows, tcp("10.1.0.1:3322")).servers()).containsEntry("10.2.2.2:3322", List.of(65_535L, 2L, 2L));
        assertThat(row(rows, udp("[fd00:1111:2222:3333:4444:5555:6666:7777]:65535"))
                        .servers())
                .containsEntry("[fd00:1111:2222:3333:4444:5555:6666:8888]:65534", List.of(2_147_483_647L, 0L, 0L));
    }

    @Test
    void anEmptyTableIsRead() throws Exception {
        assertThat(Listing.withTotals(HEADINGS, 5)).isEmpty();
        assertThat(Listing.ofServers(HEADINGS, 4)).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "TCP 10.0.0.1:1 1 2 3 4",
                "TCP 10.0.0.1:1 1 2 3 4 5K",
                "TCP host.example:1 1 2 3 4 5",
                "TCP",
                "QUIC 10.0.0.1:1 1 2 3 4 5",
                "Illegal value"
            })
    void aLineThatIsNotUnderstoodIsNamed(String line) {
        assertThatThrownBy(() -> Listing.withTotals(HEADINGS + line + "\n", 5))
                .isInstanceOf(ClusterException.class)
                .hasMessageStartingWith("ipvsadm's line '" + line + "' is not understood: ");
    }

    @Test
    void aListOfAnotherKindIsToldByItsFirstLine() {
        assertThatThrownBy(() -> Listing.withTotals("IP Virtual Server version 9.0\nProt\n->\n", 5))
                .isInstanceOf(ClusterException.class)
                .hasMessageStartingWith("ipvsadm's list begins with 'IP Virtual Server version 9.0'");
        assertThatThrownBy(() -> Listing.ofServers("", 4)).isInstanceOf(ClusterException.class);
    }

    private static LvsCounters.Service service(LvsCounters counters, VirtualAddress at) {
        return Objects.requireNonNull(counters.services().get(at));
    }

    private static Listing.Row row(SortedMap<VirtualAddress, Listing.Row> rows, VirtualAddress at) {
        return Objects.requireNonNull(rows.get(at));
    }
}
