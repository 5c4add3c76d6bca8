package org.tamanoir.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Many slots, in simulated time: the longest step of a pass is the look at the node's sockets. */
class ReconcilerTest {
    private static final long LOOK_NS = 500_000;
    private static final long PAUSE_NS = 100_000_000;

    private long nowNs;
    private final Reconciler reconciler = new Reconciler(
            new UsedSlot.Intake() {
                @Override
                public long arrived(int slot) {
                    return 0;
                }

                @Override
                public boolean isEmpty() {
                    nowNs += LOOK_NS;
                    return true;
                }
            },
            () -> nowNs += 1_000);

    @Test
    void lossesOfThousandsOfSlotsAreFound() {
        List<SlotsTest.Counting> drivers =
                Stream.generate(SlotsTest.Counting::new).limit(3_000).toList();
        for (int i = 0; i < drivers.size(); i++) {
            drivers.get(i).up = 1;
            reconciler.watch(new UsedSlot(i + 1, drivers.get(i), true));
        }
        passUntil(() -> drivers.stream().allMatch(driver -> driver.settled == 1));
        assertThat(drivers).allMatch(driver -> driver.settled == 1);
    }

    private void passUntil(BooleanSupplier condition) {
        for (int pass = 0; pass < 1_000 && !condition.getAsBoolean(); pass++) {
            reconciler.pass(nowNs, (slot, offload) -> {});
            nowNs += PAUSE_NS;
        }
    }
}
