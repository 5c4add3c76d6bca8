package org.tamanoir.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.support.Waiting.eventually;

import java.io.IOException;
import java.net.InetAddress;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.tamanoir.cluster.MembershipSettings.SetUp;
import org.tamanoir.cluster.MembershipSettings.Timing;
import org.tamanoir.cluster.MembershipStatus.HostState;
import org.tamanoir.support.Namespaces;

/** A back-end and a director, each in a network namespace of its own: what becomes of the back-end's host. */
@Tag("namespace")
@Timeout(120)
class MembershipHostTest {
    private static final Duration LONG = Duration.ofSeconds(20);
    private static final Duration OFTEN = Duration.ofMillis(100);

    private static Namespaces namespaces;
    private static String node;
    private static String front;

    @TempDir
    private Path folder;

    @BeforeAll
    static void open() {
        Namespaces.require("namespace");
        namespaces = new Namespaces("member");
        node = namespaces.add("node");
        front = namespaces.add("front");
        namespaces.link(node, "e0", front, "e1");
        namespaces.address(node, "e0", "10.75.1.11/24");
        namespaces.address(front, "e1", "10.75.1.1/24");
    }

    @AfterAll
    static void close() {
        if (namespaces != null) {
            namespaces.close();
        }
    }

    private static TestDirector director() throws Exception {
        return namespaces.in(
                front,
                () -> new TestDirector(
                        registration -> MembershipWelcome.json(Welcomes.in("up")),
                        null,
                        InetAddress.getByName("10.75.1.1")));
    }

    private Membership membership(URI director, SetUp setUp, @Nullable String networkInterface) throws IOException {
        return new Membership(new MembershipSettings(
                List.of(director),
                TestDirector.TOKEN,
                "node",
                null,
                URI.create("http://0.0.0.0:3324"),
                null,
                networkInterface,
                setUp,
                folder,
                null,
                new Timing(LONG, Duration.ofSeconds(5), OFTEN, Duration.ofMillis(500), OFTEN)));
    }

    private static String addresses() {
        return namespaces.run(node, "ip -brief address show dev lo");
    }

    @Test
    void withThePrivilegeTheHostIsSetUpWatchedAndTakenBackAtTheEnd() throws Exception {
        try (TestDirector director = director()) {
            Membership membership = namespaces.in(node, () -> {
                Membership begun = membership(director.url(), SetUp.AUTO, null);
                begun.join();
                begun.serve(service -> service, List.of(), List.of());
                return begun;
            });
            HostState host = membership.status().setUp();
            assertThat(host.networkInterface()).isEqualTo("e0");
            assertThat(host.applied()).isTrue();
            assertThat(host.findings()).isEmpty();
            assertThat(addresses()).contains("10.9.0.1/32");
            assertThat(director.registrations.get(0).get("admin").asString()).isEqualTo("http://10.75.1.11:3324");

            namespaces.run(node, "ip address del 10.9.0.1/32 dev lo");
            eventually()
                    .untilAsserted(
                            () -> assertThat(director.last().get("findings").toString())
                                    .contains("10.9.0.1"));

            namespaces.run(node, "ip address add 10.9.0.1/32 dev lo");
            namespaces.in(node, () -> {
                membership.leave();
                membership.close();
                return true;
            });
            assertThat(addresses()).doesNotContain("10.9.0.1");
        }
    }

    @Test
    void printedCommandsDoWhatIsMissing() throws Exception {
        try (TestDirector director = director()) {
            Membership membership = namespaces.in(node, () -> {
                Membership begun = membership(director.url(), SetUp.PRINT, "e0");
                begun.join();
                begun.serve(service -> service, List.of(), List.of());
                return begun;
            });
            HostState host = membership.status().setUp();
            assertThat(host.applied()).isFalse();
            assertThat(addresses()).doesNotContain("10.9.0.1");
            assertThat(membership.status().problems())
                    .containsAll(host.findings())
                    .isNotEmpty();

            host.commands().forEach(command -> namespaces.run(node, command));
            eventually()
                    .untilAsserted(() ->
                            assertThat(membership.status().setUp().findings()).isEmpty());
            assertThat(addresses()).contains("10.9.0.1/32");

            host.undoCommands().forEach(command -> namespaces.run(node, command));
            namespaces.in(node, () -> {
                membership.close();
                return true;
            });
            assertThat(addresses()).doesNotContain("10.9.0.1");
        }
    }
}
