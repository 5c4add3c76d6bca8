package org.tamanoir.manager;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.tamanoir.manager.ManagedNode.NAME;
import static org.tamanoir.support.Waiting.eventually;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.tamanoir.anep.ServiceKey;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.deploy.TestJars;
import org.tamanoir.format.FormatId;
import org.tamanoir.service.ServiceControl;

/** Controls of services that are deployed. */
@Timeout(240)
class DeployedControlTest {
    private static final String CLOSED = "org.tamanoir.manager.DeployedControlTest.closed";

    @TempDir
    Path folder;

    private ManagedNode node;

    @BeforeEach
    void open() throws IOException {
        System.clearProperty(CLOSED);
        node = new ManagedNode(folder);
    }

    @AfterEach
    void close() {
        node.close();
    }

    private void publish(String version, String init) throws Exception {
        String control = "public static class Knob implements org.tamanoir.service.ServiceControl {\n"
                + "  public void init(org.tamanoir.service.ServiceConfig config, org.tamanoir.service.ControlHost host) { "
                + init + " }\n"
                + "  public java.util.Map<String, Object> view() {\n"
                + "    return java.util.Map.of(\"formats\", new org.tamanoir.format.FormatRegistry(8, 8).size()); }\n"
                + "  public java.util.Map<String, Object> change(String operation, java.util.Map<String, Object> values) {\n"
                + "    throw new IllegalArgumentException(operation); }\n"
                + "  public void close() { System.setProperty(\"" + CLOSED + "\", \"" + version + "\"); }\n"
                + "}\n";
        String source = TestJars.forwarder(NAME, control);
        node.publishSource(
                NAME + ":" + version,
                source.replace(
                        "public class Foo", "@org.tamanoir.service.ControlledBy(Foo.Knob.class)\npublic class Foo"));
    }

    private ServiceDefinition current() {
        return Objects.requireNonNull(node.catalog.find(ServiceKey.of(NAME)));
    }

    @Test
    void oneIsMadeWithItsVersionAndClosedBeforeThatIsUnloaded() throws Exception {
        publish("1.0", "");
        node.manager.deploy(NAME, false);
        assertThat(node.environment.control(current(), ServiceControl::view)).isEqualTo(Map.of("formats", 0));
        assertThat(System.getProperty(CLOSED)).isNull();
        node.manager.undeploy(NAME, Duration.ZERO, true);
        eventually().until(() -> !node.events("unloaded").isEmpty());
        assertThat(System.getProperty(CLOSED)).isEqualTo("1.0");
    }

    @Test
    void anInitThatFailsRefusesItsVersionAndTheOneBeforeStays() throws Exception {
        publish("1.0", "");
        node.manager.deploy(NAME, false);
        ServiceDefinition before = current();
        publish("1.1", "throw new IllegalArgumentException(\"ring: 0 bytes: from 4KiB on\");");
        assertThatThrownBy(() -> node.manager.deploy(NAME, false))
                .isInstanceOf(ManagerException.class)
                .hasMessageContaining("service " + NAME + ":1.1: ring: 0 bytes: from 4KiB on");
        assertThat(current()).isSameAs(before);
        assertThat(System.getProperty(CLOSED)).isEqualTo("1.1");
    }

    @Test
    void aFormatThatNobodyHasIsAnEventWithItsIdentifier() throws Exception {
        publish("1.0", "host.formats().request(org.tamanoir.format.FormatId.of(new byte[16]), null, format -> {});");
        node.manager.deploy(NAME, false);
        FormatId id = FormatId.of(new byte[16]);
        assertThat(node.events("unknown-format")).singleElement().asString().contains(id.toString());
    }
}
