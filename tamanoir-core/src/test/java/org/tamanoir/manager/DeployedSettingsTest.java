package org.tamanoir.manager;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.tamanoir.manager.ManagedNode.NAME;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.tamanoir.deploy.ServiceLimits;
import org.tamanoir.deploy.TestJars;
import org.tamanoir.service.DeclaredSetting;
import org.tamanoir.service.FailurePolicy;
import org.tamanoir.service.ServiceConfig;

/** Settings of services that are deployed. */
@Timeout(240)
class DeployedSettingsTest {
    /** Set by the class initialisers of a jar, which reading declarations does not run. */
    private static final String RAN = "org.tamanoir.manager.DeployedSettingsTest.ran";

    private static final String RUNS = "static { System.setProperty(\"" + RAN + "\", \"true\"); }\n";

    @TempDir
    Path folder;

    private ManagedNode node;

    @BeforeEach
    void open() throws IOException {
        System.clearProperty(RAN);
        node = new ManagedNode(folder);
    }

    @AfterEach
    void close() {
        node.close();
    }

    private void publish(String annotations) throws Exception {
        String other =
                "@org.tamanoir.service.Setting(name = \"to\", text = \"t\") static class Other { " + RUNS + " }\n";
        node.publishSource(
                NAME + ":1.0",
                TestJars.forwarder(NAME, RUNS + other).replace("public class Foo", annotations + "\npublic class Foo"));
    }

    private static DeploymentConfig.ServiceSettings settings(Map<String, String> config) {
        return new DeploymentConfig.ServiceSettings(new ServiceConfig(config), FailurePolicy.DROP, ServiceLimits.NONE);
    }

    private static final String DECLARED = "@org.tamanoir.service.Settings(of = Foo.Other.class, value = "
            + "@org.tamanoir.service.Setting(name = \"mark\", kind = org.tamanoir.service.Setting.Kind.NUMBER, "
            + "standard = \"1\", min = 0, max = 255, choices = \"none\", text = \"class of service\"))";

    @ParameterizedTest
    @ValueSource(strings = {NAME, NAME + ":1.0"})
    void aDeploymentIsRefusedThatHasOthersThanTheClassDeclares(String service) throws Exception {
        publish(DECLARED);
        node.settings = settings(Map.of("markk", "7", "mark", "banana"));
        node.manager.wanted(() -> Map.of(NAME, "gateways"));
        assertThatThrownBy(() -> node.manager.deploy(service, false))
                .isInstanceOf(ManagerException.class)
                .hasMessageContaining("service " + NAME + ":1.0: config: markk: no such setting; known: mark, to; "
                        + "did you mean mark?; mark: banana must be a whole number from 0 to 255, or none; correct it");
        assertThat(System.getProperty(RAN)).isNull();
        assertThat(node.manager.services()).singleElement().satisfies(status -> {
            assertThat(status.state()).isEqualTo(ServiceStatus.State.FAILED);
            assertThat(status.health().fault()).contains("its deployment was refused: ", "markk: no such setting");
        });

        node.settings = settings(Map.of("mark", "none", "to", "x"));
        node.manager.deploy(service, false);
        assertThat(node.manager.services())
                .extracting(ServiceStatus::state)
                .contains(ServiceStatus.State.RUNNING)
                .doesNotContain(ServiceStatus.State.FAILED);
        node.manager.undeploy(NAME, java.time.Duration.ZERO, true);
        assertThat(node.manager.services())
                .extracting(ServiceStatus::state)
                .contains(ServiceStatus.State.MISSING)
                .doesNotContain(ServiceStatus.State.FAILED);
        node.manager.deploy(NAME, false);
        assertThat(node.manager.definition(NAME).traits().settings().all())
                .extracting(DeclaredSetting::name, DeclaredSetting::standard)
                .containsExactly(
                        org.assertj.core.groups.Tuple.tuple("mark", "1"),
                        org.assertj.core.groups.Tuple.tuple("to", ""));
    }

    @Test
    void aChangeIsRefusedWhileADeployedVersionDoesNotTakeItsSettings() throws Exception {
        publish(DECLARED);
        node.manager.deploy(NAME, false);
        NodeChange nothing = new NodeChange(List.of(), List.of(), null, List.of(), Map.of(), null, null);
        assertThat(node.manager.change(nothing)).isEmpty();
        node.settings = settings(Map.of("mark", "256"));
        assertThatThrownBy(() -> node.manager.change(nothing))
                .isInstanceOf(ManagerException.class)
                .hasMessageContaining("mark: 256 must be a whole number from 0 to 255, or none");
    }

    @Test
    void oneWithoutADeclarationTakesAny() throws Exception {
        publish("");
        node.settings = settings(Map.of("markk", "7"));
        node.manager.deploy(NAME, false);
        assertThat(node.manager.definition(NAME).traits().settings().isDeclared())
                .isFalse();
    }
}
