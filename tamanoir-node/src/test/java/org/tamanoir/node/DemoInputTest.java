package org.tamanoir.node;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(20)
class DemoInputTest {
    private static final int WINDOW_OCTETS = 8;

    private final ByteBuffer content = ByteBuffer.wrap(new byte[] {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
    private final ByteBuffer target = ByteBuffer.allocate(100);
    private final AtomicLong arrivedOctets = new AtomicLong();

    @Test
    void noMoreThanTheWindowIsUnderWay() {
        DemoInput input = new DemoInput(content, WINDOW_OCTETS, arrivedOctets::get);
        assertThat(input.read(target)).isEqualTo(WINDOW_OCTETS);
        arrivedOctets.set(WINDOW_OCTETS);
        assertThat(input.read(target)).isEqualTo(3);
        assertThat(input.read(target)).isEqualTo(-1);
        assertThat(target.flip()).isEqualTo(content);
    }

    @Test
    void whatDoesNotArriveIsNotWaitedForForever() {
        DemoInput input = new DemoInput(content, WINDOW_OCTETS, arrivedOctets::get);
        assertThat(input.read(target)).isEqualTo(WINDOW_OCTETS);
        assertThat(input.read(target)).isEqualTo(3);
        assertThat(target.flip()).isEqualTo(content);
    }

    @Test
    void aClosedInputEnds() {
        DemoInput input = new DemoInput(content, WINDOW_OCTETS, arrivedOctets::get);
        input.close();
        assertThat(input.read(target)).isEqualTo(-1);
        assertThat(input.isOpen()).isFalse();
    }
}
