package org.tamanoir.node.run;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.tamanoir.deploy.Manifest;
import org.tamanoir.deploy.ServiceId;
import org.tamanoir.deploy.SigningKey;
import org.tamanoir.deploy.TestJars;
import org.tamanoir.repository.Publisher;
import org.tamanoir.repository.RepositoryServer;
import org.tamanoir.repository.RepositoryTree;
import org.tamanoir.repository.Token;
import org.tamanoir.support.Ports;
import org.tamanoir.tls.TlsFiles;

/** A repository on loopback with signed services in it, published as users do. One thread. */
final class LiveRepository implements AutoCloseable {
    static final SigningKey KEY = SigningKey.generate();
    /** Unpacked bytes of a test's jar. */
    private static final long MAX_UNPACKED = 64 << 20;

    final Path root;
    final Path publicKey;
    private final Path jars;
    private final @Nullable TlsFiles tls;
    private RepositoryTree tree;
    private RepositoryServer server;

    /** In {@code folder}; {@code tls} null = plain. */
    LiveRepository(Path folder, @Nullable TlsFiles tls) throws IOException {
        this.root = folder.resolve("root");
        this.jars = folder.resolve("jars");
        this.tls = tls;
        Files.createDirectories(folder);
        publicKey = Files.writeString(
                folder.resolve("publisher.pub"), KEY.publisher().pem());
        tree = RepositoryTree.open(root);
        server = serve(tree, Ports.free());
    }

    LiveRepository(Path folder) throws IOException {
        this(folder, null);
    }

    private static Token token() {
        return Token.of("the-token-of-this-test", "this test");
    }

    private RepositoryServer serve(RepositoryTree tree, int port) throws IOException {
        RepositoryServer.Settings settings = new RepositoryServer.Settings(
                new InetSocketAddress("127.0.0.1", port), tls, token(), RepositoryServer.DEFAULT_MAX_JAR_BYTES, null);
        return RepositoryServer.start(settings, tree, null);
    }

    /** Anew, on the port that it had before. */
    void start() throws IOException {
        tree = RepositoryTree.open(root);
        server = serve(tree, server.address().getPort());
    }

    void stop() throws IOException {
        server.close();
        tree.close();
    }

    String url() {
        return (tls == null ? "http" : "https") + "://127.0.0.1:"
                + server.address().getPort();
    }

    Publisher publisher() throws IOException {
        return new Publisher(URI.create(url()), tls == null ? null : tls.context(), token());
    }

    /** A service that marks packets with a class of service. */
    Manifest publishMarker(String id, int mark) throws Exception {
        return publish(id, marker(id, mark), KEY);
    }

    static String marker(String id, int mark) {
        return service(id, "packet.setClassOfService(" + mark + "); return Verdict.FORWARD;", "");
    }

    /** Source text of a service: the body of {@code process}, and further members. */
    static String service(String id, String process, String members) {
        String name = ServiceId.parse(id).name();
        int dot = name.lastIndexOf('.');
        return "package " + name.substring(0, dot) + ";\n"
                + "import org.tamanoir.anep.Packet;\n"
                + "import org.tamanoir.service.Service;\n"
                + "import org.tamanoir.service.Verdict;\n"
                + "public class " + name.substring(dot + 1) + " extends Service {\n"
                + members + "\n    public Verdict process(Packet packet) { " + process + " }\n}\n";
    }

    Manifest publish(String id, String source, SigningKey key) throws Exception {
        ServiceId service = ServiceId.parse(id);
        Path jar = TestJars.jar(jars, service.name(), source, "Implementation-Version: " + service.version());
        return publish(jar, key);
    }

    Manifest publish(Path jar, SigningKey key) throws Exception {
        Manifest manifest = Publisher.describe(jar, Publisher.Description.OF_JAR, MAX_UNPACKED);
        publisher().publish(jar, manifest, key);
        return manifest;
    }

    /** A file of a published version. */
    Path file(String id, String name) {
        return root.resolve(ServiceId.parse(id).path()).resolve(name);
    }

    Path jar(String id) {
        return file(id, ServiceId.parse(id).jarName());
    }

    @Override
    public void close() throws IOException {
        stop();
    }
}
