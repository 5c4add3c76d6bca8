package org.tamanoir.anep;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Which packets are alike: those of headers in which one bit is another. */
class LikenessTest {
    private static final int START = 4;
    private static final int PAYLOAD = 100;

    /** Headers of 32 to 128 bytes: compared in one part, and in two. */
    enum Header {
        SHORT,
        MARKED,
        FULL,
        LONG;

        PacketBuilder builder() throws Exception {
            PacketBuilder builder = new PacketBuilder()
                    .destination(InetAddress.getByName("10.1.2.3"))
                    .service("a");
            if (this != SHORT) {
                builder.classOfService(3, 1);
            }
            if (this == FULL || this == LONG) {
                builder.stream(7).hopBudget(16);
            }
            if (this == LONG) {
                builder.destinationPort(4000).previousNode(true).timestamps();
            }
            return builder;
        }
    }

    private final ByteBuffer memory = ByteBuffer.allocate(400);
    private final Likeness likeness = new Likeness();
    private final Packet known = new Packet();
    private int length;

    private void learn(Header header) throws Exception {
        memory.position(START);
        header.builder().write(memory, ByteBuffer.allocate(PAYLOAD));
        length = memory.position() - START;
        memory.clear();
        assertThat(known.parse(memory, START, length)).isNull();
        likeness.take(known);
        assertThat(lengthAlike()).isEqualTo(length);
    }

    private int lengthAlike() {
        return likeness.lengthAlike(memory, START, length);
    }

    private void flip(int bit) {
        memory.put(START + bit / 8, (byte) (memory.get(START + bit / 8) ^ 1 << bit % 8));
    }

    /** What is settled for a packet, and for all that are like it. */
    private static List<Object> settled(Packet packet) {
        List<Object> all = new ArrayList<>(List.of(
                packet.typeId(),
                packet.discardIfUnknownType(),
                packet.headerLength(),
                packet.hasRepeatedOption(),
                packet.serviceKey(),
                packet.hasInternetDestination(),
                packet.destinationHigh(),
                packet.destinationLow(),
                packet.destinationPort()));
        for (Option option : Option.values()) {
            all.add(packet.has(option) ? packet.optionOffset(option) : -1);
        }
        return all;
    }

    @ParameterizedTest
    @EnumSource
    void whateverIsAlikeWouldBeReadAlike(Header header) throws Exception {
        learn(header);
        List<Object> settled = settled(known);
        int alike = 0;
        for (int bit = 0; bit < 8 * known.headerLength(); bit++) {
            flip(bit);
            int lengthAlike = lengthAlike();
            if (lengthAlike > 0) {
                Packet other = new Packet();
                assertThat(other.parse(memory, START, length)).as("bit %d", bit).isNull();
                assertThat(other.length()).as("bit %d", bit).isEqualTo(lengthAlike);
                assertThat(settled(other)).as("bit %d", bit).isEqualTo(settled);
                alike++;
            }
            flip(bit);
        }
        assertThat(alike).isLessThan(4 * known.headerLength());
    }

    @ParameterizedTest
    @EnumSource(names = {"FULL", "LONG"})
    void packetsOfOneStreamAreAlikeWhateverTheirNumberAndClass(Header header) throws Exception {
        learn(header);
        int classAt = 8 * (known.optionOffset(Option.CLASS_OF_SERVICE) - START);
        int streamAt = 8 * (known.optionOffset(Option.STREAM) - START);
        for (int bit = 0; bit < 96; bit++) {
            flip(streamAt + bit);
            flip(classAt + bit % 32);
            assertThat(lengthAlike()).as("bit %d", bit).isEqualTo(length);
        }
    }

    @ParameterizedTest
    @EnumSource
    void aPacketThatIsNotWholeIsLikeNone(Header header) throws Exception {
        learn(header);
        for (int available = 0; available < length; available++) {
            assertThat(likeness.lengthAlike(memory, START, available)).isZero();
        }
    }
}
