package org.tamanoir.node.config;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.tamanoir.deploy.ServiceId;

class NodeSettingsTest {
    @Test
    void everySettingHasAPathAnOptionAndAHelpOfItsOwn() {
        Set<String> seen = new HashSet<>();
        for (Setting<?> setting : NodeSettings.ALL) {
            assertThat(seen.add(setting.path())).as(setting.path()).isTrue();
            assertThat(setting.row(setting.key()))
                    .as(setting.path())
                    .doesNotContain("null")
                    .doesNotContain("  ");
        }
        for (Setting<?> setting : NodeSettings.withOption()) {
            assertThat(seen.add(String.valueOf(setting.option())))
                    .as(setting.option())
                    .isTrue();
        }
    }

    @Test
    void everyDefaultReadsAsItself() {
        for (Setting<?> setting : NodeSettings.ALL) {
            if (setting.preset() != null) {
                assertThat(written(setting)).as(setting.path()).isEqualTo(setting.preset());
            }
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "listen.tcp | ['127.0.0.1:3322', '[::1]:4000']",
                "deploy.neighbours | ['127.0.0.2:3999', '[::1]:3323']",
                "deploy.repositories | ['http://127.0.0.1:8080/code', 'https://repository.example.org']",
                "deploy.revoked | ['0000000000000000000000000000000000000000000000000000000000000001']",
                "tracing.endpoint | 'http://127.0.0.1:4318/v1/traces'",
                "tracing.sample | 0.25",
                "admin.hosts | ['node.example.org', 'other']",
                "admin.listen | '''[::1]:3399'''",
                "levels.interfaces | [eth0, eth1]",
                "authentication.from | [10.0.1.0/24, '2001:db8::/32', any]",
                "authentication.sign | ['10.0.1.0/24=7', 'any=4294967295', '10.0.0.2:3322=8', '[::1]:9=1']",
            })
    void whatWasGivenReadsAsItself(String path, String yaml) throws Exception {
        Setting<?> setting = NodeSettings.ALL.stream()
                .filter(each -> each.path().equals(path))
                .findFirst()
                .orElseThrow(() -> new AssertionError("no setting " + path));
        Problems problems = new Problems();
        Values values = new Values();
        values.read(new Section("", "", YamlTree.parse(setting.key() + ": " + yaml), problems), setting);
        assertThat(problems.lines()).isEmpty();
        assertThat(written(setting, values)).isEqualTo(values.get(setting)).isNotEqualTo(setting.preset());
    }

    private static Object written(Setting<?> setting) {
        return written(setting, new Values());
    }

    private static <T> Object written(Setting<T> setting, Values given) {
        try {
            Problems problems = new Problems();
            String text =
                    setting.key() + ": " + Yaml.flow(setting.kind().writer().apply(given.get(setting)));
            Values values = new Values();
            values.read(new Section("", "", YamlTree.parse(text), problems), setting);
            assertThat(problems.lines()).as(text).isEmpty();
            assertThat(values.isGiven(setting)).as(text).isTrue();
            return values.get(setting);
        } catch (YamlTree.SyntaxException e) {
            throw new AssertionError(setting.path(), e);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", """
            services:
              - {name: org.example.Marker, class: org.tamanoir.node.Announced, limits: {processors: 0.5}, level: tc}
              - {name: org.example.Deployed, failure-policy: close, config: {a: b}, limits: {allocation: 64MiB}}
            deploy: {allow-unsigned: true}
            """})
    void theConfigurationInForceReadsAsItself(String file) {
        NodeConfigBuilder settings = new NodeConfigBuilder(new Problems());
        ConfigFile.parse("file", file, settings);
        NodeConfig config = settings.build();
        String text = ConfigText.of(config, config.routes(), "", config.qos());
        Problems problems = new Problems();
        NodeConfigBuilder again = new NodeConfigBuilder(problems);
        ConfigFile.parse("again", text, again);
        again.check();
        assertThat(problems.lines()).as(text).isEmpty();
        assertThat(again.build().environment()).isEqualTo(config.environment());
        assertThat(ConfigText.of(again.build(), config.routes(), "", config.qos()))
                .isEqualTo(text);
        assertThat(again.build().deploy().of(ServiceId.parse("org.example.Deployed:1.0")))
                .usingRecursiveComparison()
                .isEqualTo(config.deploy().of(ServiceId.parse("org.example.Deployed:1.0")));
        assertThat(text.lines().filter(line -> line.matches(" +(class|processors|allocation): .*")))
                .hasSize(file.isEmpty() ? 0 : 3);
    }
}
