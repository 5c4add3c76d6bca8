package org.tamanoir.ee;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.tamanoir.anep.DropReason;
import org.tamanoir.qdisc.Link;
import org.tamanoir.qdisc.QosConfig;
import org.tamanoir.qdisc.TrafficClass;
import org.tamanoir.routing.Prefix;

/** What one link grants, in time given by hand. */
class LinkSchedulerTest {
    private static final long SECOND = 1_000_000_000L;
    /** The largest packet. */
    private static final int WHOLE = 65_535;

    private long nowNs = SECOND;
    private int roomAgain;
    private final LinkScheduler link = new LinkScheduler("out", null, () -> roomAgain++, () -> nowNs);
    private QosConfig config = config(1000, 65_536, "fifo", Map.of(), 1, 1, 1);
    private int generation;

    // ---- a link and its owners -------------------------------------------------------------------------------------

    private static QosConfig config(
            long rate, long burst, String discipline, Map<String, String> options, long... weights) {
        return config(rate, burst, false, discipline, options, 1000, 1 << 20, weights);
    }

    /** Classes c0, c1 and so on. */
    private static QosConfig config(
            long rate,
            long burst,
            boolean police,
            String discipline,
            Map<String, String> options,
            int limitPackets,
            long limitOctets,
            long... weights) {
        List<TrafficClass> classes = new ArrayList<>();
        for (int i = 0; i < weights.length; i++) {
            classes.add(new TrafficClass("c" + i, Set.of(i), weights[i], limitPackets, limitOctets));
        }
        Link out = new Link("out", List.of(Prefix.parse("0.0.0.0/0")), rate, burst, police, discipline, options);
        return new QosConfig(classes, "c" + (weights.length - 1), List.of(), null, List.of(out));
    }

    private void use(QosConfig next) {
        assertThat(next.problems()).isEmpty();
        config = next;
        link.change(next, next.links().get(0), ++generation);
    }

    /** Someone whose packets cross the link, numbered in their order. */
    private class Owner {
        final LinkQueue queue;
        final List<Integer> granted = new ArrayList<>();
        final List<String> dropped = new ArrayList<>();
        int next;
        int woken;

        Owner(boolean ordered) {
            queue = ordered ? new OrderedLinkQueue(() -> woken++) : new LinkQueue(() -> woken++);
        }

        @Nullable
        DropReason datagram(int trafficClass, int octets) {
            return datagram(trafficClass, octets, 0);
        }

        @Nullable
        DropReason datagram(int trafficClass, int octets, long hash) {
            LinkItem item = queue.newItem();
            item.port = next++;
            return link.enqueue(item, config, trafficClass, octets, hash);
        }

        boolean packet(int trafficClass, int octets) {
            LinkItem item = queue.newItem();
            item.port = next;
            boolean taken = link.offer((OrderedLinkQueue) queue, item, config, trafficClass, octets);
            next += taken ? 1 : 0;
            return taken;
        }

        Owner take() {
            LinkItem item = link.takeReturned(queue);
            while (item != null) {
                LinkItem following = item.behind;
                if (item.reason == null) {
                    granted.add(item.port);
                } else {
                    dropped.add(item.port + " " + item.reason);
                }
                queue.recycle(item);
                item = following;
            }
            return this;
        }
    }

    private Owner datagrams() {
        return new Owner(false);
    }

    private Owner stream() {
        return new Owner(true);
    }

    private void at(double seconds) {
        nowNs = SECOND + Math.round(seconds * SECOND);
        link.pump();
    }

    /** Lets all tokens go. */
    private void exhaust() {
        while (link.pass(WHOLE) > 0) {
            // One more went.
        }
        for (int octets = 32_768; octets > 0; octets /= 2) {
            while (link.pass(octets) > 0) {
                // As above.
            }
        }
    }

    private QosStatus.ClassStatus status(int trafficClass) {
        return link.status().classes().get(trafficClass);
    }

    private void assertNothingWaits() {
        for (QosStatus.ClassStatus each : link.status().classes()) {
            assertThat(each.waitingPackets()).isZero();
            assertThat(each.waitingOctets()).isZero();
        }
        assertThat(link.wakesAtNs()).isEqualTo(Long.MAX_VALUE);
    }

    // ---- order -----------------------------------------------------------------------------------------------------

    @Test
    void grantsByTheTokenBucketVector() {
        use(config(1000, 1500, "fifo", Map.of(), 1));
        Owner owner = datagrams();
        for (int i = 0; i < 10; i++) {
            assertThat(owner.datagram(0, 500)).isNull();
        }
        assertThat(owner.take().granted).containsExactly(0, 1, 2);
        for (int i = 3; i < 10; i++) {
            long earliestNs = SECOND + (i - 2) * SECOND / 2;
            assertThat(link.wakesAtNs()).isBetween(earliestNs, earliestNs + 250_000);
            at((i - 2) * 0.5 - 1e-9);
            assertThat(owner.take().granted).hasSize(i);
            at((i - 2) * 0.5);
            assertThat(owner.take().granted).hasSize(i + 1);
        }
        assertThat(owner.granted).isSorted();
        assertNothingWaits();
    }

    @Test
    void grantsByStrictPriority() {
        use(config(1000, 256, "pq", Map.of(), 1, 1, 1));
        exhaust();
        Owner owner = datagrams();
        for (int trafficClass : new int[] {2, 1, 0, 2, 1, 0}) {
            assertThat(owner.datagram(trafficClass, 100)).isNull();
        }
        at(10);
        // The first one was at the head already, and counts as being served.
        assertThat(owner.take().granted).hasSize(2);
        for (int i = 1; i < 6; i++) {
            at(10 + i * 0.1);
        }
        assertThat(owner.take().granted).containsExactly(0, 2, 5, 1, 4, 3);
    }

    @Test
    void grantsByFinishTimesOfTheFluidSystem() {
        // Flow 1 of weight 1/2 sends 11 packets at 0, ten others of weight 1/20 one each: ten of flow 1, the others in
        // their order, and the eleventh.
        long[] weights = new long[11];
        Arrays.fill(weights, 1);
        weights[0] = 10;
        use(config(1000, 256, "wfq", Map.of(), weights));
        exhaust();
        Owner owner = datagrams();
        for (int i = 0; i < 11; i++) {
            owner.datagram(0, 200);
        }
        for (int i = 1; i < 11; i++) {
            owner.datagram(i, 200);
        }
        for (int i = 1; i <= 21; i++) {
            at(i * 0.2);
        }
        assertThat(owner.take().granted)
                .containsExactly(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 10);
    }

    @Test
    void sharesOctetsByWeightBetweenStreamsAndDatagrams() {
        use(config(1_000_000, 10_000, "wfq", Map.of(), 30, 70));
        Owner stream = stream();
        Owner datagrams = datagrams();
        for (int millis = 0; millis < 1000; millis++) {
            while (stream.next - stream.granted.size() < 20) {
                stream.packet(0, 700);
            }
            while (datagrams.next - datagrams.granted.size() < 20) {
                datagrams.datagram(1, 1400);
            }
            at(millis * 1e-3);
            stream.take();
            datagrams.take();
        }
        assertThat(link.status().classes().get(0).share()).isBetween(0.297, 0.303);
        assertThat(link.status().classes().get(1).share()).isBetween(0.697, 0.703);
    }

    @Test
    void aStreamKeepsItsOrderWhateverItsClassesAre() {
        use(config(1000, 256, "pq", Map.of(), 1, 1));
        exhaust();
        Owner stream = stream();
        Owner other = datagrams();
        List<Integer> expected = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            assertThat(stream.packet(i / 3 % 2, 50)).isTrue();
            expected.add(i);
        }
        other.datagram(0, 50);
        other.datagram(1, 50);
        assertThat(status(0).waitingPackets()).isEqualTo(12);
        for (int i = 1; i <= 22; i++) {
            at(i * 0.05);
        }
        assertThat(stream.take().granted).isEqualTo(expected);
        assertThat(other.take().granted).containsExactly(0, 1);
        assertNothingWaits();
    }

    // ---- passing ---------------------------------------------------------------------------------------------------

    @Test
    void tokensTakenAheadAreGivenBack() {
        use(config(1000, 65_536, "fifo", Map.of(), 1, 1));
        LinkPort port = new LinkPort(link, config);
        assertThat(port.passes(0, 1000)).isTrue();
        assertThat(port.passes(1, 500)).isTrue();
        assertThat(port.passes(1, 500)).isTrue();
        Owner other = datagrams();
        other.datagram(0, 65_000);
        assertThat(other.take().granted).isEmpty();
        port.settle();
        at(1.464);
        assertThat(other.take().granted).containsExactly(0);
        assertThat(status(0).servedOctets()).isEqualTo(66_000);
        assertThat(status(1).servedPackets()).isEqualTo(2);
        assertThat(status(1).servedOctets()).isEqualTo(1000);
        assertThat(status(1).waiting().counts().get(0)).isEqualTo(2);
        assertThat(status(1).waiting().totalNs()).isZero();
    }

    @ParameterizedTest
    @ValueSource(longs = {7, 70, 700})
    void neverExceedsBurstAndRateHoweverLateTheTimerIs(long seed) {
        Random random = new Random(seed);
        long rate = 100_000;
        long burst = 5000;
        use(config(rate, burst, "wfq", Map.of(), 1, 2));
        Owner owner = datagrams();
        List<long[]> departures = new ArrayList<>();
        long sum = 0;
        for (int step = 0; step < 2000; step++) {
            // Mostly small steps, at times the timer is late by several bursts.
            nowNs += random.nextInt(10) == 0 ? random.nextInt(400_000_000) : random.nextInt(20_000_000);
            link.pump();
            if (random.nextInt(3) == 0) {
                int octets = 1 + random.nextInt(1400);
                LinkPort port = new LinkPort(link, config);
                sum += port.passes(0, octets) ? octets : 0;
                port.settle();
            }
            while (random.nextInt(3) > 0) {
                owner.datagram(random.nextInt(2), 1 + random.nextInt(1400));
            }
            for (LinkItem item = link.takeReturned(owner.queue); item != null; item = item.behind) {
                sum += item.octets;
            }
            departures.add(new long[] {nowNs, sum});
        }
        for (int from = 0; from < departures.size(); from++) {
            long before = from == 0 ? 0 : departures.get(from - 1)[1];
            for (int to = from; to < departures.size(); to++) {
                double seconds = (departures.get(to)[0] - departures.get(from)[0]) / 1e9;
                if (departures.get(to)[1] - before > burst + rate * seconds + 1) {
                    fail("seed " + seed + ": too much from step " + from + " to " + to);
                }
            }
        }
    }

    @Test
    void nothingPassesWhilePacketsWait() {
        use(config(1000, 1000, "fifo", Map.of(), 1));
        Owner owner = datagrams();
        owner.datagram(0, 900);
        owner.datagram(0, 900);
        at(0.5);
        assertThat(link.pass(100)).isZero();
        at(0.8);
        assertThat(owner.take().granted).hasSize(2);
        at(0.9);
        assertThat(link.pass(100)).isPositive();
    }

    // ---- limits and drops ------------------------------------------------------------------------------------------

    @Test
    void anArrivingDatagramIsRefusedAtTheLimitOfItsClass() {
        use(config(1000, 256, false, "pq", Map.of(), 4, 65_536, 1, 1));
        exhaust();
        Owner owner = datagrams();
        for (int i = 0; i < 5; i++) {
            // One of them is at the head, behind which the queue begins.
            assertThat(owner.datagram(1, 100)).isNull();
        }
        assertThat(owner.datagram(1, 100)).isEqualTo(DropReason.QUEUE_FULL);
        assertThat(owner.datagram(0, 100)).isNull();
        assertThat(link.isFull("c1")).isTrue();
        assertThat(link.isFull("c0")).isFalse();
        assertThat(link.isFull("nobody's")).isFalse();
        assertThat(status(1).dropped()).isEqualTo(Map.of(DropReason.QUEUE_FULL, new QosStatus.Dropped(1, 100)));
        assertThat(roomAgain).isZero();
        at(0.1);
        assertThat(link.isFull("c1")).isTrue();
        at(0.2); // The one of class 0.
        assertThat(link.isFull("c1")).isTrue();
        at(0.3); // The second one of class 1: three quarters are left.
        assertThat(link.isFull("c1")).isFalse();
        assertThat(roomAgain).isEqualTo(1);
    }

    @Test
    void aStreamWaitsForRoomInItsClassAndIsWoken() {
        use(config(1000, 256, false, "fifo", Map.of("limit-packets", "1000"), 4, 65_536, 1, 1));
        exhaust();
        Owner full = stream();
        Owner late = stream();
        for (int i = 0; i < 4; i++) {
            assertThat(full.packet(0, 100)).isTrue();
        }
        assertThat(full.packet(0, 100)).isFalse();
        assertThat(late.packet(0, 100))
                .describedAs("the first of a stream finds room")
                .isTrue();
        assertThat(late.packet(0, 100)).isFalse();
        assertThat(late.packet(1, 100))
                .describedAs("behind the run it counts for nobody")
                .isTrue();
        at(0.1);
        assertThat(late.woken).isZero();
        at(0.2);
        assertThat(late.woken).isEqualTo(1);
        assertThat(full.packet(0, 100)).isTrue();
    }

    @Test
    void whatCoDelDropsComesBackToItsOwner() {
        use(config(10_000, 1000, "codel", Map.of(), 1));
        exhaust();
        Owner owner = datagrams();
        Owner bystander = stream();
        for (int i = 0; i < 300; i++) {
            owner.datagram(0, 100);
            bystander.packet(0, 100);
        }
        for (int millis = 0; millis < 6_100; millis++) {
            at(millis * 1e-3);
        }
        owner.take();
        bystander.take();
        assertThat(owner.dropped).isNotEmpty().allMatch(each -> each.endsWith(" QUEUE_DELAY"));
        assertThat(owner.granted.size() + owner.dropped.size()).isEqualTo(300);
        assertThat(owner.granted).isSorted();
        assertThat(bystander.granted).hasSize(300).isSorted();
        assertThat(status(0).dropped())
                .isEqualTo(Map.of(
                        DropReason.QUEUE_DELAY,
                        new QosStatus.Dropped(owner.dropped.size(), 100L * owner.dropped.size())));
        assertNothingWaits();
    }

    @Test
    void whatFqCoDelShedsIsTheFatOwners() {
        use(config(1000, 1000, "fq-codel", Map.of("limit", "40"), 1));
        exhaust();
        Owner fat = datagrams();
        Owner thin = datagrams();
        for (int i = 0; i < 41; i++) {
            fat.datagram(0, 100, 1);
        }
        assertThat(thin.datagram(0, 100, 2)).isNull();
        assertThat(fat.take().dropped).hasSize(20).allMatch(each -> each.endsWith(" QUEUE_FULL"));
        assertThat(fat.woken).isEqualTo(1);
        assertThat(thin.take().dropped).isEmpty();
        assertThat(status(0).waitingPackets()).isEqualTo(22);
    }

    @Test
    void aPolicedDatagramDoesNotWaitButAStreamDoes() {
        use(config(1000, 1000, true, "fifo", Map.of(), 1000, 1 << 20, 1));
        Owner owner = datagrams();
        assertThat(owner.datagram(0, 800)).isNull();
        assertThat(owner.datagram(0, 300)).isEqualTo(DropReason.RATE_EXCEEDED);
        Owner stream = stream();
        assertThat(stream.packet(0, 300)).isTrue();
        assertThat(stream.take().granted).isEmpty();
        at(0.1);
        assertThat(stream.take().granted).containsExactly(0);
        assertThat(status(0).dropped()).isEqualTo(Map.of(DropReason.RATE_EXCEEDED, new QosStatus.Dropped(1, 300)));
    }

    // ---- the end of an owner ---------------------------------------------------------------------------------------

    @Test
    void aWithdrawnQueueCostsNoTokensAndLeavesNoTrace() {
        use(config(1000, 1000, "fifo", Map.of(), 1));
        exhaust();
        Owner stays = datagrams();
        for (int round = 0; round < 200; round++) {
            Owner goes = stream();
            goes.packet(0, 900);
            goes.packet(0, 900);
            stays.datagram(0, 1);
            link.withdraw(goes.queue);
        }
        Owner gone = datagrams();
        gone.datagram(0, 1000);
        link.withdraw(gone.queue);
        assertThat(status(0).waitingPackets()).isEqualTo(200);
        assertThat(status(0).waitingOctets()).isEqualTo(200);
        for (int millis = 0; millis <= 1100; millis++) {
            at(millis * 1e-3);
        }
        assertThat(stays.take().granted).hasSize(200).isSorted();
        assertThat(status(0).servedOctets()).isEqualTo(200);
        assertNothingWaits();
    }

    // ---- changes ---------------------------------------------------------------------------------------------------

    @ParameterizedTest
    @ValueSource(longs = {1, 20, 300})
    void changesUnderLoadLoseNothingAndKeepTheOrder(long seed) {
        Random random = new Random(seed);
        List<String> disciplines = List.of("fifo", "pq", "wfq", "fq", "stfq", "scfq", "wf2q+", "drr");
        use(config(60_000, 3000, "fifo", Map.of(), 1, 2, 3));
        List<Owner> streams = List.of(stream(), stream());
        List<List<Owner>> datagrams = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            datagrams.add(List.of(datagrams(), datagrams()));
        }
        for (int step = 0; step < 3000; step++) {
            at(step * 0.01);
            Owner stream = streams.get(random.nextInt(2));
            while (random.nextInt(3) > 0) {
                stream.packet(random.nextInt(config.classes().size()), 1 + random.nextInt(200));
            }
            // One owner for each class: between classes there is no order.
            int trafficClass = random.nextInt(config.classes().size());
            Owner owner = datagrams.get(trafficClass).get(random.nextInt(2));
            while (random.nextInt(3) > 0) {
                assertThat(owner.datagram(trafficClass, 1 + random.nextInt(200)))
                        .describedAs("seed %s", seed)
                        .isNull();
            }
            if (step % 50 == 49) {
                long[] weights = new long[1 + random.nextInt(3)];
                Arrays.setAll(weights, i -> 1 + random.nextInt(10));
                use(config(
                        60_000,
                        256 + random.nextInt(3000),
                        disciplines.get(random.nextInt(disciplines.size())),
                        Map.of(),
                        weights));
            }
        }
        for (int step = 3000; step < 9000; step++) {
            at(step * 0.01);
        }
        assertNothingWaits();
        for (Owner each : streams) {
            assertThat(each.take().granted)
                    .describedAs("seed %s", seed)
                    .hasSize(each.next)
                    .isSorted();
        }
        datagrams.stream().flatMap(List::stream).forEach(each -> {
            assertThat(each.take().granted).describedAs("seed %s", seed).hasSize(each.next);
            assertThat(each.dropped).isEmpty();
        });
    }

    @Test
    void smallerLimitsDropNothingThatWaits() {
        use(config(1000, 65_536, "fifo", Map.of(), 1, 1));
        exhaust();
        Owner owner = datagrams();
        for (int i = 0; i < 100; i++) {
            owner.datagram(1, 1000);
        }
        use(config(1000, 65_536, false, "fq-codel", Map.of("limit", "10"), 10, 65_536, 1));
        assertThat(status(0).waitingPackets()).isEqualTo(100);
        assertThat(link.isFull("c0")).isTrue();
        use(config(1_000_000, 65_536, true, "pq", Map.of(), 10, 65_536, 1));
        at(0.06);
        at(0.12);
        assertThat(owner.take().granted).hasSize(100).isSorted();
        assertThat(link.isFull("c0")).isFalse();
        assertNothingWaits();
    }

    @Test
    void whatIsTooLongForASmallerBucketLeavesWithWhatIsBeforeIt() {
        use(config(1000, 65_536, "fifo", Map.of(), 1, 1));
        exhaust();
        Owner owner = datagrams();
        Owner stream = stream();
        owner.datagram(0, 100);
        owner.datagram(0, 5000);
        owner.datagram(0, 100);
        stream.packet(1, 100);
        stream.packet(0, 5000);
        stream.packet(0, 100);
        use(config(1000, 1000, "fifo", Map.of(), 1, 1));
        assertThat(owner.take().granted).containsExactly(0, 1);
        assertThat(stream.take().granted).isEmpty();
        assertThat(owner.datagram(0, 5000)).isEqualTo(DropReason.PACKET_TOO_LONG);
        for (int i = 1; i <= 6; i++) {
            at(i * 0.1);
        }
        assertThat(owner.take().granted).containsExactly(0, 1, 2);
        assertThat(stream.take().granted).containsExactly(0, 1, 2);
        assertNothingWaits();
    }

    @Test
    void anIndexMeansWhatItMeantInItsOwnConfiguration() {
        use(config(1000, 65_536, "fifo", Map.of(), 1, 1, 1));
        QosConfig old = config;
        List<TrafficClass> turned = List.of(old.classes().get(1), old.classes().get(0));
        use(new QosConfig(turned, "c0", List.of(), null, old.links()));
        LinkPort port = new LinkPort(link, old);
        assertThat(port.passes(1, 100)).isTrue();
        assertThat(port.passes(2, 10)).isTrue();
        port.settle();
        assertThat(status(0).name()).isEqualTo("c1");
        assertThat(status(0).servedOctets()).isEqualTo(100);
        assertThat(status(1).servedOctets())
                .describedAs("gone: the default class")
                .isEqualTo(10);
    }

    @Test
    void countsOutliveChangesAndSharesBeginAnew() {
        use(config(1_000_000, 65_536, "fifo", Map.of(), 1, 1));
        Owner owner = datagrams();
        owner.datagram(0, 3000);
        owner.datagram(1, 1000);
        assertThat(status(0).share()).isEqualTo(0.75);
        use(config(1_000_000, 65_536, "wfq", Map.of(), 1, 1));
        assertThat(status(0).share()).isZero();
        owner.datagram(1, 1000);
        assertThat(status(1).share()).isEqualTo(1);
        assertThat(status(0).servedOctets()).isEqualTo(3000);
        assertThat(link.status().name()).isEqualTo("out");
        assertThat(link.status().discipline()).isEqualTo("wfq");
    }

    @Test
    void closingGrantsAllThatWaitsAndAllThatComes() {
        use(config(1000, 1000, false, "pq", Map.of(), 10, 65_536, 1, 1));
        exhaust();
        Owner owner = datagrams();
        Owner stream = stream();
        for (int i = 0; i < 10; i++) {
            owner.datagram(1, 100);
            stream.packet(i % 2, 100);
        }
        assertThat(link.isFull("c1")).isTrue();
        int before = roomAgain;
        link.close();
        assertThat(link.isFull("c1")).isFalse();
        assertThat(roomAgain).isGreaterThan(before);
        assertThat(owner.woken).isEqualTo(1);
        assertThat(owner.take().granted).hasSize(10).isSorted();
        assertThat(stream.take().granted).hasSize(10).isSorted();
        assertThat(owner.datagram(0, 70_000)).isNull();
        assertThat(stream.packet(0, 60_000)).isTrue();
        assertThat(link.pass(60_000)).isGreaterThanOrEqualTo(60_000);
        assertThat(owner.take().granted).hasSize(11);
        assertThat(stream.take().granted).hasSize(11);
    }
}
