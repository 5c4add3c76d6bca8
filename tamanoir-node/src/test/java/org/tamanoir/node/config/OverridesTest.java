package org.tamanoir.node.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.kernel.KernelConfig;
import org.tamanoir.nodeos.Level;
import org.tamanoir.routing.NextHop;
import org.tamanoir.routing.NextHop.Kind;
import org.tamanoir.routing.NextHop.Transport;
import org.tamanoir.routing.Prefix;
import org.tamanoir.routing.Route;
import org.tamanoir.service.FailurePolicy;
import org.tamanoir.transport.TransportKind;

class OverridesTest {
    private static final String FILE = """
            listen: {tcp: [1000], udp: [1001]}
            routes:
              - {to: 10.0.2.0/24, via: 127.0.0.1:3323}
              - {to: 10.0.3.0/24, via: 127.0.0.1:3324}
            services:
              - name: org.tamanoir.node.Announced
                failure-policy: close
                config: {mark: 7, other: 8}
            """;

    private final Problems problems = new Problems();
    private final NodeConfigBuilder settings = new NodeConfigBuilder(problems);

    private Overrides overrides() {
        ConfigFile.parse("f", FILE, settings);
        return new Overrides(settings);
    }

    @Test
    void addressesReplaceAllOfTheFile() {
        Overrides overrides = overrides();
        overrides.setting(NodeSettings.UDP_ADDRESSES, List.of("127.0.0.2:4001"));
        overrides.setting(NodeSettings.TLS_ADDRESSES, List.of("4002"));
        overrides.listen(List.of("4000"));
        InetSocketAddress both = new InetSocketAddress("127.0.0.1", 4000);
        assertThat(settings.values.get(NodeSettings.TCP)).containsExactly(both);
        assertThat(settings.values.get(NodeSettings.UDP_ADDRESSES))
                .containsExactly(both, new InetSocketAddress("127.0.0.2", 4001));
        assertThat(problems.lines()).isEmpty();
    }

    @Test
    void withoutOptionsTheFileStands() {
        Overrides overrides = overrides();
        overrides.listen(List.of());
        assertThat(settings.values.get(NodeSettings.TCP)).containsExactly(new InetSocketAddress("127.0.0.1", 1000));
        assertThat(settings.values.get(NodeSettings.UDP_ADDRESSES))
                .containsExactly(new InetSocketAddress("127.0.0.1", 1001));
        assertThat(settings.build().routes()).hasSize(2);
    }

    @Test
    void routesReplaceThoseOfTheSamePrefix() throws Exception {
        Overrides overrides = overrides();
        overrides.route("10.0.3.0/24=127.0.0.9,udp,host");
        overrides.route("2001:db8::/32=[::1]:9,active");
        overrides.direct("192.168.0.0/16");
        assertThat(problems.lines()).isEmpty();
        InetAddress loopback = InetAddress.getByName("127.0.0.1");
        assertThat(settings.build().routes())
                .containsExactly(
                        new Route(
                                Prefix.parse("10.0.2.0/24"),
                                new NextHop(loopback, 3323, Transport.SAME, Kind.ACTIVE_NODE)),
                        new Route(
                                Prefix.parse("10.0.3.0/24"),
                                new NextHop(InetAddress.getByName("127.0.0.9"), 0, Transport.UDP, Kind.HOST)),
                        new Route(
                                Prefix.parse("2001:db8::/32"),
                                new NextHop(InetAddress.getByName("::1"), 9, Transport.SAME, Kind.ACTIVE_NODE)),
                        new Route(Prefix.parse("192.168.0.0/16"), new NextHop(null, 0, Transport.SAME, Kind.HOST)));
    }

    @Test
    void settingsOfServicesArePutOverThoseOfTheFile() {
        overrides().service("org.tamanoir.node.Announced,mark=9,text=a=b");
        ServiceDefinition service = settings.build().services().stream()
                .filter(candidate -> candidate.name().equals("org.tamanoir.node.Announced"))
                .findFirst()
                .orElseThrow();
        assertThat(service.config().asMap())
                .containsOnly(entry("mark", "9"), entry("other", "8"), entry("text", "a=b"));
        assertThat(service.failurePolicy()).isEqualTo(FailurePolicy.CLOSE);
    }

    @Test
    void levelsAndPlacementsOverrideTheFile() {
        Overrides overrides = overrides();
        overrides.service("Monitor,mark=9");
        overrides.place("Monitor=auto");
        overrides.place("org.tamanoir.node.Announced=tc");
        overrides.setting(NodeSettings.INTERFACES, List.of("eth1", "veth-a"));
        overrides.setting(NodeSettings.LEVELS, List.of("jvm, tc"));
        assertThat(problems.lines()).isEmpty();
        NodeConfig config = settings.build();
        assertThat(config.levels())
                .isEqualTo(new KernelConfig(Set.of(Level.JVM, Level.TC), List.of("eth1", "veth-a"), true));
        assertThat(config.services())
                .extracting(service -> service.placement().status().wanted())
                .contains("auto", "tc");
        ServiceDefinition announced = config.services().stream()
                .filter(service -> service.name().endsWith(".Announced"))
                .findFirst()
                .orElseThrow();
        assertThat(announced.config().asMap()).containsEntry("mark", "7");
    }

    @Test
    void wrongLevelsNameTheOption() {
        Overrides overrides = overrides();
        overrides.place("Monitor");
        overrides.place("Monitor=gpu");
        overrides.place("Monitor=tc");
        overrides.place("Monitor=xdp");
        overrides.setting(NodeSettings.LEVELS, List.of("tc,,xdp"));
        overrides.setting(NodeSettings.INTERFACES, List.of("a-name-that-is-too-long"));
        assertThat(problems.lines())
                .containsExactly(
                        "--place Monitor: NAME=LEVEL is wanted, as in Monitor=tc",
                        "--place Monitor=gpu: level \"gpu\": must be one of jvm, module, tc, xdp, auto",
                        "--place Monitor=xdp: service org.tamanoir.services.Monitor has a level already, given by"
                                + " --place Monitor=tc; remove one",
                        "--levels: level \"\": must be one of jvm, module, tc, xdp",
                        "--interface: interface \"a-name-that-is-too-long\": must be 1 to 15 characters, as ip link"
                                + " names it");
    }

    @Test
    void aListTakesNoValueTwice() {
        overrides().setting(NodeSettings.DIRECTORS, List.of("http://127.0.0.1", "http://127.0.0.1:3325"));
        assertThat(problems.lines())
                .containsExactly("--cluster http://127.0.0.1:3325: http://127.0.0.1:3325 stands here a second time;"
                        + " remove one");
    }

    @Test
    void singleValuesOverrideTheFile() {
        Overrides overrides = overrides();
        overrides.setting(NodeSettings.TRANSPORT, List.of("nio"));
        overrides.setting(NodeSettings.MAX_STREAMS, List.of("9"));
        overrides.setting(NodeSettings.DRAIN, List.of("250ms"));
        assertThat(settings.values.get(NodeSettings.TRANSPORT)).isEqualTo(TransportKind.NIO);
        assertThat(settings.values.get(NodeSettings.MAX_STREAMS)).isEqualTo(9);
        assertThat(settings.values.get(NodeSettings.DRAIN)).isEqualTo(Duration.ofMillis(250));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '@', textBlock = """
            10.0.0.0/8 @ PREFIX=HOST:PORT is wanted, as in 10.0.2.0/24=127.0.0.1:3323
            10.0.0.0/99=h:1 @ 10.0.0.0/99: the length behind the slash must be 0 to 32
            10.0.0.0/8=127.0.0.1:0 @ port '0' of '127.0.0.1:0': a number from 1 to 65535 is wanted
            10.0.0.0/8=127.0.0.1:1,tpc @ 'tpc' is none of active, host
            10.0.0.0/8=127.0.0.1:1,tcp,host,udp @ 'udp' is too much: one transport and one kind are wanted
            10.0.0.0/8= @ '' is no address: host:port is wanted, as in 127.0.0.1:3322
            """)
    void wrongRoutesNameTheOption(String text, String error) {
        overrides().route(text);
        assertThat(problems.lines()).containsExactly("--route " + text + ": " + error);
    }

    @Test
    void allWrongOptionsAreReported() {
        Overrides overrides = overrides();
        overrides.listen(List.of("x:y"));
        overrides.direct("here");
        overrides.direct("10.0.9.0/24");
        overrides.route("10.0.9.0/24=127.0.0.1:1");
        overrides.service("Monitor,mark");
        overrides.setting(NodeSettings.TRANSPORT, List.of("fast"));
        overrides.setting(NodeSettings.MAX_STREAMS, List.of("-1"));
        overrides.setting(NodeSettings.DRAIN, List.of("soon"));
        assertThat(problems.lines()).hasSize(7).allMatch(line -> line.startsWith("--"));
        assertThat(problems.lines())
                .contains("--route 10.0.9.0/24=127.0.0.1:1: this prefix has a route already, given by "
                        + "--direct 10.0.9.0/24; remove one");
    }
}
