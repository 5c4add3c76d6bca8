package org.tamanoir.node.demo;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class DemoInputTest {
    private static final int WINDOW_BYTES = 8;

    private final ByteBuffer content = ByteBuffer.wrap(new byte[] {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
    private final ByteBuffer target = ByteBuffer.allocate(100);
    private final AtomicLong arrivedBytes = new AtomicLong();

    @Test
    void noMoreThanTheWindowIsUnderWay() {
        DemoInput input = new DemoInput(content, WINDOW_BYTES, arrivedBytes::get);
        assertThat(input.read(target)).isEqualTo(WINDOW_BYTES);
        arrivedBytes.set(WINDOW_BYTES);
        assertThat(input.read(target)).isEqualTo(3);
        assertThat(input.read(target)).isEqualTo(-1);
        assertThat(target.flip()).isEqualTo(content);
    }

    @Test
    void whatDoesNotArriveIsNotWaitedForForever() {
        DemoInput input = new DemoInput(content, WINDOW_BYTES, arrivedBytes::get);
        assertThat(input.read(target)).isEqualTo(WINDOW_BYTES);
        assertThat(input.read(target)).isEqualTo(3);
        assertThat(target.flip()).isEqualTo(content);
    }

    @Test
    void aClosedInputEnds() {
        DemoInput input = new DemoInput(content, WINDOW_BYTES, arrivedBytes::get);
        input.close();
        assertThat(input.read(target)).isEqualTo(-1);
        assertThat(input.isOpen()).isFalse();
    }
}
