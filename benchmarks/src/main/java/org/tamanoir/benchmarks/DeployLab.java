package org.tamanoir.benchmarks;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Set;
import org.tamanoir.catalog.ServiceCatalog;
import org.tamanoir.deploy.CodeCache;
import org.tamanoir.deploy.CodeFetcher;
import org.tamanoir.deploy.SigningKey;
import org.tamanoir.deploy.TrustPolicy;
import org.tamanoir.ee.EeConfig;
import org.tamanoir.ee.ExecutionEnvironment;
import org.tamanoir.manager.ActiveNodeManager;
import org.tamanoir.manager.DeploymentConfig;
import org.tamanoir.manager.TrustStore;
import org.tamanoir.repository.CodeServer;
import org.tamanoir.repository.Publisher;
import org.tamanoir.repository.RepositoryServer;
import org.tamanoir.repository.RepositoryTree;
import org.tamanoir.repository.Token;
import org.tamanoir.routing.NextHop;
import org.tamanoir.routing.Prefix;
import org.tamanoir.routing.Route;
import org.tamanoir.routing.RoutingTable;
import org.tamanoir.services.Monitor;

/** A repository on loopback, a publisher, and nodes that trust it, all in this process. One thread. */
final class DeployLab implements AutoCloseable {
    /** A node that deploys. */
    record LabNode(ExecutionEnvironment environment, ActiveNodeManager manager, CodeFetcher fetcher, CodeCache cache) {
        InetSocketAddress address() {
            return environment.tcpAddresses().get(0);
        }
    }

    private final Path folder;
    private final Deque<AutoCloseable> opened = new ArrayDeque<>();
    private final SigningKey key = SigningKey.generate();
    private final TrustPolicy trust = new TrustPolicy(
            List.of(new TrustPolicy.Publisher(key.publisher(), List.of("*"))), Set.of(), Set.of(), false);
    private final URI repository;
    private final Publisher publisher;
    private int nodes;

    DeployLab() throws IOException {
        folder = Files.createTempDirectory("tamanoir-deploy");
        RepositoryTree tree = RepositoryTree.open(folder.resolve("repository"));
        opened.push(tree);
        Token token = Token.of("benchmark-".repeat(4), "this benchmark");
        RepositoryServer server = RepositoryServer.start(
                RepositoryServer.Settings.on(Load.loopback(0)).withToken(token), tree, null);
        opened.push(server);
        repository = URI.create("http://127.0.0.1:" + server.address().getPort() + "/");
        publisher = new Publisher(repository, null, token);
    }

    /** Publishes Monitor under this name, in a jar of about this size: what does not compress fills it. */
    void publish(String name, int jarBytes) throws Exception {
        PackedService.publish(publisher, key, folder, Monitor.class, name, jarBytes);
    }

    /**
     * Starts a node.
     *
     * @param next where all its packets go
     * @param kind who is there
     * @param asksRepository whether it knows the repository
     */
    LabNode node(InetSocketAddress next, NextHop.Kind kind, boolean asksRepository, long cacheBytes)
            throws IOException {
        RoutingTable routes = new RoutingTable(List.of(new Route(
                Prefix.parse("0.0.0.0/0"),
                new NextHop(next.getAddress(), next.getPort(), NextHop.Transport.SAME, kind))));
        ServiceCatalog catalog = new ServiceCatalog();
        ExecutionEnvironment environment = new ExecutionEnvironment(
                EeConfig.defaults().listening(List.of(Load.loopback(0)), List.of()), routes, catalog);
        CodeCache cache = CodeCache.open(folder.resolve("cache-" + ++nodes), cacheBytes);
        opened.push(cache);
        TrustStore store = TrustStore.open(trust, null);
        CodeFetcher fetcher = new CodeFetcher(
                CodeFetcher.Settings.of(asksRepository ? List.of(repository) : List.of()), cache, store);
        opened.push(fetcher);
        DeploymentConfig deployment = new DeploymentConfig(
                fetcher, cache, store, true, List.of(), false, id -> DeploymentConfig.ServiceSettings.DEFAULT);
        ActiveNodeManager manager = new ActiveNodeManager(environment, catalog, routes, deployment);
        opened.push(manager);
        environment.start();
        opened.push(environment);
        CodeServer code = CodeServer.start(Load.loopback(0), null, path -> cache.file(path, manager::isServed));
        opened.push(code);
        environment.advertise(code.address());
        return new LabNode(environment, manager, fetcher, cache);
    }

    @Override
    public void close() throws IOException {
        while (!opened.isEmpty()) {
            try {
                opened.pop().close();
            } catch (IOException e) {
                throw e;
            } catch (Exception e) {
                throw new IOException(e);
            }
        }
        try (var files = Files.walk(folder)) {
            for (Path each : files.sorted(java.util.Comparator.reverseOrder()).toList()) {
                Files.delete(each);
            }
        }
    }
}
