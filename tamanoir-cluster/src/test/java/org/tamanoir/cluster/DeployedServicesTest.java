package org.tamanoir.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.tamanoir.cluster.lvs.ClusterException;

class DeployedServicesTest {
    private final DeployedServices services = new DeployedServices(List.of("Monitor", "Gzip:1.0"), List.of("Mark:2"));

    @Test
    void whatIsToldAddsToTheConfiguration() throws ClusterException {
        services.add("org.example.Codec");
        assertThat(services.all()).containsExactly("Monitor", "Gzip:1.0", "Mark:2", "org.example.Codec");
        assertThat(services.told()).containsExactly("Mark:2", "org.example.Codec");
    }

    @Test
    void ofTwoVersionsTheLastToldCounts() throws ClusterException {
        services.add("Mark:3");
        services.add("Gzip:1.1");
        assertThat(services.all()).containsExactly("Monitor", "Mark:3", "Gzip:1.1");
        services.add("Gzip:1.0");
        assertThat(services.all()).containsExactly("Monitor", "Gzip:1.0", "Mark:3");
    }

    @Test
    void whatWasToldIsTakenBackByNameOrVersion() throws ClusterException {
        services.add("Gzip:1.1");
        services.remove("Gzip");
        services.remove("Mark:2");
        assertThat(services.all()).containsExactly("Monitor", "Gzip:1.0");
    }

    @Test
    void whatCannotBeIsRefusedWithTheRemedy() {
        assertThatThrownBy(() -> services.add("no service")).hasMessageContaining("'no service'");
        assertThatThrownBy(() -> services.remove("Monitor")).hasMessageContaining("code.deploy");
        assertThatThrownBy(() -> services.remove("Other"))
                .hasMessageContaining("not deployed")
                .hasMessageContaining("Mark:2");
    }
}
