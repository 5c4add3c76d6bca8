package org.tamanoir.traffic;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.tamanoir.service.Counter;
import org.tamanoir.service.Counter.Kind;

/** What counters of several instances come to, while these run and when they have ended. */
class CounterTotalsTest {
    private final CounterTotals totals = new CounterTotals();

    private NamedCounters instance(long value) {
        NamedCounters counters = new NamedCounters(totals);
        for (Kind kind : Kind.values()) {
            Counter counter = counters.get(kind.name(), kind);
            counter.set(value);
            counter.set(value);
        }
        return counters;
    }

    private long total(Kind kind) {
        CounterTotal total = totals.values().get(kind.name());
        assertThat(total.kind()).isEqualTo(kind);
        return total.value();
    }

    @Test
    void eachKindHasATotalOfItsOwnAndGaugesEndWithTheirInstance() {
        NamedCounters first = instance(1000);
        NamedCounters second = instance(-7);
        assertThat(total(Kind.SUM)).isEqualTo(993);
        assertThat(total(Kind.GAUGE)).isEqualTo(993);
        first.end();
        first.end(); // As an instance that was given up ends once more when its thread comes back.
        assertThat(total(Kind.SUM)).isEqualTo(993);
        assertThat(total(Kind.MAXIMUM)).isEqualTo(1000);
        assertThat(total(Kind.MINIMUM)).isEqualTo(-7);
        assertThat(total(Kind.GAUGE)).isEqualTo(-7);
        first.get("SUM").add(5);
        first.get("later").add(5);
        second.end();
        assertThat(total(Kind.SUM)).isEqualTo(993);
        assertThat(total(Kind.GAUGE)).isZero();
    }

    @Test
    void extremesThatWereNeverSetDoNotCount() {
        NamedCounters idle = new NamedCounters(totals);
        assertThat(idle.get("least", Kind.MINIMUM).get()).isZero();
        assertThat(idle.get("most", Kind.MAXIMUM).get()).isZero();
        assertThat(totals.values()).doesNotContainKeys("least", "most");
        NamedCounters busy = new NamedCounters(totals);
        busy.get("least", Kind.MINIMUM).set(9);
        busy.get("most", Kind.MAXIMUM).set(-9);
        idle.end();
        assertThat(totals.sums()).containsEntry("least", 9L).containsEntry("most", -9L);
        busy.end();
        assertThat(totals.sums()).containsEntry("least", 9L).containsEntry("most", -9L);
        assertThatThrownBy(() -> busy.get("most", Kind.MAXIMUM).add(1))
                .hasMessage("counter most is a maximum: set() it; add() is for sums and gauges");
    }

    @Test
    void aNameHasOneKindInAllInstances() {
        new NamedCounters(totals).get("most", Kind.MAXIMUM).set(3);
        NamedCounters other = new NamedCounters(totals);
        assertThatThrownBy(() -> other.get("most", Kind.SUM))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("counter most: is a MAXIMUM already, and cannot be a SUM: use another name");
        assertThat(other.get("most").kind()).isEqualTo(Kind.MAXIMUM);
    }

    @Test
    void namesAreBoundedOverAllInstancesAndNoneIsLost() {
        for (int instance = 0; instance < 3; instance++) {
            NamedCounters counters = new NamedCounters(totals);
            for (int name = 0; name < 50; name++) {
                counters.get(instance + "/" + name).add(1);
                counters.get(instance + "/" + name).add(1);
            }
            if (instance != 1) {
                counters.end();
            }
        }
        assertThat(totals.sums())
                .hasSize(65)
                .containsEntry("others", 2L * (150 - 64))
                .containsEntry("1/13", 2L);
        new NamedCounters(totals).get("highest", Kind.MAXIMUM).set(4);
        assertThat(totals.sums()).containsEntry("others-maximum", 4L).containsEntry("others", 2L * (150 - 64));
    }
}
