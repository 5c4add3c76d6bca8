package org.tamanoir.node.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.tamanoir.deploy.SigningKey;
import org.tamanoir.manager.ManagerException;
import org.tamanoir.node.config.ConfigFile;
import org.tamanoir.node.config.NodeConfig;
import org.tamanoir.node.config.NodeConfigBuilder;
import org.tamanoir.node.config.Problems;
import tools.jackson.databind.JsonNode;

/** Settings of services, and services that are missing, in a whole node. */
@Timeout(240)
class ServiceSettingsNodeTest {
    private static final String MONITOR = "org.tamanoir.services.Monitor";
    private static final String FILTER = "org.tamanoir.services.Filter";

    @TempDir
    Path folder;

    private NodeConfig config(String yaml) {
        Problems problems = new Problems();
        NodeConfigBuilder settings = new NodeConfigBuilder(problems);
        ConfigFile.parse("test", LiveNode.config(folder, folder.resolve("admin.token"), yaml), settings);
        settings.check();
        assertThat(problems.lines()).isEmpty();
        return settings.build();
    }

    @Test
    void ctlShowsWhatAServiceDeclares() throws Exception {
        try (LiveNode node = LiveNode.start(folder, "services: [{name: org.tamanoir.node.Unannounced}]")) {
            assertThat(node.ctl(0, "services", MONITOR, "--settings").lines())
                    .first()
                    .asString()
                    .matches("SETTING +DEFAULT +ALLOWED +MEANING");
            assertThat(node.ctl(0, "services", MONITOR, "--settings").lines())
                    .anyMatch(line -> line.matches("mark +1 +whole number from 0 to 255, none +class of service .*"));
            assertThat(node.ctl(0, "services", "org.tamanoir.services.Echo", "--settings"))
                    .isEqualTo("org.tamanoir.services.Echo takes no settings\n");
            assertThat(node.ctl(0, "services", "org.tamanoir.node.Unannounced", "--settings"))
                    .isEqualTo("org.tamanoir.node.Unannounced does not say which settings it takes\n");
            assertThat(node.ctl(1, "services", "org.example.Gone", "--settings"))
                    .contains("is not on this node");
            assertThat(node.ctl(2, "services", "--settings")).contains("of which service?");
            JsonNode mark = node.get("/v1/services/" + MONITOR + "/settings")
                    .get("settings")
                    .get(0);
            assertThat(mark.get("max").asLong()).isEqualTo(255);
            assertThat(mark.get("kind").asString()).isEqualTo("number");
        }
    }

    @Test
    void aStartIsRefusedWhereAServiceOfTheConfigurationDoesNotTakeItsSettings() {
        assertThatThrownBy(() -> LiveNode.start(folder, "services: [{name: Filter, config: {rules: drop it}}]"))
                .hasMessageContaining("service " + FILTER + ": tried with its settings, init failed: ");
    }

    @Test
    void aReloadIsRefusedThereTooAndNothingIsChanged() throws Exception {
        try (LiveNode node = LiveNode.start(folder, "services: [{name: Filter, config: {rules: drop class 3}}]")) {
            assertThatThrownBy(() -> node.node.apply(config("services: [{name: Filter, config: {rules: drop it}}]")))
                    .isInstanceOf(ManagerException.class)
                    .hasMessageContaining("service " + FILTER + ": tried with its settings, init failed: ");
            assertThat(node.text("/v1/config")).contains("drop class 3");
            node.node.apply(config("services: [{name: Filter, config: {rules: drop class 4}}]"));
            assertThat(node.text("/v1/config")).contains("drop class 4");
        }
    }

    @Test
    void aServiceThatAGatewayNamesAndNobodyHasIsMissing() throws Exception {
        Path key = folder.resolve("key");
        SigningKey.generate().write(key);
        String yaml = "listen: {tcp: [0], udp: [0], gateways: [\"127.0.0.1:0=127.0.0.1:9,octets,org.example.Gone\"]}\n"
                + "deploy: {cache: " + folder.resolve("cache") + ", trust: [{key: " + key
                + ".pub, names: [org.example.*]}]}\n";
        try (LiveNode node = LiveNode.start(folder, yaml)) {
            assertThat(node.versions("org.example.Gone")).containsExactly(" missing nowhere");
            assertThat(node.events("missing"))
                    .singleElement()
                    .asString()
                    .startsWith("the node does not have service org.example.Gone, which gateway 127.0.0.1:0=");
            assertThat(node.ctl(0, "services", "org.example.Gone")).contains("deploy it, or correct the name");
            for (String[] asked : new String[][] {{"services", "Gone", "--settings"}, {"place", "Gone", "jvm"}}) {
                assertThat(node.ctl(1, asked))
                        .contains(
                                "org.example.Gone is missing: gateway 127.0.0.1:0=", "deploy it, or correct the name");
            }
            assertThat(node.ctl(1, "release", "Gone")).contains("org.example.Gone is not in quarantine");
            assertThat(node.text("/ready")).contains("true");
            assertThat(node.text("/metrics"))
                    .contains(
                            "tamanoir_service_state{service=\"org.example.Gone\",state=\"missing\",version=\"\"} 1.0");
        }
    }
}
