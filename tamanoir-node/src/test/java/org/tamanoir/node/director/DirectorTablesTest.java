package org.tamanoir.node.director;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.tamanoir.cluster.DirectorStatus;
import org.tamanoir.cluster.Load;
import org.tamanoir.cluster.lvs.Counters;
import tools.jackson.databind.json.JsonMapper;

class DirectorTablesTest {
    private static final Counters COUNTERS = new Counters(3, 4, 0, 7, 100, 0, 60_000, 0, 1, 2, 0, 3_000_000, 0);

    private static List<String> lines(DirectorStatus status) {
        List<String> lines = new ArrayList<>();
        JsonMapper mapper = new JsonMapper();
        DirectorTables.status(mapper.readTree(mapper.writeValueAsString(status)), lines::add);
        return lines;
    }

    private static DirectorStatus.Member member(
            String name, String state, @Nullable String reason, @Nullable Integer weight, @Nullable Load load) {
        return new DirectorStatus.Member(
                name,
                "10.0.0.11",
                "http://10.0.0.11:3324",
                state,
                reason,
                load != null,
                weight,
                load,
                load == null ? null : 0.254,
                load == null ? List.of("tunl0 is missing: ip link add\u001b") : List.of(),
                List.of(),
                state.equals("draining") ? "2026-01-01T00:00:00Z" : null);
    }

    @Test
    void servicesAndBackEndsAreTables() {
        Load load = new Load("i", 1, 2, 1, null, 5, 4096, Load.Traffic.NONE);
        DirectorStatus status = new DirectorStatus(
                "front1",
                true,
                null,
                true,
                List.of(new DirectorStatus.Service(
                        "anep",
                        "tcp 10.0.0.100:3322",
                        "direct",
                        "wlc",
                        0,
                        false,
                        COUNTERS,
                        List.of(new DirectorStatus.Server("node1", "10.0.0.11:3322", 100, COUNTERS)))),
                List.of(
                        member("node1", "up", null, 100, load),
                        member("node2", "draining", "told to", 0, null),
                        member("node3", "down", "no answer", null, null)));
        assertThat(lines(status))
                .containsExactly(
                        "director front1: ready, active",
                        "",
                        "SERVICE  ADDRESS              HOW          BACK-END  WEIGHT  ACTIVE  INACTIVE  CONNECTIONS  "
                                + "CONN/S  PACKETS/S  MB/S",
                        "anep     tcp 10.0.0.100:3322  direct, wlc  -              -       3         4            7  "
                                + "     1          2      3.00",
                        "                                           node1        100       3         4            7  "
                                + "     1          2      3.00",
                        "",
                        "BACK-END  HOST       STATE     WEIGHT  STREAMS  BUSY  FROM          WHY",
                        "node1     10.0.0.11  up        100           5  25 %  file          -",
                        "node2     10.0.0.11  draining  0             -  -     registration  told to; drained by "
                                + "2026-01-01T00:00:00Z",
                        "node3     10.0.0.11  down      -             -  -     registration  no answer",
                        "node2: tunl0 is missing: ip link add?",
                        "node3: tunl0 is missing: ip link add?");
    }

    @Test
    void aDirectorThatIsNotReadyOrNotActiveSaysSo() {
        assertThat(lines(new DirectorStatus("f", false, "ipvsadm is missing", false, List.of(), List.of()))
                        .get(0))
                .isEqualTo("director f: not ready: ipvsadm is missing, stand-by: the virtual addresses are not here");
    }
}
