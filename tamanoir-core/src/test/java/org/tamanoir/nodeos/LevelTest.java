package org.tamanoir.nodeos;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

class LevelTest {
    @Test
    void manifestsAllowKernelAndNic() {
        assertThat(Level.allowedBy(List.of("jvm"))).containsExactly(Level.JVM);
        assertThat(Level.allowedBy(List.of("kernel", "nic")))
                .containsExactlyInAnyOrder(Level.MODULE, Level.TC, Level.XDP);
        assertThat(Level.allowedBy(List.of("cluster"))).isEmpty();
    }

    @Test
    void labelsNameLevels() {
        for (Level level : Level.values()) {
            assertThat(Level.of(level.label())).isEqualTo(level);
        }
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Level.of("TC"))
                .withMessage("level \"TC\": must be one of jvm, module, tc, xdp");
    }

    @Test
    void aNodeWithoutLevelsHasTheJvmAndSaysWhy() throws Exception {
        NodeOs none = NodeOs.NONE;
        assertThat(none.levels()).extracting(LevelStatus::level).containsExactly(Level.values());
        assertThat(none.levels()).filteredOn(LevelStatus::isThere).hasSize(1);
        assertThat(none.levels().get(1).detail())
                .isEqualTo("off: name the network interfaces that packets come in through, in levels.interfaces");
        none.attach(List.of(), List.of(), 1);
        assertThat(none.upMark()).isZero();
        none.settled(1, 1);
        none.lost(1);
        assertThat(none.offloads()).isEmpty();
        assertThatThrownBy(() -> none.offload(List.of(1L), Flow.ANY, Policy.forward(), Set.of(Level.TC), false))
                .isInstanceOf(LevelException.class)
                .hasMessageStartingWith("no level below the JVM: off: ");
        none.close();
    }

    @Test
    void aStatusKeepsTheOrderOfWhatWasMet() {
        LevelStatus status = new LevelStatus(Level.TC, true, "tc on eth0", Map.of("seen", 1L));
        assertThat(status.met()).isEqualTo(Map.of("seen", 1L));
        assertThatThrownBy(() -> status.met().put("short", 1L)).isInstanceOf(UnsupportedOperationException.class);
    }

    @Test
    void countersAddUpAndSubtract() {
        LevelCounters one = counters(1, 100);
        LevelCounters two = counters(2, 50);
        LevelCounters sum = one.plus(two);

        assertThat(sum.packets()).isEqualTo(3);
        assertThat(sum.smallest()).isEqualTo(50);
        assertThat(sum.largest()).isEqualTo(101);
        assertThat(sum.ruleDrops()).containsOnly(3);
        assertThat(sum.since(one).packets()).isEqualTo(2);
        assertThat(sum.since(one).ruleDrops()).containsOnly(2);
        assertThat(LevelCounters.ZERO.plus(one)).isEqualTo(one).hasSameHashCodeAs(one);
        assertThat(one.plus(LevelCounters.ZERO).smallest()).isEqualTo(100);
        assertThat(sum).isNotEqualTo(one).hasToString(sum.toString());
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new LevelCounters(0, 0, 0, 0, 0, 0, 0, 0, 0, new long[16]))
                .withMessage("16 counts of rules: must be 17");
    }

    private static LevelCounters counters(long each, long smallest) {
        long[] rules = new long[Policy.MAX_RULES + 1];
        Arrays.fill(rules, each);
        return new LevelCounters(each, each, each, each, each, each, each, smallest, smallest + 1, rules);
    }
}
