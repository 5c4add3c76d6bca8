package org.tamanoir.cluster.setup;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.Inet4Address;
import java.net.Inet6Address;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** ARP and neighbour discovery, without a network. */
class FramesTest {
    private static final HexFormat HEX = HexFormat.of();
    private static final byte[] HARDWARE = HEX.parseHex("020000000001");
    private static final Inet4Address ADDRESS = (Inet4Address) Configs.address("10.74.0.1");
    private static final Inet6Address ADDRESS6 = (Inet6Address) Configs.address("fd74::1:2:3");
    private static final Inet6Address OTHER6 = (Inet6Address) Configs.address("fd74::4");

    private static final String ARP_HEAD = "0001080006040001" + "020000000001";
    private static final String ARP_TARGET = "000000000000" + "0a4a0001";

    private static @Nullable String arp(String hex) {
        byte[] frame = HEX.parseHex(hex);
        return ArpFrame.claimant(frame, frame.length, ADDRESS);
    }

    @Test
    void arpFramesAreAsTheRfcDrawsThem() {
        assertThat(HEX.formatHex(ArpFrame.probe(HARDWARE, ADDRESS))).isEqualTo(ARP_HEAD + "00000000" + ARP_TARGET);
        assertThat(HEX.formatHex(ArpFrame.announcement(HARDWARE, ADDRESS)))
                .isEqualTo(ARP_HEAD + "0a4a0001" + ARP_TARGET);
    }

    @Test
    void whoAnswersAnnouncesOrProbesClaimsTheAddress() {
        String holder = "02:00:00:00:00:01";
        assertThat(arp(ARP_HEAD + "0a4a0001" + ARP_TARGET)).isEqualTo(holder);
        assertThat(arp(ARP_HEAD + "00000000" + ARP_TARGET)).isEqualTo(holder);
        assertThat(arp("0001080006040002" + "020000000001" + "0a4a0001" + "020000000002" + "0a4a0105"))
                .isEqualTo(holder);
        assertThat(arp(ARP_HEAD + "0a4a0001" + "000000000000" + "0a4a0105" + "00".repeat(18)))
                .as("padded")
                .isEqualTo(holder);
    }

    @Test
    void otherArpFramesClaimNothing() {
        assertThat(arp(ARP_HEAD + "0a4a0105" + ARP_TARGET)).as("asks for it").isNull();
        assertThat(arp(ARP_HEAD + "00000000" + "000000000000" + "0a4a0002"))
                .as("probes another")
                .isNull();
        assertThat(arp("0001080006040002" + "020000000001" + "00000000" + ARP_TARGET))
                .as("an answer without address")
                .isNull();
        assertThat(arp("0006080006040001" + "020000000001" + "0a4a0001" + ARP_TARGET))
                .as("hardware")
                .isNull();
        assertThat(arp("0001080006100001" + "020000000001" + "0a4a0001" + ARP_TARGET))
                .as("lengths")
                .isNull();
        assertThat(arp("0001080006040003" + "020000000001" + "0a4a0001" + ARP_TARGET))
                .as("operation")
                .isNull();
        byte[] whole = ArpFrame.announcement(HARDWARE, ADDRESS);
        for (int length = -1; length < whole.length; length++) {
            assertThat(ArpFrame.claimant(whole, length, ADDRESS))
                    .as("%d octets", length)
                    .isNull();
        }
        assertThat(ArpFrame.claimant(whole, whole.length + 1, ADDRESS)).isNull();
    }

    @Test
    void neighbourFramesAreAsTheRfcDrawsThem() {
        assertThat(HEX.formatHex(NeighbourFrame.probe(ADDRESS6)))
                .isEqualTo("6000000000183aff" + "00".repeat(16) + "ff0200000000000000000001ff020003" + "8700" + "7d28"
                        + "00000000" + "fd740000000000000000000100020003");
        assertThat(HEX.formatHex(NeighbourFrame.solicitedHardware(ADDRESS6))).isEqualTo("3333ff020003");
        assertThat(HEX.formatHex(NeighbourFrame.allNodesHardware())).isEqualTo("333300000001");
        assertThat(HEX.formatHex(NeighbourFrame.announcement(HARDWARE, ADDRESS6)))
                .startsWith("6000000000203aff" + "fd740000000000000000000100020003" + "ff020000000000000000000000000001"
                        + "8800")
                .endsWith("20000000" + "fd740000000000000000000100020003" + "0201" + "020000000001");
    }

    @Test
    void whoAdvertisesOrProbesClaimsTheAddress() {
        for (byte[] frame :
                new byte[][] {NeighbourFrame.probe(ADDRESS6), NeighbourFrame.announcement(HARDWARE, ADDRESS6)}) {
            assertThat(NeighbourFrame.claims(frame, frame.length, ADDRESS6)).isTrue();
            assertThat(NeighbourFrame.claims(frame, frame.length, OTHER6)).isFalse();
            assertThat(NeighbourFrame.claims(Arrays.copyOf(frame, 2048), 2048, ADDRESS6))
                    .as("padded")
                    .isTrue();
            for (int length = -1; length < frame.length; length++) {
                assertThat(NeighbourFrame.claims(frame, length, ADDRESS6))
                        .as("%d octets", length)
                        .isFalse();
            }
            for (int bit = 0; bit < 8 * frame.length; bit++) {
                byte[] broken = frame.clone();
                broken[bit / 8] ^= (byte) (1 << bit % 8);
                boolean counts = bit / 8 == 0 && bit % 8 < 4 || bit / 8 >= 1 && bit / 8 <= 3; // class and flow label
                assertThat(NeighbourFrame.claims(broken, broken.length, ADDRESS6))
                        .as("bit %d", bit)
                        .isEqualTo(counts);
            }
        }
    }

    @Test
    void octetsOfAnyKindAreRead() {
        long seed = 20240229;
        Random random = new Random(seed);
        for (int i = 0; i < 20_000; i++) {
            byte[] frame = new byte[random.nextInt(100)];
            random.nextBytes(frame);
            byte[] shape = random.nextBoolean() ? NeighbourFrame.probe(ADDRESS6) : ArpFrame.probe(HARDWARE, ADDRESS);
            System.arraycopy(shape, 0, frame, 0, Math.min(frame.length, random.nextInt(shape.length)));
            assertThat(NeighbourFrame.claims(frame, frame.length, OTHER6))
                    .as("seed %d", seed)
                    .isFalse();
            ArpFrame.claimant(frame, frame.length, ADDRESS); // whatever it says, it returns
        }
    }
}
