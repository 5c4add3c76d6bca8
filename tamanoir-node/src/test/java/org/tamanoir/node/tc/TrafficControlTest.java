package org.tamanoir.node.tc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.support.Waiting.eventually;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.tamanoir.sched.QosStatus;

/** Rules in simulated time, against a record of what the host was asked. */
class TrafficControlTest {
    private static final String TREE = """
            class htb 1:1 root rate 10Mbit ceil 10Mbit linklayer ethernet burst 1600b/1 mpu 0b cburst 1600b/1 mpu 0b level 7\s
             Sent 0 bytes 0 pkt (dropped 0, overlimits 0 requeues 0)\s
             backlog 0b 0p requeues 0
            class htb 1:10 parent 1:1 prio 1 quantum 25000 rate 2Mbit ceil 4Mbit linklayer ethernet burst 1600b/1 mpu 0b cburst 15Kb/1 mpu 0b level 0\s
             Sent 7000 bytes 70 pkt (dropped 3, overlimits 0 requeues 0)\s
             backlog 128Kb 12p requeues 0
             lended: 0 borrowed: 0 giants: 0
            class htb 1:20 parent 1:1 leaf 20: prio 2 quantum 50000 rate 4Mbit ceil 10Mbit linklayer ethernet burst 1600b/1 mpu 0b cburst 1600b/1 mpu 0b level 0\s
             Sent 0 bytes 0 pkt (dropped 0, overlimits 0 requeues 0)\s
             backlog 0b 0p requeues 0
            """;

    @TempDir
    Path folder;

    private final Host host = new Host();
    private final List<String> said = new ArrayList<>();

    /** Classes as the host has them, and what it was asked. */
    private static final class Host implements HtbControl {
        final Map<String, HtbClass> tree = new LinkedHashMap<>(HtbClass.parse(TREE));
        final List<String> asked = new ArrayList<>();

        @Nullable
        String refusal;

        volatile @Nullable Error fault;

        @Override
        public Map<String, HtbClass> show(String device) throws HostException {
            if (fault != null) {
                throw fault;
            }
            if (!device.equals("eth1")) {
                throw new HostException("no interface " + device);
            }
            return tree;
        }

        @Override
        public void change(String device, HtbClass wanted) throws HostException {
            if (refusal != null) {
                throw new HostException(refusal);
            }
            asked.add(String.join(" ", wanted.change(device)));
            tree.put(wanted.id(), wanted);
        }

        /** Has the class 1:10 so much waiting, and so much sent more. */
        void load(long backlogBytes, long sentBytes) {
            HtbClass now = video(tree);
            tree.put(
                    "1:10",
                    new HtbClass(
                            "1:10",
                            "1:1",
                            now.kept(),
                            "",
                            now.rateBytesPerSecond(),
                            now.ceilBytesPerSecond(),
                            now.sentBytes() + sentBytes,
                            0,
                            backlogBytes));
        }
    }

    private static HtbClass video(Map<String, HtbClass> tree) {
        return Objects.requireNonNull(tree.get("1:10"));
    }

    private static TcRule rule(String id, long rate) {
        return new TcRule(
                "eth1",
                id,
                new TcRule.Trigger(null, null, null, 64_000L),
                rate / 8,
                null,
                Duration.ofSeconds(1),
                Duration.ofSeconds(10));
    }

    private TrafficControl control(boolean dryRun, TcRule... rules) {
        return new TrafficControl(
                List.of(rules), dryRun, host, folder.resolve("changes"), () -> new QosStatus(List.of()), said::add);
    }

    /** Looks each half second. */
    private static void look(TrafficControl control, int fromTenths, int toTenths) {
        for (int tenths = fromTenths; tenths < toTenths; tenths += 5) {
            control.look(TimeUnit.MILLISECONDS.toNanos(100L * tenths));
        }
    }

    @Test
    void classesAreReadAsTcPrintsThem() {
        HtbClass read = video(HtbClass.parse(TREE));
        assertThat(read.parent()).isEqualTo("1:1");
        assertThat(read.kept())
                .containsExactlyInAnyOrderEntriesOf(
                        Map.of("prio", "1", "quantum", "25000", "burst", "1600b", "cburst", "15Kb"));
        assertThat(List.of(read.rateBytesPerSecond(), read.ceilBytesPerSecond(), read.sentBytes()))
                .containsExactly(250_000L, 500_000L, 7_000L);
        assertThat(List.of(read.droppedPackets(), read.backlogBytes())).containsExactly(3L, 131_072L);
        assertThat(video(HtbClass.parse(TREE.replace("quantum 25000", "quantum 25000 overhead 4")))
                        .unkept())
                .isEqualTo("overhead 4");
    }

    /** As tc prints a class that was added with {@code estimator 1s 8s}. */
    @Test
    void aBacklogIsReadBehindWhatARateEstimatorSays() {
        String estimated = TREE.replace(" backlog 128Kb", " rate 2000bit 3pps backlog 128Kb");
        assertThat(video(HtbClass.parse(estimated)).backlogBytes()).isEqualTo(131_072);
    }

    @Test
    void whatTcSaysIsNotTakenForAMissingInterface() {
        assertThat(TcProgram.whyNotShown("d9", "Cannot find device \"d9\""))
                .startsWith("no interface d9: correct the name");
        assertThat(TcProgram.whyNotShown("d0", "Cannot open netlink socket: Too many open files"))
                .isEqualTo("tc does not show the classes of d0: Cannot open netlink socket: Too many open files");
        assertThat(TcProgram.whyNotChanged("RTNETLINK answers: Operation not permitted"))
                .contains("CAP_NET_ADMIN");
        assertThat(TcProgram.whyNotChanged("RTNETLINK answers: Invalid argument"))
                .startsWith("tc refuses: ");
    }

    @Test
    void whatIsThrownAndWhoInterruptsEndsNothing() throws Exception {
        TcRule atOnce = new TcRule(
                "eth1",
                "1:10",
                new TcRule.Trigger(null, null, null, 64_000L),
                625_000,
                null,
                Duration.ZERO,
                Duration.ofDays(1));
        TrafficControl control = control(false, atOnce);
        host.load(100_000, 0);
        host.fault = new OutOfMemoryError("as the test says");
        Thread thread = new Thread(control, "traffic control");
        thread.setDaemon(true);
        thread.start();
        eventually().until(() -> state(control) == TcStatus.State.UNUSABLE);
        assertThat(control.status().rules().get(0).why()).endsWith("OutOfMemoryError: as the test says");
        thread.interrupt();
        host.fault = null;
        eventually().until(() -> state(control) == TcStatus.State.CHANGED);
        control.close();
        assertThat(video(host.tree).shares()).isEqualTo("2Mbit/s, ceil 4Mbit/s");
        assertThat(said).hasSize(3); // That it failed, and the class there and back: each once.
    }

    private static TcStatus.State state(TrafficControl control) {
        return control.status().rules().get(0).state();
    }

    /** As where the disk is full: a class whose rate could not be given back is not touched. */
    @Test
    void aClassIsNotChangedThatCannotBeWrittenDown() throws Exception {
        TrafficControl control = control(false, rule("1:10", 5_000_000));
        Files.createDirectory(folder.resolve("changes.new"));
        host.load(100_000, 0);
        look(control, 0, 15);
        assertThat(host.asked).isEmpty();
        assertThat(said)
                .hasSize(2)
                .anyMatch(line -> line.startsWith("cannot write down what is changed: "))
                .endsWith("class 1:10 of eth1 is left as it is: what it had cannot be written down for the node after "
                        + "this one");
        Files.delete(folder.resolve("changes.new"));
        look(control, 15, 125);
        assertThat(host.asked).hasSize(1);
    }

    @Test
    void aCongestedClassGetsItsRateAndWhatItHadWhenItIsCalm() {
        TrafficControl control = control(false, rule("1:10", 5_000_000));
        host.load(100_000, 0);
        look(control, 0, 10);
        assertThat(host.asked).as("not before it was congested for a second").isEmpty();
        look(control, 10, 15);
        String kept = " prio 1 quantum 25000 burst 1600b cburst 15Kb";
        String change = "class change dev eth1 parent 1:1 classid 1:10 htb rate ";
        assertThat(host.asked).containsExactly(change + "5000000bit ceil 5000000bit" + kept);
        assertThat(folder.resolve("changes")).hasContent("eth1 1:10 250000 500000 1600b 15Kb 625000 625000");
        assertThat(control.status().rules().get(0).state()).isEqualTo(TcStatus.State.CHANGED);

        host.load(0, 0);
        look(control, 15, 115);
        assertThat(host.asked).as("calm for less than 10 s").hasSize(1);
        look(control, 115, 125);
        assertThat(host.asked).hasSize(2).endsWith(change + "2000000bit ceil 4000000bit" + kept);
        assertThat(folder.resolve("changes")).doesNotExist();
        assertThat(said).hasSize(2);
        assertThat(control.status().rules().get(0).changes()).isEqualTo(2);
        assertThat(control.status().rules().get(0).last()).hasSize(2);
    }

    /** Congestion for half a second, then none, and so on. */
    @Test
    void congestionThatComesAndGoesChangesNothing() {
        TrafficControl control = control(false, rule("1:10", 5_000_000));
        for (int tenths = 0; tenths < 600; tenths += 5) {
            host.load(tenths % 10 == 0 ? 100_000 : 0, 0);
            look(control, tenths, tenths + 5);
        }
        assertThat(host.asked).isEmpty();
    }

    @Test
    void aClassKeepsItsRateWhileItSendsMoreThanItHad() {
        TrafficControl control = control(false, rule("1:10", 5_000_000));
        host.load(100_000, 0);
        look(control, 0, 15);
        for (int tenths = 15; tenths < 315; tenths += 5) {
            host.load(0, 200_000); // In half a second: 3.2 Mbit/s.
            look(control, tenths, tenths + 5);
        }
        assertThat(host.asked).hasSize(1);
        assertThat(control.status().rules().get(0).why()).contains("it sends 3200kbit/s, more than it had");
    }

    @Test
    void changesAreBoundedInTime() {
        TrafficControl control = control(false, rule("1:10", 5_000_000));
        for (int tenths = 0; tenths < 1_000; tenths += 5) {
            host.load(tenths % 130 < 20 ? 100_000 : 0, 0);
            look(control, tenths, tenths + 5);
        }
        assertThat(host.asked.size()).as("of 100 s, 10 between two changes").isBetween(4, 10);
    }

    @Test
    void ratesOfNeighboursStayBelowTheCeilOfTheirParent() {
        TrafficControl control = control(false, rule("1:10", 7_000_000));
        host.load(100_000, 0);
        look(control, 0, 300);
        assertThat(host.asked).isEmpty();
        assertThat(said)
                .containsExactly("class 1:10 of eth1 is left as it is: 7Mbit/s and 4Mbit/s of its neighbours are above "
                        + "the ceil of 10Mbit/s of 1:1: lower one of them");
    }

    @Test
    void aRefusalIsSaidOnceAndTriedAgainNoSoonerThanAChange() {
        TrafficControl control = control(false, rule("1:10", 5_000_000), rule("1:77", 1_000_000));
        host.refusal = "tc refuses: no";
        host.load(100_000, 0);
        look(control, 0, 300);
        assertThat(said)
                .containsExactlyInAnyOrder(
                        "class 1:10 of eth1 is left as it is: tc refuses: no",
                        "class 1:77 of eth1 is left as it is: no class 1:77 of HTB: correct the number, or add the "
                                + "class; there are 1:1, 1:10, 1:20");
        assertThat(control.status().rules().get(0).state()).isEqualTo(TcStatus.State.UNUSABLE);
        assertThat(folder.resolve("changes")).doesNotExist();
        host.refusal = null;
        look(control, 300, 410);
        assertThat(host.asked).hasSize(1);
    }

    @Test
    void theEndGivesBackWhatWasFound() {
        TrafficControl control = control(false, rule("1:10", 5_000_000));
        host.load(100_000, 0);
        look(control, 0, 15);
        control.giveBack(TimeUnit.SECONDS.toNanos(2));
        assertThat(video(host.tree).shares()).isEqualTo("2Mbit/s, ceil 4Mbit/s");
        assertThat(folder.resolve("changes")).doesNotExist();
    }

    @Test
    void whatACrashedNodeLeftIsSaidAndGivenBack() {
        TrafficControl crashed = control(false, rule("1:10", 5_000_000));
        host.load(100_000, 0);
        look(crashed, 0, 15);
        said.clear();
        control(false).recover();
        assertThat(said)
                .containsExactly("class 1:10 of eth1 was left at 5Mbit/s, ceil 5Mbit/s by a node that did not end in "
                        + "order; it had 2Mbit/s, ceil 4Mbit/s, and has that again");
        assertThat(video(host.tree).shares()).isEqualTo("2Mbit/s, ceil 4Mbit/s");
        assertThat(Files.exists(folder.resolve("changes"))).isFalse();
    }

    @Test
    void whatACrashedNodeLeftIsTriedAgainAndNoRuleTakesItForFound() {
        TrafficControl crashed = control(false, rule("1:10", 5_000_000));
        host.load(100_000, 0);
        look(crashed, 0, 15);
        host.refusal = "busy";
        TrafficControl next = control(false, rule("1:10", 5_000_000));
        next.recover();
        look(next, 0, 95);
        assertThat(video(host.tree).shares()).isEqualTo("5Mbit/s, ceil 5Mbit/s");
        assertThat(next.status().rules().get(0).state()).isEqualTo(TcStatus.State.UNUSABLE);
        host.refusal = null;
        host.load(0, 0);
        look(next, 100, 105);
        assertThat(video(host.tree).shares()).isEqualTo("2Mbit/s, ceil 4Mbit/s");
        assertThat(Files.exists(folder.resolve("changes"))).isFalse();
        assertThat(next.status().rules().get(0).state()).isEqualTo(TcStatus.State.AS_FOUND);
    }

    @Test
    void whatSomebodyElseSetBesideTheRateStays() {
        TrafficControl control = control(false, rule("1:10", 5_000_000));
        host.load(100_000, 0);
        look(control, 0, 15);
        HtbClass now = video(host.tree);
        Map<String, String> kept = new LinkedHashMap<>(now.kept());
        kept.put("prio", "5");
        host.tree.put(
                "1:10",
                new HtbClass(
                        now.id(),
                        now.parent(),
                        kept,
                        "",
                        now.rateBytesPerSecond(),
                        now.ceilBytesPerSecond(),
                        now.sentBytes(),
                        0,
                        0));
        control.giveBack(TimeUnit.SECONDS.toNanos(21));
        assertThat(video(host.tree).shares()).isEqualTo("2Mbit/s, ceil 4Mbit/s");
        assertThat(video(host.tree).kept()).containsEntry("prio", "5");
    }

    @Test
    void aClassThatSomebodyElseChangedIsTheirs() {
        TrafficControl control = control(false, rule("1:10", 5_000_000));
        host.load(100_000, 0);
        look(control, 0, 15);
        host.tree.put("1:10", video(host.tree).with(375_000, 375_000));
        host.load(0, 0);
        look(control, 15, 200);
        control.giveBack(TimeUnit.SECONDS.toNanos(21));
        assertThat(host.asked).hasSize(1);
        assertThat(said)
                .hasSize(2)
                .endsWith("class 1:10 of eth1 was changed by somebody else to 3Mbit/s, ceil 3Mbit/s: it stays so");
    }

    @Test
    void aDryRunSaysAndChangesNothing() {
        TrafficControl control = control(true, rule("1:10", 5_000_000));
        host.load(100_000, 0);
        look(control, 0, 15);
        control.giveBack(TimeUnit.SECONDS.toNanos(2));
        assertThat(host.asked).isEmpty();
        assertThat(folder.resolve("changes")).doesNotExist();
        assertThat(said)
                .containsExactly(
                        "class 1:10 of eth1 would be now at 5Mbit/s, ceil 5Mbit/s, from 2Mbit/s, ceil 4Mbit/s: "
                                + "backlog 100000 of 64000 bytes");
    }

    /** Measured at the node's links: the mean wait of what left since the look before. */
    @Test
    void delayIsThatOfAClassAtTheNodesLinks() {
        TcRule.Trigger when = new TcRule.Trigger("video", Duration.ofMillis(20), null, null);
        Measure measure = new Measure(when);
        HtbClass htb = video(host.tree);
        measure.look(0, htb, links(100, 1_000, 0));
        long second = TimeUnit.SECONDS.toNanos(1);
        assertThat(measure.look(second, htb, links(200, 4_000, 0)).level()).isEqualTo(Hysteresis.Level.OVER);
        assertThat(measure.look(2 * second, htb, links(300, 5_500, 0)).level()).isEqualTo(Hysteresis.Level.BETWEEN);
        assertThat(measure.look(3 * second, htb, links(400, 6_000, 0)).level()).isEqualTo(Hysteresis.Level.CALM);
        assertThat(measure.look(4 * second, htb, links(400, 6_000, 9)).level())
                .as("nothing leaves, and some wait")
                .isEqualTo(Hysteresis.Level.OVER);
        assertThat(measure.look(5 * second, htb, new QosStatus(List.of())).text())
                .endsWith("no class video at a link of qos");
    }

    private static QosStatus links(long served, long waitedMs, long waiting) {
        QosStatus.ClassStatus video = new QosStatus.ClassStatus(
                "video",
                waiting,
                0,
                0,
                served,
                0,
                Duration.ZERO,
                0,
                Map.of(),
                new QosStatus.Waiting(List.of(served), TimeUnit.MILLISECONDS.toNanos(waitedMs)));
        return new QosStatus(List.of(new QosStatus.Point("uplink", "wfq", List.of(video))));
    }
}
