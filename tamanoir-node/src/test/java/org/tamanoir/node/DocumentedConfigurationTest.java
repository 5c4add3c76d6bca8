package org.tamanoir.node;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.tamanoir.deploy.SigningKey;
import org.tamanoir.tls.TestAuthority;
import org.tamanoir.tls.TlsFiles;

class DocumentedConfigurationTest {
    private static final Path DOCUMENT = Path.of("..", "docs", "configuration.md");

    @Test
    void theExampleLoads(@TempDir Path folder) throws IOException {
        Path key = folder.resolve("publisher");
        SigningKey.generate().write(key);
        Path token = Files.writeString(folder.resolve("admin.token"), "0123456789abcdef");
        Problems problems = new Problems();
        Settings settings = new Settings(problems);
        TlsFiles tls = new TestAuthority(folder, "authority").files("node");
        String example = example()
                .replace("/etc/tamanoir/publisher", key.toString())
                .replace("/etc/tamanoir/admin.token", token.toString())
                .replace("/etc/tamanoir/cluster.token", token.toString())
                .replace("/etc/tamanoir/node.", folder.resolve("node.").toString())
                .replace("/etc/tamanoir/authority.pem", String.valueOf(tls.trust()))
                .replace("node4.example.net", "127.0.0.1");
        ConfigFile.parse("example", example, settings);
        settings.check();
        assertThat(problems.lines()).isEmpty();
        assertThat(settings.build().routes()).hasSize(4);
    }

    @Test
    void theExampleHasEveryKeyAndTheTablesNameEveryKey() throws Exception {
        Set<String> used = new TreeSet<>();
        keys("", YamlTree.parse(example()), used);
        used.remove("services.config.mark");
        assertThat(used)
                .containsExactlyInAnyOrder(
                        "listen.tcp",
                        "listen.udp",
                        "listen.tls",
                        "tls.certificate",
                        "tls.key",
                        "tls.trust",
                        "tls.require-client",
                        "routes.to",
                        "routes.via",
                        "routes.transport",
                        "routes.kind",
                        "routes.tls",
                        "services.name",
                        "services.class",
                        "services.failure-policy",
                        "services.level",
                        "levels.allowed",
                        "levels.interfaces",
                        "levels.unknown",
                        "limits.max-streams",
                        "limits.inbox",
                        "timeouts.first-packet",
                        "timeouts.connect",
                        "timeouts.stall",
                        "timeouts.linger",
                        "timeouts.drain",
                        "unknown-service",
                        "type-id",
                        "hop-budget",
                        "transport",
                        "services.limits.processors",
                        "services.limits.allocation",
                        "qos.classes.name",
                        "qos.classes.class-of-service",
                        "qos.classes.weight",
                        "qos.classes.limit-packets",
                        "qos.classes.limit-octets",
                        "qos.default-class",
                        "qos.rules.service",
                        "qos.rules.source",
                        "qos.rules.destination",
                        "qos.rules.stream",
                        "qos.rules.class",
                        "qos.pre.discipline",
                        "qos.pre.processors",
                        "qos.pre.quantum",
                        "qos.links.name",
                        "qos.links.next-hops",
                        "qos.links.rate",
                        "qos.links.burst",
                        "qos.links.discipline",
                        "qos.links.excess",
                        "deploy.trust.key",
                        "deploy.trust.names",
                        "deploy.repositories",
                        "deploy.neighbours",
                        "deploy.on-demand",
                        "deploy.cache",
                        "deploy.cache-size",
                        "deploy.code-server",
                        "deploy.revoked",
                        "deploy.allow-unsigned",
                        "deploy.max-jar",
                        "deploy.max-unpacked",
                        "deploy.connect-timeout",
                        "deploy.idle-timeout",
                        "deploy.total-timeout",
                        "deploy.back-off",
                        "deploy.max-back-off",
                        "deploy.tls",
                        "admin.listen",
                        "admin.token-file",
                        "admin.read-only",
                        "admin.hosts",
                        "admin.access-log",
                        "admin.tls",
                        "cluster.directors",
                        "cluster.token-file",
                        "cluster.name",
                        "cluster.address",
                        "cluster.interface",
                        "cluster.weight",
                        "cluster.set-up",
                        "cluster.plain");
        String document = Files.readString(DOCUMENT);
        for (String key : used) {
            assertThat(document).contains("`" + key.substring(key.lastIndexOf('.') + 1) + "`");
        }
    }

    private static String example() throws IOException {
        Matcher block = Pattern.compile("```yaml\n(.*?)```", Pattern.DOTALL).matcher(Files.readString(DOCUMENT));
        List<String> examples = new ArrayList<>();
        while (block.find()) {
            examples.add(block.group(1));
        }
        assertThat(examples).hasSize(1);
        return examples.get(0);
    }

    private static void keys(String path, YamlNode node, Set<String> keys) {
        if (node instanceof YamlNode.Items list) {
            list.items().forEach(item -> keys(path, item, keys));
        } else if (node instanceof YamlNode.Fields mapping) {
            for (YamlNode.Field field : mapping.fields()) {
                keys(path.isEmpty() ? field.key() : path + "." + field.key(), field.value(), keys);
            }
        } else {
            keys.add(path);
        }
    }
}
