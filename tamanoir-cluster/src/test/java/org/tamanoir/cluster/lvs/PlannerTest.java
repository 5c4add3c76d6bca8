package org.tamanoir.cluster.lvs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.tamanoir.cluster.lvs.Tables.lines;
import static org.tamanoir.cluster.lvs.Tables.plan;
import static org.tamanoir.cluster.lvs.Tables.table;
import static org.tamanoir.cluster.lvs.Tables.tcp;
import static org.tamanoir.cluster.lvs.Tables.udp;
import static org.tamanoir.cluster.lvs.Tables.undo;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.tamanoir.support.Seeds;

@Tag("once")
class PlannerTest {
    private static final String[] TWO_SERVERS = {
        "-A -t 10.0.0.1:3322 -s wlc",
        "-a -t 10.0.0.1:3322 -r 10.0.1.11:3322 -g -w 100",
        "-a -t 10.0.0.1:3322 -r 10.0.1.12:3322 -g -w 50"
    };

    @Test
    void nothingIsDoneWhereAllIsAsWanted() throws Exception {
        LvsTable table = table(TWO_SERVERS);
        assertThat(plan(table, table).isEmpty()).isTrue();
        assertThat(plan(table(), table()).isEmpty()).isTrue();
    }

    @Test
    void anEmptyTableGetsServicesEachWithItsServers() throws Exception {
        LvsTable wanted = table(
                "-A -u 10.0.0.1:3322 -s rr -o",
                "-a -u 10.0.0.1:3322 -r 10.0.1.12:3322 -g -w 1",
                "-a -u 10.0.0.1:3322 -r 10.0.1.11:3322 -i -w 2",
                "-A -t 10.0.0.1:3322 -s sh -p 300 -M 255.255.255.0 -b sh-port,sh-fallback",
                "-a -t 10.0.0.1:3322 -r 10.0.1.13:4000 -m -w 0 -x 10 -y 5");
        Plan plan = plan(table(), wanted);
        assertThat(lines(plan))
                .containsExactly(
                        "-A -t 10.0.0.1:3322 -s sh -p 300 -M 255.255.255.0 -b sh-fallback,sh-port",
                        "-a -t 10.0.0.1:3322 -r 10.0.1.13:4000 -m -w 0 -x 10 -y 5",
                        "-A -u 10.0.0.1:3322 -s rr -o",
                        "-a -u 10.0.0.1:3322 -r 10.0.1.11:3322 -i -w 2 --tun-type ipip",
                        "-a -u 10.0.0.1:3322 -r 10.0.1.12:3322 -g -w 1");
        assertThat(undo(plan))
                .containsExactly(
                        "-d -u 10.0.0.1:3322 -r 10.0.1.12:3322",
                        "-d -u 10.0.0.1:3322 -r 10.0.1.11:3322",
                        "-D -u 10.0.0.1:3322",
                        "-d -t 10.0.0.1:3322 -r 10.0.1.13:4000",
                        "-D -t 10.0.0.1:3322");
    }

    @Test
    void ipv6IsWrittenInBrackets() throws Exception {
        LvsTable wanted = table(
                "-A -t [fd00:0:0:0:0:0:0:1]:3322 -s mh -p 600 -M 64 -b mh-port",
                "-a -t [fd00::1]:3322 -r [fd00:1::11]:3322 -g -w 1",
                "-a -t [fd00::1]:3322 -r 10.0.1.12:3322 -i -w 1");
        assertThat(lines(plan(table(), wanted)))
                .containsExactly(
                        "-A -t [fd00::1]:3322 -s mh -p 600 -M 64 -b mh-port",
                        "-a -t [fd00::1]:3322 -r 10.0.1.12:3322 -i -w 1 --tun-type ipip",
                        "-a -t [fd00::1]:3322 -r [fd00:1::11]:3322 -g -w 1");
    }

    @Test
    void wholeMasksAreNotWritten() throws Exception {
        LvsTable wanted =
                table("-A -t 10.0.0.1:80 -s rr -p 60 -M 255.255.255.255", "-A -t [fd00::1]:80 -s rr -p 60 -M 128");
        assertThat(lines(plan(table(), wanted)))
                .containsExactly("-A -t 10.0.0.1:80 -s rr -p 60", "-A -t [fd00::1]:80 -s rr -p 60");
    }

    @Test
    void weightsAloneAreEditedThoseThatBecomeZeroLast() throws Exception {
        LvsTable wanted = table(
                TWO_SERVERS[0],
                "-a -t 10.0.0.1:3322 -r 10.0.1.11:3322 -g -w 0",
                "-a -t 10.0.0.1:3322 -r 10.0.1.12:3322 -g -w 70");
        Plan plan = plan(table(TWO_SERVERS), wanted);
        assertThat(lines(plan))
                .containsExactly(
                        "-e -t 10.0.0.1:3322 -r 10.0.1.12:3322 -g -w 70",
                        "-e -t 10.0.0.1:3322 -r 10.0.1.11:3322 -g -w 0");
        assertThat(undo(plan))
                .containsExactly(
                        "-e -t 10.0.0.1:3322 -r 10.0.1.11:3322 -g -w 100",
                        "-e -t 10.0.0.1:3322 -r 10.0.1.12:3322 -g -w 50");
    }

    @ParameterizedTest
    @CsvSource({
        "-s wlc, -s rr",
        "-s wlc, -s wlc -p 300",
        "-s wlc -p 300, -s wlc",
        "-s wlc -p 300, -s wlc -p 600",
        "-s wlc -p 300, -s wlc -p 300 -M 255.255.0.0",
        "-s wlc -p 300 -M 255.255.0.0, -s wlc -p 300",
        "-s rr, -s rr -o",
        "-s rr -o, -s rr",
        "-s sh -b sh-port, -s sh",
        "'-s sh', '-s sh -b sh-fallback,sh-port'",
        "-s sh -p 300 -b sh-port, -s mh -o -b mh-port"
    })
    void whatAServiceHasIsEditedInPlace(String from, String to) throws Exception {
        String server = "-a -u 10.0.0.1:3322 -r 10.0.1.11:3322 -g -w 100";
        Plan plan = plan(table("-A -u 10.0.0.1:3322 " + from, server), table("-A -u 10.0.0.1:3322 " + to, server));
        assertThat(plan.changes())
                .containsExactly(
                        new Change(udp("10.0.0.1:3322"), "-E -u 10.0.0.1:3322 " + to, "-E -u 10.0.0.1:3322 " + from));
    }

    @ParameterizedTest
    @CsvSource({
        "-g -w 1, -m -w 1",
        "-m -w 1, -i -w 1 --tun-type ipip",
        "-i -w 5 --tun-type ipip, -g -w 5",
        "-g -w 1, -g -w 1 -x 10",
        "-g -w 1 -x 10 -y 5, -g -w 1",
        "-g -w 1 -x 10 -y 5, -g -w 2 -x 20 -y 6"
    })
    void whatAServerHasIsEditedInPlace(String from, String to) throws Exception {
        String service = "-A -t 10.0.0.1:3322 -s rr";
        String server = " -t 10.0.0.1:3322 -r 10.0.1.11:3322 ";
        Plan plan = plan(table(service, "-a" + server + from), table(service, "-a" + server + to));
        assertThat(plan.changes())
                .containsExactly(new Change(tcp("10.0.0.1:3322"), "-e" + server + to, "-e" + server + from));
    }

    @Test
    void whatIsAddedComesFirstAndWhatGoesComesLast() throws Exception {
        LvsTable actual = table(
                "-A -t 10.0.0.1:3322 -s wlc",
                "-a -t 10.0.0.1:3322 -r 10.0.1.11:3322 -g -w 100",
                "-a -t 10.0.0.1:3322 -r 10.0.1.12:3322 -g -w 100",
                "-a -t 10.0.0.1:3322 -r 10.0.1.13:4000 -m -w 100",
                "-A -t 10.0.0.2:3322 -s rr",
                "-a -t 10.0.0.2:3322 -r 10.0.1.12:3322 -g -w 1",
                "-A -u 10.0.0.2:3322 -s rr -o");
        LvsTable wanted = table(
                "-A -t 10.0.0.1:3322 -s rr -p 60",
                "-a -t 10.0.0.1:3322 -r 10.0.1.12:3322 -i -w 100",
                "-a -t 10.0.0.1:3322 -r 10.0.1.13:5000 -m -w 100",
                "-A -u 10.0.0.2:3322 -s rr -o",
                "-a -u 10.0.0.2:3322 -r 10.0.1.12:3322 -g -w 1",
                "-A -u 10.0.0.3:3322 -s rr");
        Plan plan = plan(actual, wanted);
        assertThat(lines(plan))
                .containsExactly(
                        "-a -t 10.0.0.1:3322 -r 10.0.1.13:5000 -m -w 100",
                        "-a -u 10.0.0.2:3322 -r 10.0.1.12:3322 -g -w 1",
                        "-A -u 10.0.0.3:3322 -s rr",
                        "-E -t 10.0.0.1:3322 -s rr -p 60",
                        "-e -t 10.0.0.1:3322 -r 10.0.1.12:3322 -i -w 100 --tun-type ipip",
                        "-d -t 10.0.0.1:3322 -r 10.0.1.11:3322",
                        "-d -t 10.0.0.1:3322 -r 10.0.1.13:4000",
                        "-d -t 10.0.0.2:3322 -r 10.0.1.12:3322",
                        "-D -t 10.0.0.2:3322");
        assertThat(undo(plan))
                .containsExactly(
                        "-A -t 10.0.0.2:3322 -s rr",
                        "-a -t 10.0.0.2:3322 -r 10.0.1.12:3322 -g -w 1",
                        "-a -t 10.0.0.1:3322 -r 10.0.1.13:4000 -m -w 100",
                        "-a -t 10.0.0.1:3322 -r 10.0.1.11:3322 -g -w 100",
                        "-e -t 10.0.0.1:3322 -r 10.0.1.12:3322 -g -w 100",
                        "-E -t 10.0.0.1:3322 -s wlc",
                        "-D -u 10.0.0.3:3322",
                        "-d -u 10.0.0.2:3322 -r 10.0.1.12:3322",
                        "-d -t 10.0.0.1:3322 -r 10.0.1.13:5000");
    }

    @Test
    void whatIsOwnedAndNotWantedGoesWithItsServers() throws Exception {
        Plan plan = plan(table(TWO_SERVERS), table());
        assertThat(lines(plan))
                .containsExactly(
                        "-d -t 10.0.0.1:3322 -r 10.0.1.11:3322",
                        "-d -t 10.0.0.1:3322 -r 10.0.1.12:3322",
                        "-D -t 10.0.0.1:3322");
        assertThat(undo(plan)).containsExactly(TWO_SERVERS[0], TWO_SERVERS[2], TWO_SERVERS[1]);
    }

    @Test
    void whatIsOwnedAndGoneIsMadeAgainOrForgotten() throws Exception {
        Set<VirtualAddress> owned = Set.of(tcp("10.0.0.1:3322"), udp("10.0.0.1:3322"));
        assertThat(lines(Planner.plan(table(TWO_SERVERS), table(), owned))).containsExactly(TWO_SERVERS);
        assertThat(Planner.plan(table(), table(), owned).isEmpty()).isTrue();
    }

    @Test
    void aForeignServiceIsLeftAlone() throws Exception {
        LvsTable actual = table(TWO_SERVERS);
        LvsTable wanted = table("-A -u 10.0.0.1:3322 -s rr");
        assertThat(lines(Planner.plan(wanted, actual, Set.of()))).containsExactly("-A -u 10.0.0.1:3322 -s rr");
        assertThat(Planner.plan(table(), actual, Set.of(udp("10.0.0.1:3322"))).isEmpty())
                .isTrue();
    }

    @Test
    void aForeignServiceThatIsWantedIsAnErrorEvenIfItIsTheSame() throws Exception {
        LvsTable actual = table(TWO_SERVERS);
        for (LvsTable wanted : List.of(actual, table("-A -t 10.0.0.1:3322 -s rr"))) {
            assertThatThrownBy(() -> Planner.plan(wanted, actual, Set.of()))
                    .isInstanceOf(ClusterException.class)
                    .hasMessage(
                            "virtual service tcp 10.0.0.1:3322 is in the kernel's table already and not made by this"
                                    + " director: end who keeps it and remove it (ipvsadm -D -t 10.0.0.1:3322), or choose"
                                    + " another address or port");
        }
    }

    @Test
    void allForeignServicesInTheWayAreNamedInOneLine() throws Exception {
        LvsTable actual = table("-A -t 10.0.0.1:1 -s rr", "-A -u [fd00::1]:2 -s rr", "-A -t 10.0.0.1:3 -s rr");
        assertThatThrownBy(() -> Planner.plan(actual, actual, Set.of(tcp("10.0.0.1:3"))))
                .hasMessageContaining("tcp 10.0.0.1:1, udp [fd00::1]:2 are in")
                .hasMessageContaining("(ipvsadm -D -t 10.0.0.1:1; ipvsadm -D -u [fd00::1]:2)")
                .message()
                .doesNotContain("\n", "10.0.0.1:3");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "-A -t 10.0.0.1:3322 -s rr -o | one-packet scheduling is for UDP alone",
                "-A -u 10.0.0.1:3322 -s rr -b sh-port | scheduler rr has no flag sh-port: it takes none",
                "-A -u 10.0.0.1:3322 -s mh -b sh-port | has no flag sh-port: one of mh-fallback, mh-port",
                "-A -u 10.0.0.1:3322 -s mh -p 9 -M 129 | persistence prefix 129 must be 1 to 32"
            })
    void whatLvsCannotHaveIsToldBeforeIpvsadmIsAsked(String line, String words) throws Exception {
        assertThatThrownBy(() -> plan(table(), table(line)))
                .isInstanceOf(ClusterException.class)
                .hasMessageContaining(words);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "10.0.1.1:4000 -g | must have the port 3322: NAT alone can change it",
                "10.0.1.1:4000 -i | must have the port 3322: NAT alone can change it",
                "[fd00::1]:3322 -g | must be of the same IP version",
                "[fd00::1]:3322 -m | must be of the same IP version"
            })
    void aServerThatItsForwardingCannotReachIsToldBefore(String server, String words) throws Exception {
        LvsTable wanted = table("-A -t 10.0.0.1:3322 -s rr", "-a -t 10.0.0.1:3322 -r " + server);
        assertThatThrownBy(() -> plan(table(), wanted))
                .isInstanceOf(ClusterException.class)
                .hasMessageContaining(words);
    }

    @Test
    void everyPlanLeadsToWhatIsWantedAndItsUndoBack() throws Exception {
        long seed = Seeds.ofCommit(PlannerTest.class);
        Random random = new Random(seed);
        for (int round = 0; round < Seeds.scaled(500); round++) {
            LvsTable from = random(random);
            LvsTable to = random(random);
            Plan plan = plan(from, to);
            TableEditor editor = new TableEditor(from);
            for (String line : lines(plan)) {
                editor.run(line);
            }
            assertThat(editor.table()).as("seed %d, round %d", seed, round).isEqualTo(to);
            assertThat(plan(to, editor.table()).isEmpty()).isTrue();
            for (String line : undo(plan)) {
                editor.run(line);
            }
            assertThat(editor.table()).as("seed %d, round %d", seed, round).isEqualTo(from);
        }
    }

    private static LvsTable random(Random random) throws ClusterException {
        List<String> lines = new ArrayList<>();
        for (String at : List.of("-t 10.0.0.1:3322", "-u 10.0.0.1:3322", "-t [fd00::1]:3322")) {
            if (random.nextInt(4) == 0) {
                continue;
            }
            List<String> options = List.of("-s rr", "-s wlc -p 60", "-s sh -b sh-port", "-s rr -p 60 -M 24");
            lines.add("-A " + at + " " + options.get(random.nextInt(options.size())));
            for (int i = 1; i <= 4; i++) {
                List<String> kinds = List.of("-i", "-i -w 0", "-i -w 7", "-i -x 5 -y 2");
                if (random.nextBoolean()) {
                    lines.add("-a " + at + " -r 10.0.1." + i + ":3322 " + kinds.get(random.nextInt(kinds.size())));
                }
            }
        }
        return table(lines.toArray(String[]::new));
    }
}
