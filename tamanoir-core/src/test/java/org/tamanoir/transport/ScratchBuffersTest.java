package org.tamanoir.transport;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A batch's memory stays what it is while a way out refers to it. */
class ScratchBuffersTest {
    private final BufferPool pool = new BufferPool(4);
    private final ScratchBuffers memory = new ScratchBuffers(pool, "stream 1", Thread.currentThread(), () -> true);

    @AfterEach
    void close() {
        pool.close();
    }

    @Test
    void isNotGivenBackWhileSomethingInItIsGatheredOnly() {
        memory.reserve(100);
        memory.commit(100);
        memory.hold();
        assertThatThrownBy(memory::recycle)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("1 ways out refer to memory");
        memory.release();
        assertThatCode(memory::recycle).doesNotThrowAnyException();
    }

    @Test
    void isNotExchangedWhileSomethingInItIsGatheredOnly() {
        memory.reserve(BufferPool.LARGE_BYTES);
        memory.commit(BufferPool.LARGE_BYTES);
        memory.hold();
        assertThatThrownBy(() -> memory.reserve(1)).isInstanceOf(IllegalStateException.class);
        memory.release();
        memory.recycle();
    }
}
