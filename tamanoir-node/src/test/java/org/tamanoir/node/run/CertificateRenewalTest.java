package org.tamanoir.node.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.List;
import javax.net.ssl.SSLSocket;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.tamanoir.client.AnepSender;
import org.tamanoir.node.admin.Reloading;
import org.tamanoir.node.cli.Systemd;
import org.tamanoir.node.config.ConfigFile;
import org.tamanoir.node.config.NodeConfig;
import org.tamanoir.node.config.NodeConfigBuilder;
import org.tamanoir.node.config.Problems;
import org.tamanoir.support.Waiting;
import org.tamanoir.tls.TestAuthority;
import org.tamanoir.tls.TlsFiles;
import org.tamanoir.transport.QuicPort;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** A certificate that is renewed in its file, taken by a node that goes on; and what is recorded of a signal. */
@Timeout(120)
class CertificateRenewalTest {
    @TempDir
    Path folder;

    private @Nullable Node node;

    @AfterEach
    void stop() {
        if (node != null) {
            node.stop(Duration.ZERO);
        }
    }

    private @Nullable NodeConfig read(Problems problems) {
        NodeConfigBuilder builder = new NodeConfigBuilder(problems);
        ConfigFile.readAgain(folder.resolve("node.yaml"), builder);
        builder.check();
        return problems.isEmpty() ? builder.build() : null;
    }

    private static X509Certificate shown(InetSocketAddress address, TlsFiles trusting) throws IOException {
        try (SSLSocket socket =
                (SSLSocket) trusting.context().getSocketFactory().createSocket()) {
            socket.connect(address, (int) Waiting.PATIENCE.toMillis());
            socket.setSoTimeout((int) Waiting.PATIENCE.toMillis());
            socket.startHandshake();
            return (X509Certificate) socket.getSession().getPeerCertificates()[0];
        }
    }

    private static String get(URI server, TlsFiles trusting, String path) throws Exception {
        HttpClient client =
                HttpClient.newBuilder().sslContext(trusting.context()).build();
        HttpRequest request = HttpRequest.newBuilder(server.resolve(path))
                .timeout(Waiting.PATIENCE)
                .build();
        return client.send(request, HttpResponse.BodyHandlers.ofString()).body();
    }

    @Test
    void connectionsAfterTheSignalSeeTheNewOneEverywhere() throws Exception {
        TestAuthority first = new TestAuthority(folder, "first");
        TestAuthority second = new TestAuthority(folder, "second");
        TlsFiles before = first.files("node");
        boolean hasQuic = QuicPort.whyNot().isEmpty();
        Files.writeString(folder.resolve("node.yaml"), """
                listen: {tcp: [], udp: [], tls: ["127.0.0.1:0"], quic: [%s]}
                tls: {certificate: %s, key: %s}
                admin: {listen: "127.0.0.1:0", tls: true}
                deploy: {code-server: "127.0.0.1:0", tls: true}
                """.formatted(
                        hasQuic ? "\"127.0.0.1:0\"" : "", before.certificate(), before.key()));
        Problems problems = new Problems();
        NodeConfig config = read(problems);
        assertThat(problems.lines()).isEmpty();
        Node started = new Node(config);
        node = started;
        Reloader reloader = new Reloader(started, this::read, Systemd.ofProcess());
        started.reloading(reloader);
        started.start();
        URI admin = URI.create(started.servers().get("admin API"));
        List<InetSocketAddress> doors = List.of(
                new InetSocketAddress("127.0.0.1", admin.getPort()),
                started.environment().tlsAddresses().get(0),
                code(started));
        for (InetSocketAddress door : doors) {
            assertThat(shown(door, first.trusting()).getIssuerX500Principal().getName())
                    .isEqualTo("CN=first");
        }
        assertThat(get(admin, first.trusting(), "/metrics"))
                .contains("tamanoir_certificate_expiry_seconds "
                        + (double) shown(doors.get(0), first.trusting())
                                .getNotAfter()
                                .toInstant()
                                .getEpochSecond());

        second.files("node"); // In the same files.
        reloader.reloadForSignal();
        for (InetSocketAddress door : doors) {
            assertThat(shown(door, second.trusting()).getIssuerX500Principal().getName())
                    .isEqualTo("CN=second");
        }
        if (hasQuic) {
            InetSocketAddress quic = started.environment().quicAddresses().get(0);
            AnepSender.to(quic).tls(second.trusting()).quic().close();
        }
        JsonNode events = new JsonMapper().readTree(get(admin, second.trusting(), "/v1/events"));
        assertThat(change(events).toString()).contains("\"peer\":\"SIGHUP\"", "\"outcome\":\"done\"");

        Files.writeString(before.certificate(), "nothing");
        reloader.reloadForSignal();
        assertThat(shown(doors.get(0), second.trusting())).isNotNull();
        events = new JsonMapper().readTree(get(admin, second.trusting(), "/v1/events"));
        assertThat(change(events).toString()).contains("\"peer\":\"SIGHUP\"", "is not PEM");
    }

    /** HTTP servers cannot use Ed25519, which streams can. */
    @Test
    void whatAServerDoesNotTakeIsSaidOfEachAndOfStreamsThatTheyHaveIt() throws Exception {
        TestAuthority authority = new TestAuthority(folder, "authority");
        TlsFiles before = authority.files("node");
        Files.writeString(folder.resolve("node.yaml"), """
                listen: {tcp: [], udp: [], tls: ["127.0.0.1:0"]}
                tls: {certificate: %s, key: %s}
                admin: {listen: "127.0.0.1:0", tls: true}
                deploy: {code-server: "127.0.0.1:0", tls: true}
                """.formatted(before.certificate(), before.key()));
        Node started = new Node(read(new Problems()));
        node = started;
        started.start();
        authority.withKey("node", "Ed25519"); // In the same files.
        Reloading.Outcome outcome = started.apply(read(new Problems()));
        assertThat(outcome.changed())
                .singleElement()
                .asString()
                .startsWith("tls.certificate: another one in " + before.certificate());
        assertThat(outcome.failed())
                .satisfiesExactlyInAnyOrder(
                        line -> assertThat(line).startsWith("admin API: TLS certificate " + before.certificate()),
                        line -> assertThat(line).startsWith("code server: TLS certificate " + before.certificate()));
    }

    /** Returns the last change. */
    private static JsonNode change(JsonNode answer) {
        JsonNode last = answer;
        for (JsonNode event : answer.get("events")) {
            if (event.get("kind").asString().equals("change")) {
                last = event.get("details");
            }
        }
        return last;
    }

    private static InetSocketAddress code(Node node) {
        String address = String.valueOf(node.servers().get("code server"));
        return new InetSocketAddress("127.0.0.1", Integer.parseInt(address.substring(address.lastIndexOf(':') + 1)));
    }
}
