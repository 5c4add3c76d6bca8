package org.tamanoir.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.tamanoir.support.Namespaces;

@Tag("namespace")
class InstanceLockTest {
    @Test
    void aNumberIsTakenOnceUntilItIsGivenBack() {
        Namespaces.require("bpf");
        try (Namespaces namespaces = new Namespaces("lock")) {
            String here = namespaces.add("here");
            String there = namespaces.add("there");
            InstanceLock first = take(namespaces, here, 3);
            assertThat(first).isNotNull();
            assertThat(first.number()).isEqualTo(3);
            assertThat(take(namespaces, here, 3)).isNull();
            try (InstanceLock elsewhere = take(namespaces, there, 3);
                    InstanceLock other = take(namespaces, here, 4)) {
                assertThat(elsewhere).as("of another namespace").isNotNull();
                assertThat(other).as("another number").isNotNull();
            }
            first.close();
            first.close();
            try (InstanceLock again = take(namespaces, here, 3)) {
                assertThat(again).isNotNull();
            }
        }
    }

    private static InstanceLock take(Namespaces namespaces, String namespace, int number) {
        try {
            return namespaces.in(namespace, () -> InstanceLock.tryTake(number));
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }
}
