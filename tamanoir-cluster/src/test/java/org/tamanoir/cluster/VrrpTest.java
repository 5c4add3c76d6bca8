package org.tamanoir.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.tamanoir.cluster.config.Vrrp;

class VrrpTest {
    private static final Duration SECOND = Duration.ofSeconds(1);

    @Test
    void whatKeepalivedTakesIsTaken() {
        assertThat(of("eth0", 1, 1, Duration.ofMillis(100), null).advertInterval())
                .isEqualTo(Duration.ofMillis(100));
        assertThat(of("bond0.100", 255, 254, Duration.ofSeconds(40), "a.b-c+d_").routerId())
                .isEqualTo(255);
    }

    @Test
    void boundsAreTold() {
        refused(() -> of("eth0; reboot", 1, 1, SECOND, null), "interface 'eth0; reboot' must be 1 to 15 letters");
        refused(() -> of("", 1, 1, SECOND, null), "interface '' must be");
    }

    @Test
    void sourceAndPeersBelongTogether() {
        refused(() -> to("10.0.0.1", "fd00::2"), "peer fd00::2 must be of the same IP version");
        refused(() -> to("10.0.0.1", "10.0.0.1"), "peer 10.0.0.1 is this director's own source address");
        refused(() -> to("10.0.0.1", "224.0.0.18"), "peer 224.0.0.18 must be the address of a host");
        refused(() -> to("127.0.0.1", "10.0.0.2"), "source 127.0.0.1 must be the address of a host");
        assertThat(to("10.0.0.1", "10.0.0.2").peers()).hasSize(1);
    }

    @Test
    void thePasswordIsNotShown() {
        assertThat(of("eth0", 1, 1, SECOND, "geheim"))
                .hasToString("Vrrp[eth0, sync eth0, router 1, priority 1, with a password]");
    }

    private static Vrrp of(String device, int routerId, int priority, Duration interval, @Nullable String password) {
        return new Vrrp(device, "eth0", routerId, priority, false, interval, null, List.of(), password);
    }

    private static Vrrp to(@Nullable String source, String... peers) {
        List<InetAddress> all = List.of(peers).stream().map(VrrpTest::address).toList();
        return new Vrrp("eth0", "eth0", 1, 1, false, SECOND, source == null ? null : address(source), all, null);
    }

    private static InetAddress address(String text) {
        try {
            return InetAddress.getByName(text);
        } catch (UnknownHostException e) {
            throw new IllegalArgumentException(e);
        }
    }

    private static void refused(Supplier<Vrrp> made, String message) {
        assertThatIllegalArgumentException()
                .isThrownBy(made::get)
                .withMessageStartingWith("vrrp: " + message)
                .withMessageNotContaining("\n");
    }
}
