package org.tamanoir.routing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.zip.GZIPOutputStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Files of routes. The MRT records are written by hand after RFC 6396, section 4.3, and RFC 8050, section 4. */
class RouteFileTest {
    private static final NextHop FIRST = hop(1);
    private static final List<NextHop> VIA = List.of(FIRST, hop(2), hop(3));

    /** Two peers: 192.0.2.1 with an AS of 2 bytes, 2001:db8::1 with one of 4. */
    private static final String PEERS = record(
            1,
            "0a000001" + "0004" + "76696577" + "0002"
                    + "00" + "01010101" + "c0000201" + "fde8"
                    + "03" + "02020202" + "20010db8000000000000000000000001" + "0000fde9");

    private static final String HOP_192_0_2_1 = "400101004002004003 04c0000201";
    private static final String HOP_192_0_2_2 = "400304c0000202";

    /** 10.1.0.0/16 by peer 1 and peer 0. */
    private static final String IPV4 =
            record(2, "00000000" + "10" + "0a01" + "0002" + entry(1, "", HOP_192_0_2_2) + entry(0, "", HOP_192_0_2_1));

    /** 2001:db8:ff00::/36 by MP_REACH as RFC 6396 shortens it, with an extended length. */
    private static final String IPV6 = record(
            4,
            "00000001" + "24" + "20010db8ff" + "0001"
                    + entry(1, "", "900e0011" + "10" + "20010db8000000000000000000000009"));

    /** 2001:db9::/32 by a whole MP_REACH: family, subsequent one, next hop with a link-local one, reserved, prefix. */
    private static final String IPV6_WHOLE = record(
            4,
            "00000002" + "20" + "20010db9" + "0001"
                    + entry(
                            0,
                            "",
                            "800e2a" + "000201" + "20" + "20010db8000000000000000000000009"
                                    + "fe800000000000000000000000000001" + "00" + "2020010db9"));

    /** 0.0.0.0/0 and ::/0 with path identifiers. */
    private static final String IPV4_PATHS =
            record(8, "00000003" + "00" + "0001" + entry(0, "00000007", HOP_192_0_2_1));

    private static final String IPV6_PATHS = record(
            10,
            "00000004" + "00" + "0001" + entry(0, "00000007", "800e11" + "10" + "20010db8000000000000000000000009"));

    private static final byte[] DUMP = bytes(PEERS + IPV4 + IPV6 + IPV6_WHOLE + IPV4_PATHS + IPV6_PATHS);

    private static NextHop hop(int number) {
        return new NextHop(Addresses.of(0, 0xFFFF_7F00_0000L | number), 1, NextHop.Transport.SAME, NextHop.Kind.HOST);
    }

    private static String record(int subtype, String body) {
        return "65000000" + "000d" + String.format("%04x", subtype) + String.format("%08x", bytes(body).length) + body;
    }

    private static String entry(int peer, String path, String attributes) {
        return String.format("%04x", peer) + "65000000" + path + String.format("%04x", bytes(attributes).length)
                + attributes;
    }

    private static byte[] bytes(String hex) {
        return HexFormat.of().parseHex(hex.replace(" ", ""));
    }

    private static RouteSet read(byte[] file, List<NextHop> via, int peer) throws RouteFileException {
        return RouteFile.read(new ByteArrayInputStream(file), "f", via, peer, text -> {
            int equals = text.indexOf('=');
            return new Route(
                    Prefix.parse(text.substring(0, equals)), hop(Integer.parseInt(text.substring(equals + 1))));
        });
    }

    private static RouteSet read(String text) throws RouteFileException {
        return read(text.getBytes(StandardCharsets.UTF_8), List.of(), -1);
    }

    private static List<String> prefixes(RouteSet routes) {
        List<String> prefixes = new ArrayList<>();
        routes.walk(null, null, route -> prefixes.add(route.prefix().toString()));
        return prefixes;
    }

    private static @Nullable NextHop hopOf(RouteSet routes, String prefix) {
        RoutingTable table = new RoutingTable();
        table.replace(routes);
        return table.lookup(Prefix.parse(prefix).high(), Prefix.parse(prefix).low());
    }

    private static byte[] gzip(byte[] plain) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (GZIPOutputStream gzip = new GZIPOutputStream(out)) {
            gzip.write(plain);
        }
        return out.toByteArray();
    }

    @Test
    void readsTextWithNextHopsAndComments() throws Exception {
        RouteSet routes = read("# two\n10.0.0.0/8=1\n\n  2001:db8::/32=2\r\n10.0.0.0/8=3");

        assertThat(prefixes(routes)).containsExactly("10.0.0.0/8", "2001:db8::/32");
        assertThat(hopOf(routes, "10.0.0.0")).isEqualTo(hop(3));
    }

    @Test
    void namesAllErrorsOfATextByTheirLines() {
        assertThatThrownBy(() -> read("10.0.0.0/33=1\n10.0.0.0/8=1\n10.0.0.1/8=1\n11.0.0.0/8\n"))
                .isInstanceOf(RouteFileException.class)
                .hasMessage("f:1: 10.0.0.0/33: the length behind the slash must be 0 to 32\n"
                        + "f:3: 10.0.0.1/8: bits behind the prefix must be zero: write 10.0.0.0/8, or 10.0.0.1/32\n"
                        + "f:4: 11.0.0.0/8: no next hop; write 11.0.0.0/8=HOST:PORT, or give --via");
    }

    @Test
    void namesTwentyErrorsAndTheNumberOfTheOthers() {
        assertThatThrownBy(() -> read("x=1\n".repeat(50)))
                .isInstanceOfSatisfying(
                        RouteFileException.class,
                        e -> assertThat(e.problems())
                                .hasSize(21)
                                .endsWith("f: reading ended here, there may be more problems"));
    }

    @Test
    void readsAllKindsOfRecords() throws Exception {
        RouteSet routes = read(DUMP, VIA, -1);

        assertThat(prefixes(routes))
                .containsExactly("0.0.0.0/0", "10.1.0.0/16", "::/0", "2001:db8:f000::/36", "2001:db9::/32");
        assertThat(hopOf(routes, "2001:db9::")).isEqualTo(hopOf(routes, "2001:db8:f000::"));
    }

    @Test
    void readsThemFromGzip() throws Exception {
        assertThat(prefixes(read(gzip(DUMP), VIA, -1))).isEqualTo(prefixes(read(DUMP, VIA, -1)));
    }

    @Test
    void takesTheEntriesOfOnePeer() throws Exception {
        assertThat(prefixes(read(DUMP, VIA, 1))).containsExactly("10.1.0.0/16", "2001:db8:f000::/36");
    }

    @Test
    void theSameBgpNextHopIsTheSameNextHop() throws Exception {
        // Peer 0 names 192.0.2.1 for both.
        RouteSet routes = read(DUMP, VIA, 0);

        assertThat(hopOf(routes, "10.1.0.0")).isEqualTo(hopOf(routes, "11.0.0.0"));
    }

    @Test
    void refusesADumpThatEndsWithinARecord() {
        List<Integer> whole = new ArrayList<>();
        for (int length = 0; length < DUMP.length; length++) {
            try {
                read(Arrays.copyOf(DUMP, length), VIA, -1);
                whole.add(length);
            } catch (RouteFileException e) {
                assertThat(e.problems()).hasSize(1);
            }
        }
        List<Integer> ends = new ArrayList<>();
        int end = bytes(PEERS).length;
        for (String record : List.of(IPV4, IPV6, IPV6_WHOLE, IPV4_PATHS)) {
            end += bytes(record).length;
            ends.add(end);
        }
        assertThat(whole).isEqualTo(ends);
    }

    @Test
    void refusesRecordsCutBehindAHeaderThatFits() {
        for (String record : List.of(IPV4, IPV6, IPV6_WHOLE, IPV4_PATHS, IPV6_PATHS)) {
            byte[] body = Arrays.copyOfRange(bytes(record), 12, bytes(record).length);
            int subtype = bytes(record)[7];
            for (int length = 0; length < body.length; length++) {
                String cut = record(subtype, HexFormat.of().formatHex(body, 0, length));
                assertThatThrownBy(() -> read(bytes(PEERS + cut), VIA, -1))
                        .as("subtype %d, %d bytes", subtype, length)
                        .isInstanceOfSatisfying(
                                RouteFileException.class,
                                e -> assertThat(e.problems().get(0)).startsWith("f: record 2: "));
            }
        }
    }

    @Test
    void refusesGzipCutAnywhere() throws Exception {
        byte[] packed = gzip(DUMP);
        for (int length = 0; length < packed.length; length++) {
            byte[] cut = Arrays.copyOf(packed, length);
            assertThatThrownBy(() -> read(cut, VIA, -1)).isInstanceOf(RouteFileException.class);
        }
    }

    /** Both by their bytes and by what GZIPInputStream takes for the end. */
    @Test
    void refusesASecondMemberOfGzipThatIsCutOrDamagedAnywhere() throws Exception {
        byte[] first = gzip("10.0.0.0/8=1\n".getBytes(StandardCharsets.UTF_8));
        byte[] second = gzip("11.0.0.0/8=1\n".getBytes(StandardCharsets.UTF_8));
        byte[] both = Arrays.copyOf(first, first.length + second.length);
        System.arraycopy(second, 0, both, first.length, second.length);
        assertThat(prefixes(read(both, VIA, -1))).containsExactly("10.0.0.0/8", "11.0.0.0/8");
        for (int length = first.length + 1; length < both.length; length++) {
            byte[] cut = Arrays.copyOf(both, length);
            assertThatThrownBy(() -> read(cut, VIA, -1)).isInstanceOf(RouteFileException.class);
        }
        for (int at : new int[] {0, 1, 2, second.length - 1, second.length - 5}) {
            byte[] damaged = both.clone();
            damaged[first.length + at] ^= 1;
            assertThatThrownBy(() -> read(damaged, VIA, -1))
                    .isInstanceOf(RouteFileException.class)
                    .hasMessageContaining("f: is damaged (");
        }
    }

    @Test
    void refusesMoreThanAFullTableOfLinesWithoutARoute() throws Exception {
        byte[] lines = new byte[RouteFile.MAX_ROUTES + 1];
        Arrays.fill(lines, (byte) '\n');
        byte[] packed = gzip(lines);
        assertThatThrownBy(() -> read(packed, VIA, -1))
                .hasMessage("f: cannot be read: it has more than 4194304 lines without a route; leave out some");
    }

    @Test
    void readsGzipWithAllPartsOfAHeader() throws Exception {
        byte[] plain = gzip("10.0.0.0/8=1\n".getBytes(StandardCharsets.UTF_8));
        ByteArrayOutputStream whole = new ByteArrayOutputStream();
        whole.write(plain, 0, 3);
        whole.write(0x1E);
        whole.write(plain, 4, 6);
        whole.write(new byte[] {2, 0, 'x', 'y', 'n', 0, 'c', 0, 1, 2});
        whole.write(plain, 10, plain.length - 10);
        assertThat(prefixes(read(whole.toByteArray(), VIA, -1))).containsExactly("10.0.0.0/8");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "'' | f: has no route",
                "425a6839314159 | f: is packed by bzip2, which is not read; unpack it by 'bunzip2', or pack it by gzip",
                "65000000 0010 0004 00000000 | f: record 1: type 16 is no entry of a table: a dump of type 13, TABLE_DUMP_V2, is wanted",
                "65000000 000d 0002 ffffffff | f: record 1: a record of 4294967295 bytes: at most 4194304; this is no MRT file, or a damaged one",
                "65000000 000d 0002 00000001 00 | f: record 1: a prefix before the list of peers; the file's beginning is missing",
            })
    void refusesOtherFilesInOneLine(String hex, String problem) {
        assertThatThrownBy(() -> read(bytes(hex), VIA, -1)).hasMessage(problem);
    }

    @Test
    void refusesADumpWithoutNextHopsOfTheNode() {
        assertThatThrownBy(() -> read(DUMP, List.of(), -1))
                .hasMessage("f: is no text: an MRT dump needs --via with next hops of this node");
    }

    @Test
    void refusesAPeerThatTheDumpLacks() {
        assertThatThrownBy(() -> read(bytes(PEERS), VIA, 2))
                .hasMessage("f: record 1: there is no peer 2: the dump has 2, from 0");
    }
}
