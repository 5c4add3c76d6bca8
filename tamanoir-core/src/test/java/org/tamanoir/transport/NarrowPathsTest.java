package org.tamanoir.transport;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class NarrowPathsTest {
    private static final long NARROW = UdpAddress.v4(0x0A000001);

    private final NarrowPaths paths = new NarrowPaths();

    @Test
    void oneNarrowPathIsThatOfNoOther() {
        paths.note(0, NARROW, 1400, 5);
        assertThat(paths.mayJoin(0, NARROW, 1400, 6)).isFalse();
        assertThat(paths.mayJoin(0, NARROW, 1399, 6)).isTrue();
        for (int i = 1; i < 100_000; i++) {
            assertThat(paths.mayJoin(0, NARROW + i, 1400, 6)).isTrue();
        }
    }

    @Test
    void itIsTriedAgainAfterAMinute() {
        paths.note(0, NARROW, 1400, 5);
        assertThat(paths.mayJoin(0, NARROW, 1400, 4 + NarrowPaths.HOLDS_NS)).isFalse();
        assertThat(paths.mayJoin(0, NARROW, 1400, 5 + NarrowPaths.HOLDS_NS)).isTrue();
    }
}
