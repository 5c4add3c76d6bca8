package org.tamanoir.sched;

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
import org.junit.jupiter.params.provider.MethodSource;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.arena.Arena;
import org.tamanoir.qdisc.Link;
import org.tamanoir.qdisc.QosConfig;
import org.tamanoir.qdisc.TrafficClass;
import org.tamanoir.qdisc.YieldingProvider;
import org.tamanoir.routing.Prefix;
import org.tamanoir.support.Seeds;

/** What one link grants, in time given by hand. */
class LinkSchedulerTest {
    private static final long SECOND = 1_000_000_000L;
    /** The largest packet. */
    private static final int WHOLE = 65_535;

    private long nowNs = SECOND;
    private int roomAgain;
    private QosConfig config = config(1000, 65_536, "fifo", Map.of(), 1, 1, 1);
    private final LinkScheduler link = new LinkScheduler(
            config.links().get(0), null, null, () -> roomAgain++, () -> nowNs, 68 << 10, 10 * SECOND, new Arena());
    private LinkContent content = link.change(config, config.links().get(0));

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
            long limitBytes,
            long... weights) {
        List<TrafficClass> classes = new ArrayList<>();
        for (int i = 0; i < weights.length; i++) {
            classes.add(new TrafficClass("c" + i, Set.of(i), weights[i], limitPackets, limitBytes));
        }
        Link out = new Link("out", List.of(Prefix.parse("0.0.0.0/0")), rate, burst, police, discipline, options);
        return new QosConfig(classes, "c" + (weights.length - 1), List.of(), null, List.of(out));
    }

    private void use(QosConfig next) {
        assertThat(next.problems()).isEmpty();
        config = next;
        content = link.change(next, next.links().get(0));
    }

    /** Someone whose packets cross the link, numbered in their order. */
    private class Owner {
        final LinkQueue<int[]> queue;
        final List<Integer> granted = new ArrayList<>();
        final List<String> dropped = new ArrayList<>();
        int next;
        int woken;

        Owner(boolean ordered) {
            queue = ordered
                    ? new OrderedLinkQueue<>(() -> woken++, () -> new int[1])
                    : new LinkQueue<>(() -> woken++, () -> new int[1]);
        }

        @Nullable
        DropReason datagram(int trafficClass, int bytes) {
            return datagram(trafficClass, bytes, 0);
        }

        @Nullable
        DropReason datagram(int trafficClass, int bytes, long hash) {
            LinkItem<int[]> item = queue.newItem();
            item.stored()[0] = next++;
            item.processedIn(trafficClass);
            return link.enqueue(item, content, trafficClass, bytes, hash);
        }

        private static OrderedLinkQueue<int[]> required(@Nullable OrderedLinkQueue<int[]> queue) {
            return java.util.Objects.requireNonNull(queue);
        }

        boolean packet(int trafficClass, int bytes) {
            LinkItem<int[]> item = queue.newItem();
            item.stored()[0] = next;
            item.processedIn(trafficClass);
            boolean taken = link.offer(required(queue.ordered()), item, content, trafficClass, bytes);
            next += taken ? 1 : 0;
            return taken;
        }

        Owner take() {
            LinkItem<int[]> item = link.takeReturned(queue);
            while (item != null) {
                LinkItem<int[]> following = item.behind;
                if (item.reason == null) {
                    granted.add(item.stored()[0]);
                } else {
                    dropped.add(item.stored()[0] + " " + item.reason);
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
        for (int bytes = 32_768; bytes > 0; bytes /= 2) {
            while (link.pass(bytes) > 0) {
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
            assertThat(each.waitingBytes()).isZero();
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
    void sharesBytesByWeightBetweenStreamsAndDatagrams() {
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
        LinkPort port = new LinkPort(content, () -> null);
        assertThat(port.passes(0, 1000)).isTrue();
        assertThat(port.passes(1, 500)).isTrue();
        assertThat(port.passes(1, 500)).isTrue();
        Owner other = datagrams();
        other.datagram(0, 65_000);
        assertThat(other.take().granted).isEmpty();
        port.returnTokens();
        at(1.464);
        assertThat(other.take().granted).containsExactly(0);
        assertThat(status(0).servedBytes()).isEqualTo(66_000);
        assertThat(status(1).servedPackets()).isEqualTo(2);
        assertThat(status(1).servedBytes()).isEqualTo(1000);
        assertThat(status(1).waiting().counts().get(0)).isEqualTo(2);
        assertThat(status(1).waiting().totalNs()).isZero();
    }

    static long[] seeds() {
        return Seeds.ofCommit(LinkSchedulerTest.class, 3);
    }

    @ParameterizedTest
    @MethodSource("seeds")
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
                int bytes = 1 + random.nextInt(1400);
                LinkPort port = new LinkPort(content, () -> null);
                sum += port.passes(0, bytes) ? bytes : 0;
                port.returnTokens();
            }
            while (random.nextInt(3) > 0) {
                owner.datagram(random.nextInt(2), 1 + random.nextInt(1400));
            }
            for (LinkItem<int[]> item = link.takeReturned(owner.queue); item != null; item = item.behind) {
                sum += item.bytes;
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
        assertThat(content.holdsBack("c1")).isTrue();
        assertThat(content.holdsBack("c0")).isFalse();
        assertThat(content.holdsBack("nobody's")).isFalse();
        assertThat(status(1).dropped()).isEqualTo(Map.of(DropReason.QUEUE_FULL, new QosStatus.Dropped(1, 100)));
        assertThat(roomAgain).isZero();
        at(0.1);
        assertThat(content.holdsBack("c1")).isTrue();
        at(0.2); // The one of class 0.
        assertThat(content.holdsBack("c1")).isTrue();
        at(0.3); // The second one of class 1: three quarters are left.
        assertThat(content.holdsBack("c1")).isFalse();
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
        assertThat(status(0).waitingBytes()).isEqualTo(200);
        for (int millis = 0; millis <= 1100; millis++) {
            at(millis * 1e-3);
        }
        assertThat(stays.take().granted).hasSize(200).isSorted();
        assertThat(status(0).servedBytes()).isEqualTo(200);
        assertNothingWaits();
    }

    @Test
    void aPacketThatWasGrantedBehindOneThatWaitsIsForgottenOnce() {
        use(config(1000, 1000, "fifo", Map.of(), 1));
        exhaust();
        Owner goes = stream();
        goes.packet(0, 900);
        goes.packet(0, 2000); // Too long for the bucket: nothing but its order holds it.
        assertThat(status(0).waitingPackets()).isEqualTo(1);
        link.withdraw(goes.queue);
        assertNothingWaits();
    }

    // ---- changes ---------------------------------------------------------------------------------------------------

    @ParameterizedTest
    @MethodSource("seeds")
    void changesUnderLoadLoseNothingAndKeepTheOrder(long seed) {
        Random random = new Random(seed);
        List<String> disciplines = List.of("fifo", "pq", "wfq", "fq", "stfq", "scfq", "wf2q+", "drr");
        use(config(60_000, 3000, "fifo", Map.of(), 1, 2, 3));
        List<Owner> streams = List.of(stream(), stream());
        List<Owner> datagrams = List.of(datagrams(), datagrams(), datagrams(), datagrams());
        int changes = 0;
        for (int step = 0; step < 3000; step++) {
            at(step * 0.01);
            Owner stream = streams.get(random.nextInt(2));
            while (random.nextInt(3) > 0) {
                stream.packet(random.nextInt(config.classes().size()), 1 + random.nextInt(200));
            }
            // Each is of one class at a time: between classes there is no order.
            int number = random.nextInt(4);
            int trafficClass = (number + changes) % config.classes().size();
            Owner owner = datagrams.get(number);
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
                changes++;
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
        datagrams.forEach(each -> {
            assertThat(each.take().granted)
                    .describedAs("seed %s", seed)
                    .hasSize(each.next)
                    .isSorted();
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
        assertThat(status(0).waitingPackets()).isZero();
        assertThat(status(1).name()).describedAs("gone, and not empty").isEqualTo("c1");
        assertThat(status(1).waitingPackets()).isEqualTo(100);
        use(config(1_000_000, 65_536, true, "pq", Map.of(), 10, 65_536, 1));
        at(0.06);
        at(0.12);
        assertThat(owner.take().granted).hasSize(100).isSorted();
        assertThat(link.status().classes()).hasSize(1);
        assertNothingWaits();
    }

    @Test
    void whatIsTooLongForASmallerBucketLeavesWhenItIsItsTurn() {
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
        assertThat(owner.take().granted).isEmpty();
        assertThat(owner.datagram(0, 5000)).isEqualTo(DropReason.PACKET_TOO_LONG);
        at(0.1);
        assertThat(owner.take().granted).containsExactly(0, 1);
        for (int i = 2; i <= 6; i++) {
            at(i * 0.1);
        }
        assertThat(owner.take().granted).containsExactly(0, 1, 2);
        assertThat(owner.dropped).isEmpty();
        assertThat(stream.take().granted).containsExactly(0, 1, 2);
        assertNothingWaits();
    }

    @Test
    void whatWaitsLeavesByItsOldOrderAndBeforeAllThatComes() {
        use(config(1000, 256, "fifo", Map.of(), 1, 1));
        exhaust();
        Owner owner = datagrams();
        for (int trafficClass : new int[] {1, 1, 0, 1}) {
            owner.datagram(trafficClass, 100);
        }
        use(config(1000, 256, "pq", Map.of(), 1, 1));
        for (int trafficClass : new int[] {1, 0, 1, 0}) {
            owner.datagram(trafficClass, 100);
        }
        use(config(1000, 256, "fifo", Map.of(), 1));
        owner.datagram(0, 100);
        for (int i = 1; i <= 9; i++) {
            at(i * 0.1);
        }
        assertThat(owner.take().granted).containsExactly(0, 1, 2, 3, 5, 7, 4, 6, 8);
        assertNothingWaits();
    }

    @Test
    void aThreadThatHasNotSeenAChangeHasItsPacketsWaitByItsOwnClasses() {
        use(config(1000, 256, "pq", Map.of(), 1, 1, 1));
        LinkContent before = content;
        exhaust();
        use(config(1000, 256, "fifo", Map.of(), 1));
        Owner sees = datagrams();
        sees.datagram(0, 100);
        Owner late = datagrams();
        LinkItem<int[]> item = late.queue.newItem();
        assertThat(link.enqueue(item, before, 2, 100, 0)).isNull();
        at(0.1);
        assertThat(late.take().granted).containsExactly(0);
        assertThat(sees.take().granted).isEmpty();
        at(0.2);
        assertThat(sees.take().granted).containsExactly(0);
        LinkPort port = new LinkPort(before, () -> null);
        at(0.3);
        assertThat(port.passes(2, 10)).isTrue();
        port.returnTokens();
        assertThat(link.status().classes()).hasSize(1);
        assertNothingWaits();
    }

    @Test
    void theRateThatHoldsIsKeptThroughAHundredChanges() {
        Random random = new Random(Seeds.ofCommit(LinkSchedulerTest.class));
        long burst = 5000;
        long allowed = burst;
        long sum = 0;
        use(config(100_000, burst, "fifo", Map.of(), 1, 2));
        List<Owner> owners = List.of(datagrams(), stream());
        List<String> disciplines = List.of("fifo", "pq", "wfq", "fq", "stfq", "scfq", "wf2q+", "drr");
        for (int change = 0; change < 100; change++) {
            long rate = 1000 * (20 + random.nextInt(200));
            use(config(rate, burst, disciplines.get(random.nextInt(8)), Map.of(), 1 + random.nextInt(9), 1));
            for (int millis = 0; millis < 100; millis++) {
                allowed += rate / 1000;
                nowNs += 1_000_000;
                link.pump();
                while (owners.get(0).next - owners.get(0).granted.size() < 20) {
                    assertThat(owners.get(0).datagram(random.nextInt(2), 500)).isNull();
                }
                while (owners.get(1).next - owners.get(1).granted.size() < 20) {
                    assertThat(owners.get(1).packet(random.nextInt(2), 500)).isTrue();
                }
                sum = owners.stream()
                        .mapToLong(owner -> 500L * owner.take().granted.size())
                        .sum();
                assertThat(sum).isBetween(allowed - 1000, allowed);
            }
        }
        assertThat(owners.get(1).granted).isSorted();
        assertThat(sum).isGreaterThan(1_000_000);
    }

    @Test
    void aDisciplineThatGivesNothingKeepsItsSuccessorWaitingForThePatienceOnly() {
        use(config(1000, 256, "yielding", Map.of(), 1));
        exhaust();
        Owner owner = datagrams();
        Owner stream = stream();
        YieldingProvider.KEEPS.set(true);
        try {
            owner.datagram(0, 100);
            stream.packet(0, 100);
            at(5);
            use(config(1000, 256, "fifo", Map.of(), 1));
            owner.datagram(0, 100);
            stream.packet(0, 100);
            at(14.9);
            assertThat(owner.take().granted).isEmpty();
            assertThat(link.wakesAtNs()).isBetween(16 * SECOND, 16 * SECOND + 250_000);
            at(15);
            at(16);
        } finally {
            YieldingProvider.KEEPS.set(false);
        }
        assertThat(owner.take().granted).containsExactly(0, 1);
        assertThat(stream.take().granted).containsExactly(0, 1);
        assertNothingWaits();
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
        assertThat(status(0).servedBytes()).isEqualTo(3000);
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
        assertThat(content.holdsBack("c1")).isTrue();
        int before = roomAgain;
        link.close();
        assertThat(content.holdsBack("c1")).isFalse();
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
