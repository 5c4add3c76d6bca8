package org.tamanoir.node.config;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.tamanoir.deploy.SigningKey;
import org.tamanoir.format.FfsWriter;
import org.tamanoir.support.SecretFile;
import org.tamanoir.tls.TestAuthority;
import org.tamanoir.tls.TlsFiles;

@Tag("once")
class DocumentedConfigurationTest {
    /** Keys of mappings in lists, and of mappings by name. */
    private static final List<String> STRUCTURED = List.of(
            "routes.to",
            "routes.via",
            "routes.transport",
            "routes.kind",
            "routes.tls",
            "services.name",
            "services.class",
            "services.failure-policy",
            "services.level",
            "services.dispatch",
            "services.order",
            "services.jobs",
            "services.limits.processors",
            "services.limits.allocation",
            "services.limits.packet-budget",
            "qos.classes.name",
            "qos.classes.class-of-service",
            "qos.classes.weight",
            "qos.classes.limit-packets",
            "qos.classes.limit-bytes",
            "qos.classes.dscp",
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
            "limits.udp-amplifiers.Gunzip",
            "traffic-control.interface",
            "traffic-control.class",
            "traffic-control.when.qos-class",
            "traffic-control.when.delay-over",
            "traffic-control.when.drops-over",
            "traffic-control.when.backlog-over",
            "traffic-control.rate",
            "traffic-control.ceil",
            "traffic-control.after",
            "traffic-control.hold",
            "plain.match.protocol",
            "plain.match.source",
            "plain.match.destination",
            "plain.match.ports",
            "plain.match.dscp",
            "plain.match.fwmark",
            "plain.match.router-alert",
            "plain.service",
            "plain.class",
            "plain.on-failure",
            "routing.feed.table",
            "routing.feed.protocols",
            "routing.feed.via.192.0.2.1",
            "routing.feed.via.default");

    private static final Path DOCUMENT = Path.of("..", "docs", "configuration.md");

    @Test
    void theExampleLoads(@TempDir Path folder) throws IOException {
        Path key = folder.resolve("publisher");
        SigningKey.generate().write(key);
        Path token = SecretFile.write(folder.resolve("admin.token"), "0123456789abcdef");
        Path read = SecretFile.write(folder.resolve("read.token"), "0123456789abcdef-read");
        Path alice = SecretFile.write(folder.resolve("alice.token"), "0123456789abcdef-alice");
        Path application = SecretFile.write(folder.resolve("app.token"), "0123456789abcdef-app");
        Path ring = Files.writeString(folder.resolve("ring.key"), "00112233445566778899aabbccddeeff\n");
        Path keys = Files.writeString(folder.resolve("auth.keys"), "7 " + "5a".repeat(32) + "\n");
        keys.toFile().setReadable(false, false);
        keys.toFile().setReadable(true, true);
        Problems problems = new Problems();
        NodeConfigBuilder settings = new NodeConfigBuilder(problems);
        TlsFiles tls = new TestAuthority(folder, "authority").files("node");
        Path formats = folder.resolve("flights.ffs");
        FfsWriter.ofFile(Files.newOutputStream(formats)).close();
        String example = example()
                .replace("/var/log/tamanoir", folder.toString())
                .replace("/etc/tamanoir/flights.ffs", formats.toString())
                .replace("/etc/tamanoir/publisher", key.toString())
                .replace("/etc/tamanoir/auth.keys", keys.toString())
                .replace("/etc/tamanoir/ring.key", ring.toString())
                .replace("/etc/tamanoir/admin.token", token.toString())
                .replace("/etc/tamanoir/read.token", read.toString())
                .replace("/etc/tamanoir/alice.token", alice.toString())
                .replace("/etc/tamanoir/app.token", application.toString())
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
        Set<String> expected = new TreeSet<>(STRUCTURED);
        NodeSettings.ALL.forEach(setting -> expected.add(setting.path()));
        expected.removeAll(Set.of("deploy.trust", "limits.udp-amplifiers", "plain", "routing.feed", "traffic-control"));
        assertThat(used).isEqualTo(expected);
        String document = Files.readString(DOCUMENT);
        for (String key : used) {
            assertThat(document).contains("`" + key.substring(key.lastIndexOf('.') + 1) + "`");
        }
    }

    @Test
    void theTablesSayWhatTheSettingsAre() throws Exception {
        String document = Files.readString(DOCUMENT);
        Map<String, List<String>> rows = new LinkedHashMap<>();
        NodeSettings.ALL.forEach(setting -> rows.computeIfAbsent(setting.section(), section -> new ArrayList<>())
                .add(setting.row(setting.key())));
        rows.put(
                "services",
                ServiceTable.ALL.stream()
                        .map(setting -> setting.row(setting.path()))
                        .toList());
        List.of(
                        RouteTable.ROUTES,
                        FeedConfig.FEED,
                        PlainTable.RULES,
                        PlainTable.MATCH,
                        TcTable.RULES,
                        TcTable.TRIGGER,
                        ServiceTable.LIMIT,
                        QosTable.QOS,
                        QosTable.CLASSES,
                        QosTable.RULES,
                        QosTable.PRE,
                        QosTable.LINKS)
                .forEach(records -> rows.put(
                        records.toString(),
                        records.settings().stream()
                                .map(setting -> setting.row(setting.path()))
                                .toList()));
        rows.forEach((section, lines) -> assertThat(document).contains(String.join("\n", lines) + "\n"));
    }

    /** What a reader has that this host has not: files, interfaces, classes of his own. */
    private static final Pattern OF_THE_READER = Pattern.compile(
            "there is no such file|there is none|is not on the class path|"
                    + "cannot be read|network interface|no director|has no dispatch|nobody is trusted|which nobody has|there is no folder");

    /** Each block of YAML is well-formed; those with keys of a node's configuration alone are one. */
    @Test
    void everyConfigurationOfThePagesIsOne() throws IOException {
        Set<String> nodeKeys = new TreeSet<>(Set.of("routes", "services"));
        NodeSettings.ALL.forEach(setting -> nodeKeys.add(setting.path().replaceFirst("\\..*", "")));
        List<String> checked = new ArrayList<>();
        try (Stream<Path> pages = Files.list(DOCUMENT.resolveSibling(""))) {
            for (Path page : pages.filter(each -> each.toString().endsWith(".md"))
                    .sorted()
                    .toList()) {
                Matcher block =
                        Pattern.compile("```yaml\n(.*?)```", Pattern.DOTALL).matcher(Files.readString(page));
                while (block.find()) {
                    check(String.valueOf(page.getFileName()), block.group(1), nodeKeys, checked);
                }
            }
        }
        assertThat(checked).contains("gateways.md", "extra-services.md", "writing-services.md", "sharing.md");
    }

    private static void check(String page, String text, Set<String> nodeKeys, List<String> checked) {
        YamlNode tree;
        try {
            tree = YamlTree.parse(text);
        } catch (YamlTree.SyntaxException e) {
            throw new AssertionError(page + ":\n" + text, e);
        }
        if (!(tree instanceof YamlNode.Fields fields)
                || !nodeKeys.containsAll(
                        fields.fields().stream().map(YamlNode.Field::key).toList())
                || text.contains("address: 10.72.0.100")) { // A director's services have addresses.
            return;
        }
        Problems problems = new Problems();
        NodeConfigBuilder settings = new NodeConfigBuilder(problems);
        ConfigFile.parse(page, text, settings);
        settings.check();
        assertThat(problems.lines().stream()
                        .filter(line -> !OF_THE_READER.matcher(line).find()))
                .as(text)
                .isEmpty();
        checked.add(page);
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
