package org.tamanoir.node.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.tamanoir.catalog.Placement;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.deploy.CodeRefusedException;
import org.tamanoir.deploy.Manifest;
import org.tamanoir.deploy.ServiceId;
import org.tamanoir.deploy.ServiceLimits;
import org.tamanoir.deploy.SigningKey;
import org.tamanoir.deploy.TrustPolicy;
import org.tamanoir.manager.NodeChange;
import org.tamanoir.manager.NodeChange.Redefined;
import org.tamanoir.node.Announced;
import org.tamanoir.qdisc.QosConfig;
import org.tamanoir.routing.Prefix;
import org.tamanoir.routing.Route;

/** What the difference of two configurations comes to, without a node. */
class ConfigChangesTest {
    private static final String ANNOUNCED = Announced.class.getName();
    private static final String KEY_ID = "0123456789abcdef";
    private static final SigningKey ONE = SigningKey.generate();
    private static final SigningKey OTHER = SigningKey.generate();

    @TempDir
    Path folder;

    private String one;
    private String other;

    @BeforeEach
    void writeKeys() throws IOException {
        one = trust(write("one.pub", ONE));
        other = trust(write("other.pub", OTHER));
    }

    private Path write(String name, SigningKey key) throws IOException {
        return Files.writeString(folder.resolve(name), key.publisher().pem());
    }

    private static String trust(Path key) {
        return "trust: [{key: " + key + ", names: [org.example.*]}]";
    }

    private static NodeConfig config(String text) {
        Problems problems = new Problems();
        NodeConfigBuilder settings = new NodeConfigBuilder(problems);
        ConfigFile.parse("f", text, settings);
        settings.check();
        assertThat(problems.lines()).isEmpty();
        return settings.build();
    }

    private static ConfigChanges changes(String now, String wanted) {
        return new ConfigChanges(config(now), config(wanted));
    }

    private static String deploy(String... settings) {
        return "deploy: {" + String.join(", ", settings) + "}\n";
    }

    private static Manifest manifest() {
        return new Manifest(
                ServiceId.parse("org.example.Foo:1.0"),
                "org.example.Foo",
                "ab".repeat(32),
                1,
                List.of("jvm"),
                ServiceLimits.NONE,
                "");
    }

    private static void assertTrusts(TrustPolicy policy, SigningKey key) {
        byte[] bytes = manifest().encode();
        assertThatCode(() -> policy.verify(bytes, key.sign(bytes).encode())).doesNotThrowAnyException();
    }

    private static void assertRefuses(TrustPolicy policy, SigningKey key) {
        byte[] bytes = manifest().encode();
        assertThatThrownBy(() -> policy.verify(bytes, key.sign(bytes).encode()))
                .isInstanceOf(CodeRefusedException.class);
    }

    private static void assertRefusesUnsigned(TrustPolicy policy) {
        assertThatThrownBy(() -> policy.verify(manifest().encode(), null)).isInstanceOf(CodeRefusedException.class);
    }

    @Test
    void theSameTwiceIsNoChange() {
        String text = "routes: [{to: 10.0.0.0/8, via: 127.0.0.1}]\n" + deploy(one);
        ConfigChanges changes = changes(text, text);
        assertThat(changes.taken()).isEmpty();
        assertThat(changes.left()).isEmpty();
        assertThat(changes.toChange())
                .isEqualTo(new NodeChange(List.of(), List.of(), null, List.of(), Map.of(), null, null));
    }

    @Test
    void unsignedCodeWaitsForARestartAlsoWhereTrustIsTaken() {
        NodeConfig now = config(deploy(one));
        ConfigChanges changes =
                new ConfigChanges(now, config(deploy(one, "revoked: [" + KEY_ID + "]", "allow-unsigned: true")));
        assertThat(changes.taken()).containsExactly("deploy.revoked: [] -> [" + KEY_ID + "]");
        assertThat(changes.left()).containsExactly("deploy.allow-unsigned: false -> true");
        TrustPolicy trust = Objects.requireNonNull(changes.toChange().trust());
        assertThat(trust.revokedKeys()).containsExactly(KEY_ID);
        assertRefusesUnsigned(trust);
        assertRefusesUnsigned(changes.inForce().deploy().policy());
        assertTrusts(trust, ONE);
    }

    @Test
    void anotherPublisherIsTakenInPlaceOfTheOneBefore() {
        ConfigChanges changes = changes(deploy(one), deploy(other));
        assertThat(changes.left()).isEmpty();
        assertThat(changes.taken()).hasSize(1).allMatch(line -> line.startsWith("deploy.trust: "));
        TrustPolicy trust = Objects.requireNonNull(changes.toChange().trust());
        assertTrusts(trust, OTHER);
        assertRefuses(trust, ONE);
        assertTrusts(changes.inForce().deploy().policy(), OTHER);
    }

    @Test
    void anotherKeyInTheSameFileIsAChangeOfTrust() throws IOException {
        NodeConfig now = config(deploy(one));
        write("one.pub", OTHER);
        ConfigChanges changes = new ConfigChanges(now, config(deploy(one)));
        assertThat(changes.taken()).containsExactly("deploy.trust: a key in one of its files is another");
        assertTrusts(Objects.requireNonNull(changes.toChange().trust()), OTHER);
    }

    @Test
    void whereNobodyWasTrustedOrIsNowDeployNeedsARestart() {
        for (ConfigChanges changes : List.of(changes("", deploy(one)), changes(deploy(one), ""))) {
            assertThat(changes.taken()).isEmpty();
            assertThat(changes.left()).hasSize(1).allMatch(line -> line.startsWith("deploy.trust: "));
            assertThat(changes.toChange().trust()).isNull();
        }
        assertTrusts(changes(deploy(one), "").inForce().deploy().policy(), ONE);
    }

    @Test
    void repositoriesAreTakenWithoutTouchingTrust() {
        ConfigChanges changes = changes(deploy(one), deploy(one, "repositories: [\"http://127.0.0.1:81\"]"));
        assertThat(changes.taken()).containsExactly("deploy.repositories: [] -> [\"http://127.0.0.1:81/\"]");
        assertThat(changes.toChange().repositories()).containsExactly(URI.create("http://127.0.0.1:81/"));
        assertThat(changes.toChange().trust()).isNull();
    }

    @Test
    void routesArePutWhereTheyDifferAndRemovedWhereTheyAreNoMore() {
        ConfigChanges changes = changes(
                "routes: [{to: 10.0.0.0/8, via: 127.0.0.1}, {to: 11.0.0.0/8, via: 127.0.0.1}, {to: 12.0.0.0/8, via: 127.0.0.1}]\n",
                "routes: [{to: 10.0.0.0/8, via: 127.0.0.1}, {to: 12.0.0.0/8, via: 127.0.0.2}, {to: 13.0.0.0/8, via: 127.0.0.1}]\n");
        NodeChange change = changes.toChange();
        assertThat(change.put())
                .extracting(Route::prefix)
                .containsExactly(Prefix.parse("12.0.0.0/8"), Prefix.parse("13.0.0.0/8"));
        assertThat(change.removed()).containsExactly(Prefix.parse("11.0.0.0/8"));
        assertThat(changes.taken()).hasSize(3);
        assertThat(changes.inForce().routes()).extracting(Route::prefix).doesNotContain(Prefix.parse("11.0.0.0/8"));
    }

    @Test
    void aServicesSettingsDefineItAnewAndItsLevelAlonePlacesIt() {
        NodeConfig now = config("services: [{name: " + ANNOUNCED + ", config: {a: secret, b: same}}]\n");
        ConfigChanges changes = new ConfigChanges(
                now, config("services: [{name: " + ANNOUNCED + ", config: {a: hidden, b: same}, level: tc}]\n"));
        assertThat(changes.taken())
                .containsExactly(
                        "services " + ANNOUNCED + " config: a changed; values are not shown",
                        "services " + ANNOUNCED + " level: jvm -> tc");
        NodeChange change = changes.toChange();
        assertThat(change.levels()).as("the new definition begins there").isEmpty();
        assertThat(change.services()).hasSize(1);
        Redefined service = change.services().get(0);
        assertThat(now.services()).contains(Objects.requireNonNull(service.before()));
        assertThat(changes.inForce().services())
                .contains(Objects.requireNonNull(service.fresh()))
                .doesNotContain(service.before());

        ConfigChanges level = changes("", "services: [{name: " + ANNOUNCED + ", level: tc}]\n");
        assertThat(level.toChange().services()).isEmpty();
        assertThat(level.toChange().levels()).containsExactly(Map.entry(ANNOUNCED, Placement.Wanted.of("tc")));
    }

    @Test
    void whatIsNotRedefinedKeepsItsDefinition() {
        NodeConfig now = config("");
        ConfigChanges changes =
                new ConfigChanges(now, config("qos: {classes: [{name: all}], pre: {discipline: wfq}}\n"));
        assertThat(changes.inForce().services())
                .usingElementComparator((a, b) -> a == b ? 0 : 1)
                .containsExactlyInAnyOrder(now.services().toArray(ServiceDefinition[]::new));
        assertThat(changes.toChange().qos()).isEqualTo(changes.inForce().qos()).isNotEqualTo(QosConfig.OFF);
    }

    @Test
    void settingsOfADeployedServiceCountFromItsNextDeploymentOn() {
        ConfigChanges changes = changes("", "services: [{name: org.example.Foo, config: {a: 1}}]\n" + deploy(one));
        assertThat(changes.taken())
                .containsExactly("services org.example.Foo config: a changed; values are not shown; "
                        + "from its next deployment on");
        assertThat(changes.toChange().services()).isEmpty();
        assertThat(changes.inForce()
                        .deploy()
                        .of(ServiceId.parse("org.example.Foo:1.0"))
                        .config()
                        .asMap())
                .containsOnlyKeys("a");
    }
}
