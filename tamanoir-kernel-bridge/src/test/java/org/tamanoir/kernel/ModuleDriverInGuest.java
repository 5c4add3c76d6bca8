package org.tamanoir.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;
import static org.junit.jupiter.api.Assumptions.assumeTrue;
import static org.tamanoir.support.Waiting.eventually;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
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
import org.tamanoir.support.Namespaces;
import org.tamanoir.support.Seeds;
import org.tamanoir.support.TestNet;
import org.tamanoir.support.Tiers;

/** The bridge with the real netfilter module, alone and beside the BPF levels. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ModuleDriverInGuest {
    private static final Set<Level> ALL = EnumSet.allOf(Level.class);

    private static final @Nullable String MODULE = System.getenv("TAMANOIR_MODULE");

    private BridgeNet net;
    private NodeOs os = NodeOs.NONE;

    @BeforeAll
    void makeNet() throws Exception {
        Tiers.require(
                "module", MODULE != null, "no module in TAMANOIR_MODULE: this runs in the guest, see native/vm/test");
        net = new BridgeNet("module");
    }

    @BeforeEach
    void load() {
        if (!Files.exists(Path.of("/sys/module/tamanoir"))) {
            Namespaces.shell("insmod " + MODULE);
        }
        net.forget();
    }

    @AfterEach
    void detach() throws Exception {
        net.close(os);
    }

    @AfterAll
    void unload() {
        if (net != null) {
            net.close();
            Namespaces.shell("if [ -e /sys/module/tamanoir ]; then rmmod tamanoir; fi");
        }
    }

    /**
     * The kernel holds the packet between XDP and tc, and with that the module, until the policy is gone. The module knows
     * of that for a second: a try that took longer shows nothing.
     */
    @Test
    void whatXdpHasHandledTheModuleLeavesAlone() throws Exception {
        os = net.attach(BridgeNet.PORT, Level.MODULE, Level.TC, Level.XDP);
        for (int tries = 0; !leavesAloneWhatXdpHasHandled(); tries++) {
            assumeTrue(tries < 20, "the emulator took more than a second each time");
            net.forget();
        }
        assertThat(net.classesAtNode).isEqualTo(Set.of(BridgeNet.CLASS));
        assertThat(net.classesAtServer).isEqualTo(Set.of(9));
        eventually()
                .ignoreException(LevelException.class)
                .untilAsserted(() -> assertThat(drop().level()).isEqualTo(Level.MODULE));
    }

    private boolean leavesAloneWhatXdpHasHandled() throws Exception {
        Offload offload =
                os.offload(List.of(BridgeNet.KEY), Flow.ANY, Policy.forward().markClass(9), Set.of(Level.XDP), false);
        net.net.hold(TestNet.ROUTER_CLIENT_DEVICE, Duration.ofSeconds(60));
        String refusal = "";
        long closedNs = System.nanoTime();
        try {
            net.send(1, BridgeNet.PORT);
            eventually().untilAsserted(() -> assertThat(offload.counters().on()).isEqualTo(1));
            assertThatThrownBy(() -> os.move(offload, Policy.drop(), Set.of(Level.MODULE), false))
                    .hasMessageContaining("move to tc first, or close the policy");
            closedNs = System.nanoTime();
            offload.close();
            drop().close();
        } catch (LevelException e) {
            refusal = e.getMessage();
        } finally {
            net.net.hold(TestNet.ROUTER_CLIENT_DEVICE, Duration.ZERO);
        }
        net.exchange(os, 2, 1); // has the kernel let it go
        if (System.nanoTime() - closedNs >= 1_000_000_000) {
            return false;
        }
        assertThat(refusal)
                .isEqualTo(
                        "no level can: module: packets that xdp or tc has handled may be on their way to it: ask again in"
                                + " a second");
        return true;
    }

    private Offload drop() throws LevelException {
        return os.offload(List.of(BridgeNet.KEY), Flow.ANY, Policy.drop(), Set.of(Level.MODULE), false);
    }

    @Test
    void withoutTheModuleTheRemedyIsNamed() throws Exception {
        Namespaces.shell("rmmod tamanoir");
        assertThatThrownBy(() -> net.attach(BridgeNet.PORT, Level.MODULE))
                .isInstanceOf(LevelException.class)
                .hasMessageContaining(
                        "module: module tamanoir is not loaded: modprobe tamanoir, or insmod tamanoir.ko");
    }

    @Test
    void packetsComeUpUntilAPolicySendsThemOn() throws Exception {
        os = net.attach(BridgeNet.PORT, Level.MODULE);
        assertThat(os.levels())
                .filteredOn(status -> status.level() == Level.MODULE)
                .extracting(LevelStatus::isThere, LevelStatus::detail)
                .containsExactly(tuple(true, "module 0.1.0, netfilter"));
        net.exchange(os, 1, 10);
        assertThat(net.atNode).hasSize(10);
        assertThat(net.marks).containsExactly(os.upMark());
        Offload offload =
                os.offload(List.of(BridgeNet.KEY), Flow.ANY, Policy.forward().markClass(3), ALL, false);
        net.exchange(os, 1, 10);
        assertThat(net.atServer).hasSize(10);
        assertThat(offload.counters().on()).isEqualTo(10);
        assertThat(offload.counters().marked()).isEqualTo(10);
        assertThat(os.levels())
                .filteredOn(status -> status.level() == Level.MODULE)
                .allSatisfy(status -> assertThat(status.met())
                        .containsEntry("seen", 20L)
                        .containsEntry("no-policy", 10L)
                        .containsEntry("policy", 10L));
        offload.close();
        net.exchange(os, 1, 10);
        assertThat(net.atNode).hasSize(20);
        assertThat(offload.counters().packets()).isEqualTo(10);
        assertThatThrownBy(() -> os.offload(
                        List.of(BridgeNet.KEY), Flow.ANY, Policy.forward().fate(new Fate.Redirect("rs")), ALL, false))
                .hasMessageContaining("module: the module does not redirect");
    }

    @Test
    void theFirstComeUpAndNoneIsOvertaken() throws Exception {
        os = net.attach(BridgeNet.PORT, Level.MODULE);
        Offload offload =
                os.offload(List.of(BridgeNet.KEY), Flow.ANY, Policy.forward().share(Share.first(200)), ALL, false);
        net.exchange(os, 1, 400);
        assertThat(net.atNode.size()).isBetween(200, 200 + 64);
        assertThat(net.atNode).isSorted();
        assertThat(net.atServer).isSorted();
        assertThat(net.atServer.get(0)).isGreaterThan(net.atNode.get(net.atNode.size() - 1));
        assertThat(offload.counters().up()).isEqualTo(net.atNode.size());
        assertThat(offload.counters().on()).isEqualTo(net.atServer.size());
    }

    @Test
    void aStormOfChangesLosesNothing() throws Exception {
        os = net.attach(BridgeNet.PORT, Level.MODULE);
        long seed = Seeds.ofCommit(ModuleDriverInGuest.class);
        Random random = new Random(seed);
        List<Policy> policies = List.of(
                Policy.forward(),
                Policy.forward().mark(new Mark.At(8, 1, 0x80)),
                Policy.forward().share(Share.every(2)),
                Policy.forward().share(Share.first(7)),
                Policy.forward().rules(List.of(Rule.all(false)), true),
                Policy.up());
        Offload offload = os.offload(List.of(BridgeNet.KEY), Flow.ANY, Policy.forward(), ALL, false);
        for (int round = 0; round < 200; round++) {
            for (int i = random.nextInt(10); i > 0; i--) {
                net.send(1, BridgeNet.PORT);
            }
            offload.change(policies.get(random.nextInt(policies.size())));
            net.take(os);
        }
        net.exchange(os, 1, 1);
        LevelCounters counters = offload.counters();
        assertThat(net.arrived()).as("seed " + seed).isEqualTo(net.sent());
        assertThat(counters.on()).isEqualTo(net.atServer.size());
        assertThat(counters.up()).isEqualTo(net.atNode.size());
        assertThat(counters.packets()).isEqualTo(net.sent());
    }

    @Test
    void levelsBesideEachOtherLeaveEachOthersPacketsAlone() throws Exception {
        os = net.attach(BridgeNet.PORT, Level.MODULE, Level.TC, Level.XDP);
        assertThat(os.levels())
                .allSatisfy(status ->
                        assertThat(status.isThere()).as(status.detail()).isTrue());
        List<Offload> offloads = new ArrayList<>();
        for (Level level : List.of(Level.MODULE, Level.TC, Level.XDP)) {
            offloads.add(os.offload(
                    List.of(BridgeNet.KEY),
                    new Flow(Flow.Protocol.UDP, null, null, (long) level.ordinal()),
                    Policy.forward(),
                    Set.of(level),
                    false));
            assertThat(offloads.get(offloads.size() - 1).level()).isEqualTo(level);
        }
        for (int stream = 0; stream < 4; stream++) {
            net.exchange(os, stream, 20); // of stream 0 nobody knows
        }
        assertThat(net.atNode).hasSize(20);
        assertThat(net.atServer).hasSize(60);
        assertThat(offloads).allSatisfy(each -> assertThat(each.counters().on()).isEqualTo(20));

        for (Offload each : offloads) {
            each.close();
        }
        for (int stream = 0; stream < 4; stream++) {
            net.exchange(os, stream, 20);
        }
        assertThat(net.atNode).hasSize(100);
        assertThat(net.marks).containsExactly(os.upMark());
    }

    @Test
    void whatANodeInstalledGoesWithIt() throws Exception {
        os = net.attach(BridgeNet.PORT, Level.MODULE);
        Offload offload = os.offload(List.of(BridgeNet.KEY), Flow.ANY, Policy.drop(), ALL, false);
        net.close(os);
        net.exchange(NodeOs.NONE, 1, 10);
        assertThat(net.atServer).hasSize(10);
        assertThat(offload.isClosed()).isTrue();
        assertThat(net.traces()).doesNotContain("fwmark");
    }

    @Test
    void whenTheModuleIsUnloadedTheNodeSaysSoAndGoesOn() throws Exception {
        os = net.attach(BridgeNet.PORT, Level.MODULE);
        Offload offload = os.offload(List.of(BridgeNet.KEY), Flow.ANY, Policy.forward(), ALL, false);
        net.exchange(os, 1, 5);
        Namespaces.shell("rmmod tamanoir");
        net.exchange(os, 1, 5);
        assertThat(net.atServer).hasSize(10);
        assertThatThrownBy(() -> offload.change(Policy.up())).isInstanceOf(LevelException.class);
        assertThat(os.levels())
                .filteredOn(status -> status.level() == Level.MODULE)
                .allSatisfy(status -> assertThat(status.isThere()).isFalse());
        os.settled(1, 5);
        offload.close();
    }
}
