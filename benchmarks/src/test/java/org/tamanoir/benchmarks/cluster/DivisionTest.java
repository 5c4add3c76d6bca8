package org.tamanoir.benchmarks.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.tamanoir.benchmarks.cluster.Division.Scheduling;
import org.tamanoir.benchmarks.cluster.Ipvs.Counters;
import tools.jackson.databind.json.JsonMapper;

class DivisionTest {
    private static Scheduling wrr(List<Long> divided, List<Long> packets, List<Long> kernel, long lost) {
        return new Scheduling("wrr", List.of(3, 2, 1), 24, 40, divided, packets, kernel, lost);
    }

    @Test
    void divisionIsExactIfStreamsPacketsAndKernelAgreeAndNothingIsLost() {
        List<Long> due = List.of(12L, 8L, 4L);
        List<Long> packets = List.of(480L, 320L, 160L);
        assertThat(wrr(due, packets, due, 0).due()).isEqualTo(due);
        assertThat(wrr(due, packets, due, 0).exact()).isTrue();
        assertThat(wrr(due, packets, due, 0).jain()).isEqualTo(1, within(1e-9));
        assertThat(wrr(List.of(12L, 7L, 5L), packets, due, 0).exact()).isFalse();
        assertThat(wrr(due, List.of(480L, 320L, 159L), due, 0).exact()).isFalse();
        assertThat(wrr(due, packets, List.of(11L, 9L, 4L), 0).exact()).isFalse();
        assertThat(wrr(due, packets, due, 1).exact()).isFalse();
    }

    @Test
    void resultsOfTheGuestAreReadAsTheyWereWritten() {
        Division division = new Division(
                List.of(wrr(List.of(12L, 8L, 4L), List.of(1L, 2L, 3L), List.of(12L, 8L, 4L), 0)),
                123,
                List.of(new Point(Work.GZIP, 8192, 24, 3, 1.5, 10, 11, List.of(1L, 2L, 3L), 12, List.of(4L, 3L, 3L))));
        JsonMapper json = JsonMapper.shared();
        assertThat(json.readValue(json.writeValueAsString(division), Division.class))
                .isEqualTo(division);
        List<FrontEnd.Cost> costs = List.of(new FrontEnd.Cost(FrontEnd.PLAIN, 64, List.of(1.5, 2.0)));
        assertThat((List<?>) json.readerForListOf(FrontEnd.Cost.class).readValue(json.writeValueAsString(costs)))
                .isEqualTo(costs);
    }

    /** As Debian's ipvsadm 1.31 says it, with the servers' order as they were added. */
    @Test
    void countersOfServersAreRead() throws IOException {
        String said = """
                IP Virtual Server version 1.2.1 (size=4096)
                Prot LocalAddress:Port               Conns   InPkts  OutPkts  InBytes OutBytes
                  -> RemoteAddress:Port
                TCP  10.78.4.100:3322                   24      300        0    60000        0
                  -> 10.78.3.2:3322                      8      100        0    20000        0
                  -> 10.78.3.1:3322                     16      200        0    40000        0""";
        assertThat(Ipvs.counters(said))
                .containsExactly(new Counters("10.78.3.1:3322", 16, 200), new Counters("10.78.3.2:3322", 8, 100));
        assertThat(Ipvs.counters("IP Virtual Server version 1.2.1 (size=4096)")).isEmpty();
        assertThatThrownBy(() -> Ipvs.counters("  -> 10.78.3.2:3322    8K  1"))
                .isInstanceOf(IOException.class)
                .hasMessage("ipvsadm says '-> 10.78.3.2:3322    8K  1' where counters of a server were due");
    }
}
