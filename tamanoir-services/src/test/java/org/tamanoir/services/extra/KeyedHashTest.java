package org.tamanoir.services.extra;

import static org.assertj.core.api.Assertions.assertThat;

import java.math.BigInteger;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.util.HashSet;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.tamanoir.anep.Option;
import org.tamanoir.anep.Packet;
import org.tamanoir.services.Packets;
import org.tamanoir.support.Seeds;

class KeyedHashTest {
    private static final BigInteger PRIME = BigInteger.TWO.pow(61).subtract(BigInteger.ONE);

    /** The place is what a key of one word 0 is. */
    @Test
    void aValueIsThatOfThePolynomial() {
        Random random = new Random(Seeds.ofCommit(KeyedHashTest.class));
        for (int round = 0; round < Seeds.scaled(100); round++) {
            KeyedHash hash = new KeyedHash();
            BigInteger place = BigInteger.valueOf(hash.add(KeyedHash.BEGIN, 0));
            BigInteger expected = BigInteger.ONE;
            long value = KeyedHash.BEGIN;
            for (int i = 0; i < 50; i++) {
                int word = random.nextInt(4) == 0 ? -1 : random.nextInt();
                value = hash.add(value, word);
                expected = expected.multiply(place)
                        .add(BigInteger.valueOf(Integer.toUnsignedLong(word)))
                        .mod(PRIME);
                assertThat(value).isEqualTo(expected.longValueExact());
            }
        }
    }

    /** Source and stream of these balance each other in a sum with powers of 31, whatever it begins with. */
    @Test
    void headersThatWereMadeToCollideDoNot() throws Exception {
        Packet first = packet(0, 0);
        int words = (first.optionOffset(Option.STREAM) - first.optionOffset(Option.SOURCE)) / 4 - 1;
        int factor = BigInteger.valueOf(31).pow(words).intValue();
        Header probe = new Header();
        Set<Integer> sums = new HashSet<>();
        Set<Integer> hashes = new HashSet<>();
        Set<Integer> others = new HashSet<>();
        for (int i = 0; i < 1000; i++) {
            Packet packet = packet(i, -i * factor);
            sums.add(sum(probe.read(packet), packet));
            hashes.add(probe.hashCode());
            assertThat(probe.copy()).isEqualTo(probe).hasSameHashCodeAs(probe);
            others.add(new Header().read(packet).hashCode());
        }
        assertThat(sums).hasSize(1);
        assertThat(hashes).hasSizeGreaterThan(990);
        others.retainAll(hashes);
        assertThat(others).as("hashes of other tables").hasSizeLessThan(10);
    }

    private static Packet packet(int source, int stream) throws Exception {
        return Packets.full("a.B")
                .source(InetAddress.getByAddress(
                        ByteBuffer.allocate(4).putInt(0x0A000000 + source).array()))
                .stream(stream)
                .build(ByteBuffer.allocate(0));
    }

    private static int sum(Header header, Packet packet) {
        ByteBuffer octets = ByteBuffer.allocate(header.length());
        header.write(octets, 0, 0, 0);
        int sum = packet.typeId();
        while (octets.hasRemaining()) {
            sum = sum * 31 + octets.getInt();
        }
        return sum;
    }
}
