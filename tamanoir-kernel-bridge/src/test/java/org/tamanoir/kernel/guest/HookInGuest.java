package org.tamanoir.kernel.guest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.kernel.guest.Packets.KEY;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Single datagrams through the module's hooks: what it counts, and what comes out. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class HookInGuest {
    private Road road;
    private Program control;
    private Program receiver;
    private List<Program> senders;

    @BeforeAll
    void open() {
        road = Road.open();
        control = road.control(Road.ROUTER);
        receiver = road.receiver("show");
        senders = List.of(road.sender(Road.IPV4), road.sender(Road.IPV6));
    }

    @AfterAll
    void close() {
        if (road != null) {
            road.close();
        }
    }

    /** The malformed vectors of the specification, with their reasons; Type ID 0x4a4e is taken for Tamanoir's. */
    @ParameterizedTest(name = "{0}: {1}")
    @CsvSource({
        "M1, VERSION, 02004a4e00020008",
        "M2, SHORT, 01004a4e000200",
        "M3, HEADER_LENGTH, 01004a4e00010008",
        "M4, HEADER_LENGTH, 01004a4e0002000761626364",
        "M5, TRUNCATED, 01004a4e0002004061626364",
        "M6, OPTION_LENGTH, 01004a4e0003000c00010000",
        "M7, OPTION_LENGTH, 01004a4e000500140001000400000001" + "0a000102",
        "M8, CHECKSUM, 01004a4e000a002d00010003000000010a00010200020003000000010a00020700030002598f000068656c6c6e",
        "M9, OPTION_FORMAT, 01004a4e000400100001000200000001",
        "V8, OPTION, 01004a4e000300104777000164617461",
        "empty, SHORT, ''",
        "another type, TYPE_ID, 0180000f0002000c50494e47",
        "no key, NO_KEY, 01004a4e000600180001000400000003" + "0200c0ffee010000"
    })
    void countsWhatIsWrongAndLetsItGoOnUntouched(String vector, String reason, String hex) {
        control.ok("attach " + Road.PORT + " type=0x4a4e");
        control.ok("set key=" + KEY + " slot=1 mark=class value=9");
        for (Program sender : senders) {
            for (String how : howToLie(hex)) {
                String before = control.ok("met");
                sender.ok(hex + " " + how);
                assertThat(received()).as("%s %s", vector, how).isEqualTo(hex);
                String after = control.ok("met");
                assertThat(added(before, after, reason))
                        .as("%s %s: %s", vector, how, after)
                        .isOne();
                assertThat(added(before, after, "SEEN"))
                        .as("%s: %s", vector, after)
                        .isOne();
                assertThat(added(before, after, "POLICY"))
                        .as("%s: %s", vector, after)
                        .isZero();
            }
        }
    }

    @Test
    void readsAndWritesPacketsThatLieInPieces() {
        control.ok("attach " + Road.PORT);
        control.ok("set key=" + KEY + " slot=2 mark=class value=0x2a");
        long marked = Program.value(control.ok("counters 2"), "marked");
        long expected = 0;
        String hex = Packets.packet(7, 20);
        for (Program sender : senders) {
            for (String how : howToLie(hex)) {
                sender.ok(hex + " " + how);
                assertThat(received()).as(how).isEqualTo(Packets.with(hex, Packets.CLASS_AT, 0x2a));
                expected++;
            }
        }
        assertThat(Program.value(control.ok("counters 2"), "marked") - marked).isEqualTo(expected);
    }

    @Test
    void keepsUdpChecksumsRightThatTheSenderComputed() {
        control.ok("attach " + Road.PORT);
        control.ok("set key=" + KEY + " slot=6 mark=octets offset=24 width=1 value=0x2a");
        road.leaveChecksums(false);
        try {
            for (int payload = 0; payload < 4; payload++) { // odd lengths too
                String hex = Packets.packet(7, payload);
                for (Program sender : senders) {
                    sender.ok(hex);
                    assertThat(received()).isEqualTo(Packets.with(hex, Packets.CLASS_AT, 0x2a));
                }
            }
        } finally {
            road.leaveChecksums(true);
        }
    }

    @Test
    void keepsTheAnepChecksumRightWhereverItLies() {
        control.ok("attach " + Road.PORT);
        control.ok("set key=" + KEY + " slot=3 mark=class value=0x31");
        String hex = checked(0);
        String marked = checked(0x31);
        for (Program sender : senders) {
            for (String how : howToLie(hex)) {
                sender.ok(hex + " " + how);
                assertThat(received()).as(how).isEqualTo(marked);
            }
        }
    }

    @Test
    void leavesFragmentsAlone() {
        control.ok("attach " + Road.PORT);
        control.ok("set key=" + KEY + " slot=4 mark=class value=0x2a");
        String hex = Packets.packet(7, 4_000);
        for (Program sender : senders) {
            String before = control.ok("met");
            sender.ok(hex);
            assertThat(received()).isEqualTo(hex);
            String after = control.ok("met");
            assertThat(added(before, after, "FRAGMENT")).as(after).isPositive();
            assertThat(added(before, after, "POLICY")).as(after).isZero();
        }
    }

    /** A packet of a VRF crosses the hook as one of the interface that it comes in through, and as one of the VRF. */
    @Test
    void actsOnceOnAPacketOfAVrf() {
        control.ok("attach " + Road.PORT);
        control.ok("set key=" + KEY + " slot=8 mark=class value=0x2a");
        String hex = Packets.packet(7, 20);
        try {
            road.vrf(true);
            for (Program sender : senders) {
                long before = Program.value(control.ok("counters 8"), "packets");
                sender.ok(hex);
                assertThat(received()).isEqualTo(Packets.with(hex, Packets.CLASS_AT, 0x2a));
                assertThat(Program.value(control.ok("counters 8"), "packets")).isEqualTo(before + 1);
            }
        } finally {
            road.vrf(false);
        }
    }

    /** As for the kernel, which routes what is for the bridge itself, and passes on what is for those behind it. */
    @Test
    void leavesFramesAloneThatABridgePassesOn() {
        control.ok("attach " + Road.PORT);
        control.ok("set key=" + KEY + " slot=9 mark=class value=0x2a");
        String hex = Packets.packet(7, 20);
        try {
            road.bridge(true);
            String before = control.ok("met");
            road.sender("10.7.3.3").ok(hex);
            assertThat(received()).as("bridged").isEqualTo(hex);
            assertThat(added(before, control.ok("met"), "SEEN")).isZero();
            road.sender("10.7.4.2").ok(hex);
            assertThat(received()).as("routed").isEqualTo(Packets.with(hex, Packets.CLASS_AT, 0x2a));
            assertThat(added(before, control.ok("met"), "SEEN")).isOne();
        } finally {
            road.bridge(false);
        }
    }

    @Test
    void readsNoFurtherThanTheDatagram() {
        control.ok("attach " + Road.PORT);
        control.ok("set key=" + KEY + " slot=5 mark=octets offset=40 width=4 value=0x11223344");
        String whole = Packets.packet(7, 0);
        for (int bytes = 0; bytes < whole.length() / 2; bytes++) {
            String hex = whole.substring(0, 2 * bytes);
            for (Program sender : senders) {
                sender.ok(hex);
                assertThat(received()).as("%d bytes", bytes).isEqualTo(hex);
            }
        }
        senders.get(0).ok(whole);
        assertThat(received()).endsWith("11223344");
    }

    /** Whole in one buffer, in pages, and cut after each byte of what is read. */
    private static List<String> howToLie(String hex) {
        List<String> ways = new ArrayList<>(List.of("", "paged"));
        for (int bytes = 1; bytes < Math.min(hex.length() / 2, 64); bytes++) {
            ways.add("split=" + bytes);
        }
        return ways;
    }

    /** A packet with an ANEP checksum, which is right for the class. */
    private static String checked(int trafficClass) {
        String hex = "0100544d00090029" + "80010003" + KEY + "80020002" + "%02x000000".formatted(trafficClass)
                + "00030002" + "00000000" + "68656c6c6f";
        int sum = 0;
        for (int at = 0; at < hex.length(); at += 4) {
            sum += Integer.parseInt((hex + "00").substring(at, at + 4), 16);
        }
        sum = (sum & 0xffff) + (sum >>> 16);
        sum = (sum & 0xffff) + (sum >>> 16);
        return hex.substring(0, 64) + "%04x".formatted(~sum & 0xffff) + hex.substring(68);
    }

    /** What comes to the receiver next, in hex. */
    private String received() {
        String line = receiver.next();
        return line.substring(line.lastIndexOf(' ') + 1);
    }

    private static long added(String before, String after, String counter) {
        return Program.value(after, counter) - Program.value(before, counter);
    }
}
