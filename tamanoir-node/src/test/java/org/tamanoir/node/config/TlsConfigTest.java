package org.tamanoir.node.config;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.tamanoir.routing.NextHop;
import org.tamanoir.tls.TestAuthority;
import org.tamanoir.tls.TlsFiles;

class TlsConfigTest {
    @TempDir
    private Path folder;

    private final Problems problems = new Problems();
    private NodeConfigBuilder settings;
    private TlsFiles files;

    @BeforeEach
    void makeFiles() {
        files = new TestAuthority(folder, "authority").files("node", true, "127.0.0.1");
        settings = new NodeConfigBuilder(problems);
    }

    private void read(String text) {
        ConfigFile.parse("f", text, settings);
        settings.check();
    }

    private String section() {
        return "tls: {certificate: " + files.certificate() + ", key: " + files.key() + ", trust: " + files.trust()
                + ", require-client: true}\n";
    }

    @Test
    void addressesFilesAndRoutesAreMapped() {
        read("listen: {tls: [4000, \"[::1]:4001\"]}\n" + section()
                + "routes:\n  - {to: 10.0.2.0/24, via: localhost:4002, tls: true}\n"
                + "  - {to: 10.0.3.0/24, via: destination, transport: tls}\n");

        assertThat(problems.lines()).isEmpty();
        NodeConfig config = settings.build();
        assertThat(config.environment().tcp()).isEmpty();
        assertThat(config.environment().tls())
                .containsExactly(new InetSocketAddress("127.0.0.1", 4000), new InetSocketAddress("::1", 4001));
        assertThat(config.environment().tlsFiles()).isEqualTo(files);
        assertThat(config.routes())
                .extracting(route -> route.nextHop().transport())
                .containsOnly(NextHop.Transport.TLS);
        assertThat(new InetSocketAddress(config.routes().get(0).nextHop().address(), 1).getHostString())
                .isEqualTo("localhost");
        assertThat(RouteTable.ROUTES.data(config.routes().get(0)).get("via"))
                .as("written back, with the name that the certificate has to hold")
                .hasToString("localhost:4002");
    }

    @Test
    void withoutTheSectionThereIsNoTls() {
        read("hop-budget: 3\n");

        assertThat(settings.build().environment().tls()).isEmpty();
        assertThat(settings.build().environment().tlsFiles()).isNull();
    }

    @Test
    void optionsOverrideTheFile() {
        TlsFiles other = new TestAuthority(folder, "other").files("second");
        ConfigFile.parse("f", "listen: {tls: [4000]}\n" + section(), settings);
        Overrides overrides = new Overrides(settings);
        overrides.setting(NodeSettings.TLS_ADDRESSES, List.of("4001"));
        overrides.setting(NodeSettings.TLS.certificate, List.of(String.valueOf(other.certificate())));
        overrides.setting(NodeSettings.TLS.key, List.of(String.valueOf(other.key())));
        overrides.listen(List.of());
        overrides.route("10.0.2.0/24=127.0.0.1:1,tls");
        settings.check();

        assertThat(problems.lines()).isEmpty();
        NodeConfig config = settings.build();
        assertThat(config.environment().tls()).containsExactly(new InetSocketAddress("127.0.0.1", 4001));
        assertThat(config.environment().tlsFiles())
                .isEqualTo(new TlsFiles(other.certificate(), other.key(), files.trust(), true));
        assertThat(config.routes().get(0).nextHop().transport()).isEqualTo(NextHop.Transport.TLS);
    }

    @Test
    void aServerNeedsACertificate() {
        read("listen: {tls: [4000]}\n");

        assertThat(problems.lines()).singleElement().asString().startsWith("f:1: listen.tls: a server must show");
    }

    @Test
    void filesThatAreNoGoodAreReportedWithTheirLine() throws IOException {
        Path broken = Files.writeString(folder.resolve("broken.pem"), "nothing");
        read("listen: {tls: [4000]}\ntls:\n  certificate: " + broken + "\n  key: " + files.key() + "\n");

        assertThat(problems.lines())
                .singleElement()
                .asString()
                .startsWith("f:3: tls.certificate: TLS certificate " + broken + ": is not PEM");
    }

    @Test
    void anAddressIsPlainOrTls() {
        read("listen: {tcp: [4000], tls: [4000]}\n" + section());

        assertThat(problems.lines())
                .containsExactly(
                        "f:1: listen.tls: 127.0.0.1:4000 is in listen.tcp too, and one address takes one kind of traffic; remove one");
    }

    @Test
    void tlsGoesNotOverUdp() {
        read("routes:\n  - {to: 10.0.2.0/24, via: localhost:4002, transport: udp, tls: true}\n");

        assertThat(problems.lines()).singleElement().asString().contains("TLS goes over TCP, not over UDP");
    }

    @Test
    void unknownKeysAreReported() {
        read("tls: {certificat: a}\n");

        assertThat(problems.lines()).singleElement().asString().contains("did you mean 'certificate'?");
    }
}
