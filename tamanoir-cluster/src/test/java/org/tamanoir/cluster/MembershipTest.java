package org.tamanoir.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.support.Waiting.eventually;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.tamanoir.cluster.MembershipSettings.SetUp;
import org.tamanoir.cluster.MembershipSettings.Timing;
import org.tamanoir.cluster.MembershipStatus.DirectorLink;
import org.tamanoir.cluster.MembershipStatus.Wanted;
import org.tamanoir.cluster.config.Welcome;
import org.tamanoir.cluster.lvs.ClusterException;
import org.tamanoir.support.Ports;
import org.tamanoir.tls.TestAuthority;
import org.tamanoir.tls.TlsFiles;

@Timeout(120)
class MembershipTest {
    private static final Duration LONG = Duration.ofSeconds(20);
    private static final List<InetSocketAddress> LISTENING = List.of(new InetSocketAddress("0.0.0.0", 3322));
    private static final Membership.Deployer DEPLOYS = service -> service + ":1.0";

    @TempDir
    Path folder;

    private final List<AutoCloseable> opened = new ArrayList<>();

    @AfterEach
    void closeAll() throws Exception {
        for (AutoCloseable each : opened) {
            each.close();
        }
    }

    private TestDirector director(Welcome welcome) throws IOException {
        TestDirector director = new TestDirector(welcome);
        opened.add(director);
        return director;
    }

    /** @param patience for joining and leaving: long where a test waits for something, short where nothing comes */
    private Membership membership(Duration patience, URI... directors) throws IOException {
        return membership(patience, null, directors);
    }

    private Membership membership(Duration patience, @Nullable TlsFiles tls, URI... directors) throws IOException {
        Timing timing =
                new Timing(patience, Duration.ofSeconds(5), Duration.ofMillis(300), patience, Duration.ofMillis(50));
        Membership membership = new Membership(new MembershipSettings(
                Arrays.asList(directors),
                TestDirector.TOKEN,
                "node 3",
                null,
                URI.create("http://0.0.0.0:3324"),
                7,
                null,
                SetUp.OFF,
                folder.resolve("cache"),
                tls,
                timing));
        opened.add(0, membership);
        return membership;
    }

    private static DirectorLink link(Membership membership, int index) {
        return membership.status().directors().get(index);
    }

    /** Where nobody listens. */
    private static URI nowhere() throws IOException {
        return URI.create("http://127.0.0.1:" + Ports.free());
    }

    @Test
    void aNodeRegistersWithItsTokenNameAndTheAddressThatLeadsToTheDirector() throws Exception {
        TestDirector director = director(Welcomes.FULL);
        Membership membership = membership(LONG, director.url());
        membership.join();
        assertThat(director.requests.get(0)).isEqualTo("PUT /v1/back-ends/node%203 " + TestDirector.TOKEN);
        assertThat(director.registrations.get(0).toString())
                .isEqualTo("{\"address\":null,\"admin\":\"http://127.0.0.1:3324\",\"weight\":7,\"leaving\":false,"
                        + "\"findings\":[],\"services\":[]}");
        assertThat(membership.code()).isEqualTo(Welcomes.CODE);
        assertThat(membership.isDirector(InetAddress.getByName("127.0.0.1"))).isTrue();
        assertThat(membership.isDirector(InetAddress.getByName("127.0.0.2"))).isFalse();
        MembershipStatus status = membership.status();
        assertThat(status.services()).containsExactly(Welcomes.SERVED);
        assertThat(status.code().repositories()).containsExactly("http://10.9.0.2:8080");
        assertThat(status.code().publishers()).singleElement().asString().matches("[0-9a-f]{16}");
        assertThat(link(membership, 0).state()).isEqualTo("joining");
        assertThat(link(membership, 0).name()).isEqualTo("dir-1");
        assertThat(link(membership, 0).connections()).isEqualTo(7);
        assertThat(status.problems()).isEmpty();
    }

    @Test
    void registrationsGoOnInTheIntervalAndTheStateIsFollowed() throws Exception {
        TestDirector director = director(Welcomes.FULL);
        Membership membership = membership(LONG, director.url());
        membership.join();
        membership.serve(DEPLOYS, LISTENING, LISTENING);
        director.says(Welcomes.in("up"));
        eventually().untilAsserted(() -> assertThat(link(membership, 0).state()).isEqualTo("up"));
        int before = director.registrations.size();
        eventually().untilAsserted(() -> assertThat(director.registrations).hasSizeGreaterThan(before + 2));
    }

    @Test
    void allDirectorsAreRegisteredWithAndOneThatIsAwayHoldsUpNobody() throws Exception {
        TestDirector one = director(Welcomes.FULL);
        TestDirector other = director(Welcomes.FULL);
        Membership membership = membership(LONG, nowhere(), one.url(), other.url());
        membership.join();
        eventually().untilAsserted(() -> {
            assertThat(one.registrations).hasSizeGreaterThan(2);
            assertThat(other.registrations).hasSizeGreaterThan(2);
            assertThat(link(membership, 0).state()).isEqualTo("unreachable");
            assertThat(link(membership, 0).problem())
                    .isEqualTo("cannot connect: is the director running, and its API there?");
        });
    }

    @Test
    void aDirectorThatComesBackIsRegisteredWithAgain() throws Exception {
        TestDirector director = director(Welcomes.FULL);
        director.refuses(503, "the table is not as wanted");
        Membership membership = membership(Duration.ofMillis(100), director.url());
        membership.join();
        eventually()
                .untilAsserted(() -> assertThat(link(membership, 0).problem())
                        .isEqualTo("it answers with status 503: the table is not as wanted"));
        director.says(Welcomes.FULL);
        director.status = 200;
        eventually().untilAsserted(() -> {
            assertThat(link(membership, 0).state()).isEqualTo("joining");
            assertThat(link(membership, 0).problem()).isNull();
        });
    }

    @Test
    void withoutAnyAnswerTheNodeStartsWithWhatWasSaidBefore() throws Exception {
        TestDirector director = director(Welcomes.FULL);
        Membership before = membership(LONG, director.url());
        before.join();
        before.close();
        Membership after = membership(Duration.ofMillis(100), nowhere());
        after.join();
        assertThat(after.code()).isEqualTo(Welcomes.CODE);
        assertThat(after.status().code().remembered()).isTrue();
        assertThat(after.status().wanted()).containsExactly(new Wanted("org.example.Shout", null, null));
    }

    @Test
    void withoutAnyAnswerOrMemoryTheNodeStartsWithoutAndTakesOverWhatItCanLater() throws Exception {
        TestDirector director = director(Welcomes.FULL);
        director.refuses(401, "wrong token");
        Membership membership = membership(LONG, director.url());
        membership.join(); // Everybody refuses: there is nothing to wait for.
        membership.serve(DEPLOYS, LISTENING, LISTENING);
        assertThat(membership.code().repositories()).isEmpty();
        director.status = 200;
        director.says(Welcomes.FULL);
        eventually().untilAsserted(() -> {
            MembershipStatus status = membership.status();
            assertThat(status.services()).containsExactly(Welcomes.SERVED);
            assertThat(status.wanted()).containsExactly(new Wanted("org.example.Shout", "org.example.Shout:1.0", null));
            assertThat(status.problems())
                    .containsExactly("repositories or publishers of director dir-1 are others than those in force: "
                            + "restart the node to take them over");
        });
    }

    @Test
    void servicesThatTheDirectorWantsAreDeployedOnceAndTold() throws Exception {
        TestDirector director = director(Welcomes.FULL);
        Membership membership = membership(LONG, director.url());
        membership.join();
        List<String> deployed = new CopyOnWriteArrayList<>();
        membership.serve(
                service -> {
                    deployed.add(service);
                    return service + ":1.0";
                },
                LISTENING,
                LISTENING);
        eventually()
                .untilAsserted(() -> assertThat(director.last().get("services").toString())
                        .isEqualTo("[\"org.example.Shout\"]".replace("Shout", "Shout:1.0")));
        director.says(Welcomes.with(
                List.of(Welcomes.SERVED), Welcomes.deploying("org.example.Shout", "org.example.Whisper:2.0")));
        eventually()
                .untilAsserted(() -> assertThat(director.last().get("services")).hasSize(2));
        assertThat(deployed).containsExactly("org.example.Shout", "org.example.Whisper:2.0");
    }

    @Test
    void aDeploymentThatFailsIsToldAndTriedAgain() throws Exception {
        TestDirector director = director(Welcomes.FULL);
        Membership membership = membership(LONG, director.url());
        membership.join();
        List<String> tries = new CopyOnWriteArrayList<>();
        membership.serve(
                service -> {
                    tries.add(service);
                    if (tries.size() < 2) {
                        throw new ClusterException("no source\nhas it");
                    }
                    return service + ":1.0";
                },
                LISTENING,
                LISTENING);
        eventually()
                .untilAsserted(() -> assertThat(director.registrations)
                        .anySatisfy(registration -> assertThat(
                                        registration.get("findings").toString())
                                .isEqualTo("[\"service org.example.Shout is not deployed: no source has it\"]")));
        eventually()
                .untilAsserted(
                        () -> assertThat(director.last().get("findings").size()).isZero());
        assertThat(tries).hasSize(2);
    }

    @Test
    void whatTheNodeDoesNotListenOnAndWhatHasChangedIsToldToPeopleAndDirectors() throws Exception {
        TestDirector director = director(Welcomes.FULL);
        Membership membership = membership(LONG, director.url());
        membership.join();
        membership.serve(DEPLOYS, LISTENING, List.of());
        director.says(Welcomes.with(List.of(), new Welcome.Code(List.of(), List.of(), List.of())));
        eventually().untilAsserted(() -> {
            List<String> problems = membership.status().problems();
            assertThat(problems)
                    .containsExactly(
                            "service video: the node does not listen on udp 10.9.0.1:3322: add --listen '*:3322'",
                            "repositories or publishers of director dir-1 are others than those in force: restart the "
                                    + "node to take them over",
                            "services of director dir-1 are others than those that the host is set up for: restart the "
                                    + "node to take them over");
            assertThat(director.last().get("findings")).hasSize(3);
        });
    }

    @Test
    void directorsOfDifferentClustersAreTold() throws Exception {
        TestDirector one = director(Welcomes.FULL);
        TestDirector other =
                director(new Welcome("dir-2", "audio", "up", 0, 200, List.of(Welcomes.SERVED), Welcomes.CODE));
        Membership membership = membership(LONG, one.url(), other.url());
        membership.join();
        eventually()
                .untilAsserted(() -> assertThat(membership.status().problems())
                        .containsExactly("directors dir-1 and dir-2 do not serve the same cluster: video; audio"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "[]", "{\"director\": \"x\"}", "<html>no director</html>"})
    void anAnswerThatIsNoneIsAProblemAndNothingElse(String body) throws Exception {
        TestDirector director = director(Welcomes.FULL);
        director.answer = registration -> body.getBytes(StandardCharsets.UTF_8);
        Membership membership = membership(LONG, director.url());
        membership.join();
        assertThat(link(membership, 0).state()).isEqualTo("refused");
        assertThat(link(membership, 0).problem()).startsWith("its answer is not a director's: ");
        director.says(Welcomes.FULL);
        eventually().untilAsserted(() -> assertThat(link(membership, 0).state()).isEqualTo("joining"));
    }

    @Test
    void anAnswerWithoutEndIsBrokenOff() throws Exception {
        TestDirector director = director(Welcomes.FULL);
        director.answer = registration -> new byte[MembershipWelcome.LIMIT_BYTES + 1];
        Membership membership = membership(Duration.ofMillis(100), director.url());
        membership.join();
        eventually()
                .untilAsserted(() -> assertThat(link(membership, 0).problem())
                        .isEqualTo("no answer: answered more than 1048576 bytes"));
    }

    @Test
    void aDirectorInsideTlsIsBelievedByTheNodesAuthoritiesAlone() throws Exception {
        TlsFiles shown = new TestAuthority(folder, "authority").files("director");
        TlsFiles others = new TestAuthority(folder, "other").files("other");
        TestDirector director =
                new TestDirector(registration -> MembershipWelcome.json(Welcomes.FULL), shown.context());
        opened.add(director);
        TlsFiles trusting = new TlsFiles(null, null, shown.trust(), false);
        Membership good = membership(LONG, trusting, director.url());
        good.join();
        assertThat(link(good, 0).state()).isEqualTo("joining");
        Membership bad =
                membership(Duration.ofMillis(100), new TlsFiles(null, null, others.trust(), false), director.url());
        bad.join();
        eventually()
                .untilAsserted(() -> assertThat(link(bad, 0).problem())
                        .startsWith("no TLS with it: ")
                        .endsWith("name the authority of its certificate under tls.trust, or with --tls-trust"));
        assertThat(bad.status().setUp().applied()).isFalse();
    }

    @Test
    void leavingReturnsWhenEveryDirectorThatIsThereKnows() throws Exception {
        TestDirector one = director(Welcomes.in("up"));
        TestDirector other = director(Welcomes.in("up"));
        for (TestDirector each : List.of(one, other)) {
            each.answer = registration -> MembershipWelcome.json(
                    Welcomes.in(registration.get("leaving").asBoolean() ? "draining" : "up"));
        }
        Membership membership = membership(LONG, one.url(), nowhere(), other.url());
        membership.join();
        membership.serve(DEPLOYS, LISTENING, LISTENING);
        eventually()
                .untilAsserted(() -> assertThat(membership.status().directors())
                        .extracting(DirectorLink::state)
                        .containsExactly("up", "unreachable", "up"));
        membership.leave();
        assertThat(membership.status().leaving()).isTrue();
        assertThat(link(membership, 0).state()).isEqualTo("draining");
        assertThat(link(membership, 2).state()).isEqualTo("draining");
        int before = one.registrations.size();
        eventually().untilAsserted(() -> assertThat(one.registrations).hasSizeGreaterThan(before));
        assertThat(one.last().get("leaving").asBoolean()).isTrue();

        assertThat(membership.drain(Duration.ofMillis(40))).isEqualTo(Duration.ofMillis(10)); // Streams go on.
        one.says(Welcomes.in("drained"));
        other.says(Welcomes.in("down"));
        assertThat(membership.drain(LONG)).isGreaterThan(LONG.dividedBy(4));
    }

    @Test
    void aDirectorThatDoesNotSayThatItDrainsIsWaitedForAnInterval() throws Exception {
        TestDirector director = director(Welcomes.in("up"));
        Membership membership = membership(LONG, director.url());
        membership.join();
        membership.leave();
        assertThat(director.registrations.stream()
                        .filter(registration -> registration.get("leaving").asBoolean()))
                .hasSizeGreaterThan(1);
    }

    @Test
    void leavingIsBoundedWhenADirectorHangs() throws Exception {
        TestDirector director = director(Welcomes.in("up"));
        Membership membership = membership(Duration.ofMillis(500), director.url());
        membership.join();
        director.refuses(503, "busy");
        membership.leave();
        assertThat(membership.status().leaving()).isTrue();
    }

    @Test
    void theTokenIsNeverShown() throws Exception {
        TestDirector director = director(Welcomes.FULL);
        Membership membership = membership(LONG, director.url());
        membership.join();
        String token = TestDirector.TOKEN.substring("Bearer ".length());
        assertThat(membership.status().toString()).doesNotContain(token);
    }
}
