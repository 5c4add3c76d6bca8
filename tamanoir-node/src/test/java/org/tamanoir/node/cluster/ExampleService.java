package org.tamanoir.node.cluster;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;
import org.tamanoir.deploy.Manifest;
import org.tamanoir.deploy.SigningKey;
import org.tamanoir.deploy.TestJars;
import org.tamanoir.repository.Publisher;
import org.tamanoir.repository.RepositoryServer;
import org.tamanoir.repository.RepositoryTree;
import org.tamanoir.repository.Token;

/** A service that no node has: compiled, signed and published on the host, since a compiler is slow in the guest. */
final class ExampleService {
    static final String NAME = "org.example.Passing";
    static final int PORT = 8080;

    private static final String SOURCE = """
            package org.example;
            import org.tamanoir.anep.Packet;
            import org.tamanoir.service.Service;
            import org.tamanoir.service.Verdict;
            public class Passing extends Service {
                public Verdict process(Packet packet) { return Verdict.FORWARD; }
            }
            """;
    private static final long MAX_UNPACKED_BYTES = 1 << 20;

    private ExampleService() {}

    /** Fills a repository in a folder. */
    static void publish(Path folder) throws Exception {
        clear(folder.resolve("repository"));
        SigningKey key = SigningKey.generate();
        Files.writeString(key(folder), key.publisher().pem());
        Path jar = TestJars.jar(folder.resolve("jars"), NAME, SOURCE, "Implementation-Version: 1.0");
        Manifest manifest = Publisher.describe(jar, Publisher.Description.OF_JAR, MAX_UNPACKED_BYTES);
        Token token = Token.of("the-token-of-this-test", "this test");
        try (RepositoryTree tree = RepositoryTree.open(folder.resolve("repository"));
                RepositoryServer server = RepositoryServer.start(
                        RepositoryServer.Settings.on(new InetSocketAddress("127.0.0.1", 0))
                                .withToken(token),
                        tree,
                        null)) {
            URI url = URI.create("http://127.0.0.1:" + server.address().getPort());
            new Publisher(url, null, token).publish(jar, manifest, key);
        }
    }

    /** A version is published once. */
    private static void clear(Path folder) throws IOException {
        if (Files.exists(folder)) {
            try (Stream<Path> all = Files.walk(folder)) {
                for (Path each : all.sorted(Comparator.reverseOrder()).toList()) {
                    Files.delete(each);
                }
            }
        }
    }

    /** The file of the publisher's public key. */
    static Path key(Path folder) {
        return folder.resolve("publisher.pub");
    }

    /** Serves that repository on a machine, until the process ends. */
    static RepositoryServer serve(Machine machine, Path folder, String address) {
        return machine.in(() -> {
            RepositoryTree tree = RepositoryTree.open(folder.resolve("repository"));
            try {
                return RepositoryServer.start(
                        RepositoryServer.Settings.on(new InetSocketAddress(address, PORT)), tree, null);
            } catch (IOException | RuntimeException e) {
                tree.close();
                throw e;
            }
        });
    }
}
