package org.tamanoir.anep;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.tamanoir.support.Seeds;

/** A packet in a service's hands: what changes and what stays in the memory that it lies in. */
class PacketLentTest {
    private static final int OFFSET = 40;

    private final ByteBuffer memory = ByteBuffer.allocateDirect(4096);
    private final ByteBuffer scratch = ByteBuffer.allocateDirect(1 << 17);
    private int committed;
    private boolean full;
    private final PacketSpace space = new PacketSpace() {
        @Override
        public ByteBuffer reserve(int octets) {
            if (full) {
                throw new IllegalStateException("no room");
            }
            return scratch.position(committed);
        }

        @Override
        public void commit(int octets) {
            committed += octets;
        }
    };
    private final PacketLoan loan = new PacketLoan(Anep.DEFAULT_TYPE_ID, space);
    private final Packet packet = loan.packet();
    private int length;

    @BeforeEach
    void lend() throws Exception {
        byte[] octets = Octets.of(new PacketBuilder()
                .destination(InetAddress.getByName("10.0.2.7"))
                .checksum()
                .classOfService(1, 2)
                .hopBudget(3)
                .build(Octets.text("hello")));
        length = octets.length;
        memory.put(OFFSET, octets);
        assertThat(packet.parse(memory, OFFSET, length)).isNull();
        loan.lend();
    }

    private byte[] octets() {
        return Octets.copy(memory, OFFSET, length);
    }

    @Test
    void changesInOctetsComeBackWithTheirChecksum() {
        byte[] before = octets();
        packet.payload().put((byte) 'j');
        assertThat(octets()).isEqualTo(before);

        assertThat(loan.takeBack()).isNull();
        packet.seal();

        assertThat(packet.buffer()).isSameAs(memory);
        assertThat(packet.offset()).isEqualTo(OFFSET);
        assertThat(Octets.payload(packet)).isEqualTo("jello");
        assertThat(new Packet().parse(memory, OFFSET, length)).isNull();
    }

    @Test
    void aLookLeavesThePacketWhereItLies() {
        ByteBuffer look = packet.look();

        assertThat(look.isReadOnly()).isTrue();
        assertThat(look.remaining()).isEqualTo(length);
        assertThat(look.get(look.position() + packet.headerLength())).isEqualTo((byte) 'h');
        assertThat(look.getShort(look.position() + packet.optionOffset(Option.HOP_BUDGET)))
                .isEqualTo((short) 3);
        assertThat(packet.look()).isSameAs(look);
        assertThat(loan.takeBackUnmoved()).isTrue();
    }

    @Test
    void aLookSeesThePacketWhereAServiceHasMovedIt() {
        packet.payload().put((byte) 'j');

        assertThat(packet.look().get(packet.headerLength())).isEqualTo((byte) 'j');
    }

    @Test
    void aFormatIsNamedInPlaceWithItsChecksum() {
        byte[] octets = Octets.of(new PacketBuilder()
                .checksum()
                .option(Option.FORMAT.wireType(), new byte[12])
                .build(Octets.text("hello")));
        Packet other = new Packet();
        ByteBuffer place = ByteBuffer.wrap(octets);
        assertThat(other.parse(place, 0, octets.length)).isNull();
        ByteBuffer id = ByteBuffer.wrap(new byte[] {9, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10});

        assertThat(other.setFormat(id, 1, 10)).isTrue();
        assertThat(Octets.copy(place, other.optionOffset(Option.FORMAT), 12))
                .isEqualTo(new byte[] {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 0, 0});
        assertThat(new Packet().parse(place, 0, octets.length)).isNull();
        assertThat(packet.setFormat(id, 0, 10)).isFalse();
    }

    /** What outgrew its place is not kept, and nothing of it is taken for the packet that comes next. */
    @Test
    void aPacketThatCannotBeTakenBackLeavesNothingBehind() {
        byte[] before = octets();
        packet.newPayload(100);
        packet.commitPayload(100);
        full = true;
        assertThatThrownBy(() -> loan.takeBack()).hasMessage("no room");
        loan.reclaim();
        assertThat(octets()).isEqualTo(before);

        byte[] next = before.clone();
        next[next.length - 1] ^= 1;
        ByteBuffer place = ByteBuffer.allocateDirect(next.length).put(0, next);
        assertThat(packet.parse(place, 0, next.length)).isEqualTo(ParseFault.CHECKSUM);
        place.put(0, before);
        assertThat(packet.parse(place, 0, next.length)).isNull();
        loan.lend();
        assertThat(Octets.copy(packet.buffer(), packet.offset(), packet.length()))
                .isEqualTo(before);
        assertThat(loan.takeBack()).isNull();
        assertThat(packet.buffer()).isSameAs(place);
    }

    @Test
    void whatWasReadAloneStaysWhereItIsAndKeepsItsChecksum() {
        byte[] before = octets();
        assertThat(Octets.copy(packet.buffer(), packet.offset(), packet.length()))
                .isEqualTo(before);
        packet.payload();

        assertThat(loan.takeBack()).isNull();
        packet.seal();

        assertThat(octets()).isEqualTo(before);
        assertThat(committed).isZero();
    }

    @Test
    void settersAndOctetsSeeEachOther() {
        packet.setClassOfService(4);
        ByteBuffer octets = packet.buffer();
        int at = packet.optionOffset(Option.CLASS_OF_SERVICE);
        assertThat(octets.get(at)).isEqualTo((byte) 4);
        octets.put(at, (byte) 5);
        assertThat(packet.classOfService()).isEqualTo(5);
        NodeOptions.setHopBudget(packet, 9);
        assertThat(loan.takeBack()).isNull();
        assertThat(packet.classOfService()).isEqualTo(5);
        assertThat(packet.hopBudget()).isEqualTo(9);
        packet.seal();
        assertThat(new Packet().parse(memory, OFFSET, length)).isNull();
    }

    @Test
    void whatOutgrowsItsPlaceGoesToThePacketSpace() {
        packet.payload();
        packet.setServiceKey(77);
        packet.setPayload(Octets.text("a longer text than it was"));
        assertThat(committed).isZero();

        assertThat(loan.takeBack()).isNull();

        assertThat(packet.buffer()).isSameAs(scratch);
        assertThat(committed).isEqualTo(packet.length());
        assertThat(Octets.payload(packet)).isEqualTo("a longer text than it was");
        assertThat(packet.serviceKey()).isEqualTo(77);
        packet.seal();
        assertThat(new Packet().parse(scratch, 0, packet.length())).isNull();
    }

    @Test
    void aShorterPacketThatItsOctetsClaimIsThatPacket() {
        packet.buffer().putShort(6, (short) (length - 2));
        assertThat(loan.takeBack()).isNull();
        assertThat(Octets.payload(packet)).isEqualTo("hel");
    }

    @Test
    void aLongerOneIsNone() {
        packet.buffer().putShort(6, (short) (length + 1));
        assertThat(loan.takeBack()).isEqualTo(ParseFault.TRUNCATED);
    }

    @Test
    void onlyItsNodeTakesItBack() {
        assertThatThrownBy(() -> packet.parse(memory, OFFSET, length)).isInstanceOf(IllegalStateException.class);
        loan.forget();
        assertThat(packet.length()).isEqualTo(length);
    }

    @Test
    void whateverIsDoneToItTheMemoryAroundStaysAndTheNodeParsesTheSame() {
        long seed = Seeds.ofCommit(PacketLentTest.class);
        Random random = new Random(seed);
        loan.takeBack();
        byte[] good = octets();
        for (int round = 0; round < Seeds.scaled(20_000); round++) {
            committed = 0;
            for (int i = 0; i < memory.capacity(); i++) {
                memory.put(i, (byte) 0x5A);
            }
            memory.put(OFFSET, good);
            assertThat(packet.parse(memory, OFFSET, good.length)).isNull();
            loan.lend();
            for (int step = random.nextInt(6); step > 0; step--) {
                act(random);
            }
            ParseFault fault = loan.takeBack();
            String where = "-Dtamanoir.seed=" + seed + ", round " + round;
            assertAround(good.length, where);
            if (fault == null) {
                packet.seal();
                assertThat(new Packet().parse(packet.buffer(), packet.offset(), packet.length()))
                        .as(where)
                        .isNull();
            }
        }
    }

    private void assertAround(int octets, String where) {
        for (int i = 0; i < OFFSET + octets + 100; i++) {
            if ((i < OFFSET || i >= OFFSET + octets) && memory.get(i) != 0x5A) {
                throw new AssertionError(where + ": octet " + i + " was changed");
            }
        }
    }

    /** One thing that services do, rightly or not; what throws has been refused. */
    private void act(Random random) {
        try {
            switch (random.nextInt(8)) {
                case 0 -> {
                    ByteBuffer octets = packet.buffer();
                    octets.clear();
                    octets.put(random.nextInt(Math.min(octets.capacity(), 80)), (byte) random.nextInt(256));
                }
                case 1 -> {
                    ByteBuffer payload = packet.payload();
                    payload.put(payload.position() + random.nextInt(-20, 20), (byte) random.nextInt(256));
                }
                case 2 -> packet.setPayload(ByteBuffer.allocate(random.nextInt(60)));
                case 3 -> {
                    int octets = random.nextInt(3000);
                    packet.newPayload(octets).put((byte) 1);
                    packet.commitPayload(random.nextInt(octets + 1));
                }
                case 4 -> packet.setServiceKey(random.nextLong());
                case 5 -> packet.setClassOfService(random.nextInt(256));
                case 6 -> packet.swapEnds();
                default ->
                    packet.buffer().order(java.nio.ByteOrder.LITTLE_ENDIAN).limit(random.nextInt(20));
            }
        } catch (RuntimeException e) {
            // As it should.
        }
    }
}
