package org.tamanoir.routing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.tamanoir.support.Seeds;

/** Random BGP tables in MRT: the prefixes that were written come out, and damaged ones are read or refused. */
@Tag("once")
class MrtFuzzTest {
    private static final NextHop HOP =
            new NextHop(Addresses.of(0, 0xFFFF_7F00_0001L), 1, NextHop.Transport.SAME, NextHop.Kind.HOST);
    private static final int PEERS = 3;

    private final ByteBuffer file = ByteBuffer.allocate(1 << 16);
    /** Prefixes that have to come out. */
    private final Set<String> expected = new TreeSet<>();

    @Test
    void prefixesThatWereWrittenComeOut() throws Exception {
        for (long seed : Seeds.ofCommit(MrtFuzzTest.class, 300)) {
            Random random = new Random(seed);
            int wanted = random.nextInt(PEERS + 1) - 1;
            byte[] whole = table(random, wanted);
            if (expected.isEmpty()) {
                assertThatThrownBy(() -> read(whole, wanted))
                        .as("seed %d", seed)
                        .hasMessage("f: has no route");
            } else {
                assertThat(read(whole, wanted)).as("seed %d", seed).isEqualTo(expected);
            }
            for (int i = 0; i < 20; i++) {
                byte[] damaged =
                        Arrays.copyOf(whole, random.nextInt(4) == 0 ? random.nextInt(whole.length) : whole.length);
                for (int change = random.nextInt(4); change > 0 && damaged.length > 0; change--) {
                    damaged[random.nextInt(damaged.length)] = (byte) random.nextInt();
                }
                try {
                    read(damaged, wanted);
                } catch (RouteFileException e) {
                    assertThat(e.problems()).as("seed %d", seed).isNotEmpty().allMatch(line -> !line.contains("\n"));
                }
            }
        }
    }

    private static Set<String> read(byte[] bytes, int peer) throws Exception {
        RouteSet routes = RouteFile.read(new ByteArrayInputStream(bytes), "f", List.of(HOP), peer, text -> {
            throw new IllegalArgumentException("no next hop is wanted");
        });
        Set<String> found = new TreeSet<>();
        routes.walk(null, null, route -> found.add(route.prefix().toString()));
        return found;
    }

    private byte[] table(Random random, int wanted) throws Exception {
        file.clear();
        expected.clear();
        begin(1);
        file.putInt(1).putShort((short) 0).putShort((short) PEERS);
        for (int i = 0; i < PEERS; i++) {
            int kind = random.nextInt(4);
            file.put((byte) kind)
                    .putInt(i)
                    .put(new byte[(kind & 1) == 0 ? 4 : 16])
                    .put(new byte[(kind & 2) == 0 ? 2 : 4]);
        }
        end();
        for (int i = random.nextInt(20); i > 0; i--) {
            prefix(random, wanted);
        }
        return Arrays.copyOf(file.array(), file.position());
    }

    private void prefix(Random random, int wanted) throws Exception {
        boolean six = random.nextBoolean();
        boolean paths = random.nextBoolean();
        int subtype = List.of(six ? 4 : 2, six ? 5 : 3, 6).get(random.nextInt(3));
        boolean generic = subtype == 6;
        boolean unicast = generic ? random.nextBoolean() : subtype % 2 == 0;
        begin(!paths ? subtype : generic ? 12 : subtype + 6);
        file.putInt(random.nextInt());
        if (generic) {
            file.putShort((short) (six ? 2 : 1)).put((byte) (unicast ? 1 : 2));
        }
        byte[] address = new byte[six ? 16 : 4];
        random.nextBytes(address);
        // Global unicast, so that no IPv4 stands in it, and no bits are shortened on the way to text.
        address[0] = (byte) (six ? 0x20 : 0x0B);
        int length = 8 + random.nextInt(8 * address.length - 7);
        for (int bit = length; bit < 8 * address.length; bit++) {
            address[bit / 8] &= (byte) ~(0x80 >> bit % 8);
        }
        file.put((byte) length).put(address, 0, (length + 7) / 8);
        int entries = random.nextInt(4);
        file.putShort((short) entries);
        boolean isTaken = false;
        for (int i = 0; i < entries; i++) {
            int peer = random.nextInt(PEERS);
            isTaken |= wanted < 0 || peer == wanted;
            file.putShort((short) peer).putInt(0).put(new byte[paths ? 4 : 0]);
            byte[] attributes = attributes(random);
            file.putShort((short) attributes.length).put(attributes);
        }
        end();
        if (isTaken && unicast) {
            expected.add(Prefix.parse(InetAddress.getByAddress(address).getHostAddress() + "/" + length)
                    .toString());
        }
    }

    private static byte[] attributes(Random random) {
        ByteBuffer all = ByteBuffer.allocate(256);
        for (int i = random.nextInt(4); i > 0; i--) {
            byte[] value = new byte[random.nextInt(40)];
            random.nextBytes(value);
            int type = List.of(1, 2, 3, 14).get(random.nextInt(4));
            boolean isExtended = random.nextBoolean();
            all.put((byte) (isExtended ? 0x50 : 0x40)).put((byte) type);
            all.put(isExtended ? new byte[1] : new byte[0])
                    .put((byte) value.length)
                    .put(value);
        }
        return Arrays.copyOf(all.array(), all.position());
    }

    private int start;

    private void begin(int subtype) {
        file.putInt(0x65000000).putShort((short) 13).putShort((short) subtype).putInt(0);
        start = file.position();
    }

    private void end() {
        file.putInt(start - 4, file.position() - start);
    }
}
