package org.tamanoir.sapf;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.tamanoir.accounting.DropReason;

/** Single datagrams: what is taken for a selector, and what becomes of it. */
class SapfWireTest {
    /** ANEP without options, with one octet of payload. */
    private static final String ANEP = "0100 544d 0002 0009 41";

    private final AtomicLong clockNs = new AtomicLong(1);
    private SapfEnd node;
    private SapfEnd sender;

    @BeforeEach
    void open() throws IOException {
        node = SapfEnd.issuing(clockNs);
        sender = SapfEnd.plain();
    }

    @AfterEach
    void close() {
        node.close();
        sender.close();
    }

    @Test
    void aSelectorHasAnEpochAndASlot() {
        long selector = 0x8001_0000_0000_002AL;
        assertThat(Selector.isIssued(selector)).isTrue();
        assertThat(Selector.epoch(selector)).isEqualTo(1);
        assertThat(Selector.slot(selector)).isEqualTo(42);
        assertThat(Selector.of(1, 0, 42)).isEqualTo(selector);
        long highest = Selector.of(0x7FFF, -1, 0xFFFF);
        assertThat(highest).isEqualTo(-1L);
        assertThat(Selector.epoch(highest)).isEqualTo(0x7FFF);
        assertThat(Selector.slot(highest)).isEqualTo(0xFFFF);
    }

    @ParameterizedTest
    @CsvSource({
        "0000 0000 0000 0000 41, SELECTOR",
        "0000 0000 0000 0004 41, SELECTOR",
        "0000 0000 0000 00ff, SELECTOR",
        "0000 0000 0000 0100, SELECTOR",
        "00ff ffff ffff ffff, SELECTOR",
        "0000 0000 0000 0003 4500 0014, RAW_IP",
        "8001 0000 0000 002a 6869, MISS",
        "ffff ffff ffff ffff, MISS",
        "8001 0000, SHORT",
        "00, SHORT",
        "0000 0000 0000 00, SHORT"
    })
    void dropsWhatHasNoBinding(String datagram, DropReason reason) throws IOException {
        sender.send(node, SapfEnd.octets(datagram));
        assertThat(node.receive()).isEmpty();
        assertThat(node.dropped(reason)).isOne();
    }

    @ParameterizedTest
    @ValueSource(strings = {ANEP, "0100", "01", "0200 544d 0002 0008", "7fff ffff ffff ffff", ""})
    void leavesToAnepWhatIsNoSelector(String datagram) throws IOException {
        byte[] octets = SapfEnd.octets(datagram);
        sender.send(node, octets);
        assertThat(node.receive()).hasSize(octets.length == 0 ? 0 : 1).allMatch(each -> Arrays.equals(each, octets));
        assertThat(node.sapf.traffic().packetsIn()).isZero();
    }

    @Test
    void takesAPacketOutOfItsTunnel() throws IOException {
        sender.send(node, SapfEnd.octets("0000 0000 0000 0002" + ANEP));
        assertThat(node.receive()).containsExactly(SapfEnd.octets(ANEP));
    }

    @Test
    void keepsTheOrderOfMixedFormats() throws IOException {
        byte[] first = SapfEnd.packet(1, "first");
        byte[] second = SapfEnd.packet(2, "second, and longer");
        byte[] third = SapfEnd.packet(3, "3");
        sender.send(
                node,
                first,
                SapfEnd.octets("8001 0000 0000 002a 6869"),
                SapfEnd.octets("0000 0000 0000 0002" + HexFormat.of().formatHex(second)),
                third);
        assertThat(node.exchange(sender, 3)).containsExactly(first, second, third);
        assertThat(node.dropped(DropReason.MISS)).isOne();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "", // nothing
                "0001", // a type alone
                "0001 0007", // shorter than it says
                "0001 0003 0000 0000 0000 0001", // BIND without a header
                "0002 0003 0000 0000 0000 0001", // BOUND without a selector
                "0007 0003 0000 0000 0000 0001", // no such type
                "0006 0004 0000 0000 0000 0001 0000 0000" // UNKNOWN that is too long
            })
    void answersNoMessageThatIsNone(String content) throws IOException {
        sender.send(node, SapfEnd.octets("0000 0000 0000 0001" + content));
        assertThat(node.receive()).isEmpty();
        assertThat(node.sapf.statistics().malformed()).isOne();
        assertThat(sender.receiveNow()).isEmpty();
    }

    @Test
    void answersAMissOnceASecondAndNeverWithMoreThanCame() throws IOException {
        byte[] miss = SapfEnd.octets("8001 0000 0000 002a");
        byte[] unknown = SapfEnd.octets("0000 0000 0000 0001 0006 0003 8001 0000 0000 002a");
        sender.send(node, miss, miss);
        node.receive();
        assertThat(sender.receiveNow()).as("16 octets came, an answer has 20").isEmpty();
        sender.send(node, miss, miss, miss, miss, miss);
        node.receive();
        assertThat(sender.receive()).containsExactly(unknown);
        clockNs.addAndGet(999_999_999);
        sender.send(node, miss, miss, miss);
        node.receive();
        assertThat(sender.receiveNow()).as("before a second is over").isEmpty();
        clockNs.addAndGet(1);
        sender.send(node, miss);
        node.receive();
        assertThat(sender.receive()).containsExactly(unknown);
    }
}
