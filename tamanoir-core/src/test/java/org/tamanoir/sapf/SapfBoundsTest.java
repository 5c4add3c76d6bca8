package org.tamanoir.sapf;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.transport.BatchMemory;
import org.tamanoir.transport.Buffer;

/** What readers may take to write packets into, and what becomes of packets when it is taken. */
class SapfBoundsTest {
    private static final int KIB = 1 << 10;

    @Test
    void growsByWhatIsThere() {
        BatchMemory memory = new BatchMemory(512 * KIB);
        Buffer first = Objects.requireNonNull(memory.larger(null, 0, 10));
        assertThat(first.capacity()).isEqualTo(128 * KIB);
        first.nio().put(0, (byte) 1).put(99_999, (byte) 2);
        Buffer second = Objects.requireNonNull(memory.larger(first, 100_000, 128 * KIB + 1));
        assertThat(second.capacity()).isEqualTo(256 * KIB);
        assertThat(second.nio().get(0)).isEqualTo((byte) 1);
        assertThat(second.nio().get(99_999)).isEqualTo((byte) 2);
    }

    @Test
    void allReadersHaveSoMuchTogether() {
        BatchMemory memory = new BatchMemory(512 * KIB);
        Buffer one = Objects.requireNonNull(memory.larger(null, 0, 256 * KIB));
        assertThat(memory.larger(null, 0, 128 * KIB)).isNotNull();
        assertThat(memory.larger(one, 0, 512 * KIB)).as("of another").isNull();
        assertThat(memory.larger(null, 0, 128 * KIB)).isNotNull();
        assertThat(memory.larger(null, 0, 1)).isNull();
    }

    @Test
    void whatOneGivesBackOthersHave() {
        BatchMemory memory = new BatchMemory(512 * KIB);
        Buffer one = Objects.requireNonNull(memory.larger(null, 0, 512 * KIB));
        memory.give(one);
        assertThat(memory.larger(null, 0, 300 * KIB)).as("the same again").isSameAs(one);
        assertThat(memory.larger(null, 0, 1)).isNull();
        memory.give(one);
        assertThat(memory.larger(null, 0, 1))
                .as("where there is nothing smaller")
                .isSameAs(one);
    }

    @Test
    void whatFindsNoneIsDroppedByNameAndOthersGoOn() throws IOException {
        AtomicLong clockNs = new AtomicLong(1);
        byte[] packet = SapfEnd.packet(1, "a");
        byte[] another = SapfEnd.packet(2, "a");
        try (SapfEnd node = SapfEnd.issuing(clockNs, 8, 0);
                SapfEnd sender = SapfEnd.asking(clockNs, node.address())) {
            sender.bind(node, packet);
            sender.send(node, packet, packet);
            assertThat(node.receive()).isEmpty();
            assertThat(node.dropped(DropReason.NO_MEMORY)).isEqualTo(2);
            sender.send(node, another);
            assertThat(node.receive()).containsExactly(another);
        }
    }

    @Test
    void whatGoesOnFoldedNeedsNone() throws IOException {
        AtomicLong clockNs = new AtomicLong(1);
        byte[] header = SapfEnd.packet(1, "");
        try (SapfEnd last = SapfEnd.issuing(clockNs);
                SapfEnd node = SapfEnd.between(clockNs, last.address(), new BatchMemory(0));
                SapfEnd sender = SapfEnd.asking(clockNs, node.address())) {
            sender.bind(node, header);
            node.bind(last, header);
            node.leaveFolded();
            byte[][] packets = new byte[40][];
            for (int i = 0; i < packets.length; i++) {
                packets[i] = SapfEnd.packet(1, i % 9 == 8 ? "shorter " + i : "number " + (100 + i));
            }
            sender.send(node, packets);
            int switched = 0;
            while (switched < packets.length) {
                switched += node.switchOn(last, header);
            }
            assertThat(last.exchange(node, packets.length)).containsExactly(packets);
            assertThat(last.sapf.statistics().packetsIn()).isEqualTo(packets.length);
        }
    }

    @Test
    void aHeaderThatWouldMakeTooMuchOfADatagramIsNotBound() throws IOException {
        AtomicLong clockNs = new AtomicLong(1);
        byte[] packet = SapfEnd.packet(1, "a");
        int header = packet.length - 1;
        int growth = (header + 8 + 28 + 35)
                / 36; // What an empty packet becomes, with a hop budget, for each octet that came.
        try (SapfEnd stingy = SapfEnd.issuing(clockNs, growth - 1, 1 << 20);
                SapfEnd node = SapfEnd.issuing(clockNs, growth, 1 << 20);
                SapfEnd toStingy = SapfEnd.asking(clockNs, stingy.address());
                SapfEnd toNode = SapfEnd.asking(clockNs, node.address())) {
            toStingy.bind(stingy, packet);
            toNode.bind(node, packet);
            assertThat(stingy.sapf.statistics().refused()).isOne();
            assertThat(node.sapf.statistics().refused()).isZero();
        }
    }
}
