package org.tamanoir.cluster.setup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.tamanoir.cluster.setup.Configs.address;

import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.tamanoir.cluster.config.DirectorConfig;
import org.tamanoir.cluster.config.Vrrp;
import org.tamanoir.cluster.lvs.ClusterException;
import org.tamanoir.cluster.lvs.Forwarding;
import org.tamanoir.cluster.lvs.Program;
import org.tamanoir.support.Namespaces;
import org.tamanoir.support.Tiers;

@Tag("once")
@Tag("process")
@Tag("namespace")
class KeepalivedTest {
    private static final String READY = "http://127.0.0.1:3325/ready";
    private static final Vrrp MULTICAST =
            new Vrrp("e0", "e0", 7, 100, true, Duration.ofMillis(500), null, List.of(), null);
    private static final Vrrp UNICAST = new Vrrp(
            "e0",
            "e1",
            51,
            150,
            false,
            Duration.ofSeconds(2),
            address("10.74.1.1"),
            List.of(address("10.74.1.2")),
            "secret");

    @TempDir
    private Path folder;

    private DirectorConfig config(@Nullable Vrrp vrrp, String... addresses) {
        return Configs.director(folder, null, vrrp, Forwarding.DIRECT, addresses);
    }

    private static void requireKeepalived() {
        Tiers.require("keepalived", Program.find("keepalived") != null, "needs keepalived: apt-get install keepalived");
        Namespaces.require("namespace");
    }

    @Test
    void theWholeFileIsAsExpected() throws Exception {
        String config = Keepalived.config(config(UNICAST, "10.74.0.1", "10.74.0.2", "10.74.0.1", "fd74::1"), READY);

        try (InputStream expected = KeepalivedTest.class.getResourceAsStream("keepalived.conf")) {
            assertThat(expected).isNotNull();
            assertThat(config).isEqualTo(new String(expected.readAllBytes(), StandardCharsets.UTF_8));
        }
    }

    @Test
    void versionThreeIsSpokenWithoutPassword() throws Exception {
        assertThat(Keepalived.config(config(MULTICAST, "fd74::1"), "http://[::1]:3325/ready"))
                .contains(
                        "version 3",
                        "advert_int 0.5",
                        "fd74::1/128 dev e0",
                        "/dev/tcp/::1/3325 ",
                        "Host: [::1]:3325\\\\r")
                .doesNotContain("nopreempt", "auth", "unicast", "excluded");
    }

    @Test
    void keepalivedTakesWhatIsMade() throws Exception {
        requireKeepalived();
        try (Namespaces namespaces = new Namespaces("setup")) {
            String host = namespaces.add("k");
            namespaces.run(host, "ip link add e0 type veth peer name e1");
            namespaces.address(host, "e0", "10.74.1.1/24");
            for (DirectorConfig each : List.of(
                    config(UNICAST, "10.74.0.1", "fd74::1"),
                    config(MULTICAST, "10.74.0.1"),
                    config(MULTICAST, "10.74.0.1", "fd74::1"),
                    config(MULTICAST, "fd74::1", "fd74::2"))) {
                Path file = Files.writeString(folder.resolve("keepalived.conf"), Keepalived.config(each, READY));
                assertThat(namespaces.in(host, () -> Keepalived.check(file)))
                        .as(Files.readString(file))
                        .isEmpty();
            }
        }
    }

    @Test
    void objectionsAreTold() throws Exception {
        requireKeepalived();
        String config = Keepalived.config(config(MULTICAST, "10.74.0.1"), READY);
        Path file = folder.resolve("keepalived.conf");
        Files.writeString(
                file, config.replace("priority 100", "priority 900").replace("/bin/bash", "/bin/no-such-shell"));
        try (Namespaces namespaces = new Namespaces("setup")) {
            String host = namespaces.add("k");
            namespaces.run(host, "ip link add e0 type veth peer name e1");

            assertThat(namespaces.in(host, () -> Keepalived.check(file)))
                    .anyMatch(line -> line.contains("Priority not valid"))
                    .anyMatch(line -> line.contains("Disabling track script tamanoir_ready"));
            assertThat(namespaces.in(host, () -> Keepalived.check(folder.resolve("none"))))
                    .isNotEmpty();
        }
    }

    @Test
    void whatCannotBeIsRefused() {
        refused(() -> Keepalived.config(config(null, "10.74.0.1"), READY), "director north has no section vrrp");
        refused(() -> Keepalived.config(config(UNICAST, "fd74::1"), READY), "vrrp by IPv4 needs a service");
        Vrrp password = new Vrrp("e0", "e0", 7, 100, true, Duration.ofSeconds(1), null, List.of(), "abc");
        refused(() -> Keepalived.config(config(password, "fd74::1"), READY), "vrrp by IPv6 has no password");
        for (String url : List.of(
                "https://127.0.0.1:3325/ready",
                "http://127.0.0.1/ready",
                "http://127.0.0.1:3325",
                "http://127.0.0.1:3325/ready?a=b",
                "http://a'b:3325/ready",
                "http://127.0.0.1:3325/rea'dy",
                "http://127.0.0.1:3325/rea%22dy",
                "http://127.0.0.1:99999/ready",
                "ready")) {
            refused(
                    () -> Keepalived.config(config(MULTICAST, "10.74.0.1"), url),
                    "'" + url + "' cannot be asked by keepalived");
        }
    }

    private static void refused(org.assertj.core.api.ThrowableAssert.ThrowingCallable call, String message) {
        assertThatThrownBy(call)
                .isInstanceOf(ClusterException.class)
                .hasMessageStartingWith(message)
                .hasMessageNotContaining("\n");
    }
}
