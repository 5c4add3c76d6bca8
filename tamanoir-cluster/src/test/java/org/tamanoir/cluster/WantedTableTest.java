package org.tamanoir.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.tamanoir.cluster.config.ClusterService;
import org.tamanoir.cluster.lvs.Forwarding;
import org.tamanoir.cluster.lvs.LvsTable;
import org.tamanoir.cluster.lvs.Protocol;
import org.tamanoir.cluster.lvs.RealServer;
import org.tamanoir.cluster.lvs.Scheduler;
import org.tamanoir.cluster.lvs.VirtualAddress;
import org.tamanoir.cluster.lvs.VirtualService;

class WantedTableTest {
    private static ClusterService service(String address, Forwarding forwarding, int backEndPort) {
        return new ClusterService(
                "anep",
                address(address),
                3322,
                backEndPort,
                Set.of(Protocol.TCP, Protocol.UDP),
                forwarding,
                Scheduler.WLC,
                List.of(),
                60,
                24,
                true);
    }

    private static InetAddress address(String text) {
        try {
            return InetAddress.getByName(text);
        } catch (UnknownHostException e) {
            throw new IllegalArgumentException(text, e);
        }
    }

    private static WantedTable.Place place(String address, int weight) {
        return new WantedTable.Place(address(address), weight);
    }

    @Test
    void eachProtocolIsAVirtualServiceWithAllPlaces() {
        LvsTable table = WantedTable.of(
                List.of(service("10.0.0.1", Forwarding.NAT, 4000)),
                List.of(place("10.0.1.1", 7), place("10.0.1.2", 0)));

        VirtualAddress tcp = new VirtualAddress(Protocol.TCP, address("10.0.0.1"), 3322);
        VirtualAddress udp = new VirtualAddress(Protocol.UDP, address("10.0.0.1"), 3322);
        Map<String, RealServer> servers = Map.of(
                "10.0.1.1:4000", new RealServer(address("10.0.1.1"), 4000, Forwarding.NAT, 7, 0, 0),
                "10.0.1.2:4000", new RealServer(address("10.0.1.2"), 4000, Forwarding.NAT, 0, 0, 0));
        assertThat(table.services())
                .containsOnly(
                        Map.entry(tcp, new VirtualService(tcp, Scheduler.WLC, List.of(), 60, 24, false, servers)),
                        Map.entry(udp, new VirtualService(udp, Scheduler.WLC, List.of(), 60, 24, true, servers)));
    }

    @Test
    void aServiceWithoutBackEndsIsStillThere() {
        LvsTable table = WantedTable.of(List.of(service("10.0.0.1", Forwarding.DIRECT, 3322)), List.of());
        assertThat(table.services())
                .hasSize(2)
                .allSatisfy((at, each) -> assertThat(each.servers()).isEmpty());
    }

    @Test
    void familiesMixInTunnelsAlone() {
        List<WantedTable.Place> places = List.of(place("10.0.1.1", 1), place("fd00::1", 1));
        for (Forwarding forwarding : Forwarding.values()) {
            Set<String> all = Set.of("10.0.1.1:3322", "[fd00::1]:3322");
            LvsTable table = WantedTable.of(List.of(service("fd00::99", forwarding, 3322)), places);
            assertThat(table.services().values())
                    .hasSize(2)
                    .allSatisfy(each -> assertThat(each.servers().keySet())
                            .isEqualTo(forwarding == Forwarding.TUNNEL ? all : Set.of("[fd00::1]:3322")));
        }
    }

    @Test
    void aBackEndThatIsLeftOutHasAReasonWithARemedy() {
        ClusterService service = service("fd00::99", Forwarding.DIRECT, 3322);
        assertThat(WantedTable.refusal(service, address("fd00::1"))).isNull();
        assertThat(WantedTable.refusal(service, address("10.0.1.1")))
                .contains("anep", "10.0.1.1", "direct", "use forwarding tunnel")
                .doesNotContain("\n");
    }
}
