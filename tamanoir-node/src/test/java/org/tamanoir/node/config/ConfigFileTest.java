package org.tamanoir.node.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.tamanoir.admission.StreamLimits;
import org.tamanoir.catalog.Dispatch;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.catalog.UdpBounds;
import org.tamanoir.ee.EeConfig;
import org.tamanoir.kernel.KernelConfig;
import org.tamanoir.node.Announced;
import org.tamanoir.node.Unannounced;
import org.tamanoir.nodeos.Level;
import org.tamanoir.platform.ServiceGrouping;
import org.tamanoir.platform.ThreadKind;
import org.tamanoir.platform.ThreadPriorities;
import org.tamanoir.routing.NextHop;
import org.tamanoir.routing.Prefix;
import org.tamanoir.routing.Route;
import org.tamanoir.service.FailurePolicy;
import org.tamanoir.support.Waiting;
import org.tamanoir.transport.TransportKind;

class ConfigFileTest {
    private static final String ANNOUNCED = Announced.class.getName();

    @TempDir
    Path folder;

    @Test
    void anEmptyFileGivesTheDefaults() {
        NodeConfig config = config("# nothing yet\n");

        List<InetSocketAddress> loopback = List.of(new InetSocketAddress("127.0.0.1", 3322));
        assertThat(config.environment())
                .isEqualTo(new EeConfig(
                        loopback,
                        loopback,
                        0x544D,
                        TransportKind.AUTO,
                        FailurePolicy.DROP,
                        4096,
                        32,
                        1 << 20,
                        Duration.ofSeconds(10),
                        Duration.ofSeconds(5),
                        Duration.ofMinutes(5),
                        Duration.ofSeconds(30)));
        assertThat(config.routes()).isEmpty();
        assertThat(config.get(NodeSettings.DRAIN)).isEqualTo(Duration.ofSeconds(10));
        ServiceDefinition announced = service(config, ANNOUNCED);
        assertThat(announced.config().asMap()).isEmpty();
        assertThat(announced.failurePolicy()).isEqualTo(FailurePolicy.DROP);
    }

    /** Whoever opens a pipe waits for a writer, with all changes of the node behind it. */
    @Test
    @Tag("process")
    void pipesAreRefusedAtOnce() throws Exception {
        Path pipe = folder.resolve("pipe");
        assertThat(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor())
                .isZero();
        Problems problems = new Problems();

        assertThat(Waiting.async(() -> ConfigFile.readAgain(pipe, new NodeConfigBuilder(problems))))
                .succeedsWithin(Waiting.PATIENCE);
        assertThat(problems.lines())
                .containsExactly(
                        pipe + ": cannot be read: it is no regular file: name one; a pipe or a device may never end");
        assertThat(Waiting.async(() -> problems("admin:\n  token-file: " + pipe + "\n")))
                .succeedsWithin(Waiting.PATIENCE)
                .asString()
                .contains("f:2: admin.token-file: token file " + pipe + " is no regular file");
    }

    @Test
    void levelsAreMapped() {
        NodeConfig config = config("""
                services:
                  - {name: org.tamanoir.node.Announced, level: tc}
                levels:
                  allowed: [tc, module]
                  interfaces: [eth1, br-lan]
                  unknown: on
                """);
        assertThat(config.levels())
                .isEqualTo(
                        new KernelConfig(Set.of(Level.JVM, Level.TC, Level.MODULE), List.of("eth1", "br-lan"), false));
        assertThat(service(config, ANNOUNCED).placement().status().wanted()).isEqualTo("tc");

        NodeConfig none = config("# nothing yet\n");
        assertThat(none.levels()).isEqualTo(KernelConfig.OFF);
        assertThat(service(none, ANNOUNCED).placement().wantsJvm()).isTrue();
    }

    @Test
    void wrongLevelsAreToldWithTheirLines() {
        Problems problems = new Problems();
        NodeConfigBuilder settings = new NodeConfigBuilder(problems);
        ConfigFile.parse("f", """
                services:
                  - {name: org.tamanoir.node.Announced, level: kernel}
                levels:
                  allowed: [tc, gpu]
                  interfaces: [eth1, "a/b"]
                  unknown: maybe
                  mode: fast
                """, settings);
        assertThat(problems.lines())
                .containsExactly(
                        "f:2: services[0].level: level \"kernel\": must be one of jvm, module, tc, xdp, auto",
                        "f:7: levels.mode: unknown key; known: allowed, interfaces, unknown",
                        "f:4: levels.allowed[1]: level \"gpu\": must be one of jvm, module, tc, xdp",
                        "f:5: levels.interfaces[1]: interface \"a/b\": must be 1 to 15 characters, as ip link names it",
                        "f:6: levels.unknown: 'maybe' must be up or on");
    }

    @Test
    void dispatchIsMapped() {
        NodeConfig config = config("""
                services:
                  - {name: org.tamanoir.node.Unannounced, dispatch: packet, order: none, jobs: 128}
                """);
        assertThat(service(config, "org.tamanoir.node.Unannounced").dispatch())
                .isEqualTo(new Dispatch(true, false, 128));
        assertThat(service(config, ANNOUNCED).dispatch()).isEqualTo(Dispatch.STREAM);
    }

    @Test
    void dispatchByPacketOfAClassThatIsNotMadeForItIsAProblem() {
        Problems problems = new Problems();
        ConfigFile.parse("f", """
                services:
                  - {name: org.tamanoir.node.Announced, dispatch: packet}
                  - {name: org.tamanoir.node.Unannounced, dispatch: packet, level: tc}
                """, new NodeConfigBuilder(problems));
        assertThat(problems.lines())
                .containsExactly(
                        "f:2: services[0].name: dispatch packet: class org.tamanoir.node.Announced is not made for several "
                                + "instances at a time: annotate it with @PerPacket, or take dispatch stream",
                        "f:3: services[1].name: dispatch packet with level tc: workers are in the JVM; take level jvm, or dispatch "
                                + "stream");
    }

    @Test
    void deployedServiceWithWorkersAndALevelIsAProblem() {
        Problems problems = new Problems();
        ConfigFile.parse("f", """
                services:
                  - {name: org.example.Deployed, dispatch: packet, level: xdp}
                """, new NodeConfigBuilder(problems));
        assertThat(problems.lines())
                .containsExactly(
                        "f:2: services[0].name: dispatch packet with level xdp: workers are in the JVM; take level jvm, or "
                                + "dispatch stream");
    }

    @Test
    void orderAndJobsWithoutDispatchByPacketAreProblems() {
        Problems problems = new Problems();
        ConfigFile.parse("f", """
                services:
                  - {name: org.tamanoir.node.Announced, order: none}
                  - {name: org.example.Deployed, dispatch: stream, jobs: 100}
                """, new NodeConfigBuilder(problems));
        assertThat(problems.lines())
                .containsExactly(
                        "f:2: services[0].name: order without dispatch packet: it counts for workers alone; add dispatch: packet, "
                                + "or remove it",
                        "f:3: services[1].name: jobs without dispatch packet: it counts for workers alone; add dispatch: packet, "
                                + "or remove it");
    }

    @Test
    void everyKeyIsMapped() throws IOException {
        NodeConfig config = config("""
                listen:
                  tcp: [127.0.0.2:1000, "[::1]:1001", 1002]
                  udp:
                    - 127.0.0.3:2000
                routes:
                  - to: 10.0.2.0/24
                    via: 127.0.0.1:3323
                  - to: 10.0.3.0/24
                    via: 127.0.0.4
                    transport: tcp
                    kind: host
                  - {to: "2001:db8::/32", via: "[::1]:3324", transport: udp, kind: active}
                  - to: 192.168.7.0/24
                    via: destination
                  - to: 192.168.8.1
                    via: destination:9000
                    transport: udp
                    kind: host
                services:
                  - name: org.tamanoir.node.Announced
                    failure-policy: pass
                    config: {mark: 7, "text": "a: b", flag: true}
                  - name: org.example.Shout:1.2
                    class: org.tamanoir.node.Unannounced
                    failure-policy: close
                limits:
                  max-streams: 17
                  max-streams-per-peer: 5
                  max-branches: 3
                  inbox: 256KiB
                  udp-growth: 5
                  udp-bytes: 1MiB
                  udp-answer-growth: 2
                  udp-amplifiers: {Gunzip: 100, org.example.Unpack: 7}
                routing:
                  fib: compact
                  feed: {table: main, protocols: [static, 77], via: {"FD00::0:1%eth1": "127.0.0.1:7,tls,host", default: 127.0.0.1}}
                timeouts: {first-packet: 1s, connect: 2s, stall: 3m, linger: 0s, idle: 7m, drain: 1500ms}
                unknown-service: pass
                type-id: 0x1234
                hop-budget: 3
                jvm-nice: 3
                priorities: realtime
                groups: services
                transport: nio
                """);

        assertThat(config.get(NodeSettings.PRIORITIES)).isEqualTo(ThreadPriorities.REALTIME);
        assertThat(config.get(NodeSettings.GROUPS)).isEqualTo(ServiceGrouping.SERVICES);

        FeedConfig feed = config.get(NodeSettings.ROUTE_FEED);
        assertThat(feed.tableNumber()).isEqualTo(254);
        assertThat(feed.protocolNumbers()).isEqualTo(Set.of(4, 77));
        assertThat(feed.nextHops())
                .containsOnlyKeys("fd00::1%eth1", "default")
                .hasEntrySatisfying(
                        "fd00::1%eth1", hop -> assertThat(hop.port()).isEqualTo(7));
        assertThat(config.environment())
                .isEqualTo(new EeConfig(
                                List.of(
                                        new InetSocketAddress("127.0.0.2", 1000),
                                        new InetSocketAddress("::1", 1001),
                                        new InetSocketAddress("127.0.0.1", 1002)),
                                List.of(new InetSocketAddress("127.0.0.3", 2000)),
                                0x1234,
                                TransportKind.NIO,
                                FailurePolicy.PASS,
                                17,
                                3,
                                256 << 10,
                                Duration.ofSeconds(1),
                                Duration.ofSeconds(2),
                                Duration.ofMinutes(3),
                                Duration.ZERO)
                        .bounding(new UdpBounds(
                                5, 1 << 20, 2, Map.of("org.tamanoir.services.Gunzip", 100, "org.example.Unpack", 7)))
                        .limiting(new StreamLimits(5, 3, Duration.ofMinutes(7))));
        assertThat(config.get(NodeSettings.DRAIN)).isEqualTo(Duration.ofMillis(1500));
        assertThat(config.get(NodeSettings.JVM_NICE)).isEqualTo(3);
        assertThat(config.routes())
                .containsExactly(
                        new Route(Prefix.parse("10.0.2.0/24"), hop("127.0.0.1", 3323, "SAME", "ACTIVE_NODE")),
                        new Route(Prefix.parse("10.0.3.0/24"), hop("127.0.0.4", 0, "TCP", "HOST")),
                        new Route(Prefix.parse("2001:db8::/32"), hop("::1", 3324, "UDP", "ACTIVE_NODE")),
                        new Route(Prefix.parse("192.168.7.0/24"), hop("", 0, "SAME", "HOST")),
                        new Route(Prefix.parse("192.168.8.1"), hop("", 9000, "UDP", "HOST")));
        ServiceDefinition announced = service(config, ANNOUNCED);
        assertThat(announced.config().asMap())
                .containsOnly(entry("mark", "7"), entry("text", "a: b"), entry("flag", "true"));
        assertThat(announced.failurePolicy()).isEqualTo(FailurePolicy.PASS);
        assertThat(announced.factory().get()).isInstanceOf(Announced.class);
        ServiceDefinition shout = service(config, "org.example.Shout:1.2");
        assertThat(shout.factory().get()).isInstanceOf(Unannounced.class);
        assertThat(shout.failurePolicy()).isEqualTo(FailurePolicy.CLOSE);
    }

    private static NextHop hop(String address, int port, String transport, String kind) throws IOException {
        return new NextHop(
                address.isEmpty() ? null : InetAddress.getByName(address),
                port,
                NextHop.Transport.valueOf(transport),
                NextHop.Kind.valueOf(kind));
    }

    @Test
    void whatTheListenSectionLeavesOutIsNotListenedOn() {
        EeConfig environment = config("listen: {udp: [127.0.0.1:4000]}").environment();
        assertThat(environment.tcp()).isEmpty();
        assertThat(environment.udp()).containsExactly(new InetSocketAddress("127.0.0.1", 4000));
    }

    @Test
    void aKeyWithNothingBehindItKeepsItsDefault() {
        NodeConfig config = config("listen:\nroutes:\nservices:\nlimits:\ntimeouts:\n  drain:\ntype-id: ~\n");
        assertThat(config).usingRecursiveComparison().ignoringFields("services").isEqualTo(config(""));
    }

    @Test
    void namesWithoutADotAreServicesOfTheNode() {
        assertThat(NodeConfigBuilder.serviceName("Monitor")).isEqualTo("org.tamanoir.services.Monitor");
        assertThat(NodeConfigBuilder.serviceName("Monitor:1.2")).isEqualTo("org.tamanoir.services.Monitor:1.2");
        assertThat(NodeConfigBuilder.serviceName("org.example.Shout")).isEqualTo("org.example.Shout");
    }

    @Test
    @Tag("process")
    void lookingForServicesRunsNoCodeOfTheirs() throws Exception {
        // A process of its own: in this one other tests make instances.
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:TieredStopAtLevel=1",
                        "-cp",
                        System.getProperty("java.class.path"),
                        Discover.class.getName())
                .redirectErrorStream(true)
                .start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(output.strip()).endsWith("found true, initialised null");
    }

    /** Prints whether discovery found the announced service, and whether it ran its static initialiser. */
    static final class Discover {
        public static void main(String[] args) {
            boolean found = ServiceClasses.discover(new Problems()).containsKey("org.tamanoir.node.Announced");
            System.out.println("found " + found + ", initialised "
                    + System.getProperty("org.tamanoir.node.Announced.initialised"));
        }
    }

    /** Line numbers count in the text after the bar has become a line break. */
    @ParameterizedTest
    @ValueSource(strings = {"fade.10", "fade0", "a.1", "1.2.3", "fc00.1.2.3"})
    void aDeviceOfTheFeedMayLookHexadecimal(String device) throws Exception {
        NodeConfig config = config("routing: {feed: {table: 1, via: {" + device + ": 127.0.0.1}}}");

        assertThat(config.get(NodeSettings.ROUTE_FEED).via()).containsOnlyKeys(device);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '@', textBlock = """
            lisen: 1 @ f:1: lisen: unknown key; did you mean 'listen'?
            type-id: 1|colour: red @ f:2: colour: unknown key; known: admin, arena, authentication, cluster, deploy, element, formats, groups, hand-over, hop-budget, jvm-nice, levels, limits, listen, plain, plain-alerts, plain-interfaces, priorities, qos, rehearse, routes, routing, sapf, services, threads, timeouts, tls, tracing, traffic-control, traffic-control-dry-run, transport, type-id, unknown-service
            limits:|  max_streams: 1 @ f:2: limits.max_streams: unknown key; did you mean 'max-streams'?
            type-id: 1|type-id: 2 @ f:2: type-id: stands here a second time, first in line 1; remove one
            limits: 3 @ f:1: limits: '3' stands where a mapping (key: value) is wanted
            [1, 2] @ f:1: a list stands where a mapping (key: value) is wanted
            limits:|  inbox: [1] @ f:2: limits.inbox: a list stands where one value is wanted; put a text with brackets in quotes
            limits:|  inbox: {a: 1} @ f:2: limits.inbox: a mapping stands where one value is wanted
            routes: 10.0.0.0/8 @ f:1: routes: '10.0.0.0/8' stands where a list is wanted; begin each item with '- '; each is a mapping
            routes:|  - x @ f:2: routes[0]: 'x' stands where a mapping (key: value) is wanted
            listen:|  tcp: 3322 @ f:2: listen.tcp: '3322' stands where a list is wanted; begin each item with '- '; each is a text
            listen:|  tcp: [] @ f:1: listen: no address to listen on; add one under tcp, udp, tls, quic or gateways, or remove the key for the defaults
            listen:|  tcp: [a b] @ f:2: listen.tcp[0]: 'a b' is no address: host:port is wanted, as in 127.0.0.1:3322
            listen:|  tcp:|  - 1|  - h:70000 @ f:4: listen.tcp[1]: port '70000' of 'h:70000': a number from 0 to 65535 is wanted
            listen:|  udp: [x.invalid:1] @ f:2: listen.udp[0]: host 'x.invalid' is unknown: give a literal address or a name that resolves
            listen:|  udp: [[::1]:1] @ f:2: no valid YAML: while parsing a flow node: expected the node content, but found ':'; a text with brackets or colons needs quotes there
            listen:|  tcp: [1, '127.0.0.1:1'] @ f:2: listen.tcp[1]: 127.0.0.1:1 stands here a second time; remove one
            type-id: 0 @ f:1: type-id: 0 is out of bounds: 1 to 65535 are allowed
            type-id: 0x10000 @ f:1: type-id: 0x10000 is out of bounds: 1 to 65535 are allowed
            jvm-nice: 20 @ f:1: jvm-nice: 20 is out of bounds: 0 to 19 are allowed
            hop-budget: many @ f:1: hop-budget: 'many' is no whole number: one from 1 to 65535 is wanted
            limits: {max-streams-per-peer: 0} @ f:1: limits.max-streams-per-peer: 0 is out of bounds: 1 to 1000000 are allowed
            limits: {max-branches: 1025} @ f:1: limits.max-branches: 1025 is out of bounds: 0 to 1024 are allowed
            limits: {max-streams: 0} @ f:1: limits.max-streams: 0 is out of bounds: 1 to 1000000 are allowed
            limits: {inbox: 4k} @ f:1: limits.inbox: 4k is out of bounds: 256KiB to 1GiB are allowed
            limits: {inbox: 600KiB} @ f:1: limits.inbox: 600KiB is no power of two: take 512KiB or twice that
            limits: {inbox: big} @ f:1: limits.inbox: 'big' is no size: a whole number of bytes, or one with KiB, MiB or GiB is wanted
            timeouts: {stall: 5} @ f:1: timeouts.stall: '5' is no duration: a whole number with ms, s, m or h is wanted; add the unit, as in 5s
            timeouts: {connect: 2h} @ f:1: timeouts.connect: 2h is out of bounds: 1ms to 1h are allowed
            unknown-service: dorp @ f:1: unknown-service: 'dorp' is none of close, drop, pass; did you mean 'drop'?
            transport: epoll @ f:1: transport: 'epoll' is none of auto, native, nio
            routes:|- to: 10.0.0.0/8 @ f:2: routes[0].via: is missing: add it, as in 'via: 127.0.0.1:3323'
            routes:|- via: 127.0.0.1 @ f:2: routes[0].to: is missing: add it, as in 'to: 10.0.2.0/24'
            routes:|- to: 10.0.0.0/33|  via: 1.1.1.1 @ f:2: routes[0].to: 10.0.0.0/33: the length behind the slash must be 0 to 32
            routes:|- to: 10.0.0.0/8|  via: h:0 @ f:3: routes[0].via: port '0' of 'h:0': a number from 1 to 65535 is wanted
            routes:|- to: 10.0.0.0/8|  via: 3323 @ f:3: routes[0].via: '3323' is a port alone: host:port is wanted, or 'destination' for direct delivery
            routes:|- to: 10.0.0.0/8|  via: x.invalid @ f:3: routes[0].via: host 'x.invalid' is unknown: give a literal address or a name that resolves
            routes:|- to: 10.0.0.0/8|  via: ::1|  kind: node @ f:4: routes[0].kind: 'node' is none of active, host
            routes:|- to: 10.0.0.0/8|  via: ::1|  transport: tpc @ f:4: routes[0].transport: 'tpc' is none of quic, same, tcp, tls, udp; did you mean 'tcp'?
            routes:|- to: 10.0.0.0/8|  via: destination|  kind: active @ f:3: routes[0].via: direct delivery ends at a host, not at an active node: leave the kind out, or give the node's address
            routes:|- {to: 10.0.0.0/8, via: 1.1.1.1}|- {to: 10.0.0.0/8, via: 1.1.1.2} @ f:3: routes[1].to: this prefix has a route already, given by f:2: routes[0].to; remove one
            routes:|- {to: 10.0.0.0/8, via: 127.0.0.1, transport: tls, tls: false} @ f:2: routes[0].tls: false is not what transport: tls says; remove one of the two
            limits:|  inbox: 1GiB @ f:2: limits.inbox: 1GiB is more than half of the heap, HALF MiB: take less, or give Java more with -Xmx
            deploy:|  max-unpacked: 16GiB @ f:2: deploy.max-unpacked: 16GiB is more than half of the heap, HALF MiB: take less, or give Java more with -Xmx
            limits:|  udp-amplifiers: {Gunzip: 3, org.tamanoir.services.Gunzip: 4} @ f:2: limits.udp-amplifiers.org.tamanoir.services.Gunzip: org.tamanoir.services.Gunzip stands here a second time; remove one
            tracing: {endpoint: "http://127.0.0.1:4318"} @ f:1: tracing.endpoint: 'http://127.0.0.1:4318' is no collector: http:// or https:// with a host and path is wanted, as in http://127.0.0.1:4318/v1/traces
            tracing: {sample: 1.5} @ f:1: tracing.sample: '1.5' is no share: 0 to 1 is allowed, as in 0.25
            admin: {hosts: [a, b, a]} @ f:1: admin.hosts[2]: a stands here a second time; remove one
            deploy:|  neighbours: ['127.0.0.1:0'] @ f:2: deploy.neighbours[0]: port '0' of '127.0.0.1:0': a number from 1 to 65535 is wanted
            routing:|  feed: {table: 100} @ f:2: routing.feed.via: is missing: add it, as in 'via: {192.0.2.1: 10.0.1.9:3322}'
            routing:|  feed: {via: {eth0: 127.0.0.1}} @ f:2: routing.feed.table: is missing: add it, as in 'table: 100'
            routing:|  feed: {table: 0, via: {eth0: 127.0.0.1}} @ f:2: routing.feed.table: table '0': main, or a number from 1 to 4294967295 is wanted, as ip route show table takes it
            routing:|  feed: {table: 1, protocols: [brid], via: {eth0: 127.0.0.1}} @ f:2: routing.feed.protocols[0]: protocol 'brid': one of babel, bgp, bird, eigrp, isis, kernel, ospf, rip, static, zebra, or a number from 1 to 255 is wanted
            routing:|  feed: {table: 1, protocols: [], via: {eth0: 127.0.0.1}} @ f:2: routing.feed.protocols: 0 protocols: no route would count; name 1 at least, or leave it out for [bird, zebra, bgp]
            routing:|  feed: {table: 1, via: {"eth0:1": 127.0.0.1}} @ f:2: routing.feed.via.eth0:1: gateway 'eth0:1': an address, ADDRESS%DEVICE, a device, or default is wanted
            routing:|  feed: {table: 1, via: {}} @ f:2: routing.feed.via: 0 gateways: 1 to 4096 with a next hop are wanted
            routing:|  feed: {table: 1, via: {192.0.2.256: 127.0.0.1}} @ f:2: routing.feed.via.192.0.2.256: 192.0.2.256: no address prefix; write it as 10.0.0.0/8, 2001:db8::/32, or an address without a length ('192.0.2.256' is no IPv4 address: an octet is a decimal number from 0 to 255, without zeros in front; write all four, as in 127.0.0.1)
            routing:|  feed: {table: 1, via: {a b: 127.0.0.1}} @ f:2: routing.feed.via.a b: gateway 'a b': an address, ADDRESS%DEVICE, a device, or default is wanted
            routing:|  feed: {table: 1, via: {"fd00::1": 127.0.0.1, "fd00:0::1": 127.0.0.1}} @ f:2: routing.feed.via.fd00:0::1: fd00:0::1 stands here a second time; remove one
            routing:|  feed: {table: 1, via: {eth0: "127.0.0.1:0"}} @ f:2: routing.feed.via.eth0: port '0' of '127.0.0.1:0': a number from 1 to 65535 is wanted
            hop-budget: "\\e[1m" @ f:1: hop-budget: '?[1m' is no whole number: one from 1 to 65535 is wanted
            levels: {interfaces: [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q]} @ f:1: levels.interfaces: 17 interfaces: must be at most 16
            deploy:|  tls: true @ f:2: deploy.tls: a server must show a certificate; name files of a certificate and its key under tls
            services:|- config: {a: 1} @ f:2: services[0].name: is missing: add it, as in 'name: Monitor'
            services:|- name: a b @ f:2: services[0].name: 'a b' is no service name: NAME, package.NAME or package.NAME:VERSION is wanted
            services:|- name: org.example.Gone @ f:2: services[0].name: class org.example.Gone is not on the class path: add its jar to it, correct the name, or say in 'deploy' whose code may be fetched
            services:|- name: a.B|  class: java.lang.String @ f:3: services[0].class: class java.lang.String is no service: it must extend org.tamanoir.service.Service
            services:|- name: org.tamanoir.node.Unannounced$Abstract @ f:2: services[0].name: class org.tamanoir.node.Unannounced$Abstract is abstract: a public class with a public constructor without arguments is wanted
            services:|- name: org.tamanoir.node.Unannounced$Demanding @ f:2: services[0].name: class org.tamanoir.node.Unannounced$Demanding has no public constructor without arguments: a public class with a public constructor without arguments is wanted
            services:|- name: org.tamanoir.node.Unannounced$Hidden @ f:2: services[0].name: class org.tamanoir.node.Unannounced$Hidden has no public constructor without arguments: a public class with a public constructor without arguments is wanted
            services:|- name: org.tamanoir.node.Announced|- name: org.tamanoir.node.Announced @ f:3: services[1].name: service org.tamanoir.node.Announced has settings already, given by f:2: services[0].name; remove one
            services:|- name: org.tamanoir.node.Announced|  failure-policy: ignore @ f:3: services[0].failure-policy: 'ignore' is none of close, drop, pass
            services:|- name: org.tamanoir.node.Announced|  config: {a: [1]} @ f:3: services[0].config.a: a list stands where one value is wanted; put a text with brackets in quotes
            services:|- name: org.tamanoir.node.Announced|  config: {a: 1, a: 2} @ f:3: services[0].config.a: stands here a second time, first in line 3; remove one
            admin:|  hosts: [node1, 'node1:3324'] @ f:2: admin.hosts[1]: 'node1:3324' is no host name: one as in node4.example.net is wanted, without a port
            admin:|  token-file: /none @ f:2: admin.token-file: token file /none: there is no such file; 'openssl rand -hex 32' makes a token
            admin:|  hosts: node1 @ f:2: admin.hosts: 'node1' stands where a list is wanted; begin each item with '- '; each is a text
            element: {unit: 1} @ element: no unit; list the control addresses of all of them with element.units
            element: {key-file: /none} @ f:1: element.key-file: key file /none: there is no such file; 32 hexadecimal digits are wanted, as openssl rand -hex 16 makes
            element: {barrier: 2s} @ f:1: element.barrier: 2s is out of bounds: 0s to 1s are allowed
            qos:|  classes: [{name: a}]|  default-class: a|  links: [{name: out, next-hops: [10.0.0.0/8], rate: 1Mbit/s, burst: 1KiB, discipline: fct}] @ f:4: qos.links: link 'out': discipline fct waits for the token of a ring; say in section element which one, or choose another discipline
            a: 1|b: [1 @ f:2: no valid YAML: while parsing a flow sequence: expected ',' or ']', but got <stream end>; a text with brackets or colons needs quotes there
            a: 1|---|b: 1 @ f:2: a second document begins: one is wanted, remove the '---'
            a: &x 1 @ f:1: anchors and aliases (& and *) are not allowed: write the value out
            a: *x @ f:1: anchors and aliases (& and *) are not allowed: write the value out
            ? [1]|: 2 @ f:1: a key is a list or a mapping: a word is wanted
            """)
    void anErrorNamesItsLineItsPathItsValueAndItsRemedy(String text, String error) {
        assertThat(problems(text.replace('|', '\n')))
                .containsExactly(error.replace(
                        "HALF", String.valueOf(Runtime.getRuntime().maxMemory() >> 21)));
    }

    @Test
    void aUnitSaysWhatItLacks() {
        assertThat(problems("element: {unit: 2, units: [127.0.0.1, 127.0.0.2], hold-max: 2ms, idle-max: 1ms}"))
                .containsExactlyInAnyOrder(
                        "f:1: element.units: unit 2 is none of them; give element.unit, 0 to 1",
                        "f:1: element.units: units know each other by a key; name its file with element.key-file",
                        "f:1: element.units: links with the discipline fct: there are 0, must be 1, over which processed"
                                + " packets leave; see qos.links",
                        "f:1: element.idle-max: idle-max 1ms: must be hold-max, 2ms, or more");
    }

    @Test
    void aDistributorHasAnAddressOfItsOwn() {
        String error =
                "f:1: element.distributor: distributor 127.0.0.1:3328 is one of the units; give it its own address";
        assertThat(problems("element: {unit: 0, units: [127.0.0.1], distributor: 127.0.0.1}"))
                .contains(error);
        assertThat(problems("element: {unit: 0, units: [127.0.0.1], distributor: 127.0.0.2}"))
                .doesNotContain(error);
    }

    @Test
    void aRingHasNotMoreThan64Units() {
        String units =
                IntStream.range(0, 65).mapToObj(i -> "127.0.0.1:" + (5_000 + i)).collect(Collectors.joining(", "));
        assertThat(problems("element: {unit: 0, units: [\"" + units.replace(", ", "\", \"") + "\"]}"))
                .contains("f:1: element.units: 65 units: a ring has 64 at most; list fewer");
    }

    @Test
    void aLinkThatWaitsForTheTokenDropsNoExcess() {
        assertThat(problems("""
                qos:
                  classes: [{name: a}]
                  default-class: a
                  links: [{name: out, next-hops: [10.0.0.0/8], rate: 1Mbit/s, burst: 1KiB, discipline: fct, excess: drop}]
                element: {unit: 0, units: [127.0.0.1]}
                """))
                .contains(
                        "f:4: qos.links: link 'out': excess drop would drop what waits for the token of the ring; choose"
                                + " excess wait with discipline fct");
    }

    @Test
    void whatIsOneProcessAloneIsNotHandedOver() {
        assertThat(problems("arena: /dev/shm/a\nhand-over: /run/a\n"))
                .contains("f:2: hand-over: the file of arena is one process' alone, and two have the node while it is"
                        + " handed over; remove one of the two");
    }

    @Test
    void theAdminApiOfANodeThatHandsOverIsWhereTheNextOneFindsIt() {
        assertThat(config("hand-over: /run/a\n").admin().portIsGiven()).isTrue();
        assertThat(config("").admin().portIsGiven()).isFalse();
    }

    @Test
    void allErrorsOfAFileAreReportedAtOnce() {
        assertThat(problems("""
                listn: {}
                routes:
                  - to: 10.0.0.0/40
                    via: 127.0.0.1:99999
                    kind: hots
                  - via: destination
                services:
                  - name: org.example.Gone
                    failure-policy: nothing
                limits: {inbox: 1, max-streams: none}
                timeouts:
                  drain: soon
                hop-budget: 0
                """))
                .extracting(line -> line.split(": ")[0] + " " + line.split(": ")[1])
                .containsExactlyInAnyOrder(
                        "f:1 listn",
                        "f:3 routes[0].to",
                        "f:4 routes[0].via",
                        "f:5 routes[0].kind",
                        "f:6 routes[1].to",
                        "f:8 services[0].name",
                        "f:9 services[0].failure-policy",
                        "f:10 limits.inbox",
                        "f:10 limits.max-streams",
                        "f:12 timeouts.drain",
                        "f:13 hop-budget");
    }

    @Test
    void nestingIsBounded() {
        assertThat(problems("a: " + "[".repeat(5000) + "]".repeat(5000)))
                .containsExactly("f:1: nested deeper than 16: no setting is");
    }

    @ParameterizedTest
    @ValueSource(strings = {"a: \u0007", "\t- x", "'", "%YAML 9.0\n---\na", "!!binary x", "@", "- - -\n a: b: c"})
    void whatIsNoYamlOrNoMappingIsOneError(String text) {
        assertThat(problems(text)).hasSize(1).allMatch(line -> line.matches("f:\\d+: \\V+"));
    }

    @Test
    void charactersOfTwoSurrogatesMayStandAnywhere() {
        for (int before = 1000; before < 1050; before++) {
            assertThat(problems("#" + "x".repeat(before) + "\uD83D\uDE00\nhop-budget: 3"))
                    .isEmpty();
        }
    }

    @Test
    void filesThatCannotBeReadAreNamed() throws IOException {
        Path missing = folder.resolve("missing.yaml");
        Path large = Files.write(folder.resolve("large.yaml"), new byte[ConfigFile.MAX_BYTES + 1]);
        Path binary = Files.write(folder.resolve("binary.yaml"), new byte[] {(byte) 0xFF, 0});
        Problems problems = new Problems();
        NodeConfigBuilder settings = new NodeConfigBuilder(problems);
        for (Path file : List.of(missing, large, binary, folder)) {
            ConfigFile.read(file, settings);
        }
        assertThat(problems.lines())
                .containsExactly(
                        missing + ": cannot be read: there is no such file",
                        large + ": cannot be read: it is larger than 1MiB, too much for settings",
                        binary + ": cannot be read: it is not UTF-8 text; convert it",
                        folder + ": cannot be read: it is no regular file: name one; a pipe or a device may never end");
    }

    private static NodeConfig config(String text) {
        Problems problems = new Problems();
        NodeConfigBuilder settings = new NodeConfigBuilder(problems);
        ConfigFile.parse("f", text, settings);
        assertThat(problems.lines()).isEmpty();
        return settings.build();
    }

    @Test
    void virtualThreadsAreRefusedInOneLineWhereTheyCannotBeHad() {
        assertThat(problems("threads: virtual\ntransport: nio\n"))
                .hasSize(1)
                .allMatch(line -> line.matches("f:1: threads: .*; .*leave threads at 'platform'"));
    }

    @Test
    void platformThreadsMayBeNamed() {
        assertThat(config("threads: platform\ntransport: nio\n").environment().threads())
                .isEqualTo(ThreadKind.PLATFORM);
    }

    private static List<String> problems(String text) {
        Problems problems = new Problems();
        NodeConfigBuilder settings = new NodeConfigBuilder(problems);
        ConfigFile.parse("f", text, settings);
        settings.check();
        return problems.lines();
    }

    private static ServiceDefinition service(NodeConfig config, String name) {
        return config.services().stream()
                .filter(service -> service.name().equals(name))
                .findFirst()
                .orElseThrow(() -> new AssertionError(name + " is not among the services"));
    }
}
