package org.tamanoir.routing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.tamanoir.support.Seeds;

/**
 * Files of updates, written by hand after RFC 6396, sections 3 and 4.4, RFC 8050, section 3, RFC 4271, section 4.3, and
 * RFC 4760, sections 3 and 4.
 */
class MrtUpdatesTest {
    private static final List<NextHop> VIA = List.of(
            new NextHop(Addresses.of(0, 0xFFFF_7F00_0001L), 1, NextHop.Transport.SAME, NextHop.Kind.HOST),
            new NextHop(Addresses.of(0, 0xFFFF_7F00_0002L), 2, NextHop.Transport.SAME, NextHop.Kind.HOST));

    /** From 192.0.2.1 of AS 64496 to 192.0.2.9 of AS 64497 at interface 0. */
    private static final String AS2 = "fbf0" + "fbf1" + "0000" + "0001" + "c0000201" + "c0000209";

    private static final String AS4 = "0000fbf0" + "0000fbf1" + "0000" + "0001" + "c0000201" + "c0000209";
    private static final String AS4_IPV6 = "0000fbf0" + "0000fbf1" + "0000" + "0002"
            + "20010db8000000000000000000000001" + "20010db8000000000000000000000009";
    /** ORIGIN, AS_PATH of 65551 in 4 bytes. */
    private static final String PATH = "40010100" + "4002060201" + "0001000f";

    private static final String HOP_192_0_2_1 = "400304c0000201";
    private static final String MP_HOP = "10" + "20010db8000000000000000000000009" + "00";

    /** Withdraws 10.2.0.0/15 and 0.0.0.0/0, announces 10.1.0.0/16 and 10.1.2.128/25. */
    private static final String IPV4 =
            record(16, 4, AS4 + update("0f0a02" + "00", PATH + HOP_192_0_2_1, "100a01" + "190a010280"));

    /** Withdraws 2001:db8:1::/48, announces 2001:db8:f000::/36 and ::/0. */
    private static final String IPV6 = record(
            16,
            4,
            AS4_IPV6
                    + update(
                            "",
                            "800f0a" + "000201" + "3020010db80001" + PATH + "900e001c" + "000201" + MP_HOP
                                    + "2420010db8f0" + "00",
                            ""));

    /** The same prefix by a record with microseconds and ASs of 2 bytes. */
    private static final String WITH_MICROSECONDS =
            record(17, 1, "000f4240" + AS2 + update("", HOP_192_0_2_1, "100a01"));

    /** With path identifiers: withdraws 10.3.0.0/16, announces 10.4.0.0/16, 2001:db8:2::/48; withdraws 2001:db8:3::/48. */
    private static final String PATHS = record(
            16,
            9,
            AS4
                    + update(
                            "00000007" + "100a03",
                            HOP_192_0_2_1
                                    + "800e20" + "000201" + MP_HOP + "00000007" + "3020010db80002"
                                    + "800f0e" + "000201" + "00000007" + "3020010db80003",
                            "00000008" + "100a04"));

    private static final String AS2_PATHS =
            record(17, 8, "00000000" + AS2 + update("", HOP_192_0_2_1, "00000001" + "100a05"));

    private static final List<String> ALL = List.of(IPV4, IPV6, WITH_MICROSECONDS, PATHS, AS2_PATHS);

    private static byte[] bytes(String hex) {
        return HexFormat.of().parseHex(hex);
    }

    private static int length(String hex) {
        return bytes(hex).length;
    }

    private static String record(int type, int subtype, String body) {
        return String.format("65000000%04x%04x%08x", type, subtype, length(body)) + body;
    }

    private static String message(int type, String body) {
        return "ff".repeat(16) + String.format("%04x%02x", 19 + length(body), type) + body;
    }

    private static String update(String withdrawn, String attributes, String announced) {
        return message(
                2,
                String.format("%04x", length(withdrawn))
                        + withdrawn
                        + String.format("%04x", length(attributes))
                        + attributes
                        + announced);
    }

    private static List<String> read(byte[] file) throws RouteFileException {
        List<String> changes = new ArrayList<>();
        MrtUpdates.read(new ByteArrayInputStream(file), "f", VIA, new MrtUpdates.Changes() {
            @Override
            public void announced(Prefix prefix, NextHop nextHop) {
                changes.add("+" + prefix + " " + nextHop.port());
            }

            @Override
            public void withdrawn(Prefix prefix) {
                changes.add("-" + prefix);
            }
        });
        return changes;
    }

    private static String hop(long high, long low) {
        return " " + RouteFile.share(VIA, high, low).port();
    }

    private static final String FOUR = hop(0, 0xFFFF_C000_0201L);
    private static final String SIX = hop(0x2001_0DB8_0000_0000L, 9);

    @Test
    void readsChangesOfBothFamiliesInTheirOrder() throws Exception {
        assertThat(read(bytes(IPV4)))
                .containsExactly("-10.2.0.0/15", "-0.0.0.0/0", "+10.1.0.0/16" + FOUR, "+10.1.2.128/25" + FOUR);
        assertThat(read(bytes(IPV6))).containsExactly("-2001:db8:1::/48", "+2001:db8:f000::/36" + SIX, "+::/0" + SIX);
        assertThat(read(bytes(WITH_MICROSECONDS))).containsExactly("+10.1.0.0/16" + FOUR);
    }

    @Test
    void readsChangesWithPathIdentifiers() throws Exception {
        assertThat(read(bytes(PATHS)))
                .containsExactly("-10.3.0.0/16", "+2001:db8:2::/48" + SIX, "-2001:db8:3::/48", "+10.4.0.0/16" + FOUR);
        assertThat(read(bytes(AS2_PATHS))).containsExactly("+10.5.0.0/16" + FOUR);
    }

    @Test
    void readsAPackedFileOfManyRecords() throws Exception {
        byte[] all = bytes(String.join("", ALL));
        ByteArrayOutputStream packed = new ByteArrayOutputStream();
        try (GZIPOutputStream out = new GZIPOutputStream(packed)) {
            out.write(all);
        }
        assertThat(read(packed.toByteArray())).hasSize(13).isEqualTo(read(all));
    }

    /** A change of the session's state, a keep-alive, an open message, what the collector sent, multicast, an end of RIB. */
    @Test
    void passesOverWhatIsNoChangeOfARoute() throws Exception {
        String passed = record(16, 5, AS4 + "00060001")
                + record(16, 4, AS4 + message(4, ""))
                + record(16, 4, AS4 + message(1, "04fbf0"))
                + record(16, 7, AS4 + update("", HOP_192_0_2_1, "100a01"))
                + record(16, 4, AS4 + update("", "800e09" + "000102" + "04c0000201" + "00", ""))
                + record(16, 4, AS4 + update("", "800f07" + "000180" + "200a0102", ""))
                + record(16, 4, AS4 + update("", "", ""))
                + record(16, 4, AS4 + update("", "800f03000201", ""));

        assertThat(read(bytes(passed))).isEmpty();
        assertThat(read(new byte[0])).isEmpty();
    }

    @Test
    void leavesOutIpv4InsideIpv6() throws Exception {
        String mapped = "60" + "00000000000000000000ffff";
        String attributes = "800f10" + "000201" + mapped + "800e23" + "000201" + MP_HOP + mapped + "00";

        assertThat(read(bytes(record(16, 4, AS4 + update("", attributes, ""))))).containsExactly("+::/0" + SIX);
    }

    @Test
    void refusesAFileCutWithinARecord() throws Exception {
        byte[] all = bytes(String.join("", ALL));
        List<Integer> whole = new ArrayList<>();
        for (int length = 0; length < all.length; length++) {
            try {
                read(Arrays.copyOf(all, length));
                whole.add(length);
            } catch (RouteFileException e) {
                assertThat(e.problems()).containsExactly("f: ends too early: it is cut off; get it again");
            }
        }
        List<Integer> ends = new ArrayList<>();
        int end = 0;
        for (String record : ALL) {
            ends.add(end);
            end += length(record);
        }
        assertThat(whole).isEqualTo(ends);
    }

    @Test
    void refusesRecordsCutBehindAHeaderThatFits() {
        for (String record : ALL) {
            byte[] whole = bytes(record);
            for (int length = 0; length < whole.length - 12; length++) {
                String cut = record(whole[5], whole[7], HexFormat.of().formatHex(whole, 12, 12 + length));
                assertThatThrownBy(() -> read(bytes(cut)))
                        .as("%s, %d bytes", record, length)
                        .hasMessage("f: record 1: ends before what it announces; the file is damaged");
            }
        }
    }

    /** The message's own length fits each time, so that the lengths inside are what is wrong. */
    @Test
    void refusesMessagesCutWhoseLengthFits() {
        String whole = "0003" + "100a03" + "0007" + HOP_192_0_2_1 + "100a01";
        for (int length = 0; length < length(whole); length++) {
            String cut = message(2, whole.substring(0, 2 * length));
            if (length != length(whole) - 3) {
                assertThatThrownBy(() -> read(bytes(record(16, 4, AS4 + cut))))
                        .as("%d bytes", length)
                        .hasMessage("f: record 1: ends before what it announces; the file is damaged");
            }
        }
    }

    @ParameterizedTest
    @CsvSource({
        // Withdrawn prefixes, attributes, an attribute, a next hop and a prefix that are longer than what holds them.
        "ffff 100a03 0000",
        "0002 100a03 0000",
        "0000 ffff",
        "0000 0007 4003ffc0000201",
        "0000 0007 5003ffffc00002",
        "0000 0005 800f02 0002",
        "0000 0009 800e06 000201 10 2001",
        "0000 0008 800e05 000201 ff 00",
        "0000 0009 800f06 000201 30 2001",
        "0000 0000 20 0a",
    })
    void refusesLengthsBeyondWhatIsThere(String body) {
        String update = message(2, body.replace(" ", ""));
        assertThatThrownBy(() -> read(bytes(record(16, 4, AS4 + update))))
                .hasMessage("f: record 1: ends before what it announces; the file is damaged");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "0000 0000 210a0a0a0a0a | prefix length 33: must be 0 to 32",
                "0000 0015 800f12 000201 81 2001000000000000000000000000 | prefix length 129: must be 0 to 128",
            })
    void refusesWhatIsNoRoute(String body, String problem) {
        String update = message(2, body.replace(" ", ""));
        assertThatThrownBy(() -> read(bytes(record(16, 4, AS4 + update)))).hasMessage("f: record 1: " + problem);
    }

    /** None, one of 5 bytes, one of a virtual private network. */
    @Test
    void sharesOutByItsBitsAPrefixWithoutANextHop() throws Exception {
        String four = "+10.1.0.0/16" + hop(0, 0xFFFF_0A01_0000L);
        String six = "+2001:db8::/32" + hop(0x2001_0DB8_0000_0000L, 0);
        assertThat(read(bytes(record(16, 4, AS4 + update("", "", "100a01"))))).containsExactly(four);
        assertThat(read(bytes(record(16, 4, AS4 + update("", "400305c000020100", "100a01")))))
                .containsExactly(four);
        String none = "800e0a" + "000201" + "00" + "00" + "2020010db8";
        assertThat(read(bytes(record(16, 4, AS4 + update("", none, ""))))).containsExactly(six);
        String vpn = "800e22" + "000201" + "18" + "00".repeat(24) + "00" + "2020010db8";
        assertThat(read(bytes(record(16, 4, AS4 + update("", vpn, ""))))).containsExactly(six);
    }

    @Test
    void refusesWhatIsNoMessage() {
        String update = update("", "", "");
        assertThatThrownBy(() -> read(bytes(record(16, 4, AS4 + "00" + update.substring(2)))))
                .hasMessage("f: record 1: no BGP message where one begins; the file is damaged");
        assertThatThrownBy(() -> read(bytes(record(16, 4, AS4 + update + "ff"))))
                .hasMessage("f: record 1: 1 bytes behind its message; the file is damaged");
        assertThatThrownBy(() -> read(bytes(IPV4 + record(16, 4, AS4.replace("0001c0", "0003c0") + update))))
                .hasMessage("f: record 2: address family 3 of its peer: 1 or 2 is wanted");
    }

    @ParameterizedTest
    @ValueSource(strings = {"7fffffff", "80000000", "ffffffff", "00400001"})
    void refusesARecordOfHostileLength(String length) {
        assertThatThrownBy(() -> read(bytes(IPV4 + "65000000" + "00100004" + length)))
                .hasMessage("f: record 2: a record of " + Long.parseLong(length, 16) + " bytes: at most 4194304;"
                        + " this is no MRT file, or a damaged one");
    }

    @Test
    void refusesATable() {
        assertThatThrownBy(() -> read(bytes(record(13, 1, ""))))
                .hasMessage("f: record 1: type 13 is no update: records of type 16 or 17, BGP4MP, are wanted");
    }

    @Test
    void damageIsRefusedOrReadButNeverThrown() {
        byte[] all = bytes(String.join("", ALL));
        Random random = new Random(Seeds.ofCommit(MrtUpdatesTest.class));
        for (int i = 0; i < Seeds.scaled(20_000); i++) {
            byte[] damaged = all.clone();
            for (int n = random.nextInt(4); n >= 0; n--) {
                damaged[random.nextInt(damaged.length)] = (byte) random.nextInt();
            }
            try {
                read(damaged);
            } catch (RouteFileException e) {
                assertThat(e.problems()).hasSize(1);
            }
        }
    }
}
