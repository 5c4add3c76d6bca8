package org.tamanoir.qdisc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.tamanoir.qdisc.TestItem.Dropped;

class DisciplinesTest {
    private final Dropped dropped = new Dropped();

    private QueueingDiscipline create(String name, Map<String, String> options) {
        return Disciplines.create(name, TestItem.config(options, 1, 1), dropped);
    }

    @Test
    void knowsItsOwnAndThoseOfUsers() {
        assertThat(Disciplines.names()).contains("codel", "drr", "fifo", "fq-codel", "pq", "yielding");
        assertThat(Disciplines.namesForTurns())
                .contains("drr", "fifo", "pq", "yielding")
                .doesNotContain("codel", "fq-codel");
        assertThat(Disciplines.problems()).isEmpty();
    }

    @Test
    void makesTheDisciplineOfAUser() {
        QueueingDiscipline yielding = create("yielding", Map.of());
        yielding.enqueue(TestItem.of("a", 0, 1), 0);
        yielding.enqueue(TestItem.of("b", 1, 1), 0);
        assertThat(TestItem.drainByDequeue(yielding, 0)).isEqualTo("b a");
        assertThat(Disciplines.createForTurns("yielding", TestItem.config(Map.of(), 1))
                        .packets())
                .isZero();
    }

    @Test
    void saysWhichThereAre() {
        assertThatThrownBy(() -> create("lifo", Map.of()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("discipline 'lifo': there is none of this name; use one of "
                        + String.join(", ", Disciplines.names()));
        assertThatThrownBy(() -> Disciplines.createForTurns("lifo", TestItem.config(Map.of(), 1)))
                .hasMessage("discipline 'lifo': there is none of this name; use one of "
                        + String.join(", ", Disciplines.namesForTurns()));
    }

    @ParameterizedTest
    @CsvSource({"codel", "fq-codel"})
    void saysWhichMayOrderTurns(String name) {
        assertThatThrownBy(() -> Disciplines.createForTurns(name, TestItem.config(Map.of(), 1)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("discipline " + name + " cannot order turns: use one of "
                        + String.join(", ", Disciplines.namesForTurns()));
    }

    static Iterable<String> namesForTurns() {
        return Disciplines.namesForTurns();
    }

    @ParameterizedTest
    @MethodSource("namesForTurns")
    void ordersTurns(String name) {
        QueueingDiscipline discipline = Disciplines.createForTurns(name, TestItem.config(Map.of(), 1, 9));
        discipline.enqueue(TestItem.keep("a", 0, 1_000_000), 0);
        Item turn = TestItem.next(discipline, 0);
        discipline.charge(turn.flow(), 123);
        assertThat(discipline.packets()).isZero();
    }

    @Test
    void sharesTurnsEquallyWithFq() {
        if (!Disciplines.namesForTurns().contains("fq")) {
            return;
        }
        QueueingDiscipline fq = Disciplines.createForTurns("fq", TestItem.config(Map.of(), 1, 9));
        int[] turns = new int[2];
        for (int flow = 0; flow < 2; flow++) {
            for (int i = 0; i < 2; i++) {
                fq.enqueue(TestItem.keep("", flow, 1_000_000), 0);
            }
        }
        for (int i = 0; i < 1000; i++) {
            Item turn = TestItem.next(fq, i);
            turns[turn.flow()]++;
            fq.enqueue(turn, i);
        }
        assertThat(turns).containsExactly(500, 500);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "fifo | limit | 1 | option 'limit': discipline fifo knows limit-bytes, limit-packets",
                "pq | quantum | 1 | option 'quantum': discipline pq knows top-burst, top-rate",
                "drr | Quantum | 1 | option 'Quantum': discipline drr knows quantum",
                "codel | ecn | 1 | option 'ecn': discipline codel knows interval, limit-bytes, limit-packets, target",
                "fq-codel | x | 1 | option 'x': discipline fq-codel knows"
                        + " drop-batch, flows, interval, limit, memory, quantum, target",
                "drr | quantum | -1 | option quantum of discipline drr is '-1': must be a whole number"
                        + " from 1 to 2147483647",
                "drr | quantum | 0 | option quantum of discipline drr is '0': must be a whole number"
                        + " from 1 to 2147483647",
                "fifo | limit-packets | 2147483648 | option limit-packets of discipline fifo is '2147483648':"
                        + " must be a whole number from 1 to 2147483647",
                "fifo | limit-bytes | 99999999999999999999 | option limit-bytes of discipline fifo is"
                        + " '99999999999999999999': must be a whole number from 1 to 1099511627776",
                "fq-codel | quantum | 1e3 | option quantum of discipline fq-codel is '1e3': must be a whole number"
                        + " from 64 to 1073741824",
                "codel | target | 5 | option target of discipline codel is '5': must be a time from 1us to 3s,"
                        + " such as 5ms",
                "codel | target | 999ns | option target of discipline codel is '999ns': must be a time from 1us"
                        + " to 3s, such as 5ms",
                "codel | interval | 999999999999999999s | option interval of discipline codel is"
                        + " '999999999999999999s': must be a time from 1us to 3s, such as 5ms",
                "codel | interval | 3001ms | option interval of discipline codel is '3001ms': must be a time"
                        + " from 1us to 3s, such as 5ms",
                "yielding | x | 1 | discipline yielding has no options"
            })
    void refusesOptionsInOneLine(String name, String option, String value, String line) {
        assertThatThrownBy(() -> create(name, Map.of(option, value)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(line);
    }

    @ParameterizedTest
    @CsvSource({"1us", "1000ns", "5ms", "3s", "3000000us"})
    void takesTimesInUnits(String time) {
        assertThat(create("codel", Map.of("target", time, "interval", time)).packets())
                .isZero();
    }

    @Test
    void needsLimitsForASharedQueue() {
        assertThatThrownBy(() -> Disciplines.create("fifo", TestItem.config(Map.of()), dropped))
                .hasMessage("discipline fifo: there is no flow to take limits from; give one, or the options"
                        + " limit-packets and limit-bytes");
        Map<String, String> limits = Map.of("limit-packets", "1", "limit-bytes", "1");
        assertThat(Disciplines.create("codel", TestItem.config(limits), dropped).packets())
                .isZero();
    }
}
