package org.tamanoir.node.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.node.run.LiveNode.deploy;
import static org.tamanoir.support.Waiting.eventually;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.tamanoir.node.Main;
import org.tamanoir.support.Waiting;
import org.tamanoir.tls.TestAuthority;
import org.tamanoir.tls.TlsFiles;

/** Everything that deployment speaks, inside TLS with an authority of one's own. */
@Timeout(120)
class DeployedTlsTest {
    private static final String NAME = "org.example.Shout";
    private static final Pattern LISTENING = Pattern.compile("(127\\.0\\.0\\.1:\\d+)");

    @TempDir
    Path folder;

    private TestAuthority authority;

    @BeforeEach
    void found() {
        authority = new TestAuthority(folder, "authority");
    }

    private static String section(TlsFiles files) {
        return "tls: {certificate: " + files.certificate() + ", key: " + files.key() + ", trust: " + files.trust()
                + ", require-client: " + files.requireClient() + "}\n";
    }

    private LiveNode node(String name, LiveRepository repository, List<String> repositories, String next, String kind)
            throws Exception {
        Path own = folder.resolve(name);
        return LiveNode.start(
                own,
                "listen: {tls: [0]}\n" + section(authority.files(name, true, "127.0.0.1"))
                        + "routes: [{to: 0.0.0.0/0, via: \"" + next + "\", tls: true, kind: " + kind + "}]\n"
                        + deploy(own, repository, repositories, "tls: true, connect-timeout: 20s, idle-timeout: 20s"));
    }

    private static String at(LiveNode node) {
        InetSocketAddress address = node.node.environment().tlsAddresses().get(0);
        return "127.0.0.1:" + address.getPort();
    }

    private static CompletableFuture<Integer> run(StringWriter out, TlsFiles files, String... arguments) {
        List<String> all = new ArrayList<>(List.of(arguments));
        all.addAll(List.of(
                "--tls",
                "--tls-cert",
                String.valueOf(files.certificate()),
                "--tls-key",
                String.valueOf(files.key()),
                "--tls-trust",
                String.valueOf(files.trust())));
        PrintWriter to = new PrintWriter(out, true);
        return Waiting.async(() -> Main.run(to, to, all.toArray(String[]::new)));
    }

    private static String listening(StringWriter out) {
        Matcher[] found = new Matcher[1];
        eventually().until(() -> {
            found[0] = LISTENING.matcher(out.toString());
            return found[0].find();
        });
        return found[0].group(1);
    }

    @Test
    void aFileCrossesTwoNodesThatBringTheServiceToEachOther() throws Exception {
        Path input = Files.writeString(folder.resolve("input"), "hello from the other side\n".repeat(1000));
        Path output = folder.resolve("output");
        StringWriter received = new StringWriter();
        StringWriter sent = new StringWriter();
        CompletableFuture<Integer> receive = run(
                received,
                authority.files("receiver", true, "127.0.0.1"),
                "receive",
                "--listen",
                "127.0.0.1:0",
                "--tls-require-client",
                "--exit-after-streams",
                "1",
                "--timeout", // How long nothing may come, where the host has much else to do, too.
                "10m",
                "-o",
                output.toString());
        try (LiveRepository repository = new LiveRepository(
                        folder.resolve("repository"), authority.files("repository", true, "127.0.0.1"));
                LiveNode second = node("second", repository, List.of(), listening(received), "host");
                LiveNode first = node("first", repository, List.of(repository.url()), at(second), "active")) {
            repository.publish(
                    NAME + ":1.0",
                    LiveRepository.service(
                            NAME + ":1.0",
                            "for (int i = packet.payloadOffset(); i < packet.payloadOffset() + packet.payloadLength(); i++)"
                                    + " { packet.buffer().put(i, (byte) Character.toUpperCase(packet.buffer().get(i))); }"
                                    + " return Verdict.FORWARD;",
                            ""),
                    LiveRepository.KEY);
            CompletableFuture<Integer> send = run(
                    sent,
                    authority.files("sender", true, "127.0.0.1"),
                    "send",
                    input.toString(),
                    "--to",
                    at(first),
                    "--destination",
                    "10.0.0.7",
                    "--service",
                    NAME);
            assertThat(send.get(Waiting.PATIENCE.toSeconds(), TimeUnit.SECONDS))
                    .as("%s", sent)
                    .isZero();
            assertThat(receive.get(40, TimeUnit.SECONDS)).as("%s", received).isZero();
            assertThat(Files.readString(output)).isEqualTo("HELLO FROM THE OTHER SIDE\n".repeat(1000));
            assertThat(first.versions(NAME)).containsExactly("1.0 running repository " + repository.url());
            assertThat(second.versions(NAME))
                    .containsExactly("1.0 running previous node https://"
                            + first.node.servers().get("code server"));
            long packets = first.node.environment().traffic().packetsIn();
            first.assertConserved(packets, Map.of());
            second.assertConserved(packets, Map.of());
        }
    }
}
