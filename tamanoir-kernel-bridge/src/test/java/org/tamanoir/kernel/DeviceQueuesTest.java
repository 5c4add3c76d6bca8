package org.tamanoir.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Answers of the kernel about disciplines, as the test writes them. */
class DeviceQueuesTest {
    private static final int STATS = 7;
    private static final int STATS_BASIC = 1;
    private static final int STATS_QUEUE = 3;

    private DeviceQueues queues;

    @BeforeEach
    void open() throws NetlinkException {
        queues = new DeviceQueues();
    }

    @AfterEach
    void close() {
        queues.close();
    }

    /** Two packets wait, of two segments and of one; the first leaves, which counts as two. */
    @Test
    void segmentsThatLeaveAreNotTakenForPackets() {
        assertThat(queues.areThrough(List.of(discipline(1, 0, 0, 2, 4500)))).isFalse();
        assertThat(queues.areThrough(List.of(discipline(1, 3000, 2, 1, 1500)))).isFalse();
        assertThat(queues.areThrough(List.of(discipline(1, 4500, 3, 1, 9000)))).isTrue();
    }

    @Test
    void whatComesLaterIsNotWaitedFor() {
        assertThat(queues.areThrough(List.of(discipline(1, 100, 1, 0, 0), discipline(2, 0, 0, 1, 60))))
                .isFalse();
        assertThat(queues.areThrough(List.of(discipline(1, 100, 1, 5, 500), discipline(2, 60, 1, 5, 300))))
                .isTrue();
    }

    @Test
    void moreThanFourGigabytesHaveLeft() {
        long left = 0xFFFF_FFFFL;
        assertThat(queues.areThrough(List.of(discipline(1, left, 7, 1, 60)))).isFalse();
        assertThat(queues.areThrough(List.of(discipline(1, left + 60, 8, 1, 60))))
                .isTrue();
    }

    private static ByteBuffer discipline(int device, long bytes, int packets, int waiting, int waitingBytes) {
        ByteBuffer answer = ByteBuffer.allocate(20 + 4 + 4 + 12 + 4 + 20).order(ByteOrder.nativeOrder());
        answer.putInt(4, device).position(20);
        answer.putShort((short) (answer.remaining())).putShort((short) STATS);
        answer.putShort((short) 16).putShort((short) STATS_BASIC).putLong(bytes).putInt(packets);
        answer.putShort((short) 24)
                .putShort((short) STATS_QUEUE)
                .putInt(waiting)
                .putInt(waitingBytes);
        return answer.clear();
    }
}
