package org.tamanoir.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.tamanoir.support.Waiting.eventually;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.tamanoir.nodeos.Fate;
import org.tamanoir.nodeos.Flow;
import org.tamanoir.nodeos.Level;
import org.tamanoir.nodeos.LevelCounters;
import org.tamanoir.nodeos.LevelException;
import org.tamanoir.nodeos.LevelStatus;
import org.tamanoir.nodeos.Mark;
import org.tamanoir.nodeos.NodeOs;
import org.tamanoir.nodeos.Offload;
import org.tamanoir.nodeos.Policy;
import org.tamanoir.nodeos.Rule;
import org.tamanoir.nodeos.Share;
import org.tamanoir.support.Seeds;
import org.tamanoir.support.TestNet;
import org.tamanoir.support.Waiting;

/** The whole bridge with traffic control on a router between a client and a server. */
@Tag("namespace")
class BridgeTest {
    private static final Set<Level> ALL = EnumSet.allOf(Level.class);
    /** Service keys that have policies at most. */
    private static final int SERVICES = 4096;

    private BridgeNet net;
    private String before;
    private NodeOs os = NodeOs.NONE;

    @BeforeEach
    void makeNet() throws Exception {
        BpfBed.require();
        net = new BridgeNet("bridge");
        before = net.traces();
    }

    @AfterEach
    void closeNet() throws Exception {
        if (net != null) {
            net.close(os);
            String after = net.traces();
            net.close();
            assertThat(after).as("left behind").isEqualTo(before);
        }
    }

    @Test
    void rulesRoutesAndFiltersAppearAndVanish() throws Exception {
        os = net.attach();
        assertThat(net.traces())
                .contains("tmn_tc", "fwmark 0x54000000/0xfff00000", "local default dev lo", "/sys/fs/bpf/tamanoir-");
        assertThat(os.levels())
                .extracting(LevelStatus::level, LevelStatus::isThere)
                .contains(
                        Assertions.tuple(Level.JVM, true),
                        Assertions.tuple(Level.TC, true),
                        Assertions.tuple(Level.XDP, false));
        net.close(os);
        assertThat(net.traces()).isEqualTo(before);
        net.close(os);
        assertThat(os.upMark()).isZero();
        assertThatThrownBy(() -> os.offload(List.of(1L), Flow.ANY, Policy.forward(), ALL, false))
                .isInstanceOf(LevelException.class)
                .hasMessage("the levels of this node are closed");
    }

    @Test
    void packetsComeUpUntilAPolicySendsThemOn() throws Exception {
        os = net.attach();
        net.exchange(os, 1, 10);
        assertThat(net.atNode).hasSize(10);
        assertThat(net.marks).containsExactly(os.upMark());

        Offload offload = os.offload(List.of(BridgeNet.KEY), Flow.ANY, Policy.forward(), ALL, false);
        net.exchange(os, 1, 10);
        assertThat(net.atServer).hasSize(10);
        assertThat(offload.level()).isEqualTo(Level.TC);
        assertThat(offload.counters().on()).isEqualTo(10);
        assertThat(os.offloads()).containsExactly(offload);

        offload.close();
        offload.close();
        assertThat(offload.isClosed()).isTrue();
        assertThat(os.offloads()).isEmpty();
        net.exchange(os, 1, 10);
        assertThat(net.atNode).hasSize(20);
        assertThat(offload.counters().packets()).isEqualTo(10);
        assertThatThrownBy(() -> offload.change(Policy.drop()))
                .isInstanceOf(LevelException.class)
                .hasMessage("the policy was closed: ask for a new one");
    }

    @Test
    void theFirstComeUpAndNoneIsOvertaken() throws Exception {
        os = net.attach();
        Offload offload =
                os.offload(List.of(BridgeNet.KEY), Flow.ANY, Policy.forward().share(Share.first(500)), ALL, false);
        net.exchange(os, 1, 500 + 64); // At its end none is on its way.
        net.exchange(os, 1, 1_436);
        assertThat(net.atNode.size()).isBetween(500, 500 + 64);
        assertThat(net.atNode).isSorted();
        assertThat(net.atServer).isSorted();
        assertThat(net.atServer.get(0)).isGreaterThan(net.atNode.get(net.atNode.size() - 1));
        LevelCounters counters = offload.counters();
        assertThat(counters.up()).isEqualTo(net.atNode.size());
        assertThat(counters.on()).isEqualTo(net.atServer.size());
    }

    @Test
    void anOrderedPolicyWaitsForWhatIsOnItsWay() throws Exception {
        os = net.attach();
        for (int i = 0; i < 20; i++) {
            net.send(1, BridgeNet.PORT);
        }
        Offload offload = os.offload(List.of(BridgeNet.KEY), Flow.ANY, Policy.forward(), ALL, true);
        net.exchange(os, 1, 160);
        assertThat(net.atServer).as("before the node has caught up").isEmpty();
        os.awaitPassed();
        assertThat(os.awaitRead().getAsBoolean()).isTrue();
        os.caughtUp(offload);
        net.exchange(os, 1, 20); // At its end none is on its way.
        net.exchange(os, 1, 20);
        assertThat(net.atNode.size()).isBetween(180, 200);
        assertThat(net.atServer.get(0)).isGreaterThan(net.atNode.get(net.atNode.size() - 1));
        assertThat(offload.counters().up()).isEqualTo(net.atNode.size() - 20);
    }

    @Test
    void packetsThatNeverSettleDoNotKeepAQuietFlowUpForEver() throws Exception {
        os = net.attach();
        KernelOffload offload = (KernelOffload)
                os.offload(List.of(BridgeNet.KEY), Flow.ANY, Policy.forward().share(Share.first(3)), ALL, false);
        long beganNs = System.nanoTime();
        net.exchange(NodeOs.NONE, 1, 10); // the node takes them and says nothing
        long pending = pending(offload);
        if (System.nanoTime() - beganNs < UsedSlot.WINDOW_NS) { // Later they may count as lost.
            assertThat(net.atNode).hasSize(10);
            assertThat(pending).isEqualTo(10);
        }
        int on = net.atServer.size();

        eventually().untilAsserted(() -> assertThat(pending(offload)).isZero());
        net.exchange(os, 1, 10);
        assertThat(net.atServer).hasSize(on + 10);
        assertThat(offload.counters().on()).isEqualTo(on + 10);
    }

    @Test
    void packetsThatSocketsLostDoNotKeepABusyFlowUpForEver() throws Exception {
        os = net.attach();
        Offload offload =
                os.offload(List.of(BridgeNet.KEY), Flow.ANY, Policy.forward().share(Share.first(3)), ALL, false);
        net.exchange(NodeOs.NONE, 1, 10);
        os.lost(10);

        eventually().untilAsserted(() -> {
            net.exchange(os, 1, 1);
            assertThat(net.atServer).isNotEmpty();
        });
        assertThat(offload.counters().on()).isPositive();
    }

    private static long pending(KernelOffload offload) throws LevelException {
        UsedSlot slot = offload.slot();
        return AbiDecoder.state(slot.driver.state(slot.number)).pending();
    }

    @Test
    void aStormOfChangesLosesNothing() throws Exception {
        os = net.attach();
        long seed = Seeds.ofCommit(BridgeTest.class);
        Random random = new Random(seed);
        List<Policy> policies = List.of(
                Policy.forward(),
                Policy.forward().markClass(9),
                Policy.forward().mark(new Mark.At(8, 1, 0x80)).markClass(200),
                Policy.forward().share(Share.every(2)),
                Policy.forward().share(Share.every(3)),
                Policy.forward().share(Share.first(7)),
                Policy.forward().rules(List.of(Rule.all(false)), true),
                Policy.up());
        List<Offload> ended = new ArrayList<>();
        Offload offload = os.offload(List.of(BridgeNet.KEY), Flow.ANY, Policy.forward(), ALL, false);
        int changes = 0;
        for (int round = 0; round < 1_500; round++) {
            for (int i = random.nextInt(20); i > 0; i--) {
                net.sendOne(os, 1);
            }
            if (random.nextInt(50) == 0) {
                ended.add(offload);
                offload.close();
                offload = os.offload(List.of(BridgeNet.KEY), Flow.ANY, Policy.up(), ALL, true);
            } else {
                offload.change(policies.get(random.nextInt(policies.size())));
                changes++;
            }
            net.take(os);
        }
        net.exchange(os, 1, 1);
        ended.add(offload);
        LevelCounters sum = LevelCounters.ZERO;
        for (Offload each : ended) {
            sum = sum.plus(each.counters());
        }
        assertThat(net.arrived()).as("seed " + seed).isEqualTo(net.sent());
        assertThat(changes).isGreaterThan(1_000);
        assertThat(sum.on()).as("on").isEqualTo(net.atServer.size());
        assertThat(sum.up()).as("up").isLessThanOrEqualTo(net.atNode.size());
        assertThat(sum.packets()).isEqualTo(sum.on() + sum.up());
    }

    /**
     * A policy that comes and goes, as each placing has it: packets go on marked or up unmarked, and nothing else. The
     * kernel holds them between the two programs for a while.
     */
    @Test
    void aStormOfPoliciesThatComeAndGoHandlesEachPacketOnce() throws Exception {
        int most = 4_000; // of the slots, which are free again after a second
        net.net.hold(TestNet.ROUTER_CLIENT_DEVICE, Duration.ofNanos(200_000));
        os = net.attach(BridgeNet.PORT, Level.TC, Level.XDP);
        Policy mark = Policy.forward().markClass(9);
        AtomicBoolean goesOn = new AtomicBoolean(true);
        Set<Level> handled = EnumSet.noneOf(Level.class); // the first of each level stays until it has handled a packet
        CompletableFuture<Integer> storm = Waiting.async(() -> {
            int changes = 0;
            while (goesOn.get() && changes < most) {
                Level level = changes % 4 == 3 ? Level.TC : Level.XDP;
                Offload offload = os.offload(List.of(BridgeNet.KEY), Flow.ANY, mark, Set.of(level), false);
                if (handled.add(level)) {
                    eventually().until(() -> offload.counters().on() > 0);
                }
                offload.close();
                changes++;
            }
            return changes;
        });
        try {
            while (!storm.isDone()) {
                net.sendOne(os, 1);
            }
        } finally {
            goesOn.set(false);
        }
        net.exchange(os, 1, 1);
        assertThat(storm.get()).isEqualTo(most);
        assertThat(handled).containsExactlyInAnyOrder(Level.TC, Level.XDP);
        assertThat(net.classesAtNode).containsExactly(BridgeNet.CLASS);
        assertThat(net.classesAtServer).containsExactly(9);
    }

    @Test
    void tenThousandPoliciesAtOnce() throws Exception {
        os = net.attach();
        List<Offload> offloads = new ArrayList<>();
        for (long stream = 0; stream < 10_000; stream++) {
            offloads.add(os.offload(
                    List.of(BridgeNet.KEY),
                    new Flow(Flow.Protocol.UDP, null, null, stream),
                    Policy.forward(),
                    ALL,
                    false));
        }
        assertThat(os.offloads()).hasSize(10_000);
        net.exchange(os, 9_999, 5);
        net.exchange(os, 10_000, 5);
        assertThat(offloads.get(9_999).counters().on()).isEqualTo(5);
        assertThat(offloads.get(9_998).counters().packets()).isZero();
        assertThat(net.atNode).hasSize(5);
        offloads.forEach(Offload::close);
        assertThat(os.offloads()).isEmpty();
        net.exchange(os, 9_999, 5);
        assertThat(net.atNode).hasSize(10);
    }

    /** The table of service keys is full first; a policy for several keys may find room for some of them. */
    @Test
    void aFullTableRefusesInOneLineAndLeavesAllAsItWas() throws Exception {
        os = net.attach();
        Offload first = os.offload(List.of(BridgeNet.KEY), Flow.ANY, Policy.forward(), ALL, false);
        List<Offload> others = new ArrayList<>();
        for (long key = 1; key < SERVICES - 1; key++) {
            others.add(os.offload(List.of(key), Flow.ANY, Policy.drop(), ALL, false));
        }
        String full = "BPF map tmn_services: is full; take policies away";
        assertThatThrownBy(() -> os.offload(List.of(-1L, -2L), Flow.ANY, Policy.drop(), ALL, false))
                .hasMessageContaining("tc: " + full)
                .hasMessageNotContaining("\n");
        assertThat(os.offloads()).hasSize(SERVICES - 1);
        os.follow(first, List.of(BridgeNet.KEY, -3L));
        os.caughtUp(first);
        net.exchange(os, 1, 1 + 32); // The first goes up, as all that come before it has settled.
        int atNode = net.atNode.size();
        assertThatThrownBy(() -> os.follow(first, List.of(BridgeNet.KEY, -3L, -4L)))
                .hasMessage(full);
        assertThatThrownBy(() -> os.follow(others.get(0), List.of(1L, -4L))).hasMessage(full);
        net.exchange(os, 1, 100);
        assertThat(net.atNode).as("nothing goes up by what was refused").hasSize(atNode);
        os.move(first, Policy.forward().markClass(9), Set.of(Level.TC), false);
        net.exchange(os, 1, 10);
        assertThat(net.classesAtServer).contains(9);
        others.get(0).close();
        os.offload(List.of(-4L), Flow.ANY, Policy.drop(), ALL, false).close();
        assertThat(os.offloads()).hasSize(SERVICES - 2);
    }

    @Test
    void whatCannotBeIsRefusedWithTheReason() throws Exception {
        os = net.attach();
        os.offload(List.of(BridgeNet.KEY), Flow.ANY, Policy.forward(), ALL, false);
        refused(
                Flow.ANY,
                Policy.forward(),
                "the flow has a policy of service 123456789abcdef0 on tc: change that one, or close it first");
        refused(
                new Flow(Flow.Protocol.UDP, null, InetAddress.getByName(TestNet.ROUTER4), null),
                Policy.forward(),
                "flow to 10.71.1.1, this host: its packets go no further;"
                        + " send them to another address (fate To), or drop them");
        refused(
                new Flow(Flow.Protocol.TCP, null, null, null),
                Policy.forward().markClass(1),
                "a level steers TCP by connection and sees no packets: no mark and no rules for TCP");
        refused(
                new Flow(Flow.Protocol.UDP, null, InetAddress.getByName(TestNet.SERVER6), null),
                Policy.forward().fate(new Fate.To(new InetSocketAddress("10.0.0.1", 1))),
                "to /10.0.0.1:1: must be of the flow's own family");
        refused(
                new Flow(Flow.Protocol.UDP, null, null, 1L),
                Policy.forward().fate(new Fate.Redirect("no-such-if")),
                "no level can: xdp: off: the configuration does not name it among the levels; tc: network interface"
                        + " no-such-if does not exist: name one that \"ip link\" shows; module: off: the configuration"
                        + " does not name it among the levels");
        assertThatThrownBy(() -> os.offload(List.of(1L), Flow.ANY, Policy.forward(), Set.of(Level.JVM), false))
                .hasMessage("the service may run in the JVM alone: allow \"kernel\" or \"nic\" in its manifest");
        assertThat(os.offloads()).hasSize(1);
    }

    private void refused(Flow flow, Policy policy, String message) {
        assertThatThrownBy(() -> os.offload(List.of(BridgeNet.KEY), flow, policy, ALL, false))
                .isInstanceOf(LevelException.class)
                .hasMessage(message);
    }

    @Test
    void theNearestLevelToTheWireThatCanIsTaken() throws Exception {
        os = net.attach(BridgeNet.PORT, Level.TC, Level.XDP);
        Offload plain = os.offload(List.of(1L), stream(1), Policy.forward(), ALL, false);
        Offload shared = os.offload(List.of(1L), stream(2), Policy.forward().share(Share.every(2)), ALL, false);
        Offload ordered = os.offload(List.of(1L), stream(3), Policy.forward(), ALL, true);
        Offload confined = os.offload(List.of(1L), stream(4), Policy.forward(), Set.of(Level.TC), false);

        assertThat(plain.level()).isEqualTo(Level.XDP);
        assertThat(List.of(shared.level(), ordered.level(), confined.level())).containsOnly(Level.TC);
        assertThatThrownBy(() -> plain.change(Policy.up()))
                .hasMessage("xdp: handles all packets of a flow itself: close the policy and ask for another");
        assertThat(plain.policy()).isEqualTo(Policy.forward());
        plain.change(Policy.drop());
        assertThat(plain.policy()).isEqualTo(Policy.drop());
    }

    private static Flow stream(long stream) {
        return new Flow(Flow.Protocol.UDP, null, null, stream);
    }

    @Test
    void twoNodesInOneNamespaceDoNotDisturbEachOther() throws Exception {
        os = net.attach();
        NodeOs second = net.attach(4433, Level.TC);
        assertThat(second.upMark()).isEqualTo(0x5410_0000);
        assertThat(os.upMark()).isEqualTo(0x5400_0000);
        Offload first = os.offload(List.of(BridgeNet.KEY), Flow.ANY, Policy.forward(), ALL, false);
        Offload other = second.offload(List.of(BridgeNet.KEY), Flow.ANY, Policy.drop(), ALL, false);

        net.exchange(os, 1, 5);
        net.send(1, 4433);
        eventually().untilAsserted(() -> assertThat(other.counters().dropped()).isEqualTo(1));
        assertThat(first.counters().on()).isEqualTo(5);

        net.close(second);
        assertThat(other.counters().dropped()).isEqualTo(1);
        assertThat(net.traces()).contains("fwmark 0x54000000").doesNotContain("fwmark 0x54100000");
        assertThat(first.counters().on()).isEqualTo(5);
    }

    @Test
    void aNodeOnOneAddressAloneIsToldWhatToListenOn() throws Exception {
        String message = net.net.namespaces().in(net.net.router(), () -> {
            try (NodeOs unattached = KernelBridge.open(BridgeNet.config(Level.TC))) {
                unattached.attach(List.of(new InetSocketAddress("127.0.0.1", 3322)), List.of(), 1);
                return "attached";
            } catch (LevelException refused) {
                return String.valueOf(refused.getMessage());
            }
        });
        assertThat(message)
                .isEqualTo("no socket of the node takes packets for other hosts, it listens on 127.0.0.1:3322:"
                        + " listen on *:PORT, as in *:3322");
    }

    @Test
    void addressesThatComeLaterAreLearnt() throws Exception {
        os = net.attach();
        Flow flow = new Flow(Flow.Protocol.UDP, null, InetAddress.getByName("10.71.1.77"), null);
        Offload before = os.offload(List.of(1L), flow, Policy.forward(), ALL, false);
        before.close();
        net.net.namespaces().address(net.net.router(), TestNet.ROUTER_CLIENT_DEVICE, "10.71.1.77/24");
        eventually()
                .untilAsserted(() -> assertThatThrownBy(
                                () -> os.offload(List.of(1L), flow, Policy.forward(), ALL, false)
                                        .close())
                        .hasMessageContaining("this host"));
    }
}
