package org.tamanoir.manager;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;
import org.tamanoir.anep.ServiceKey;
import org.tamanoir.deploy.ServiceId;

/** Why services that the configuration names were refused, whatever strangers ask for. */
class WantedServicesTest {
    private final WantedServices wanted = new WantedServices();

    @Test
    void whatStrangersHaveRefusedPushesNothingOut() {
        wanted.names(() -> Map.of("org.example.Foo", "a gateway", "org.example.Bar:2.0", "a rule"));
        wanted.refused(ServiceKey.of("org.example.Foo"), "unsigned");
        wanted.refused(ServiceKey.of("org.example.Bar:2.0"), "too large");
        for (int i = 0; i < 5_000; i++) {
            wanted.refused(i, "a stranger's");
        }
        assertThat(wanted.refusal("org.example.Foo")).isEqualTo("unsigned");
        assertThat(wanted.refusal("org.example.Bar:2.0")).isEqualTo("too large");
        assertThat(wanted.refusal("org.example.Bar")).isNull();

        wanted.deployed(ServiceId.parse("org.example.Foo:1.0"));
        wanted.deployed(ServiceId.parse("org.example.Bar:1.0"));
        assertThat(wanted.refusal("org.example.Foo")).isNull();
        assertThat(wanted.refusal("org.example.Bar:2.0")).isEqualTo("too large");
    }

    @Test
    void whatTheConfigurationNamesNoLongerIsForgotten() {
        wanted.names(() -> Map.of("org.example.Foo", "a gateway"));
        wanted.refused(ServiceKey.of("org.example.Foo"), "unsigned");
        wanted.names(Map::of);
        wanted.refused(ServiceKey.of("org.example.Bar"), "unsigned");
        assertThat(wanted.refusal("org.example.Foo")).isNull();
        assertThat(wanted.refusal("org.example.Bar")).isNull();
    }
}
