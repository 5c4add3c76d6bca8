package org.tamanoir.benchmarks.levels;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.tamanoir.benchmarks.levels.Crossings.Summary;
import org.tamanoir.benchmarks.levels.SegmentLog.Event;

class CrossingsTest {
    private static Event datagram(long ns, long sequence) {
        return new Event(ns, sequence, 200, false, 1, false);
    }

    private static Event begin(long firstByte) {
        return new Event(1, firstByte, 0, true, 0, true);
    }

    private static Event segment(long ns, long octet, int bytes) {
        return new Event(ns, octet & 0xFFFF_FFFFL, bytes, true, 0, false);
    }

    @Test
    void percentilesAreTheSmallestValuesThatTheirShareDoesNotExceed() {
        long[] ns = LongStream.rangeClosed(1, 200).map(i -> i * 1000).toArray();
        assertThat(new Crossings(ns).summary()).isEqualTo(new Summary(200, 100, 190, 198, 200));
        assertThat(new Crossings(new long[] {7000}).summary()).isEqualTo(new Summary(1, 7, 7, 7, 7));
        assertThat(new Crossings(new long[] {Crossings.UNSEEN}).summary().packets())
                .isZero();
    }

    @Test
    void datagramsAreMatchedByTheirSequenceNumbersWhateverTheirOrder() {
        List<Event> in = List.of(datagram(100, 0), datagram(200, 1), datagram(300, 2), datagram(400, 3));
        // Number 2 overtakes 1, 1 comes twice, 3 is lost, 9 is none of the flow's.
        List<Event> out =
                List.of(datagram(107, 0), datagram(309, 2), datagram(450, 1), datagram(470, 1), datagram(480, 9));
        assertThat(Crossings.ofDatagrams(4, in, out).ns()).containsExactly(7, 250, 9, Crossings.UNSEEN);
    }

    @Test
    void packetOfAStreamHasPassedWithItsLastByteWhereverSegmentsEnd() {
        // Three packets of 100 bytes: one segment each before the node; two and a half, and the rest, behind it.
        List<Event> in = List.of(begin(1000), segment(10, 1000, 100), segment(20, 1100, 100), segment(30, 1200, 100));
        List<Event> out = List.of(begin(5), segment(50, 5, 8), segment(60, 13, 242), segment(90, 255, 50));
        assertThat(Crossings.ofStream(3, 100, in, out).ns()).containsExactly(50, 40, 60);
    }

    @Test
    void bytesThatAreSentAgainCountWhenTheyPassedFirst() {
        List<Event> in = List.of(begin(0), segment(10, 0, 100), segment(20, 100, 100));
        List<Event> out = List.of(begin(0), segment(15, 0, 100), segment(26, 100, 100), segment(99, 0, 200));
        assertThat(Crossings.ofStream(2, 100, in, out).ns()).containsExactly(5, 6);
    }

    @Test
    void sequenceNumbersOfTcpMayWrap() {
        long first = 0xFFFF_FFFFL - 49;
        List<Event> in = List.of(begin(first), segment(10, first, 100), segment(20, first + 100, 100));
        List<Event> out = List.of(begin(7), segment(25, 7, 200));
        assertThat(Crossings.ofStream(2, 100, in, out).ns()).containsExactly(15, 5);
    }

    @Test
    void everySecondAndRangesAreTakenBySequenceNumber() {
        Crossings crossings = new Crossings(new long[] {10, 11, 12, 13, 14});
        assertThat(crossings.every(2, 0).ns()).containsExactly(10, 12, 14);
        assertThat(crossings.every(2, 1).ns()).containsExactly(11, 13);
        assertThat(crossings.range(3, 9).ns()).containsExactly(13, 14);
        assertThat(crossings.skip(4).ns()).containsExactly(14);
    }

    @Test
    void eventIsReadAsTheProgramsWriteIt() {
        ByteBuffer memory = ByteBuffer.allocate(48).order(ByteOrder.nativeOrder());
        memory.putLong(24, 123_456_789_012L).putLong(32, 0xFFFF_FFF0L).putInt(40, 1400);
        memory.put(44, (byte) 6).put(45, (byte) 200).put(46, (byte) 1);
        assertThat(SegmentLog.event(memory, 24))
                .isEqualTo(new Event(123_456_789_012L, 0xFFFF_FFF0L, 1400, true, 200, true));
        memory.put(44, (byte) 17).put(46, (byte) 0);
        assertThat(SegmentLog.event(memory, 24).tcp()).isFalse();
    }

    @Test
    void changeTakesEffectWithTheLastPacketOfTheOldPolicy() {
        List<Changes.Change> changes = List.of(
                new Changes.Change(2, 0, 10),
                new Changes.Change(3, 100_000, 100_010),
                new Changes.Change(4, 200_000, 200_010));
        List<Changes.Passed> passed = Arrays.asList(
                new Changes.Passed(50_000, 2),
                new Changes.Passed(101_000, 2),
                new Changes.Passed(105_000, 2),
                new Changes.Passed(106_000, 3),
                new Changes.Passed(201_000, 4));
        // The first change was before the first packet.
        assertThat(Changes.effects(changes, passed)).containsExactly(5, 0);
    }
}
