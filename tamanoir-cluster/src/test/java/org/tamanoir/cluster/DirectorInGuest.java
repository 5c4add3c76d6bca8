package org.tamanoir.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.tamanoir.cluster.config.DirectorConfig;
import org.tamanoir.cluster.config.HealthPolicy;
import org.tamanoir.cluster.config.WeightPolicy;
import org.tamanoir.cluster.config.Welcome;
import org.tamanoir.cluster.lvs.ClusterException;
import org.tamanoir.cluster.lvs.Ipvs;
import org.tamanoir.cluster.lvs.LvsTable;
import org.tamanoir.support.Namespaces;
import org.tamanoir.support.Tiers;

/** A director with the kernel's own table, in a namespace in which back-ends and clients are too. */
@Timeout(900)
class DirectorInGuest {
    /** A busy host emulates the guest some ten times slower than a quiet one. */
    private static final Duration PATIENCE = Duration.ofSeconds(240);
    /** Questions take most of the emulator's time: fewer than {@link Configs#HEALTH} and {@link Configs#WEIGHTS} ask. */
    private static final HealthPolicy HEALTH =
            new HealthPolicy(Duration.ofMillis(500), Duration.ofSeconds(30), 2, 2, 0);

    private static final WeightPolicy WEIGHTS = new WeightPolicy(true, 100, 100, Duration.ofSeconds(1));
    /** A look at the table takes a program. */
    private static final Duration LOOK = Duration.ofMillis(500);

    @TempDir
    private Path folder;

    private final List<BackEndInGuest> backEnds = new ArrayList<>();
    private Namespaces namespaces;
    private String host;
    /** A thread of the namespace, as are those that it starts. */
    private ExecutorService inside;

    @BeforeEach
    void start() throws Exception {
        Namespaces.require("ipvs");
        Tiers.require("ipvs", Files.exists(Path.of("/usr/sbin/ipvsadm")), "needs the package ipvsadm");
        namespaces = new Namespaces("director");
        host = namespaces.add("host");
        namespaces.addresses(host, "lo", "10.99.0.1/32", "10.99.1.1/32", "10.99.1.2/32", "10.99.1.3/32");
        inside = namespaces.in(host, () -> {
            ThreadPoolExecutor thread = new ThreadPoolExecutor(1, 1, 0, TimeUnit.SECONDS, new ArrayBlockingQueue<>(1));
            thread.prestartAllCoreThreads();
            return thread;
        });
        for (int i = 1; i <= 3; i++) {
            String address = "10.99.1." + i;
            backEnds.add(in(() -> new BackEndInGuest(address)));
        }
    }

    @AfterEach
    void stop() {
        backEnds.forEach(BackEndInGuest::close);
        inside.shutdownNow();
        namespaces.close();
    }

    private <T> T in(Callable<T> code) throws Exception {
        try {
            return inside.submit(code).get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof ClusterException cause) {
                throw cause;
            }
            throw e;
        }
    }

    private String ipvsadm(String arguments) {
        return namespaces.run(host, "ipvsadm " + arguments);
    }

    private DirectorConfig config() {
        return config(false);
    }

    private DirectorConfig config(boolean removeAtEnd) {
        return Configs.director(
                folder,
                HEALTH,
                WEIGHTS,
                Configs.REGISTRATION,
                removeAtEnd,
                Configs.backEnd("b1", "10.99.1.1", null),
                Configs.backEnd("b2", "10.99.1.2", 7));
    }

    private Director started() throws Exception {
        return started(config());
    }

    private Director started(DirectorConfig config) throws Exception {
        return in(() -> {
            Director director = new Director(config, Ipvs.open());
            director.start();
            return director;
        });
    }

    private void awaitTable(String... servers) {
        List<String> wanted = new ArrayList<>();
        for (String protocol : List.of("-t", "-u")) {
            wanted.add("-A " + protocol + " 10.99.0.1:3322 -s wlc");
            for (String server : servers) {
                wanted.add("-a " + protocol + " 10.99.0.1:3322 -r " + server.replace(" ", ":3322 -m -w "));
            }
        }
        Awaitility.await()
                .atMost(PATIENCE)
                .pollInterval(LOOK)
                .untilAsserted(() -> assertThat(ipvsadm("-S -n").lines().map(String::strip))
                        .containsExactlyInAnyOrderElementsOf(wanted));
    }

    private static DirectorStatus.Member member(Director director, String name) {
        return director.status().backEnds().stream()
                .filter(each -> each.name().equals(name))
                .findFirst()
                .orElseThrow();
    }

    private static void await(Director director, Predicate<DirectorStatus> condition) {
        Awaitility.await()
                .atMost(PATIENCE)
                .pollInterval(Duration.ofMillis(50))
                .until(() -> condition.test(director.status()));
    }

    private Socket stream() throws Exception {
        return in(() -> {
            Socket socket = new Socket();
            socket.setSoTimeout((int) PATIENCE.toMillis());
            socket.connect(new InetSocketAddress("10.99.0.1", 3322), (int) PATIENCE.toMillis());
            return socket;
        });
    }

    private static char ask(Socket stream) throws Exception {
        stream.getOutputStream().write('?');
        return (char) stream.getInputStream().read();
    }

    private static void assertPasses(Socket stream, char backEnd) throws Exception {
        assertThat(ask(stream)).isEqualTo(backEnd);
    }

    @Test
    void theTableFollowsBackEndsThroughTheirLives() throws Exception {
        try (Director director = started()) {
            awaitTable("10.99.1.1 200", "10.99.1.2 7");
            Registration asked = new Registration(null, backEnds.get(2).admin(), 9, false, List.of(), List.of());
            Welcome welcome = director.register("b3", asked, Configs.address("10.99.1.3"));
            assertThat(welcome.state()).isEqualTo("joining");
            assertThat(welcome.code().services()).containsExactly("Monitor");
            awaitTable("10.99.1.1 200", "10.99.1.2 7", "10.99.1.3 9");

            backEnds.get(0).die();
            awaitTable("10.99.1.2 7", "10.99.1.3 9");
            assertThat(member(director, "b1").state()).isEqualTo("down");
            assertThat(member(director, "b1").reason()).contains("takes no connection");

            director.leave("b3");
            awaitTable("10.99.1.2 7");
            Socket stream = stream();
            assertPasses(stream, '2');
            director.drain("b2", Duration.ofMinutes(5));
            awaitTable("10.99.1.2 0");
            in(() -> backEnds.get(0).live());
            awaitTable("10.99.1.1 200", "10.99.1.2 0");
            await(
                    director,
                    status -> status.services().get(0).servers().stream()
                            .anyMatch(server -> server.backEnd().equals("b2")
                                    && server.counters().active() == 1));
            assertPasses(stream, '2');
            assertThat(member(director, "b2").drainEnds()).isNotNull();
            stream.close();
            awaitTable("10.99.1.1 200");
            assertThat(member(director, "b2").state()).isEqualTo("drained");

            director.join("b2");
            awaitTable("10.99.1.1 200", "10.99.1.2 7");
            backEnds.get(1).ready("the node stops");
            awaitTable("10.99.1.1 200");
            assertThat(director.status().ready()).isTrue();
            assertThat(director.totals().traffic().packetsIn()).isEqualTo(30);
        }
    }

    @Test
    void aSuccessorTouchesNothingThatGoesOn() throws Exception {
        Socket stream;
        try (Director director = started()) {
            awaitTable("10.99.1.1 200", "10.99.1.2 7");
            director.deploy("Gzip:1.0");
            stream = stream();
            assertPasses(stream, ask(stream));
        }
        Awaitility.await()
                .atMost(PATIENCE)
                .pollInterval(LOOK)
                .until(() -> connections().contains("TCP 10.99.0.1:3322 1"));
        List<String> before = connections();
        assertThat(in(() -> Director.plan(config(), Ipvs.open())).isEmpty()).isTrue();
        try (Director director = started()) {
            assertThat(member(director, "b1").state()).isEqualTo("up");
            assertThat(connections()).isEqualTo(before);
            assertPasses(stream, ask(stream));
            Registration asked = new Registration(null, backEnds.get(0).admin(), null, false, List.of(), List.of());
            assertThat(director.register("b1", asked, Configs.address("10.99.1.1"))
                            .code()
                            .services())
                    .containsExactly("Monitor", "Gzip:1.0");

            ipvsadm("-e -t 10.99.0.1:3322 -r 10.99.1.2:3322 -m -w 99");
            ipvsadm("-D -u 10.99.0.1:3322");
            ipvsadm("-A -t 10.99.0.7:80 -s rr");
            Awaitility.await()
                    .atMost(PATIENCE)
                    .pollInterval(LOOK)
                    .untilAsserted(() -> assertThat(ipvsadm("-S -n"))
                            .contains("-a -t 10.99.0.1:3322 -r 10.99.1.2:3322 -m -w 7")
                            .contains("-a -u 10.99.0.1:3322 -r 10.99.1.2:3322 -m -w 7"));
            assertPasses(stream, ask(stream));
        }
        assertThat(setting("expire_nodest_conn")).isEqualTo("1");
        in(() -> Director.remove(config(), Ipvs.open()));
        assertThat(ipvsadm("-S -n").strip()).as("what is another's stays").isEqualTo("-A -t 10.99.0.7:80 -s rr");
        assertThat(setting("expire_nodest_conn")).isEqualTo("0");
    }

    @Test
    void oneThatRemovesAtItsEndLeavesWhatIsAnothersAlone() throws Exception {
        ipvsadm("-A -t 10.99.0.7:80 -s rr");
        Director director = started(config(true));
        assertThat(ipvsadm("-S -n")).contains("-A -t 10.99.0.1:3322 -s wlc", "-A -u 10.99.0.1:3322 -s wlc");
        director.close();
        assertThat(ipvsadm("-S -n").strip()).isEqualTo("-A -t 10.99.0.7:80 -s rr");
        assertThat(setting("expire_nodest_conn")).isEqualTo("0");
    }

    /** Of services and servers, since they were made; the kernel adds them up every 2 s. */
    private List<String> connections() {
        return ipvsadm("-L -n --stats --exact")
                .lines()
                .filter(line -> line.contains("10.99."))
                .map(line -> line.strip().split(" +"))
                .map(fields -> fields[0] + " " + fields[1] + " " + fields[2])
                .toList();
    }

    private String setting(String name) {
        return namespaces.run(host, "cat /proc/sys/net/ipv4/vs/" + name).strip();
    }

    @Test
    void anothersServiceStopsTheStartBeforeAnythingIsChanged() throws Exception {
        ipvsadm("-A -u 10.99.0.1:3322 -s rr");
        LvsTable before = in(() -> Ipvs.open().read());
        assertThatThrownBy(() -> started())
                .isInstanceOf(ClusterException.class)
                .satisfies(e -> assertThat(e.getMessage())
                        .contains("udp 10.99.0.1:3322")
                        .doesNotContain("\n"));
        assertThat(in(() -> Ipvs.open().read())).isEqualTo(before);
        assertThat(setting("expire_nodest_conn")).isEqualTo("0");
        ipvsadm("-D -u 10.99.0.1:3322");
        try (Director director = started()) {
            assertThat(director.status().problem()).isNull();
            assertThatThrownBy(() -> started())
                    .isInstanceOf(ClusterException.class)
                    .hasMessageContaining("another director");
        }
    }
}
