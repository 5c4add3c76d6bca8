package org.tamanoir.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.tamanoir.cluster.MembershipStatus.Wanted;

class MembershipServicesTest {
    private final MembershipServices services = new MembershipServices();

    @Test
    void eachIsDeployedOnce() {
        assertThat(services.want(List.of("b", "a"), 0)).isTrue();
        assertThat(services.next(0)).isEqualTo("a");
        services.deployed("a", "a:1.0");
        assertThat(services.next(0)).isEqualTo("b");
        services.deployed("b", "b:2.0");
        assertThat(services.next(Long.MAX_VALUE)).isNull();
        assertThat(services.want(List.of("b", "a"), 9)).isFalse();
        assertThat(services.next(9)).isNull();
        assertThat(services.deployed()).containsExactly("a:1.0", "b:2.0");
    }

    @Test
    void whatFailedIsTriedAgainAfterAPauseThatDoubles() {
        services.want(List.of("a"), 0);
        services.failed("a", "no source", 0);
        assertThat(services.next(MembershipServices.MIN_BACK_OFF_NS - 1)).isNull();
        assertThat(services.next(MembershipServices.MIN_BACK_OFF_NS)).isEqualTo("a");
        services.failed("a", "still none", 0);
        assertThat(services.next(2 * MembershipServices.MIN_BACK_OFF_NS - 1)).isNull();
        for (int i = 0; i < 20; i++) {
            services.failed("a", "still none", 0);
        }
        assertThat(services.next(MembershipServices.MAX_BACK_OFF_NS)).isEqualTo("a");
        assertThat(services.status()).containsExactly(new Wanted("a", null, "still none"));
        services.deployed("a", "a:1");
        assertThat(services.status()).containsExactly(new Wanted("a", "a:1", null));
    }

    @Test
    void oneThatFailsDoesNotHoldUpTheOthers() {
        services.want(List.of("a", "b"), 0);
        services.failed("a", "no source", 0);
        assertThat(services.next(0)).isEqualTo("b");
    }

    @Test
    void whatIsWantedAnewIsDeployedAnew() {
        services.want(List.of("a"), 0);
        services.deployed("a", "a:1");
        services.want(List.of(), 0);
        assertThat(services.status()).isEmpty();
        services.deployed("a", "a:1"); // Came too late.
        assertThat(services.deployed()).isEmpty();
        assertThat(services.want(List.of("a"), 5)).isTrue();
        assertThat(services.next(5)).isEqualTo("a");
    }
}
