package org.tamanoir.kernel.guest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.support.Waiting.eventually;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.catalog.ServiceCatalog;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.catalog.ServiceHealth;
import org.tamanoir.ee.EeConfig;
import org.tamanoir.ee.ExecutionEnvironment;
import org.tamanoir.platform.ServiceGrouping;
import org.tamanoir.platform.ServiceGroups;
import org.tamanoir.routing.RoutingTable;
import org.tamanoir.service.FailurePolicy;
import org.tamanoir.service.Service;
import org.tamanoir.service.ServiceConfig;
import org.tamanoir.service.Verdict;
import org.tamanoir.support.Namespaces;
import org.tamanoir.transport.LinuxServiceGroups;

/** Services that share the guest's two processors as groups, which its kernel, unlike that of many a host, lets them. */
@Timeout(ServiceGroupsInGuest.PATIENCE_S)
class ServiceGroupsInGuest {
    static final int PATIENCE_S = 300;

    private static final Path MOUNTED = Path.of("/sys/fs/cgroup");
    private static final Path UNIT = MOUNTED.resolve("unit");
    private static final Path NODE = UNIT.resolve("tamanoir");

    private final ServiceCatalog services = new ServiceCatalog();
    private final List<SocketChannel> streams = new ArrayList<>();
    private ServiceGroups groups;
    private ExecutionEnvironment environment;
    private static volatile boolean released;

    /** Never comes back, and comes to no checkpoint. */
    private static class Spinner extends Service {
        @Override
        public Verdict process(Packet packet) {
            spin();
            return Verdict.CONSUME;
        }

        static void spin() {
            while (!released) {
                Thread.onSpinWait();
            }
        }
    }

    /** Has a thread of its own beside. */
    private static final class Doubled extends Spinner {
        @Override
        public void init(ServiceConfig config) {
            new Thread(Spinner::spin).start();
        }
    }

    @BeforeEach
    void delegate() throws IOException {
        if (!Files.exists(MOUNTED.resolve("cgroup.controllers"))) {
            Namespaces.shell("mount -t cgroup2 cgroup2 " + MOUNTED);
        }
        Files.writeString(MOUNTED.resolve("cgroup.subtree_control"), "+cpu");
        Files.createDirectory(UNIT);
        Files.writeString(UNIT.resolve("cgroup.procs"), "0"); // As systemd does, with Delegate=cpu.
        released = false;
        groups = LinuxServiceGroups.of(ServiceGrouping.SERVICES);
        assertThat(groups.text()).isEqualTo("services share processors as groups of threads, in " + NODE);
        environment = new ExecutionEnvironment(
                EeConfig.defaults()
                        .listening(List.of(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0)), List.of()),
                new RoutingTable(),
                services);
        environment.group(groups);
        environment.stuckAfter(Duration.ofSeconds(PATIENCE_S)); // The emulator takes its time.
        environment.start();
    }

    @AfterEach
    void end() throws IOException {
        released = true;
        for (SocketChannel stream : streams) {
            stream.close();
        }
        environment.stop(Duration.ofSeconds(30));
        groups.close();
        assertThat(NODE).doesNotExist();
        Files.writeString(MOUNTED.resolve("cgroup.procs"), "0");
        Files.delete(UNIT);
    }

    @Test
    void aLimitHoldsInTheMidstOfAPacketAndForThreadsThatTheServiceHasStarted() throws Exception {
        service("org.example.Limited", Doubled::new, 0.25);
        send("org.example.Limited");
        long periods = stat("org.example.Limited", "nr_periods");

        long beganNs = System.nanoTime();
        long usedUs = stat("org.example.Limited", "usage_usec");
        eventually().until(() -> stat("org.example.Limited", "nr_periods") >= periods + 500);
        usedUs = stat("org.example.Limited", "usage_usec") - usedUs;
        double processors = usedUs * 1e3 / (System.nanoTime() - beganNs);

        System.out.printf("limited to 0.25 processors: had %.3f%n", processors);
        assertThat(processors).as("of the two that it would have").isLessThan(0.4);
    }

    /** On one processor, whose time is divided exactly: how threads are spread over two is the kernel's choice. */
    @Test
    void servicesShareProcessorsByServiceAndNotByStream() throws Exception {
        String found = processors();
        processors("0");
        try {
            assertSharedByService();
        } finally {
            released = true;
            processors(found);
        }
    }

    /** Returns the processors that this thread may use, as taskset takes them. */
    private static String processors() throws IOException {
        String key = "Cpus_allowed_list:";
        return Files.readAllLines(Path.of("/proc/thread-self/status")).stream()
                .filter(line -> line.startsWith(key))
                .map(line -> line.substring(key.length()).strip())
                .findFirst()
                .orElseThrow();
    }

    /** Binds all threads of this JVM, and those that they start later. */
    private static void processors(String list) {
        Namespaces.shell(
                "taskset -a -c -p " + list + " " + ProcessHandle.current().pid());
    }

    private void assertSharedByService() throws IOException {
        service("org.example.One", Spinner::new, 0);
        service("org.example.Many", Spinner::new, 0);
        send("org.example.One");
        for (int i = 0; i < 4; i++) {
            send("org.example.Many");
        }
        eventually().until(() -> threads("org.example.One") == 1 && threads("org.example.Many") == 4);

        long one = stat("org.example.One", "usage_usec");
        long many = stat("org.example.Many", "usage_usec");
        long manyBefore = many;
        eventually().until(() -> stat("org.example.Many", "usage_usec") >= manyBefore + 2_000_000);
        one = stat("org.example.One", "usage_usec") - one;
        many = stat("org.example.Many", "usage_usec") - many;

        System.out.printf("one stream beside four: %.3f of the time%n", (double) one / (one + many));
        assertThat((double) one / (one + many))
                .as("a fifth by stream, half by service")
                .isGreaterThan(0.35);
    }

    private void service(String name, Supplier<Service> factory, double processors) {
        services.add(new ServiceDefinition(
                name, "", factory, ServiceConfig.EMPTY, FailurePolicy.DROP, new ServiceHealth(processors, 0)));
    }

    /** Sends a packet on a stream of its own, and waits until the service has it. */
    private void send(String service) throws IOException {
        SocketChannel stream = SocketChannel.open(environment.tcpAddresses().get(0));
        streams.add(stream);
        Packet packet = new PacketBuilder()
                .destination(InetAddress.getLoopbackAddress())
                .destinationPort(9)
                .service(service)
                .build(ByteBuffer.allocate(1));
        stream.write(packet.buffer().slice(packet.offset(), packet.length()));
        eventually().until(() -> Files.exists(group(service)));
    }

    private static Path group(String service) {
        return NODE.resolve("service-" + service);
    }

    private static long threads(String service) throws IOException {
        return Files.readAllLines(group(service).resolve("cgroup.threads")).size();
    }

    private static long stat(String service, String key) throws IOException {
        return Files.readAllLines(group(service).resolve("cpu.stat")).stream()
                .filter(line -> line.startsWith(key + " "))
                .mapToLong(line -> Long.parseLong(line.substring(key.length() + 1)))
                .findFirst()
                .orElseThrow();
    }
}
