package org.tamanoir.anep;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.tamanoir.support.Seeds;

/** A view that remembers the shape of the last header finds in the next packet what a fresh view finds. */
class PacketShapeTest {
    private static final int ROUNDS = 20_000;

    @Test
    void aReusedViewFindsWhatAFreshOneFinds() throws Exception {
        long seed = Seeds.ofCommit(PacketShapeTest.class);
        Random random = new Random(seed);
        List<byte[]> stock = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            stock.add(randomPacket(random));
        }
        Packet reused = new Packet();
        byte[] octets = stock.get(0);
        for (int round = 0; round < ROUNDS; round++) {
            // Mostly the packet before, with an octet of its header changed or without; sometimes another one.
            if (random.nextInt(8) == 0) {
                octets = stock.get(random.nextInt(stock.size()));
            }
            byte[] packet = octets.clone();
            if (random.nextInt(3) == 0) {
                packet[random.nextInt(Math.min(packet.length, 80))] ^= (byte) (1 << random.nextInt(8));
            }
            ByteBuffer buffer = ByteBuffer.allocate(packet.length + 16);
            int offset = random.nextInt(16);
            buffer.put(offset, packet);

            Packet fresh = new Packet();
            ParseFault expected = fresh.parse(buffer, offset, packet.length);
            ParseFault actual = reused.parse(buffer, offset, packet.length);

            assertThat(actual).as("seed %d round %d", seed, round).isEqualTo(expected);
            if (expected == null) {
                assertThat(describe(reused)).as("seed %d round %d", seed, round).isEqualTo(describe(fresh));
            }
            if (expected == null && random.nextInt(50) == 0) {
                // What a service does to one packet must not show in the next.
                reused.swapEnds();
                if (reused.isTamanoir() && !reused.has(Option.HOP_BUDGET)) {
                    reused.addOption(Option.HOP_BUDGET);
                }
            }
        }
    }

    private static byte[] randomPacket(Random random) {
        PacketBuilder builder = new PacketBuilder();
        if (random.nextInt(5) == 0) {
            builder.typeId(1 + random.nextInt(0xFFFF));
        }
        for (int i = random.nextInt(7); i > 0; i--) {
            Option option = Option.values()[random.nextInt(Option.values().length)];
            int words = option.words() != 0 ? option.words() : new int[] {3, 4, 6, 7}[random.nextInt(4)];
            byte[] payload = new byte[words * 4 - 4];
            random.nextBytes(payload);
            if (option.words() == 0) {
                ByteBuffer.wrap(payload).putInt(0, random.nextInt(5));
            }
            builder.option(option == Option.CHECKSUM ? 0x1234 : option.wireType(), payload);
        }
        if (random.nextBoolean()) {
            builder.checksum();
        }
        byte[] payload = new byte[random.nextInt(40)];
        random.nextBytes(payload);
        ByteBuffer target = ByteBuffer.allocate(2000);
        builder.write(target, ByteBuffer.wrap(payload));
        byte[] packet = new byte[target.position()];
        target.get(0, packet);
        return packet;
    }

    private static String describe(Packet packet) {
        StringBuilder text = new StringBuilder(packet.toString());
        for (Option option : Option.values()) {
            text.append(' ').append(option).append(' ');
            text.append(packet.has(option) ? packet.optionOffset(option) : -1);
        }
        return text.append(" " + packet.source() + packet.destination())
                .append(" " + packet.hasInternetDestination() + packet.hasRepeatedOption() + packet.typeId())
                .append(" " + packet.discardIfUnknownType() + packet.payloadLength() + packet.sequence())
                .toString();
    }
}
