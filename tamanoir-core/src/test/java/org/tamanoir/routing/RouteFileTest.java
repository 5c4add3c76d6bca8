package org.tamanoir.routing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.SequenceInputStream;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Enumeration;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.zip.GZIPOutputStream;
import org.apache.commons.compress.compressors.bzip2.BZip2CompressorOutputStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Files of routes. The MRT records are written by hand after RFC 6396, section 4.3, and RFC 8050, section 4. */
@Tag("once")
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
        RouteSet routes = read("# two\n10.0.0.0/8=1\n\n  2001:db8::/32=2\r\n10.0.0.0/8=3\n");

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
                "feff 0031 0030 002e | f: is text in UTF-16; save it in UTF-8",
                "fffe 3100 3000 2e00 | f: is text in UTF-16; save it in UTF-8",
                "1f8b08 | f: ends too early: it is cut off; get it again",
                "425a6839 | f: is damaged (Unexpected end of stream); get it again",
                "425a7839314159 | 'f:1: the last line has no line break behind it, as if the file were cut off; add one'",
                "65000000 0010 0004 00000000 | f: record 1: type 16 is no entry of a table: a dump of type 13, TABLE_DUMP_V2, is wanted",
                "65000000 000d 0002 ffffffff | f: record 1: a record of 4294967295 bytes: at most 4194304; this is no MRT file, or a damaged one",
                "65000000 000d 0002 00000001 00 | f: record 1: a prefix before the list of peers; the file's beginning is missing",
            })
    void refusesOtherFilesInOneLine(String hex, String problem) {
        assertThatThrownBy(() -> read(bytes(hex), VIA, -1)).hasMessage(problem);
    }

    private static byte[] bzip2(byte[]... streams) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        for (byte[] plain : streams) {
            try (OutputStream packed = new BZip2CompressorOutputStream(out, 1)) {
                packed.write(plain);
            }
        }
        return out.toByteArray();
    }

    private static byte[] text(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    @Test
    void readsThemFromBzip2() throws Exception {
        assertThat(prefixes(read(bzip2(DUMP), VIA, -1))).isEqualTo(prefixes(read(DUMP, VIA, -1)));
    }

    @Test
    void readsBzip2OfSeveralStreamsOfWhichOneIsEmpty() throws Exception {
        byte[] packed = bzip2(text("10.0.0.0/8=1\n11.0.0"), new byte[0], text(".0/8=1\n"));

        assertThat(prefixes(read(packed, VIA, -1))).containsExactly("10.0.0.0/8", "11.0.0.0/8");
    }

    @Test
    void refusesBzip2CutAnywhereButBetweenStreams() throws Exception {
        byte[] first = bzip2(DUMP);
        byte[] both = bzip2(DUMP, text("x"));
        for (int length = 0; length < both.length; length++) {
            byte[] cut = Arrays.copyOf(both, length);
            if (length != first.length) {
                assertThatThrownBy(() -> read(cut, VIA, -1))
                        .as("%d bytes", length)
                        .isInstanceOfSatisfying(
                                RouteFileException.class,
                                e -> assertThat(e.problems()).hasSize(1));
            }
        }
    }

    /** All bits but those by which it is known as bzip2; that of a larger block, and those that fill a byte, change nothing. */
    @Test
    void readsTheSameRoutesOrNoneOfBzip2WithABitDamaged() throws Exception {
        byte[] packed = bzip2(DUMP, DUMP);
        List<String> whole = prefixes(read(DUMP, VIA, -1));
        int same = 0;
        for (int bit = 24; bit < 8 * packed.length; bit++) {
            byte[] damaged = packed.clone();
            damaged[bit / 8] ^= (byte) (1 << bit % 8);
            try {
                assertThat(prefixes(read(damaged, VIA, -1))).as("bit %d", bit).isEqualTo(whole);
                same++;
            } catch (RouteFileException e) {
                assertThat(e.problems()).as("bit %d", bit).hasSize(1);
            }
        }
        assertThat(same).isLessThanOrEqualTo(2 * (8 + 7));
    }

    @ParameterizedTest
    @ValueSource(strings = {"00", "0a", "425a", "425a68", "425a683900000000", "1f8b08", "31302e302e302e302f383d310a"})
    void refusesWhatFollowsPackedRoutes(String hex) throws Exception {
        for (byte[] packed : List.of(bzip2(DUMP), gzip(DUMP))) {
            byte[] more = bytes(hex);
            byte[] both = Arrays.copyOf(packed, packed.length + more.length);
            System.arraycopy(more, 0, both, packed.length, more.length);
            assertThatThrownBy(() -> read(both, VIA, -1))
                    .isInstanceOfSatisfying(
                            RouteFileException.class,
                            e -> assertThat(e.problems()).hasSize(1));
        }
    }

    @Test
    void refusesWhatIsPackedTwice() throws Exception {
        for (byte[] twice : List.of(gzip(bzip2(DUMP)), bzip2(gzip(DUMP)), gzip(gzip(DUMP)), bzip2(bzip2(DUMP)))) {
            assertThatThrownBy(() -> read(twice, VIA, -1)).hasMessage("f: is packed twice; unpack it once");
        }
    }

    @ParameterizedTest
    @CsvSource({"100, 3600, true", "99, 3600, false", "100, 0, false"})
    void contentIsBoundedInBytesAndTime(long maxBytes, long maxSeconds, boolean isRead) throws Exception {
        for (byte[] packed : List.of(new byte[100], gzip(new byte[100]), bzip2(new byte[100]))) {
            Callable<byte[]> content =
                    () -> Unpacked.of(new ByteArrayInputStream(packed), maxBytes, Duration.ofSeconds(maxSeconds))
                            .readAllBytes();
            if (isRead) {
                assertThat(content.call()).isEqualTo(new byte[100]);
            } else {
                assertThatThrownBy(content::call)
                        .isInstanceOf(IOException.class)
                        .message()
                        .isIn(
                                "it has more than 99 bytes unpacked; leave out some",
                                "it takes longer than 0 s; unpack it, or leave out some");
            }
        }
    }

    /** Time ends between parts without content, too: the clock is asked for each 64 KiB of the file. */
    @Test
    @Timeout(240)
    void readingEndsInTimeWhereNothingIsUnpacked() throws Exception {
        for (byte[] part : List.of(gzip(new byte[0]), bzip2(new byte[0]))) {
            InputStream endless = new SequenceInputStream(new Enumeration<>() {
                @Override
                public boolean hasMoreElements() {
                    return true;
                }

                @Override
                public InputStream nextElement() {
                    return new ByteArrayInputStream(part);
                }
            });
            assertThatThrownBy(() ->
                            Unpacked.of(endless, 1, Duration.ofMillis(100)).read())
                    .hasMessageStartingWith("it takes longer than 0 s");
        }
    }

    @Test
    void readingEndsWhenTheThreadIsInterrupted() {
        Thread.currentThread().interrupt();
        try {
            assertThatThrownBy(() -> read("10.0.0.0/8=1\n"))
                    .hasMessage("f: cannot be read: its reading was broken off; load it again");
        } finally {
            assertThat(Thread.interrupted()).isTrue();
        }
    }

    @Test
    void refusesATextWhoseLastLineDoesNotEnd() {
        assertThatThrownBy(() -> read("10.0.0.0/8=1\n10.0.1.0"))
                .hasMessage("f:2: the last line has no line break behind it, as if the file were cut off; add one");
    }

    @Test
    void aByteOrderMarkBeforeATextDoesNotCount() throws Exception {
        assertThat(prefixes(read("\uFEFF10.0.0.0/8=1\n"))).containsExactly("10.0.0.0/8");
    }

    @Test
    void problemsShowCharactersThatATerminalWouldObeyOrHide() {
        assertThatThrownBy(() -> read("\u001B[2J\u202E\u200Bx\n"))
                .hasMessageStartingWith("f:1: \\u001b[2J\\u202e\\u200bx");
    }

    @ParameterizedTest
    @CsvSource({
        "1, 'f:1: is wrong; ''node --validate --routes'' on the node''s host says why'",
        "19, 19 things are wrong",
        "20, at least 20 things are wrong",
        "50, at least 20 things are wrong"
    })
    void theSummaryCountsWhatIsWrong(int count, String summary) {
        assertThatThrownBy(() -> read("x=1\n".repeat(count)))
                .isInstanceOfSatisfying(
                        RouteFileException.class, e -> assertThat(e.summary()).isEqualTo(summary));
    }

    @Test
    void theSummaryCountsRecordsThatAreWrongBeyondThoseNamed() {
        String wrong = record(2, "00000000" + "21" + "0a0a0a0a0a" + "0000");
        assertThatThrownBy(() -> read(bytes(PEERS + wrong.repeat(25)), VIA, -1))
                .isInstanceOfSatisfying(RouteFileException.class, e -> {
                    assertThat(e.summary()).isEqualTo("25 things are wrong");
                    assertThat(e.problems()).hasSize(21).endsWith("f: 5 more problems");
                });
    }

    /** All of IPv4 as IPv6 writes it, and an address; ::/95 holds that, but no IPv4 address. */
    @Test
    void leavesOutIpv4InsideIpv6AndCountsIt() throws Exception {
        String entry = "0001" + entry(0, "", "800e11" + "10" + "20010db8000000000000000000000009");
        String mapped = "00000000000000000000ffff";
        RouteSet routes = read(
                bytes(PEERS
                        + IPV4
                        + record(4, "00000001" + "60" + mapped + entry)
                        + record(4, "00000002" + "80" + mapped + "0a010000" + entry)
                        + record(4, "00000003" + "5f" + "00000000000000000000fffe" + entry)),
                VIA,
                -1);

        assertThat(prefixes(routes)).containsExactly("10.1.0.0/16", "::fffe:0:0/95");
        assertThat(routes.leftOut()).isEqualTo(2);
    }

    /** MP_REACH whole, of family 1, with a next hop of 4 bytes, one of 16 (RFC 8950), and one that is too long for it. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "800e11" + "000101" + "04" + "c0000209" + "00" + "180a0100" + "180a0101",
                "800e15" + "000101" + "10" + "20010db8000000000000000000000009" + "00",
                "800e11" + "000101" + "ff" + "c0000209" + "00" + "180a0100" + "180a0101",
                "800e01" + "10",
                "800e00",
            })
    void takesNextHopOfAnIpv4PrefixWhateverMpReachSays(String mpReach) throws Exception {
        for (String attributes : List.of(mpReach + HOP_192_0_2_1, HOP_192_0_2_1 + mpReach)) {
            String record = record(2, "00000000" + "10" + "0a01" + "0001" + entry(0, "", attributes));
            RouteSet routes = read(bytes(PEERS + record), VIA, -1);

            assertThat(hopOf(routes, "10.1.0.0")).isEqualTo(hopOf(read(DUMP, VIA, 0), "10.1.0.0"));
        }
    }

    @Test
    void takesMpReachOfAnIpv4PrefixWithoutNextHop() throws Exception {
        for (String hop : List.of("04c0000201", "10" + "00000000000000000000ffffc0000201")) {
            String attribute = "000101" + hop + "00";
            String record = record(
                    2,
                    "00000000" + "10" + "0a01" + "0001"
                            + entry(0, "", String.format("800e%02x", bytes(attribute).length) + attribute));
            RouteSet routes = read(bytes(PEERS + record), VIA, -1);

            assertThat(hopOf(routes, "10.1.0.0")).isEqualTo(hopOf(read(DUMP, VIA, 0), "10.1.0.0"));
        }
    }

    /** As BIRD dumps static routes: no attribute, some but no next hop, one of a length that is no address. */
    @ParameterizedTest
    @ValueSource(strings = {"", "40010100", "400305c000020100", "800e00", "800e0418000000", "400101005002001c"})
    void takesAPrefixWhoseEntryHasNoNextHop(String attributes) throws Exception {
        String attribute = attributes.endsWith("001c") ? attributes + "00".repeat(28) : attributes;
        RouteSet routes = read(
                bytes(PEERS
                        + record(
                                2,
                                "00000000" + "10" + "0a01" + "0002" + entry(0, "", attribute)
                                        + entry(1, "", HOP_192_0_2_2))
                        + record(8, "00000001" + "10" + "0a02" + "0001" + entry(0, "00000001", attribute))
                        + record(10, "00000002" + "20" + "20010db8" + "0001" + entry(0, "00000001", attribute))),
                VIA,
                -1);

        assertThat(prefixes(routes)).containsExactly("10.1.0.0/16", "10.2.0.0/16", "2001:db8::/32");
        // As a line of a text without a next hop goes.
        RouteSet text = read("10.1.0.0/16\n10.2.0.0/16\n2001:db8::/32\n".getBytes(StandardCharsets.UTF_8), VIA, -1);
        for (String each : List.of("10.1.0.0", "10.2.0.0", "2001:db8::")) {
            assertThat(hopOf(routes, each)).isEqualTo(hopOf(text, each));
        }
    }

    /** Unicast, multicast, a virtual private network's. */
    @Test
    void readsUnicastOfGenericRecordsAndPassesOverTheRest() throws Exception {
        String entries = "0001" + entry(0, "", HOP_192_0_2_1);
        RouteSet routes = read(
                bytes(PEERS
                        + record(6, "00000000" + "000101" + "10" + "0a01" + entries)
                        + record(6, "00000001" + "000102" + "10" + "0a02" + entries)
                        + record(6, "00000002" + "000180" + "68" + "00".repeat(13) + entries)
                        + record(6, "00000003" + "000201" + "20" + "20010db8" + "0001" + entry(1, "", ""))
                        + record(
                                12,
                                "00000004" + "000101" + "10" + "0a03" + "0001" + entry(0, "00000009", HOP_192_0_2_1))),
                VIA,
                -1);

        assertThat(prefixes(routes)).containsExactly("10.1.0.0/16", "10.3.0.0/16", "2001:db8::/32");
        assertThat(hopOf(routes, "10.3.0.0")).isEqualTo(hopOf(routes, "10.1.0.0"));
    }

    @Test
    void aFullTableMayNameARouteOnceMore() throws Exception {
        // Lines of a number in four digits to the base of 64, and an equals sign: millions are read in no time.
        int bytes = 6;
        byte[] lines = new byte[(RouteFile.MAX_ROUTES + 1) * bytes];
        for (int i = 0; i <= RouteFile.MAX_ROUTES; i++) {
            for (int digit = 0; digit < 4; digit++) {
                lines[i * bytes + digit] = (byte) ('0' + (i >> 6 * digit & 63));
            }
            lines[i * bytes + 4] = '=';
            lines[i * bytes + 5] = '\n';
        }
        System.arraycopy(lines, 0, lines, RouteFile.MAX_ROUTES * bytes, bytes);
        RouteSet routes = RouteFile.read(new ByteArrayInputStream(lines), "f", List.of(), -1, line -> {
            long number = 0;
            for (int digit = 0; digit < 4; digit++) {
                number |= (long) (line.charAt(digit) - '0') << 6 * digit;
            }
            return new Route(new Prefix(0, 0xFFFF_0B00_0000L | number, 128), FIRST);
        });
        assertThat(routes.size()).isEqualTo(RouteFile.MAX_ROUTES);
    }

    @Test
    void withoutViaPrefixesGoByTheirRouters() throws Exception {
        RouteSet routes = read(DUMP, List.of(), -1);

        assertThat(prefixes(routes)).isEqualTo(prefixes(read(DUMP, VIA, -1)));
        assertThat(hopOf(routes, "10.1.0.0")).isEqualTo(router("192.0.2.2"));
        assertThat(hopOf(routes, "2001:db9::")).isEqualTo(router("2001:db8::9"));
        assertThat(routes.withoutNextHop()).isZero();
    }

    private static NextHop router(String address) throws IOException {
        return new NextHop(InetAddress.getByName(address), 3322, NextHop.Transport.SAME, NextHop.Kind.ACTIVE_NODE);
    }

    /** No attribute; 0.0.0.0, a link-local address alone and a multicast one, by which nothing can go. */
    @Test
    void withoutViaPrefixesThatHaveNoNextHopAreLeftOutAndCounted() throws Exception {
        String zero = "400304" + "00000000";
        String dump = PEERS
                + record(2, "00000000" + "10" + "0a01" + "0001" + entry(0, "", HOP_192_0_2_1))
                + record(2, "00000001" + "10" + "0a02" + "0001" + entry(0, "", ""))
                + record(2, "00000002" + "10" + "0a03" + "0001" + entry(0, "", zero))
                + record(2, "00000003" + "10" + "0a04" + "0001" + entry(0, "", "400304" + "e0000001"))
                + record(
                        4,
                        "00000004" + "20" + "20010db8" + "0001"
                                + entry(0, "", "800e11" + "10" + "fe800000000000000000000000000001"))
                + record(2, "00000005" + "10" + "0a05" + "0002" + entry(0, "", zero) + entry(1, "", HOP_192_0_2_2));
        RouteSet routes = read(bytes(dump), List.of(), -1);

        assertThat(prefixes(routes)).containsExactly("10.1.0.0/16", "10.5.0.0/16");
        assertThat(hopOf(routes, "10.5.0.0")).isEqualTo(router("192.0.2.2"));
        assertThat(routes.withoutNextHop()).isEqualTo(4);
        assertThat(read(bytes(dump), List.of(), 1).withoutNextHop()).isZero();
        assertThatThrownBy(() -> read(
                        bytes(PEERS + record(2, "00000001" + "10" + "0a02" + "0001" + entry(0, "", ""))),
                        List.of(),
                        -1))
                .hasMessage("f: has no route with a next hop; give --via");
        assertThat(read(bytes(dump), VIA, -1).withoutNextHop()).isZero();
    }

    @Test
    void refusesAPeerThatTheDumpLacks() {
        assertThatThrownBy(() -> read(bytes(PEERS), VIA, 2))
                .hasMessage("f: record 1: there is no peer 2: the dump has 2, from 0");
    }
}
