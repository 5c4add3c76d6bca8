package org.tamanoir.anep;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.tamanoir.support.Seeds;

/** Good packets with random damage: the codec drops them or stays consistent, and reads nothing around them. */
class MutatedPacketsTest {
    private static final int ROUNDS = Seeds.scaled(25_000);
    private static final int GUARD = 24;

    private static List<byte[]> seeds() throws Exception {
        InetAddress ipv4 = InetAddress.getByName("10.0.2.7");
        InetAddress ipv6 = InetAddress.getByName("2001:db8::7");
        List<byte[]> packets = new ArrayList<>();
        packets.add(Octets.of(new PacketBuilder().build(Octets.text(""))));
        packets.add(Octets.of(new PacketBuilder()
                .source(ipv4).destination(ipv6).serviceKey(7).classOfService(1, 2).stream(3)
                        .hopBudget(4)
                        .timestamps()
                        .destinationPort(5)
                        .build(Octets.text("all of them"))));
        packets.add(Octets.of(new PacketBuilder()
                .destination(ipv4)
                .checksum()
                .option(0x1777, new byte[5])
                .serviceKey(9)
                .build(Octets.text("summed"))));
        packets.add(Octets.of(new PacketBuilder()
                .option(Option.PREVIOUS_NODE.wireType(), Octets.hex("0000 0001 0a00 0001 0cfa 0000"))
                .option(Option.ROUND.wireType(), new byte[12])
                .option(Option.FORMAT.wireType(), new byte[12])
                .option(Option.AUTHENTICATION.wireType(), new byte[40])
                .option(Option.PUBLIC_AUTHENTICATION.wireType(), new byte[8])
                .build(Octets.text("the rest"))));
        return packets;
    }

    private static byte[] mutate(Random random, byte[] packet) {
        byte[] octets = packet.clone();
        for (int changes = 1 + random.nextInt(4); changes > 0; changes--) {
            // Most damage goes to the first words, where it decides most.
            int at = random.nextInt(random.nextBoolean() ? octets.length : Math.min(octets.length, 16));
            switch (random.nextInt(4)) {
                case 0 -> octets[at] ^= (byte) (1 << random.nextInt(8));
                case 1 -> octets[at] = (byte) random.nextInt(6);
                case 2 -> octets[at] = (byte) random.nextInt(256);
                default -> octets[at] = (byte) 0xFF;
            }
        }
        if (random.nextInt(4) == 0) {
            octets = java.util.Arrays.copyOf(octets, random.nextInt(octets.length + 8));
        }
        if (random.nextInt(4) == 0 && octets.length >= 8) {
            ByteBuffer.wrap(octets).putShort(6, (short) octets.length);
        }
        return octets;
    }

    @Test
    @Timeout(value = 240, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void areDroppedOrStayConsistent() throws Exception {
        long seed = Seeds.ofCommit(MutatedPacketsTest.class);
        List<byte[]> seeds = seeds();
        Random random = new Random(seed);
        Packet packet = new Packet();
        int good = 0;
        for (int round = 0; round < ROUNDS; round++) {
            byte[] octets = mutate(random, seeds.get(random.nextInt(seeds.size())));
            try {
                if (check(packet, octets, random)) {
                    good++;
                }
            } catch (RuntimeException | AssertionError e) {
                fail(
                        "-Dtamanoir.seed=" + seed + ", round " + round + ", octets "
                                + java.util.HexFormat.of().formatHex(octets),
                        e);
            }
        }
        assertThat(good).as("packets that survived their damage").isBetween(ROUNDS / 100, ROUNDS * 99 / 100);
    }

    private static boolean check(Packet packet, byte[] octets, Random random) {
        // Whatever lies around the packet, and where it lies, must not matter.
        ParseFault fault = packet.parse(guarded(octets, (byte) 0), GUARD, octets.length);
        ParseFault among = packet.parse(guarded(octets, (byte) 0xFF), GUARD, octets.length);
        ByteBuffer exact = Octets.exactly(octets, random.nextInt(4), random.nextBoolean());
        ParseFault alone = packet.parse(exact, exact.limit() - octets.length, octets.length);
        assertThat(among).isEqualTo(fault);
        assertThat(alone).isEqualTo(fault);
        checkFraming(octets, fault);
        if (fault != null) {
            assertThat(packet.length()).isLessThanOrEqualTo(octets.length);
            return false;
        }
        assertThat(packet.length()).isBetween(8, octets.length);
        assertThat(packet.hasTrailer()).isEqualTo(packet.length() < octets.length);
        assertThat(packet.headerLength() + packet.payloadLength()).isEqualTo(packet.length());
        assertThat(packet.payload().remaining()).isEqualTo(packet.payloadLength());
        String facts = facts(packet);
        Packet copy = packet.copy();
        assertThat(facts(copy)).isEqualTo(facts);
        assertThat(copy.hasTrailer()).isFalse();
        // What good packets allow, damaged ones that are good allow too.
        copy.swapEnds();
        copy.setClassOfService(9);
        if (copy.isTamanoir()) {
            copy.setServiceKey(77);
            assertThat(copy.serviceKey()).isEqualTo(77);
        }
        copy.setPayload(ByteBuffer.allocate(random.nextInt(20)));
        copy.seal();
        Packet again = new Packet();
        assertThat(again.parse(copy.buffer(), copy.offset(), copy.length())).isNull();
        assertThat(facts(again)).isEqualTo(facts(copy));
        return true;
    }

    private static void checkFraming(byte[] octets, @Nullable ParseFault fault) {
        int next = Framing.next(ByteBuffer.wrap(octets), 0, octets.length);
        if (fault == ParseFault.SHORT || fault == ParseFault.TRUNCATED) {
            assertThat(next).isEqualTo(Framing.MORE);
        } else if (fault == ParseFault.VERSION || fault == ParseFault.HEADER_LENGTH) {
            assertThat(next).isEqualTo(Framing.BROKEN);
            assertThat(Framing.fault(ByteBuffer.wrap(octets), 0)).isEqualTo(fault);
        } else {
            assertThat(next).isBetween(8, octets.length);
        }
    }

    private static ByteBuffer guarded(byte[] octets, byte guard) {
        ByteBuffer buffer = ByteBuffer.allocate(octets.length + 2 * GUARD);
        java.util.Arrays.fill(buffer.array(), guard);
        return buffer.put(GUARD, octets);
    }

    private static String facts(Packet packet) {
        StringBuilder facts = new StringBuilder(packet.toString());
        for (Option option : Option.values()) {
            if (packet.has(option)) {
                int at = packet.optionOffset(option);
                assertThat(at).isBetween(packet.offset() + 12, packet.payloadOffset());
                facts.append(' ').append(option).append('@').append(at - packet.offset());
            }
        }
        return facts.append(' ')
                .append(packet.source())
                .append(' ')
                .append(packet.destination())
                .append(packet.hasInternetDestination() ? packet.destinationHigh() + ":" + packet.destinationLow() : "")
                .append(' ')
                .append(packet.classOfService())
                .append(' ')
                .append(packet.dropPrecedence())
                .append(' ')
                .append(packet.streamId())
                .append(' ')
                .append(packet.sequence())
                .append(' ')
                .append(packet.hopBudget())
                .append(' ')
                .append(packet.originTimeNs())
                .append(' ')
                .append(packet.destinationPort())
                .append(' ')
                .append(packet.hasRepeatedOption())
                .append(' ')
                .append(Octets.payload(packet))
                .toString();
    }
}
