package org.tamanoir.offload;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.tamanoir.nodeos.NodeOs;

class UpcallCompletionsTest {
    private final List<String> told = new ArrayList<>();
    private final NodeOs levels = (NodeOs)
            Proxy.newProxyInstance(NodeOs.class.getClassLoader(), new Class<?>[] {NodeOs.class}, (p, method, with) -> {
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
}
