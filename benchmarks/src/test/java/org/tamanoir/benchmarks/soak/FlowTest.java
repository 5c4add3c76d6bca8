package org.tamanoir.benchmarks.soak;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.tamanoir.anep.PacketBuilder;

/** What the soak says of a stream that a node has damaged; the packets are 100 bytes of content each. */
class FlowTest {
    private static final int END = 1;
    private static final int BYTES = 100;

    private final Flows flows = new Flows(new Content(2003));
    private final Flow flow = flows.add("Monitor to 1", END, 2, true, false);
    private final Flow other = flows.add("transit to 1", END, 0, true, false);

    private List<byte[]> packets(Flow of, int count) {
        PacketBuilder builder = new PacketBuilder()
                .destination(Bed.destination(END)).classOfService(of.shape.classOfService(), 0).stream(of.shape.id());
        Lane lane = new Lane(of, flows.content, builder, null);
        List<byte[]> all = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            ByteBuffer packet = ByteBuffer.allocate(Lane.MAX_PACKET_OCTETS);
            lane.write(packet, BYTES);
            all.add(Arrays.copyOf(packet.array(), packet.position()));
        }
        return all;
    }

    private static InputStream stream(List<byte[]> packets) {
        int bytes = packets.stream().mapToInt(each -> each.length).sum();
        ByteBuffer all = ByteBuffer.allocate(bytes);
        packets.forEach(all::put);
        return new ByteArrayInputStream(all.array());
    }

    private void read(InputStream in) throws DifferenceException {
        new PacketReader(flows, END, "far end").read(in, arrived -> {});
    }

    private void assertDiffers(List<byte[]> packets, String... said) {
        assertThatThrownBy(() -> read(stream(packets)))
                .isInstanceOf(DifferenceException.class)
                .hasMessageContainingAll(said);
    }

    @Test
    void allThatWasSentIsWhole() throws DifferenceException {
        List<byte[]> mixed = new ArrayList<>();
        List<byte[]> ours = packets(flow, 9);
        List<byte[]> others = packets(other, 9);
        for (int i = 0; i < 9; i++) {
            mixed.add(ours.get(i));
            mixed.add(others.get(i));
        }
        read(stream(mixed));

        assertThat(flow.missing()).isNull();
        assertThat(other.missing()).isNull();
    }

    @Test
    void aWrongByteIsNamedWithItsOffset() {
        List<byte[]> all = packets(flow, 3);
        byte[] last = all.get(2);
        int at = last.length - BYTES + 7;
        String expected = String.format("expected byte 0x%02x, got 0x%02x", last[at], (byte) (last[at] ^ 0x80));
        last[at] ^= (byte) 0x80;

        assertDiffers(all, "flow 1 (Monitor to 1), offset 207", expected);
    }

    @Test
    void bytesOfAnotherFlowAreNamed() {
        List<byte[]> all = packets(flow, 2);
        byte[] foreign = packets(other, 2).get(1);
        byte[] damaged = all.get(1);
        System.arraycopy(foreign, foreign.length - 40, damaged, damaged.length - 40, 40);

        assertDiffers(all, "flow 1 (Monitor to 1), offset 160", "bytes of flow 2 from its offset 160 on");
    }

    @Test
    void aPacketThatComesAgainIsNamed() {
        List<byte[]> all = packets(flow, 3);
        all.add(all.get(1));

        assertDiffers(all, "offset 300: expected packet 3, got 1 again", "bytes of flow 1 from its offset 100 on");
    }

    @Test
    void aPacketThatIsMissingIsNamed() {
        List<byte[]> all = packets(flow, 4);
        all.remove(1);

        assertDiffers(all, "offset 100: expected packet 1, got 2, what is between is missing");
    }

    @Test
    void packetsThatChangedPlacesAreNamed() {
        List<byte[]> all = packets(flow, 4);
        all.add(1, all.remove(2));

        assertDiffers(all, "offset 100: expected packet 1, got 2");
    }

    @Test
    void aPacketOfAnotherFarEndIsNamed() {
        Flow elsewhere = flows.add("Monitor to 0", 0, 0, true, false);

        assertDiffers(packets(elsewhere, 1), "flow 3 (Monitor to 0): packet 0 came to far end 1, expected at 0");
    }

    @Test
    void aPacketThatNobodySentIsNamed() {
        ByteBuffer packet = ByteBuffer.allocate(Lane.MAX_PACKET_OCTETS);
        new PacketBuilder().destination(Bed.destination(END)).stream(99).write(packet, ByteBuffer.allocate(20));

        assertDiffers(
                List.of(Arrays.copyOf(packet.array(), packet.position())), "a packet of flow 99, which nobody sent");
    }

    @Test
    void whatIsNoPacketIsNamed() {
        List<byte[]> all = packets(flow, 2);
        byte[] torn = all.get(1);
        all.set(1, Arrays.copyOfRange(torn, torn.length - 64, torn.length));

        assertDiffers(all, "expected a packet, got what is no packet", "bytes of flow 1 from its offset 136 on");
    }

    @Test
    void anEndInMidPacketIsNamed() {
        List<byte[]> all = packets(flow, 2);
        all.set(1, Arrays.copyOf(all.get(1), 70));

        assertDiffers(all, "ends in the middle of a packet, after 70 bytes");
    }

    @Test
    void aWholeFlowThatEndsEarlyIsNamed() throws DifferenceException {
        read(stream(packets(flow, 3).subList(0, 2)));

        assertThat(flow.missing()).isEqualTo("flow 1 (Monitor to 1), offset 200: expected 100 bytes more, got none");
    }

    @Test
    void aWholeFlowWhoseConnectionBreaksIsNamed() {
        InputStream whole = stream(packets(flow, 2));
        InputStream breaking = new InputStream() {
            @Override
            public int read() throws IOException {
                throw new IOException("Connection reset");
            }

            @Override
            public int read(byte[] into, int offset, int length) throws IOException {
                int count = whole.read(into, offset, length);
                return count < 0 ? read() : count;
            }
        };

        assertThatThrownBy(() -> read(breaking)).hasMessageContaining("its connection broke, Connection reset");
    }

    @Test
    void aFlowThatIsCutMayEndAnywhereButNotDiffer() throws DifferenceException {
        Flow cut = flows.add("to be cut", END, 0, false, false);
        List<byte[]> all = packets(cut, 4);
        read(stream(all.subList(0, 3)));
        all.get(3)[all.get(3).length - 1]++;

        assertDiffers(List.of(all.get(3)), "flow 3 (to be cut)");
    }
}
