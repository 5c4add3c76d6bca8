package org.tamanoir.node.director;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.tamanoir.cluster.config.BackEnd;
import org.tamanoir.cluster.config.ClusterService;
import org.tamanoir.cluster.config.CodeSources;
import org.tamanoir.cluster.config.DirectorConfig;
import org.tamanoir.cluster.config.HealthPolicy;
import org.tamanoir.cluster.config.RegistrationPolicy;
import org.tamanoir.cluster.config.Vrrp;
import org.tamanoir.cluster.config.WeightPolicy;
import org.tamanoir.cluster.lvs.Forwarding;
import org.tamanoir.cluster.lvs.Protocol;
import org.tamanoir.cluster.lvs.Scheduler;
import org.tamanoir.deploy.SigningKey;
import org.tamanoir.node.config.AdminConfig;
import org.tamanoir.node.config.Problems;
import org.tamanoir.routing.Prefix;
import org.tamanoir.support.SecretFile;
import org.tamanoir.tls.TestAuthority;
import org.tamanoir.tls.TlsFiles;

class DirectorFileTest {
    private static final String SERVICE = "services: [{name: anep, address: 10.0.0.100}]\n";

    @TempDir
    Path folder;

    private DirectorSettings read(String text) throws IOException {
        Problems problems = new Problems();
        DirectorSettings settings = DirectorFile.read(file(text), problems);
        assertThat(problems.lines()).isEmpty();
        return Objects.requireNonNull(settings);
    }

    private Path file(String text) throws IOException {
        return Files.writeString(folder.resolve("d.yaml"), text);
    }

    /** Without the folder, so that a line begins with the line's number. */
    private List<String> problems(String text) throws IOException {
        Problems problems = new Problems();
        Path file = file(text);
        assertThat(DirectorFile.read(file, problems)).isNull();
        return problems.lines().stream()
                .map(line -> line.replace(file + ":", "").replace(folder.toString(), "FOLDER"))
                .toList();
    }

    private static InetAddress ip(String text) throws IOException {
        return InetAddress.getByName(text);
    }

    @Test
    void aServiceIsAllThatIsNeeded() throws IOException {
        DirectorSettings settings = read(SERVICE);
        DirectorConfig config = settings.director();
        assertThat(config.name()).matches("[A-Za-z0-9][A-Za-z0-9._-]{0,62}");
        assertThat(config.stateFolder()).isEqualTo(Path.of("/var/lib/tamanoir/director"));
        assertThat(config.networkInterface()).isNull();
        assertThat(config.services())
                .containsExactly(new ClusterService(
                        "anep",
                        ip("10.0.0.100"),
                        3322,
                        3322,
                        Set.of(Protocol.TCP, Protocol.UDP),
                        Forwarding.DIRECT,
                        Scheduler.WLC,
                        List.of(),
                        0,
                        32,
                        false));
        assertThat(config.backEnds()).isEmpty();
        assertThat(config.health()).isEqualTo(HealthPolicy.DEFAULT);
        assertThat(config.weights()).isEqualTo(WeightPolicy.DEFAULT);
        assertThat(config.drainDeadline()).isEqualTo(Duration.ofSeconds(60));
        assertThat(config.removeAtEnd()).isFalse();
        assertThat(config.settings()).isEqualTo(DirectorConfig.DEFAULT_SETTINGS);
        assertThat(config.registration()).isNull();
        assertThat(config.vrrp()).isNull();
        assertThat(config.code()).isEqualTo(CodeSources.NONE);
        assertThat(config.tls()).isNull();
        assertThat(settings.registrationToken()).isNull();
        assertThat(settings.ready()).isNull();
        assertThat(settings.admin())
                .isEqualTo(new AdminConfig(
                        new InetSocketAddress("127.0.0.1", 3325),
                        true,
                        AdminConfig.Tokens.NONE,
                        false,
                        List.of(),
                        false,
                        null));
    }

    @Test
    void aTokenOfItsOwnIsNobodyElses() throws Exception {
        Path one = SecretFile.write(folder.resolve("one"), "0123456789abcdef");
        Path same = SecretFile.write(folder.resolve("same"), "0123456789abcdef\n");
        String registration = "registration: {token-file: " + one + "}\n";
        String listed = "back-ends: [{name: node1, address: 10.0.0.11, token-file: " + same + "}]\n";
        assertThat(problems(SERVICE + registration + "admin: {token-file: " + same + "}\n"))
                .singleElement()
                .asString()
                .contains("registration.token-file holds the same token as admin.token-file", "openssl rand -hex 32");
        assertThat(problems(SERVICE + registration + listed))
                .singleElement()
                .asString()
                .contains("token-file of back-end node1 holds the same token as registration.token-file");
        assertThat(problems(SERVICE + listed)).singleElement().asString().contains("there is no section registration");
    }

    @Test
    void anAdminApiIsShownOneToken() throws Exception {
        Path one = SecretFile.write(folder.resolve("one"), "0123456789abcdef");
        Path other = SecretFile.write(folder.resolve("other"), "0123456789abcdef-other");
        String both = "back-ends:\n- {name: node1, address: 10.0.0.11, admin-token-file: " + one + "}\n"
                + "- {name: node2, address: 10.0.0.12, admin: 'http://10.0.0.11:3324/', admin-token-file: ";
        assertThat(read(SERVICE + both + one + "}\n").adminTokens()).hasSize(1);
        assertThat(problems(SERVICE + both + other + "}\n"))
                .singleElement()
                .asString()
                .contains(
                        "back-ends[1].admin-token-file: another back-end has FOLDER/one for",
                        "http://10.0.0.11:3324: ");
    }

    @Test
    void everyKeyIsMapped() throws Exception {
        Path token = SecretFile.write(folder.resolve("token"), "0123456789abcdef");
        Path adminToken = SecretFile.write(folder.resolve("admin-token"), "0123456789abcdef-admin");
        Path nodeToken = SecretFile.write(folder.resolve("node-token"), "0123456789abcdef-node1");
        Path key = folder.resolve("publisher");
        SigningKey.generate().write(key);
        TlsFiles tls = new TestAuthority(folder, "authority").files("director");
        Path password = Files.writeString(folder.resolve("password"), "s3cret\n");
        DirectorSettings settings = read("""
                name: front1
                state: /var/lib/front1
                services:
                  - name: a
                    address: 10.0.0.100
                    port: 4000
                    back-end-port: 3322
                    protocols: [tcp]
                    forwarding: nat
                    scheduler: sh
                    flags: [sh-port]
                    persistence: 5m
                    persistence-prefix: 24
                  - {name: b, address: "fd00::100", protocols: udp, forwarding: tunnel, one-packet: true, scheduler: rr}
                back-ends:
                  - {name: node1, address: 10.0.0.11, admin: "https://node1.example.net:9000/", weight: 7, token-file: NODE_TOKEN}
                  - {name: node2, address: "fd00::12"}
                health: {interval: 2s, timeout: 500ms, failures: 4, successes: 3, flap-limit: 0}
                weights: {mode: capacity, fixed: 10, per-processor: 50, interval: 5s}
                drain: 90s
                remove-at-end: true
                settings: {expire_nodest_conn: 0, sync_threshold: 3 50}
                registration: {token-file: TOKEN, networks: [10.0.0.0/24], interval: 1s, expiry: 1m, max-back-ends: 8, plain: true}
                admin: {listen: "*:4325", token-file: ADMIN_TOKEN, read-only: true, hosts: [front1.example.net], tls: true, ready: 3326}
                code:
                  repositories: [http://10.0.0.5:3325]
                  trust: [{key: KEY, names: [org.example.*]}]
                  deploy: [org.example.Foo, "org.example.Bar:1.0"]
                tls: {certificate: CERTIFICATE, key: PRIVATE, trust: AUTHORITIES}
                """.replace("NODE_TOKEN", nodeToken.toString())
                .replace("ADMIN_TOKEN", adminToken.toString())
                .replace("TOKEN", token.toString())
                .replace("KEY", key + ".pub")
                .replace("CERTIFICATE", String.valueOf(tls.certificate()))
                .replace("PRIVATE", String.valueOf(tls.key()))
                .replace("AUTHORITIES", String.valueOf(tls.trust())));
        DirectorConfig config = settings.director();
        assertThat(config.name()).isEqualTo("front1");
        assertThat(config.stateFolder()).isEqualTo(Path.of("/var/lib/front1"));
        assertThat(config.services())
                .containsExactly(
                        new ClusterService(
                                "a",
                                ip("10.0.0.100"),
                                4000,
                                3322,
                                Set.of(Protocol.TCP),
                                Forwarding.NAT,
                                Scheduler.SH,
                                List.of("sh-port"),
                                300,
                                24,
                                false),
                        new ClusterService(
                                "b",
                                ip("fd00::100"),
                                3322,
                                3322,
                                Set.of(Protocol.UDP),
                                Forwarding.TUNNEL,
                                Scheduler.RR,
                                List.of(),
                                0,
                                128,
                                true));
        assertThat(config.backEnds())
                .containsExactly(
                        new BackEnd("node1", ip("10.0.0.11"), URI.create("https://node1.example.net:9000"), 7),
                        new BackEnd("node2", ip("fd00::12"), URI.create("http://[fd00::12]:3324"), null));
        assertThat(config.health()).isEqualTo(new HealthPolicy(Duration.ofSeconds(2), Duration.ofMillis(500), 4, 3, 0));
        assertThat(config.weights()).isEqualTo(new WeightPolicy(true, 10, 50, Duration.ofSeconds(5)));
        assertThat(config.drainDeadline()).isEqualTo(Duration.ofSeconds(90));
        assertThat(config.removeAtEnd()).isTrue();
        assertThat(config.settings())
                .isEqualTo(
                        Map.of("expire_nodest_conn", "0", "expire_quiescent_template", "1", "sync_threshold", "3 50"));
        assertThat(config.registration())
                .isEqualTo(new RegistrationPolicy(
                        List.of(Prefix.parse("10.0.0.0/24")), Duration.ofSeconds(1), Duration.ofMinutes(1), 8));
        assertThat(settings.registrationToken()).isEqualTo(token);
        assertThat(settings.nodeTokens()).isEqualTo(Map.of("node1", nodeToken));
        assertThat(settings.admin())
                .isEqualTo(new AdminConfig(
                        new InetSocketAddress("0.0.0.0", 4325),
                        true,
                        new AdminConfig.Tokens(adminToken, null, List.of(), List.of()),
                        true,
                        List.of("front1.example.net"),
                        true,
                        null));
        assertThat(settings.ready()).isEqualTo(new InetSocketAddress("127.0.0.1", 3326));
        assertThat(config.code())
                .isEqualTo(new CodeSources(
                        List.of(URI.create("http://10.0.0.5:3325/")),
                        List.of(new CodeSources.Publisher(
                                Files.readString(Path.of(key + ".pub")), List.of("org.example.*"))),
                        List.of("org.example.Foo", "org.example.Bar:1.0")));
        assertThat(config.tls()).isEqualTo(new TlsFiles(tls.certificate(), tls.key(), tls.trust(), false));

        Vrrp vrrp = read(SERVICE
                        + "vrrp: {interface: eth0, sync-interface: eth1, router-id: 7, priority: 150, preempt: true, "
                        + "interval: 3s, source: 10.0.0.1, peers: [10.0.0.2], password-file: " + password + "}")
                .director()
                .vrrp();
        assertThat(vrrp)
                .isEqualTo(new Vrrp(
                        "eth0",
                        "eth1",
                        7,
                        150,
                        true,
                        Duration.ofSeconds(3),
                        ip("10.0.0.1"),
                        List.of(ip("10.0.0.2")),
                        "s3cret"));
        assertThat(read(SERVICE + "vrrp: {interface: eth0, router-id: 7}")
                        .director()
                        .vrrp())
                .isEqualTo(new Vrrp("eth0", "eth0", 7, 100, false, Duration.ofSeconds(1), null, List.of(), null));
        assertThat(read(SERVICE + "interface: eth0\nadmin: {listen: off}")
                        .director()
                        .networkInterface())
                .isEqualTo("eth0");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "name: n1 | 1: services is missing: a director without a virtual service has nothing to do",
                "services: [{address: 10.0.0.1}] | 1: services[0].name: is missing: add it, as in 'name: anep'",
                "services: [{name: a}] | 1: services[0].address: is missing: add it, as in 'address: 10.0.0.100'",
                "services: [{name: a b, address: 10.0.0.1}] | 1: services[0].name: 'a b' is no name: 1 to 63 letters",
                "services: [{name: a, address: lb.example.net}] | 1: services[0].address: 'lb.example.net' is no address of a host",
                "services: [{name: a, address: 0.0.0.0}] | 1: services[0].address: '0.0.0.0' is no address of a host",
                "services: [{name: a, address: 224.0.0.1}] | 1: services[0].address: '224.0.0.1' is no address of a host",
                "services: [{name: a, address: 10.0.0.0/24}] | 1: services[0].address: '10.0.0.0/24' is no address of a host",
                "services: [{name: a, address: 10.0.0.1, port: 0}] | 1: services[0].port: 0 is out of bounds: 1 to 65535",
                "services: [{name: a, address: 10.0.0.1, protocols: [sctp]}] | 1: services[0].protocols[0]: 'sctp' must be tcp or udp",
                "services: [{name: a, address: 10.0.0.1, forwarding: dr}] | 1: services[0].forwarding: 'dr' must be nat, direct or tunnel",
                "services: [{name: a, address: 10.0.0.1, back-end-port: 4000}] | 1: services[0].back-end-port: 4000 is not the port 3322, and forwarding direct leaves ports as they are: remove it, or use forwarding: nat",
                "services: [{name: a, address: 10.0.0.1, scheduler: fair}] | 1: services[0].scheduler: 'fair' is no scheduler: one of rr, wrr",
                "services: [{name: a, address: 10.0.0.1, flags: [sh-port]}] | 1: services[0].flags[0]: 'sh-port' is no flag of scheduler wlc: it has none; remove it",
                "services: [{name: a, address: 10.0.0.1, scheduler: mh, flags: sh-port}] | 1: services[0].flags: 'sh-port' is no flag of scheduler mh: mh-fallback, mh-port",
                "services: [{name: a, address: 10.0.0.1, persistence: 1500ms}] | 1: services[0].persistence: 1500ms must be whole seconds",
                "services: [{name: a, address: 10.0.0.1, persistence: 800h}] | 1: services[0].persistence: 800h is out of bounds: 1s to 744h",
                "services: [{name: a, address: 10.0.0.1, persistence-prefix: 24}] | 1: services[0].persistence-prefix: means nothing without persistence",
                "services: [{name: a, address: 10.0.0.1, persistence: 1m, persistence-prefix: 64}] | 1: services[0].persistence-prefix: 64 is out of bounds: 1 to 32",
                "services: [{name: a, address: 10.0.0.1, persistence: 1m, one-packet: true}] | 1: services[0].one-packet: one-packet scheduling sends each packet elsewhere, and persistence keeps a client's together: remove one",
                "services: [{name: a, address: 10.0.0.1, protocols: tcp, one-packet: true}] | 1: services[0].one-packet: one-packet scheduling is for UDP: add udp to protocols, or remove it",
            })
    void aWrongServiceIsOneLine(String text, String problem) throws IOException {
        assertThat(problems(text)).hasSize(1).first().asString().startsWith(problem);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "name: .x | 2: name: '.x' is no name",
                "interface: a/b | 2: interface: 'a/b' is no network interface: 1 to 15 characters are wanted, as ip link names it",
                "back-ends: [{name: n}] | 2: back-ends[0].address: is missing",
                "back-ends: [{name: n, address: node1}] | 2: back-ends[0].address: 'node1' is no address of a host",
                "back-ends: [{name: n, address: 10.0.0.11, weight: 0}] | 2: back-ends[0].weight: 0 is out of bounds: 1 to 65535",
                "back-ends: [{name: n, address: 10.0.0.11, admin: node1}] | 2: back-ends[0].admin: 'node1' is no admin API: http://HOST:PORT or https://HOST:PORT is wanted",
                "back-ends: [{name: n, address: 10.0.0.11, admin: 'http://a:1/x'}] | 2: back-ends[0].admin: 'http://a:1/x' is no admin API",
                "back-ends: [{name: n, address: 10.0.0.100}] | 2: back-ends[0].address: 10.0.0.100 is the virtual address of service anep: give the back-end's own",
                "back-ends: [{name: n, address: 'fd00::1'}] | 2: back-ends[0].address: fd00::1 is IPv6, and every service is IPv4: give an address of that family, or use forwarding: tunnel",
                "health: {interval: 0s} | 2: health.interval: 0s is out of bounds: 100ms to 1h",
                "health: {failures: 0} | 2: health.failures: 0 is out of bounds: 1 to 100",
                "weights: {mode: dynamic} | 2: weights.mode: 'dynamic' is none of capacity, fixed",
                "weights: {fixed: 70000} | 2: weights.fixed: 70000 is out of bounds: 1 to 65535",
                "weights: {hysteresis: 0.1} | 2: weights.hysteresis: unknown key",
                "drain: 60 | 2: drain: '60' is no duration",
                "remove-at-end: maybe | 2: remove-at-end: 'maybe' is none of false, true",
                "settings: {net.ipv4.vs.x: 1} | 2: settings.net.ipv4.vs.x: 'net.ipv4.vs.x' is no setting below net.ipv4.vs",
                "settings: {am_droprate: $(x)} | 2: settings.am_droprate: '$(x)' is no value",
                "registration: {networks: [10.0.0.0/24]} | 2: registration.token-file: is missing",
                "registration: {token-file: /nowhere/token} | 2: registration.token-file: token file /nowhere/token: there is no such file; 'openssl rand -hex 32' makes a token",
                "admin: {token-file: /nowhere/token} | 2: admin.token-file: token file /nowhere/token: there is no such file",
                "admin: {listen: 'x:y'} | 2: admin.listen: port 'y' of 'x:y'",
                "admin: {tls: true} | 2: admin.tls: a server must show a certificate",
                "admin: {ready: '*:3326'} | 2: admin.ready: '*:3326' is not loopback: it is for programs of this host",
                "admin: {access-log: x} | 2: admin.access-log: unknown key",
                "code: {repositories: [ftp://x]} | 2: code.repositories[0]: 'ftp://x' is no repository",
                "code: {trust: [{key: /nowhere/key}]} | 2: code.trust[0].key: key file /nowhere/key",
                "code: {deploy: ['9x']} | 2: code.deploy[0]: service name",
                "vrrp: {interface: eth0} | 2: vrrp.router-id: is missing",
                "vrrp: {router-id: 1} | 2: vrrp.interface: is missing",
                "vrrp: {interface: eth0, router-id: 256} | 2: vrrp.router-id: 256 is out of bounds: 1 to 255",
                "vrrp: {interface: eth0, router-id: 1, priority: 255} | 2: vrrp.priority: 255 is out of bounds: 1 to 254",
                "vrrp: {interface: eth0, router-id: 1, interval: 150ms} | 2: vrrp.interval: 150ms must be whole tenths of seconds",
                "vrrp: {interface: eth0, router-id: 1, peers: [10.0.0.2]} | 2: vrrp.peers: source and peers belong together",
                "vrrp: {interface: eth0, router-id: 1, source: 10.0.0.1} | 2: vrrp.source: source and peers belong together",
                "vrrp: {interface: eth0, router-id: 1, source: 10.0.0.1, peers: [10.0.0.1]} | 2: vrrp: vrrp: peer 10.0.0.1 is this director's own source address",
                "servces: [] | 2: servces: unknown key; did you mean 'services'?",
                "vrrp: {interface: eth0, router-id: 1, password-file: /nowhere/p} | 2: vrrp.password-file: password file /nowhere/p: there is no such file",
                "tls: {certificate: /nowhere/c} | 2: tls.certificate: TLS certificate /nowhere/c: its key is missing",
            })
    void anotherWrongKeyIsOneLine(String text, String problem) throws IOException {
        assertThat(problems(SERVICE + text)).hasSize(1).first().asString().startsWith(problem);
    }

    @Test
    void whatStandsThereTwiceIsToldWithTheFirstPlace() throws IOException {
        assertThat(problems("""
                services:
                  - {name: a, address: 10.0.0.100}
                  - {name: a, address: 10.0.0.101}
                  - {name: c, address: 10.0.0.100, protocols: udp}
                  - {name: d, address: 10.0.0.100, port: 4000}
                back-ends:
                  - {name: n, address: 10.0.0.11}
                  - {name: n, address: 10.0.0.12}
                  - {name: m, address: 10.0.0.11}
                """))
                .containsExactly(
                        "3: services[1].name: name a is another service's already, by 2: services[0].name; change one",
                        "4: services[2].address: udp 10.0.0.100:3322 is another service's already, by 2: "
                                + "services[0].address; change one",
                        "8: back-ends[1].name: name n is another back-end's already, by 7: back-ends[0].name; change one",
                        "9: back-ends[2].address: address 10.0.0.11 is another back-end's already, by 7: "
                                + "back-ends[0].address; change one");
    }

    @Test
    void theApiBeyondLoopbackHasTlsOrIsSaidToNeedNone() throws IOException {
        assertThat(problems(SERVICE + "admin: {listen: '*:3325'}"))
                .singleElement()
                .asString()
                .startsWith("2: admin.listen: 0.0.0.0:3325 is beyond loopback")
                .contains("admin.tls", "admin.plain: allowed");
        assertThat(read(SERVICE + "admin: {listen: '*:3325', plain: allowed}")
                        .admin()
                        .tls())
                .isFalse();
    }

    @Test
    void aTokenThatEveryUserOfTheHostCanReadIsRefused() throws IOException {
        Path token = SecretFile.write(folder.resolve("token"), "0123456789abcdef");
        Files.setPosixFilePermissions(token, PosixFilePermissions.fromString("rw-r-----"));
        assertThat(read(SERVICE + "admin: {read-token-file: " + token + "}")
                        .admin()
                        .tokens()
                        .read())
                .isEqualTo(token);
        Files.setPosixFilePermissions(token, PosixFilePermissions.fromString("rw-r--r--"));
        assertThat(problems(SERVICE + "registration: {token-file: " + token + "}"))
                .anySatisfy(problem -> assertThat(problem)
                        .contains("token-file: token file FOLDER/token: every user of the host may read or write it")
                        .endsWith("chmod o= FOLDER/token"));
    }

    @Test
    void keysThatDoNotGoTogetherAreTold() throws IOException {
        Path token = SecretFile.write(folder.resolve("token"), "0123456789abcdef");
        String registration = "registration: {token-file: " + token;
        assertThat(problems(SERVICE + "interface: eth0\nvrrp: {interface: eth1, router-id: 1}"))
                .containsExactly("2: interface: eth0 cannot have the virtual addresses: with vrrp keepalived puts them "
                        + "on the interface there; remove interface or vrrp");
        assertThat(problems(SERVICE + registration + "}\nadmin: {listen: '*:3325', plain: allowed}"))
                .containsExactly("2: registration: the token would cross the network in clear, since admin.listen is "
                        + "0.0.0.0:3325 without TLS: set admin.tls, or plain: true on a network that nobody else is "
                        + "on");
        assertThat(problems(SERVICE + registration + "}\nadmin: {listen: off}"))
                .containsExactly("2: registration: needs the API, and admin.listen is off: give it an address, or "
                        + "remove it");
        assertThat(problems(SERVICE + registration + ", interval: 1m, expiry: 90s}"))
                .containsExactly("2: registration.expiry: 90s must be at least twice the interval of 1m, or back-ends "
                        + "are forgotten between two registrations");
        assertThat(problems(SERVICE + "back-ends: [{name: a, address: 10.0.0.1}, {name: b, address: 10.0.0.2}]\n"
                        + registration + ", max-back-ends: 1}"))
                .containsExactly(
                        "3: registration.max-back-ends: 1 must be at least 2: that many are listed in " + "back-ends");
        Path password = Files.writeString(folder.resolve("password"), "secret");
        assertThat(problems("services: [{name: a, address: 'fd00::1'}]\n"
                        + "vrrp: {interface: eth0, router-id: 1, password-file: " + password + "}"))
                .containsExactly("2: vrrp.password-file: VRRP has passwords for IPv4 alone, and a service has an IPv6 "
                        + "address: remove it");
        assertThat(problems(SERVICE + "vrrp: {interface: eth0, router-id: 1, interval: 300ms, password-file: "
                        + password + "}"))
                .containsExactly("2: vrrp.interval: 300ms must be whole seconds with a password-file, by which VRRP is "
                        + "of version 2: change it, or remove the password");
        Files.writeString(password, "more than eight");
        assertThat(problems(SERVICE + "vrrp: {interface: eth0, router-id: 1, password-file: " + password + "}"))
                .containsExactly("2: vrrp.password-file: password of file FOLDER/password: it has 15 characters; 1 to "
                        + "8 letters, digits, '_', '.' and '-' are wanted");
    }

    @Test
    void theNumberOfServicesAndBackEndsIsBounded() throws IOException {
        String services = IntStream.range(0, 65)
                .mapToObj(i -> "{name: s" + i + ", address: 10.0.0." + (i + 1) + "}")
                .collect(Collectors.joining(", "));
        assertThat(problems("services: [" + services + "]"))
                .containsExactly("1: services: 65 are too many: 64 are allowed");
        String backEnds = IntStream.range(0, 257)
                .mapToObj(i -> "{name: b" + i + ", address: 10.0." + (i / 200 + 1) + "." + (i % 200 + 1) + "}")
                .collect(Collectors.joining(", "));
        assertThat(problems(SERVICE + "back-ends: [" + backEnds + "]"))
                .containsExactly("2: back-ends: 257 are too many: 256 are allowed");
    }

    @Test
    void aBackEndOfTheOtherFamilyIsReachedByTunnel() throws IOException {
        DirectorSettings settings = read("services: [{name: a, address: 10.0.0.100, forwarding: tunnel}]\n"
                + "back-ends: [{name: n, address: 'fd00::1'}]");
        assertThat(settings.director().backEnds()).hasSize(1);
    }

    @Test
    void everyErrorIsToldAtOnce() throws IOException {
        assertThat(problems("services: [{name: a}]\nhealth: {failures: x}\ndrain: 1\nfoo: 1\n"))
                .hasSize(4);
    }
}
