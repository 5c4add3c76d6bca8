package org.tamanoir.cluster.setup;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionTimeoutException;
import org.tamanoir.cluster.config.Vrrp;
import org.tamanoir.cluster.lvs.Forwarding;
import org.tamanoir.support.Namespaces;

/**
 * Two directors' hosts in network namespaces on one link, each with a keepalived that is configured by {@link Keepalived}
 * and a server that answers for the director:
 *
 * <pre>
 *   north 10.74.1.1 e0 ------ f0 10.74.1.2 south        virtual: 10.74.0.1, fd74::1
 * </pre>
 *
 * One test thread.
 */
final class DirectorPair implements AutoCloseable {
    static final String VIRTUAL4 = "10.74.0.1";
    static final String VIRTUAL6 = "fd74::1";

    private static final int PORT = 3325;
    private static final int LAST = 4000; // characters of a log
    private static final Duration PATIENCE = Duration.ofSeconds(40); // the guest's processors are slow

    /** One of both. */
    final class Host {
        final String namespace;
        private final String device;
        private final Process keepalived;
        private final HttpServer server;
        private volatile int status = 200;

        private Host(String namespace, String device, int priority) throws Exception {
            this.namespace = namespace;
            this.device = device;
            server = namespaces.in(namespace, () -> HttpServer.create(new InetSocketAddress("127.0.0.1", PORT), 0));
            server.createContext("/ready", exchange -> {
                exchange.sendResponseHeaders(status, -1);
                exchange.close();
            });
            server.start();
            Vrrp vrrp = new Vrrp(device, device, 51, priority, false, Duration.ofMillis(500), null, List.of(), null);
            Path file = folder.resolve(namespace + ".conf");
            String config = Keepalived.config(
                    Configs.director(folder, null, vrrp, Forwarding.DIRECT, VIRTUAL4, VIRTUAL6),
                    "http://127.0.0.1:" + PORT + "/ready");
            Files.writeString(file, plain(config));
            keepalived = new ProcessBuilder(
                            "ip",
                            "netns",
                            "exec",
                            namespace,
                            "keepalived",
                            "--dont-fork",
                            "--log-console",
                            "--no-syslog",
                            "--use-file=" + file,
                            "--pid=" + file + ".pid",
                            "--vrrp_pid=" + file + ".vrrp.pid",
                            "--checkers_pid=" + file + ".checkers.pid")
                    .redirectErrorStream(true)
                    .redirectOutput(log().toFile())
                    .start();
        }

        private Path log() {
            return folder.resolve(namespace + ".log");
        }

        /** What its director answers from now on when it is asked whether it is well. */
        void answer(int newStatus) {
            status = newStatus;
        }

        boolean hasAddresses() {
            String addresses = namespaces.run(namespace, "ip -brief address show dev " + device);
            return addresses.contains(VIRTUAL4 + "/32") && addresses.contains(VIRTUAL6 + "/128");
        }

        void awaitAddresses() throws IOException {
            await(this, true);
        }

        void awaitNoAddresses() throws IOException {
            await(this, false);
        }

        /** As when its power fails: keepalived ends by signal 9, with its children, and nothing of it answers. */
        void kill() throws Exception {
            List<ProcessHandle> all = keepalived.descendants().toList();
            keepalived.destroyForcibly();
            all.forEach(ProcessHandle::destroyForcibly);
            keepalived.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS);
            namespaces.run(namespace, "ip address flush dev " + device);
        }

        private void close() {
            List<ProcessHandle> all = keepalived.descendants().toList();
            keepalived.destroyForcibly();
            all.forEach(ProcessHandle::destroyForcibly);
            server.stop(0);
        }
    }

    private final Path folder;
    private final boolean inGuest;
    private final Namespaces namespaces = new Namespaces("pair");
    private final Host north;
    private final Host south;

    /**
     * The first one is the active one.
     *
     * @param inGuest where the kernel has IPVS, so that connections are told, but processors are too slow to ask
     *     directors whether they are well
     */
    DirectorPair(Path folder, boolean inGuest) throws Exception {
        this.folder = folder;
        this.inGuest = inGuest;
        String first = namespaces.add("north");
        String second = namespaces.add("south");
        namespaces.link(first, "e0", second, "f0");
        namespaces.address(first, "e0", "10.74.1.1/24");
        namespaces.address(second, "f0", "10.74.1.2/24");
        north = new Host(first, "e0", 150);
        try {
            north.awaitAddresses(); // else the other one may be faster, and keeps them
        } catch (IOException | AssertionError e) {
            north.close();
            namespaces.close();
            throw e;
        }
        south = new Host(second, "f0", 100);
    }

    Host north() {
        return north;
    }

    Host south() {
        return south;
    }

    private String plain(String config) {
        return inGuest
                ? config.replaceAll(" *track_script \\{[^}]*}\n", "")
                : config.replaceAll(" *lvs_sync_daemon .*\n", "");
    }

    String run(Host host, String command) {
        return namespaces.run(host.namespace, command);
    }

    /** Waits until a command says something. */
    void awaitSays(Host host, String command, String wanted) {
        Awaitility.await()
                .atMost(PATIENCE)
                .pollInterval(pollInterval())
                .untilAsserted(() -> assertThat(run(host, command)).contains(wanted));
    }

    /** A look takes three programs, which in the guest keep keepalived from its work. */
    private Duration pollInterval() {
        return Duration.ofMillis(inGuest ? 1000 : 100);
    }

    private void await(Host host, boolean wanted) throws IOException {
        try {
            Awaitility.await().atMost(PATIENCE).pollInterval(pollInterval()).until(() -> host.hasAddresses() == wanted);
        } catch (ConditionTimeoutException e) {
            String said = Files.readString(host.log());
            String last = said.substring(Math.max(0, said.length() - LAST));
            throw new AssertionError(host.namespace + " said last: " + last, e);
        }
    }

    @Override
    public void close() {
        north.close();
        south.close();
        namespaces.close();
    }
}
