package org.tamanoir.cluster.lvs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.tamanoir.cluster.lvs.Tables.table;
import static org.tamanoir.cluster.lvs.Tables.tcp;
import static org.tamanoir.cluster.lvs.Tables.udp;

import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tables as Debian's ipvsadm 1.31 saved them on Linux 6.1, and lines that change them. */
class TableEditorTest {
    @Test
    void aSavedTableOfAllKindsIsRead() throws Exception {
        LvsTable table = TableEditor.parse(Samples.read("save.txt"));
        assertThat(table.services())
                .containsOnlyKeys(
                        tcp("10.0.0.1:3322"),
                        tcp("10.1.0.1:3322"),
                        udp("10.0.0.4:5060"),
                        udp("10.1.0.1:3322"),
                        tcp("[fd01::1]:3322"),
                        tcp("[::ffff:1.2.3.4]:80"),
                        tcp("[1:0:0:2::3]:80"),
                        udp("[fd00:1111:2222:3333:4444:5555:6666:7777]:65535"),
                        udp("[fd01::1]:3322"));
        assertThat(table.services().get(tcp("10.0.0.1:3322")))
                .isEqualTo(new VirtualService(
                        tcp("10.0.0.1:3322"),
                        Scheduler.SH,
                        List.of("sh-port"),
                        2_147_483,
                        24,
                        false,
                        Map.of(
                                "10.0.1.11:3322", server("10.0.1.11:3322", Forwarding.DIRECT, 100),
                                "10.0.1.12:3322", server("10.0.1.12:3322", Forwarding.TUNNEL, 50),
                                "10.0.1.13:3322", server("10.0.1.13:3322", Forwarding.TUNNEL, 50),
                                "10.0.1.14:3322", server("10.0.1.14:3322", Forwarding.TUNNEL, 50),
                                "[fd00::14]:3322", server("[fd00::14]:3322", Forwarding.TUNNEL, 50))));
        assertThat(table.services().get(tcp("10.1.0.1:3322")))
                .isEqualTo(new VirtualService(
                        tcp("10.1.0.1:3322"),
                        Scheduler.WLC,
                        List.of(),
                        0,
                        32,
                        false,
                        Map.of(
                                "10.2.1.2:3322", server("10.2.1.2:3322", Forwarding.NAT, 100),
                                "10.2.2.2:3322", server("10.2.2.2:3322", Forwarding.NAT, 65_535),
                                "10.9.9.9:4000", server("10.9.9.9:4000", Forwarding.NAT, 0))));
        VirtualService persistent = service(table, tcp("[fd01::1]:3322"));
        assertThat(persistent.persistenceSeconds()).isEqualTo(600);
        assertThat(persistent.persistencePrefix()).isEqualTo(64);
        assertThat(service(table, udp("10.1.0.1:3322")).onePacket()).isTrue();
        assertThat(service(table, udp("[fd01::1]:3322")).flags()).containsExactly("mh-fallback", "mh-port");
    }

    @Test
    void aWeightThatADirectorNeverSetsIsTheLargestThatItDoes() throws Exception {
        LvsTable table = TableEditor.parse(Samples.read("save.txt"));
        assertThat(service(table, udp("[fd00:1111:2222:3333:4444:5555:6666:7777]:65535"))
                        .servers()
                        .values())
                .extracting(RealServer::weight)
                .containsOnly(RealServer.MAX_WEIGHT);
    }

    /** What a director's own services can be is written back as ipvsadm saves it, but the words of ipvsadm's defaults. */
    @Test
    void aTableIsPlannedInTheWordsInWhichIpvsadmSavesIt() throws Exception {
        List<String> ours = Samples.read("save.txt")
                .lines()
                .filter(line -> line.contains(" 10.1.0.1:") || line.contains(" [fd01::1]:"))
                .toList();
        LvsTable table = table(ours.toArray(String[]::new));
        Plan plan = Planner.plan(table, table(), Set.of());
        assertThat(plan.changes()).extracting(Change::line).containsExactlyInAnyOrderElementsOf(ours);
    }

    @Test
    void linesForRestoreDoWhatIpvsadmDoes() throws Exception {
        TableEditor editor =
                new TableEditor(table("-A -t 10.0.0.1:80 -s rr -p 60", "-a -t 10.0.0.1:80 -r 10.0.1.1:80 -m -w 7"));
        editor.run("-E -t 10.0.0.1:80");
        editor.run("-e -t 10.0.0.1:80 -r 10.0.1.1:80");
        editor.run("-a -t 10.0.0.1:80 -r 10.0.1.2:80 -i -x 10 -y 5");
        editor.run("-A -u 10.0.0.1:80 -s mh");
        LvsTable wanted = table(
                "-A -t 10.0.0.1:80 -s wlc",
                "-a -t 10.0.0.1:80 -r 10.0.1.1:80 -g -w 1",
                "-a -t 10.0.0.1:80 -r 10.0.1.2:80 -i -w 1 -x 10 -y 5",
                "-A -u 10.0.0.1:80 -s mh");
        assertThat(editor.table()).isEqualTo(wanted);
        editor.run("-d -t 10.0.0.1:80 -r 10.0.1.1:80");
        editor.run("-D -u 10.0.0.1:80");
        assertThat(editor.table())
                .isEqualTo(table("-A -t 10.0.0.1:80 -s wlc", "-a -t 10.0.0.1:80 -r 10.0.1.2:80 -i -x 10 -y 5"));
        editor.run("-D -t 10.0.0.1:80");
        assertThat(editor.table().services()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "-A -t 10.0.0.1:80 -s rr --shiny",
                "-A -t 10.0.0.1:80 -s",
                "-A -t 10.0.0.1:80 -s shiny",
                "-A -t example.org:80 -s rr",
                "-A -t 10.0.0.1 -s rr",
                "-A -s rr",
                "-A -t 10.0.0.1:80 -s rr -p soon",
                "-a -t 10.0.0.1:80 -r 10.0.1.1:80 -g -w heavy",
                "-a -t 10.0.0.1:80 -g",
                "-a -t 10.0.0.9:80 -r 10.0.1.1:80 -g",
                "-E -t 10.0.0.9:80 -s rr",
                "-d -t 10.0.0.2:80 -r 10.0.1.1:80",
                "-C",
                "Service not defined"
            })
    void aLineThatIsNotUnderstoodIsNamed(String line) throws Exception {
        TableEditor editor = new TableEditor(table("-A -t 10.0.0.2:80 -s rr"));
        assertThatThrownBy(() -> editor.run(line))
                .isInstanceOf(ClusterException.class)
                .hasMessageStartingWith("ipvsadm's line '" + line + "' is not understood: ")
                .message()
                .doesNotContain("\n");
    }

    private static VirtualService service(LvsTable table, VirtualAddress at) {
        return Objects.requireNonNull(table.services().get(at));
    }

    private static RealServer server(String endpoint, Forwarding forwarding, int weight) {
        return new RealServer(LvsText.addressOf(endpoint), LvsText.portOf(endpoint), forwarding, weight, 0, 0);
    }
}
