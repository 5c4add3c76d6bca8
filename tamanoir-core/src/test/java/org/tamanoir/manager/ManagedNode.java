package org.tamanoir.manager;

import static org.tamanoir.support.Waiting.eventually;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.anep.ServiceKey;
import org.tamanoir.catalog.ServiceCatalog;
import org.tamanoir.client.AnepReceiver;
import org.tamanoir.client.AnepSender;
import org.tamanoir.deploy.CodeCache;
import org.tamanoir.deploy.CodeFetcher;
import org.tamanoir.deploy.Manifest;
import org.tamanoir.deploy.ServiceId;
import org.tamanoir.deploy.ServiceJar;
import org.tamanoir.deploy.ServiceLimits;
import org.tamanoir.deploy.SigningKey;
import org.tamanoir.deploy.TestJars;
import org.tamanoir.deploy.TrustPolicy;
import org.tamanoir.ee.EeConfig;
import org.tamanoir.ee.ExecutionEnvironment;
import org.tamanoir.routing.NextHop;
import org.tamanoir.routing.Prefix;
import org.tamanoir.routing.Route;
import org.tamanoir.routing.RoutingTable;
import org.tamanoir.support.Waiting;

/** A manager with its environment, a repository of files over HTTP, and a host that counts what comes. */
final class ManagedNode implements AutoCloseable {
    static final String NAME = "org.example.Foo";
    private static final Duration TOTAL_TIMEOUT = Waiting.PATIENCE;
    private static final InetSocketAddress FREE = new InetSocketAddress("127.0.0.1", 0);

    final SigningKey signer = SigningKey.generate();
    final AtomicInteger requests = new AtomicInteger();
    final AtomicInteger received = new AtomicInteger();
    final ActiveNodeManager manager;
    final ServiceCatalog catalog;
    final ExecutionEnvironment environment;
    /** Of each version that is deployed. */
    volatile DeploymentConfig.ServiceSettings settings = DeploymentConfig.ServiceSettings.DEFAULT;

    final DeploymentConfig deployment;
    /** Runs before a jar is sent. */
    volatile Runnable beforeJar = () -> {};

    private final Map<String, byte[]> files = new ConcurrentHashMap<>();
    private final ExecutorService answering = Executors.newCachedThreadPool();
    private final Path folder;
    private final HttpServer repository;
    private final AnepReceiver sink;
    private final CodeCache cache;
    private final CodeFetcher fetcher;

    ManagedNode(Path folder) throws IOException {
        this(folder, folder.resolve("revoked"), TOTAL_TIMEOUT, List.of());
    }

    ManagedNode(Path folder, Path revoked, Duration totalTimeout, List<InetSocketAddress> neighbours)
            throws IOException {
        this.folder = folder;
        repository = HttpServer.create(FREE, 0);
        repository.setExecutor(answering); // So that an answer that waits holds up no other.
        repository.createContext("/", this::answer);
        repository.start();
        sink = AnepReceiver.on(FREE).tcp().start(() -> (packet, peer) -> received.incrementAndGet());
        RoutingTable routes = new RoutingTable(List.of(new Route(
                Prefix.parse("0.0.0.0/0"),
                new NextHop(
                        sink.address().getAddress(),
                        sink.address().getPort(),
                        NextHop.Transport.SAME,
                        NextHop.Kind.HOST))));
        catalog = new ServiceCatalog();
        environment = new ExecutionEnvironment(
                EeConfig.defaults()
                        .listening(List.of(FREE), List.of())
                        .deploying(Waiting.PATIENCE, Waiting.PATIENCE, 4 << 20),
                routes,
                catalog);
        cache = CodeCache.open(folder.resolve("cache"), 64 << 20);
        TrustPolicy policy = new TrustPolicy(
                List.of(new TrustPolicy.Publisher(signer.publisher(), List.of("org.example.*"))),
                Set.of(),
                Set.of(),
                false);
        TrustStore trust = TrustStore.open(policy, revoked);
        URI mirror = URI.create("http://127.0.0.1:" + repository.getAddress().getPort());
        CodeFetcher.Settings usual = CodeFetcher.Settings.of(List.of(mirror));
        fetcher = new CodeFetcher(
                new CodeFetcher.Settings(
                        usual.mirrors(),
                        usual.connectTimeout(),
                        usual.idleTimeout(),
                        totalTimeout,
                        usual.maxJarBytes(),
                        usual.maxUnpackedBytes(),
                        usual.backOffMin(),
                        usual.backOffMax(),
                        null,
                        usual.checkpoints()),
                cache,
                trust);
        deployment = new DeploymentConfig(fetcher, cache, trust, true, neighbours, false, id -> settings);
        manager = new ActiveNodeManager(environment, catalog, routes, deployment);
        environment.start();
    }

    private void answer(HttpExchange exchange) throws IOException {
        try (exchange) {
            String path = exchange.getRequestURI().getPath().substring(1);
            if (path.endsWith(".jar")) {
                requests.incrementAndGet();
                beforeJar.run();
            }
            byte[] file = files.get(path);
            if (file == null) {
                exchange.sendResponseHeaders(404, -1);
                return;
            }
            exchange.sendResponseHeaders(200, file.length);
            exchange.getResponseBody().write(file);
        }
    }

    Manifest publish(String id, SigningKey key, String members) throws Exception {
        return publish(id, key, members, files);
    }

    /** @param files the code server's to publish at */
    Manifest publish(String id, SigningKey key, String members, Map<String, byte[]> files) throws Exception {
        return publishSource(id, key, TestJars.forwarder(ServiceId.parse(id).name(), members), files);
    }

    Manifest publishSource(String id, String source) throws Exception {
        return publishSource(id, signer, source, files);
    }

    private Manifest publishSource(String id, SigningKey key, String source, Map<String, byte[]> files)
            throws Exception {
        ServiceId service = ServiceId.parse(id);
        Path jar = TestJars.jar(folder.resolve("jars"), service.name(), source);
        ServiceJar found = ServiceJar.inspect(jar, 1 << 20);
        Manifest manifest = new Manifest(
                service, service.name(), found.sha256(), found.bytes(), List.of("jvm"), ServiceLimits.NONE, "");
        byte[] bytes = manifest.encode();
        files.put(service.path() + "/manifest.json", bytes);
        files.put(service.path() + "/manifest.sig", key.sign(bytes).encode());
        files.put(service.path() + "/" + service.jarName(), Files.readAllBytes(jar));
        files.put("keys/" + ServiceKey.toString(service.key()), bytes);
        files.put("keys/" + ServiceKey.toString(service.nameKey()), bytes);
        return manifest;
    }

    Manifest publish(String id) throws Exception {
        return publish(id, signer, "");
    }

    AnepSender sender() throws IOException {
        return AnepSender.tcp(environment.tcpAddresses().get(0));
    }

    /** One packet, sent at once. */
    static void send(AnepSender sender, String service) throws IOException {
        PacketBuilder builder = new PacketBuilder()
                .destination(InetAddress.getByName("10.0.0.7")).service(service).stream(1)
                        .hopBudget(8);
        sender.send(builder, ByteBuffer.allocate(8));
        sender.flush();
    }

    void awaitReceived(int packets) {
        eventually().until(() -> received.get() >= packets);
    }

    /** As {@code version state}. */
    List<String> versions() {
        return manager.services().stream()
                .map(service -> service.version() + " " + service.state())
                .toList();
    }

    List<String> events(String kind) {
        return manager.events().after(0).stream()
                .filter(event -> event.kind().equals(kind))
                .map(Event::text)
                .toList();
    }

    @Override
    public void close() {
        environment.stop(Duration.ZERO);
        manager.close();
        fetcher.close();
        cache.close();
        sink.close();
        repository.stop(0);
        answering.shutdownNow();
    }
}
