package org.tamanoir.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.tamanoir.nodeos.Fate;
import org.tamanoir.nodeos.Flow;
import org.tamanoir.nodeos.Level;
import org.tamanoir.nodeos.LevelException;
import org.tamanoir.nodeos.LevelStatus;
import org.tamanoir.nodeos.NodeOs;
import org.tamanoir.nodeos.Policy;
import org.tamanoir.nodeos.Share;

/** Why a level is not there, and why it cannot do a thing. */
class KernelReasonsTest {
    private static final Set<Level> ALL = EnumSet.allOf(Level.class);
    private static final long NET_ADMIN = 1L << 12;
    private static final long SYS_ADMIN = 1L << 21;
    private static final long BPF = 1L << 39;
    private static final HostFacts GOOD = new HostFacts(null, NET_ADMIN | BPF, null, List.of(), null);

    @Test
    void aHostThatHasAllHasAllLevels() {
        for (Level level : List.of(Level.MODULE, Level.TC, Level.XDP)) {
            assertThat(why(level, ALL, GOOD)).isNull();
        }
        assertThat(why(Level.TC, ALL, new HostFacts(null, NET_ADMIN | SYS_ADMIN, null, List.of(), null)))
                .isNull();
    }

    @Test
    void aLevelThatIsNotConfiguredIsOff() {
        assertThat(why(Level.XDP, Set.of(Level.TC), GOOD))
                .isEqualTo("off: the configuration does not name it among the levels");
    }

    @Test
    void eachThingThatIsMissingHasItsReason() {
        HostFacts noNative = new HostFacts("needs Linux", 0, null, List.of(), null);
        assertThat(why(Level.MODULE, ALL, noNative)).isEqualTo("needs Linux");
        HostFacts noRight = new HostFacts(null, BPF, null, List.of(), null);
        assertThat(why(Level.MODULE, ALL, noRight))
                .isEqualTo("needs CAP_NET_ADMIN: run the node as root or give it that capability");
        HostFacts noBpfRight = new HostFacts(null, NET_ADMIN, null, List.of(), null);
        assertThat(why(Level.MODULE, ALL, noBpfRight)).isNull();
        assertThat(why(Level.TC, ALL, noBpfRight))
                .isEqualTo("needs CAP_BPF: run the node as root or give it that capability");
        HostFacts noLibrary = new HostFacts(null, NET_ADMIN | BPF, "no libbpf", List.of(), "no module");
        assertThat(why(Level.XDP, ALL, noLibrary)).isEqualTo("no libbpf");
        assertThat(why(Level.MODULE, ALL, noLibrary)).isEqualTo("no module");
        HostFacts noInterface = new HostFacts(null, NET_ADMIN | BPF, null, List.of("eth7", "eth8"), null);
        assertThat(why(Level.TC, ALL, noInterface))
                .isEqualTo("interface eth7, eth8 does not exist: name interfaces that \"ip link\" shows");
    }

    private static @Nullable String why(Level level, Set<Level> enabled, HostFacts facts) {
        return LevelReasons.unavailable(level, enabled, facts);
    }

    @Test
    void xdpHandlesWholeFlowsOfUdpInNoOrder() throws Exception {
        Flow tcp = new Flow(Flow.Protocol.TCP, null, null, null);
        assertThat(impossible(Level.XDP, tcp, Policy.forward(), false)).isEqualTo("handles UDP alone");
        assertThat(impossible(Level.XDP, Flow.ANY, Policy.up(), false))
                .isEqualTo("handles all packets of a flow itself");
        assertThat(impossible(Level.XDP, Flow.ANY, Policy.forward(), true))
                .isEqualTo("begins only while no packet comes, as it cannot wait for those on their way up");
        assertThat(impossible(Level.XDP, Flow.ANY, Policy.drop(), false)).isNull();
        assertThat(impossible(Level.TC, tcp, Policy.forward().share(Share.every(2)), true))
                .isNull();
    }

    @Test
    void theModuleDoesNotRedirect() {
        Policy redirect = Policy.forward().fate(new Fate.Redirect("lo"));
        assertThat(impossible(Level.MODULE, Flow.ANY, redirect, false)).isEqualTo("the module does not redirect");
        assertThat(impossible(Level.TC, Flow.ANY, redirect, false)).isNull();
        assertThat(impossible(Level.MODULE, Flow.ANY, Policy.up(), true)).isNull();
    }

    private static @Nullable String impossible(Level level, Flow flow, Policy policy, boolean isOrdered) {
        return LevelReasons.impossible(level, flow, policy, isOrdered);
    }

    @Test
    void connectionsGoOnUpOrEnd() throws Exception {
        Flow tcp = new Flow(Flow.Protocol.TCP, null, InetAddress.getByName("10.0.0.1"), null);
        assertThat(LevelReasons.impossible(tcp, Policy.drop().share(Share.first(2))))
                .isNull();
        assertThat(LevelReasons.impossible(
                        tcp, Policy.forward().fate(new Fate.To(new InetSocketAddress("10.0.0.2", 1)))))
                .isEqualTo("a level steers TCP by connection: its fate is to go on or to end");
    }

    @Test
    void aHostWithoutLevelsOpensAndSaysWhy() throws Exception {
        HostFacts facts = new HostFacts("needs Linux", 0, "needs Linux", List.of(), "needs Linux");
        try (NodeOs os = KernelBridge.open(config(), facts)) {
            assertThat(os.levels()).extracting(LevelStatus::isThere).containsExactly(true, false, false, false);
            assertThat(os.levels().get(2).detail()).isEqualTo("needs Linux");
            assertThatThrownBy(() -> os.attach(List.of(new InetSocketAddress("0.0.0.0", 3322)), List.of(), 1))
                    .isInstanceOf(LevelException.class)
                    .hasMessage("no level can be used: xdp: needs Linux; tc: needs Linux; module: needs Linux");
            assertThat(os.upMark()).isZero();
            assertThatThrownBy(() -> os.offload(List.of(1L), Flow.ANY, Policy.forward(), Set.of(Level.TC), false))
                    .hasMessage("no level can: tc: needs Linux");
            os.settled(5, 1);
            os.settled(-1, 1);
            os.settled(70_000, 1);
            os.lost(1);
        }
    }

    @Test
    void withoutInterfacesNoLevelIsAskedFor() {
        assertThat(KernelBridge.open(KernelConfig.OFF)).isSameAs(NodeOs.NONE);
    }

    @Test
    void anotherAbiVersionOfTheModuleIsRefused() throws Exception {
        ModuleDriver.checkVersion(1);
        assertThatThrownBy(() -> ModuleDriver.checkVersion(2))
                .isInstanceOf(LevelException.class)
                .hasMessage(
                        "module tamanoir has ABI version 2, this node speaks 1: install the module of this version");
    }

    @Test
    void aHostWithoutTheModuleNamesTheRemedy() {
        org.tamanoir.support.Tiers.require(
                "native", System.getProperty("os.name").equals("Linux"), "needs Linux");
        if (!java.nio.file.Files.exists(java.nio.file.Path.of("/sys/module/tamanoir"))) {
            assertThatThrownBy(ModuleDriver::open)
                    .isInstanceOf(LevelException.class)
                    .hasMessage("module tamanoir is not loaded: modprobe tamanoir, or insmod tamanoir.ko");
        }
    }

    private static KernelConfig config() {
        return new KernelConfig(ALL, List.of("eth0"), true);
    }

    @Test
    void everyNumberOfWhatLevelsMeetHasAName() {
        for (int met = 0; met < Abi.MET_COUNT; met++) {
            assertThat(AttachedLevels.metName(met)).matches("[a-z-]+");
        }
        assertThat(AttachedLevels.metName(Abi.MET_CONNECTIONS)).isEqualTo("connections");
        assertThat(AttachedLevels.metName(Abi.MET_TYPE_ID)).isEqualTo("type-id");
    }

    @Test
    void configurationsNameInterfacesAsTheKernelDoes() {
        assertThat(KernelConfig.OFF.interfaces()).isEmpty();
        assertThat(KernelConfig.OFF.unknownUp()).isTrue();
        assertThat(KernelConfig.OFF.levels()).isEqualTo(ALL);
        for (String name : List.of("", "a b", "0123456789abcdef", "a/b")) {
            assertThatThrownBy(() -> new KernelConfig(ALL, List.of(name), true))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessage("interface \"" + name + "\": must be 1 to 15 characters, as ip link names it");
        }
        assertThatThrownBy(() -> new KernelConfig(ALL, java.util.Collections.nCopies(17, "eth0"), true))
                .hasMessage("17 interfaces: must be at most 16");
    }
}
