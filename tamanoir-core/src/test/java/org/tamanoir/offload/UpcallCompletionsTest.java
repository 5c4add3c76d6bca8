package org.tamanoir.offload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.support.Waiting.eventually;

import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.tamanoir.nodeos.NodeOs;
import org.tamanoir.transport.Backlogs;

class UpcallCompletionsTest {
    private final List<String> told = new ArrayList<>();
    private final Set<Integer> awaited = new HashSet<>();
    private boolean isUnsent;
    private long nowNs;
    private final Outflow outflow = new Outflow(() -> isUnsent, () -> nowNs, new Backlogs());
    private final Outflow withoutBacklogs =
            new Outflow(() -> isUnsent, () -> nowNs, new Backlogs(Path.of("no such file")));
    private long up;
    private long settled;
    private final NodeOs levels = (NodeOs) Proxy.newProxyInstance(
            NodeOs.class.getClassLoader(), new Class<?>[] {NodeOs.class}, (p, method, with) -> {
                if (method.getName().equals("isAwaited")) {
                    return awaited.contains((Integer) with[0]);
                }
                settled += (Long) with[1];
                told.add(method.getName() + " " + with[0] + " " + with[1]);
                return null;
            });
    private final UpcallCompletions settling = new UpcallCompletions();

    @Test
    void tellsEachSlotOnce() {
        settling.add(3);
        settling.add(16_383, 40);
        settling.add(3);
        settling.add(0);
        settling.report(levels);
        assertThat(told).containsExactly("settled 3 2", "settled 16383 40");
        settling.report(levels);
        assertThat(told).hasSize(2);
    }

    @Test
    void doesNotTellOfWhatWentToAnother() {
        settling.add(3, 2);
        settling.add(4);
        settling.remove(3);
        settling.remove(4);
        settling.add(4);
        settling.remove(4);
        settling.remove(0);
        settling.report(levels);
        assertThat(told).containsExactly("settled 3 1");
        settling.add(4);
        settling.report(levels);
        assertThat(told).containsExactly("settled 3 1", "settled 4 1");
    }

    @Test
    void holdsManySlots() {
        for (int slot = 1; slot < 10_000; slot++) {
            settling.add(slot);
        }
        settling.report(levels);
        assertThat(told).hasSize(9999).contains("settled 9999 1");
    }

    @Test
    void whatAPolicyWaitsForIsToldWhenItIsOut() {
        awaited.add(3);
        isUnsent = true;
        settling.add(3, 2);
        settling.add(4);
        assertThat(settling.report(levels, outflow)).isFalse();
        assertThat(told).containsExactly("settled 4 1");
        settling.add(3, 5);
        assertThat(settling.report(levels, outflow)).isFalse();
        assertThat(told).hasSize(1);
        isUnsent = false;
        eventually().until(() -> settling.report(levels, outflow)); // Backlogs are this host's own.
        assertThat(told).containsExactly("settled 4 1", "settled 3 7");
        assertThat(settling.report(levels, outflow)).isTrue();
    }

    @Test
    void aQueueThatIsNeverEmptyHoldsUpForASecond() {
        awaited.add(3);
        isUnsent = true;
        settling.add(3);
        settling.report(levels, outflow);
        nowNs = 999_999_999;
        assertThat(settling.report(levels, outflow)).isFalse();
        assertThat(told).isEmpty();
        nowNs = 1_000_000_000;
        assertThat(settling.report(levels, outflow)).isTrue();
        assertThat(told).containsExactly("settled 3 1");
    }

    /** Others fill the socket too: it is never seen empty. */
    @Test
    void underSteadyTrafficThroughABusySocketNoneIsPendingAfterASecond() {
        isUnsent = true;
        assertThat(hasNonePending(1_000)).isFalse();
        assertThat(hasNonePending(1)).isTrue();
        for (int ms = 0; ms < 100; ms++) {
            assertThat(hasNonePending(1)).as("%d ms later", ms).isTrue();
        }
    }

    @Test
    void underSteadyTrafficNoneIsPendingWhenTheSocketIsSeenEmpty() {
        for (int i = 0; i < 5; i++) {
            isUnsent = true;
            assertThat(hasNonePending(100)).isFalse();
            isUnsent = false;
            assertThat(hasNonePending(1)).isTrue();
        }
    }

    @Test
    void aBusySocketHoldsUpForASecondAgainWhenNothingWasWaitedForAsLong() {
        isUnsent = true;
        assertThat(hasNonePending(1_001)).isTrue();
        nowNs += 1_000_000_000;
        assertThat(hasNonePending(1_000)).isFalse();
        assertThat(hasNonePending(1)).isTrue();
    }

    /** Five packets come each millisecond, without a pause, and are sent; whether none is pending before some next ones. */
    private boolean hasNonePending(int milliseconds) {
        awaited.add(3);
        boolean none = false;
        for (int ms = 0; ms < milliseconds; ms++) {
            nowNs += 1_000_000;
            settling.add(3, 5);
            up += 5;
            settling.report(levels, withoutBacklogs);
            none |= up == settled;
        }
        return none;
    }

    @Test
    void theEndTellsAllAtOnce() {
        awaited.add(3);
        isUnsent = true;
        settling.add(3, 2);
        settling.report(levels, outflow);
        settling.add(3);
        settling.report(levels);
        assertThat(told).containsExactly("settled 3 3");
    }
}
