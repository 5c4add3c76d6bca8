package org.tamanoir.node.config;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.tamanoir.cluster.MembershipSettings;
import org.tamanoir.cluster.MembershipSettings.SetUp;
import org.tamanoir.cluster.MembershipSettings.Timing;
import org.tamanoir.support.SecretFile;

class ClusterSettingsTest {
    @TempDir
    Path folder;

    private Path token;
    private final Problems problems = new Problems();
    private final NodeConfigBuilder settings = new NodeConfigBuilder(problems);

    @BeforeEach
    void writeToken() throws IOException {
        token = SecretFile.write(folder.resolve("token"), "0123456789abcdef\n");
    }

    private void read(String yaml) {
        ConfigFile.parse("f", yaml.replace("TOKEN", token.toString()), settings);
    }

    private List<String> problems(String yaml) {
        read(yaml);
        settings.check();
        return problems.lines();
    }

    private MembershipSettings membership() {
        settings.check();
        assertThat(problems.lines()).isEmpty();
        return Objects.requireNonNull(settings.build().cluster());
    }

    @Test
    void withoutADirectorTheNodeIsNoBackEnd() {
        settings.check();
        assertThat(settings.build().cluster()).isNull();
        assertThat(settings.build().admin().portIsGiven()).isFalse();
    }

    @Test
    void aDirectorAndItsTokenAreEnough() throws IOException {
        read("cluster: {directors: [\"http://127.0.0.1\"], token-file: TOKEN}\ndeploy: {cache: /var/cache/x}\n");
        MembershipSettings membership = membership();
        assertThat(membership.directors()).containsExactly(URI.create("http://127.0.0.1:3325"));
        assertThat(membership.authorization()).isEqualTo("Bearer 0123456789abcdef");
        assertThat(membership.name())
                .isEqualTo(
                        Files.readString(Path.of("/proc/sys/kernel/hostname")).strip());
        assertThat(membership.address()).isNull();
        assertThat(membership.admin()).isEqualTo(URI.create("http://127.0.0.1:3324"));
        assertThat(membership.weight()).isNull();
        assertThat(membership.networkInterface()).isNull();
        assertThat(membership.setUp()).isEqualTo(SetUp.AUTO);
        assertThat(membership.folder()).isEqualTo(Path.of("/var/cache/x"));
        assertThat(membership.timing()).isEqualTo(Timing.DEFAULT);
        assertThat(membership.toString()).doesNotContain("0123456789abcdef");
        assertThat(settings.build().admin().portIsGiven()).isTrue();
    }

    @Test
    void everyKeyIsRead() {
        read("""
                admin: {listen: "*:4000", plain: allowed}
                cluster:
                  directors: ["https://10.9.0.2:3325", "http://[fd00::3]:9"]
                  token-file: TOKEN
                  name: node-3.example
                  address: fd00::7
                  interface: eth1
                  weight: 50
                  set-up: print
                  plain: true
                """);
        MembershipSettings membership = membership();
        assertThat(membership.directors())
                .containsExactly(URI.create("https://10.9.0.2:3325"), URI.create("http://[fd00::3]:9"));
        assertThat(membership.name()).isEqualTo("node-3.example");
        assertThat(membership.address()).isEqualTo("fd00::7");
        assertThat(membership.networkInterface()).isEqualTo("eth1");
        assertThat(membership.weight()).isEqualTo(50);
        assertThat(membership.setUp()).isEqualTo(SetUp.PRINT);
        assertThat(membership.admin()).isEqualTo(URI.create("http://0.0.0.0:4000"));
        assertThat(settings.values.get(NodeSettings.CLUSTER_PLAIN)).isTrue();
    }

    @Test
    void optionsAreOverTheFile() {
        read("cluster: {directors: [\"http://127.0.0.1:1\"], token-file: TOKEN, name: a, weight: 3}\n");
        Map<Setting<?>, List<String>> options = new LinkedHashMap<>();
        options.put(NodeSettings.DIRECTORS, List.of("http://127.0.0.1:2", "http://[::1]:3"));
        options.put(NodeSettings.CLUSTER_NAME, List.of("b"));
        options.put(NodeSettings.CLUSTER_ADDRESS, List.of("127.0.0.9"));
        options.put(NodeSettings.CLUSTER_INTERFACE, List.of("lo"));
        options.put(NodeSettings.CLUSTER_SET_UP, List.of("off"));
        options.forEach(new Overrides(settings)::setting);
        MembershipSettings membership = membership();
        assertThat(membership.directors())
                .containsExactly(URI.create("http://127.0.0.1:2"), URI.create("http://[::1]:3"));
        assertThat(membership.name()).isEqualTo("b");
        assertThat(membership.weight()).isEqualTo(3);
        assertThat(membership.address()).isEqualTo("127.0.0.9");
        assertThat(membership.networkInterface()).isEqualTo("lo");
        assertThat(membership.setUp()).isEqualTo(SetUp.OFF);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            directors: [ftp://h]|directors[0]: 'ftp://h' is no director: http://HOST:PORT or https://HOST:PORT is wanted
            directors: [http://h/path]|directors[0]: 'http://h/path' is no director: http://HOST:PORT or https://HOST:PORT is wanted
            directors: [http://u@h]|directors[0]: 'http://u@h' is no director: http://HOST:PORT or https://HOST:PORT is wanted
            directors: ["h:1 "]|directors[0]: 'h:1 ' is no director: http://HOST:PORT or https://HOST:PORT is wanted
            token-file: /no/file|token-file: token file /no/file: there is no such file; 'openssl rand -hex 32' makes a token
            name: a/b|name: 'a/b' cannot name a back-end: 1 to 63 letters, digits, dots, hyphens and underscores are wanted, a letter or digit first
            address: 0.0.0.0|address: '0.0.0.0' is no address of a host: an IPv4 or IPv6 address is wanted, as in 10.0.0.1; no name, no wildcard
            weight: 0|weight: 0 is out of bounds: 1 to 65535 are allowed
            set-up: maybe|set-up: 'maybe' is none of auto, off, print
            nmae: x|nmae: unknown key; did you mean 'name'?
            """)
    void wrongValuesAreToldWithFileAndLine(String value, String problem) {
        String rest = value.startsWith("directors") ? "" : "  directors: [\"http://127.0.0.1\"]\n";
        String tokenFile = value.startsWith("token-file") ? "" : "  token-file: TOKEN\n";
        read("cluster:\n  " + value + "\n" + rest + tokenFile);
        assertThat(problems.lines()).containsExactly("f:2: cluster." + problem);
    }

    @Test
    void aTokenIsWantedAndItsLineIsTheDirectors() {
        assertThat(problems("cluster:\n  directors: \"http://127.0.0.1\"\n"))
                .containsExactly(
                        "f:2: cluster.directors: directors want their token of registration; name its file with "
                                + "cluster.token-file or --cluster-token-file");
    }

    @Test
    void aClusterWithoutADirectorIsNone() {
        assertThat(problems("cluster: {name: node-3}\n"))
                .containsExactly("cluster.directors: no director to register with; add one, as in "
                        + "http://127.0.0.1:3325, with cluster.directors or --cluster");
    }

    @Test
    void aDirectorElsewhereHasToReachTheAdminApi() {
        assertThat(problems("cluster:\n  token-file: TOKEN\n  directors: [\"https://10.9.0.2\"]\n"))
                .containsExactly("f:3: cluster.directors: director https://10.9.0.2:3325 cannot ask this node for its "
                        + "health: the admin API is on 127.0.0.1:3324; open it with --admin ADDRESS:3324, an address of "
                        + "this host, or admin.listen");
    }

    @ParameterizedTest
    @ValueSource(strings = {"http://127.0.0.1", "https://10.9.0.2"})
    void anAdminApiThatIsOffIsAnError(String director) {
        assertThat(problems(
                        "admin: {listen: \"off\"}\ncluster: {token-file: TOKEN, directors: [\"" + director + "\"]}\n"))
                .containsExactly(
                        "f:2: cluster.directors: directors cannot ask this node for its health: the admin API is "
                                + "off; open it with --admin ADDRESS:3324, or admin.listen");
    }

    @Test
    void anAdminApiOnAnyPortCannotBeTold() {
        assertThat(problems("admin: {listen: 0}\ncluster: {token-file: TOKEN, directors: [\"http://127.0.0.1\"]}\n"))
                .containsExactly(
                        "f:2: cluster.directors: directors have to know the admin API's port, and it is 0, any; "
                                + "give one with --admin ADDRESS:3324, or admin.listen");
    }

    @Test
    void theTokenCrossesNoNetworkInClearUnlessThatIsSaid() {
        assertThat(
                        problems(
                                "admin: {listen: \"*:3324\", plain: allowed}\ncluster:\n  token-file: TOKEN\n  directors: [\"http://10.9.0.2\"]\n"))
                .containsExactly(
                        "f:4: cluster.directors: director http://10.9.0.2:3325: over http whoever is on the way "
                                + "reads the token and can put in code; use https, or say that the network is safe with "
                                + "cluster.plain or --cluster-plain");
        Map<Setting<?>, List<String>> options = new LinkedHashMap<>();
        options.put(NodeSettings.CLUSTER_PLAIN, List.of("true"));
        NodeConfigBuilder plain = new NodeConfigBuilder(new Problems());
        ConfigFile.parse(
                "f",
                "admin: {listen: \"*:3324\", plain: allowed}\ncluster: {token-file: " + token
                        + ", directors: [\"http://10.9.0.2\"]}\n",
                plain);
        options.forEach(new Overrides(plain)::setting);
        plain.check();
        assertThat(plain.problems.lines()).isEmpty();
    }

    @Test
    void anUnknownHostIsToldByItsOption() {
        Map<Setting<?>, List<String>> options = new LinkedHashMap<>();
        options.put(NodeSettings.DIRECTORS, List.of("http://no-such-host.invalid"));
        options.put(NodeSettings.CLUSTER_TOKEN, List.of(token.toString()));
        options.put(NodeSettings.CLUSTER_WEIGHT, List.of("x"));
        options.forEach(new Overrides(settings)::setting);
        settings.check();
        assertThat(problems.lines())
                .containsExactly(
                        "--cluster-weight: 'x' is no whole number: one from 1 to 65535 is wanted",
                        "--cluster: director http://no-such-host.invalid:3325: host 'no-such-host.invalid' is unknown: give "
                                + "a literal address or a name that resolves");
    }

    @Test
    void settingsForServicesAndRepositoriesWaitForTheDirectorsTrust() {
        assertThat(problems("services: [{name: org.example.Shout}]\ndeploy: {repositories: [\"http://127.0.0.1:1\"]}\n"
                        + "cluster: {token-file: TOKEN, directors: [\"http://127.0.0.1\"]}\n"))
                .isEmpty();
    }

    @Test
    void theConfigurationInForceReadsAsItself() {
        read(
                "admin: {listen: \"*:4000\", plain: allowed}\ncluster: {directors: [\"https://10.9.0.2\"], token-file: TOKEN, name: n, "
                        + "address: 10.0.0.7, interface: eth1, weight: 9, set-up: \"off\"}\n");
        MembershipSettings membership = membership();
        NodeConfig config = settings.build();
        String text = ConfigText.of(config, config.routes(), "", config.qos());
        assertThat(text).doesNotContain("0123456789abcdef");
        NodeConfigBuilder again = new NodeConfigBuilder(new Problems());
        ConfigFile.parse("again", text, again);
        again.check();
        assertThat(again.problems.lines()).isEmpty();
        assertThat(Objects.requireNonNull(again.build().cluster())).isEqualTo(membership);
    }
}
