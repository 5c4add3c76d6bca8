package org.tamanoir.benchmarks.soak;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.util.List;
import org.tamanoir.benchmarks.Load;
import org.tamanoir.benchmarks.PackedService;
import org.tamanoir.deploy.SigningKey;
import org.tamanoir.repository.Publisher;
import org.tamanoir.repository.RepositoryServer;
import org.tamanoir.repository.RepositoryTree;
import org.tamanoir.repository.Token;

/** A repository over HTTP with signed services, each {@link Passing} under a name of its own. One thread. */
final class Repository implements AutoCloseable {
    /** What it has. */
    static final List<String> NAMES = List.of("org.example.Soak1", "org.example.Soak2", "org.example.Soak3");

    private final RepositoryTree tree;
    private final RepositoryServer server;
    private final Path publicKey;

    Repository(Path folder) throws Exception {
        SigningKey key = SigningKey.generate();
        Path keyFile = folder.resolve("publisher");
        key.write(keyFile);
        publicKey = folder.resolve("publisher.pub");
        tree = RepositoryTree.open(folder.resolve("repository"));
        try {
            Token token = Token.of("repository-".repeat(3), "this run");
            server = RepositoryServer.start(
                    RepositoryServer.Settings.on(Load.loopback(0)).withToken(token), tree, null);
            Publisher publisher = new Publisher(URI.create(address()), null, token);
            for (String name : NAMES) {
                PackedService.publish(publisher, key, folder, Passing.class, name, 0);
            }
        } catch (Exception e) {
            tree.close();
            throw e;
        }
    }

    String address() {
        return "http://127.0.0.1:" + server.address().getPort() + "/";
    }

    Path publicKey() {
        return publicKey;
    }

    @Override
    public void close() throws IOException {
        server.close();
        tree.close();
    }
}
