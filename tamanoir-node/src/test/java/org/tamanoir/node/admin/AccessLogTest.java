package org.tamanoir.node.admin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.tamanoir.support.Waiting.eventually;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.catalog.ServiceCatalog;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.ee.EeConfig;
import org.tamanoir.ee.ExecutionEnvironment;
import org.tamanoir.node.config.Endpoint;
import org.tamanoir.routing.RoutingTable;
import org.tamanoir.service.FailurePolicy;
import org.tamanoir.service.ServiceConfig;
import org.tamanoir.service.StreamInfo;
import org.tamanoir.services.Monitor;
import org.tamanoir.traffic.StreamRecord;
import org.tamanoir.traffic.TrafficSnapshot;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

@Timeout(120)
class AccessLogTest {
    private static final InetSocketAddress PEER = new InetSocketAddress(InetAddress.getLoopbackAddress(), 40_000);
    private static final InetSocketAddress LOCAL = new InetSocketAddress(InetAddress.getLoopbackAddress(), 3322);
    private static final JsonMapper MAPPER = new JsonMapper();

    @TempDir
    Path folder;

    static StreamRecord record(int number) {
        return new StreamRecord(
                new StreamInfo(StreamInfo.Transport.TCP, PEER, LOCAL),
                "org.example.Foo:1.0",
                Instant.ofEpochSecond(1_800_000_000L),
                Duration.ofMillis(1500),
                new TrafficSnapshot(number, 50, 0, 4, 40, 0, Map.of(DropReason.NO_ROUTE, 1L), 0),
                "finished \"well\"\n",
                Set.of(),
                null);
    }

    @Test
    void aStreamThatHasEndedIsOneLineOfJson() throws IOException {
        Path file = folder.resolve("access.log");
        try (AccessLog log = AccessLog.open(file)) {
            log.accept(record(5));
        }
        List<String> lines = Files.readAllLines(file);
        assertThat(lines).hasSize(1);
        JsonNode line = MAPPER.readTree(lines.get(0));
        assertThat(line.get("time").asString()).isEqualTo("2027-01-15T08:00:01.500Z");
        assertThat(line.get("peer").asString()).isEqualTo("127.0.0.1:40000");
        assertThat(line.get("service").asString()).isEqualTo("org.example.Foo:1.0");
        assertThat(line.get("durationSeconds").asDouble()).isEqualTo(1.5);
        assertThat(line.get("end").asString()).isEqualTo("finished \"well\"\n");
        assertThat(line.get("drops").get("NO_ROUTE").asInt()).isOne();
    }

    @Test
    void aFileThatExistsIsContinued() throws IOException {
        Path file = folder.resolve("access.log");
        for (int i = 0; i < 3; i++) {
            try (AccessLog log = AccessLog.open(file)) {
                log.accept(record(i));
            }
        }
        assertThat(Files.readAllLines(file)).hasSize(3);
    }

    @Test
    void aFileThatCannotBeWrittenIsAnErrorAtTheStart() {
        Path missing = folder.resolve("no/such/folder.log");
        assertThatThrownBy(() -> AccessLog.open(missing))
                .isInstanceOf(IOException.class)
                .hasMessageContaining(missing.toString())
                .hasMessageContaining("folder does not exist");
        assertThatThrownBy(() -> AccessLog.open(folder)).hasMessageContaining("access log " + folder);
    }

    @Test
    void aFileThatIsFullBecomesThePreviousOne() throws IOException {
        Path file = folder.resolve("access.log");
        long maxBytes = 4_000;
        for (int i = 0; i < 50; i++) {
            try (AccessLog log = AccessLog.open(file, maxBytes)) {
                log.accept(record(i));
                assertThat(log.missed()).isZero();
            }
        }
        Path previous = folder.resolve("access.log.1");
        assertThat(Files.size(previous)).isBetween(maxBytes, maxBytes + 1_000);
        assertThat(Files.size(file)).isLessThan(maxBytes + 1_000);
        List<String> lines = Files.readAllLines(file);
        assertThat(MAPPER.readTree(lines.get(lines.size() - 1)).get("packetsIn").asInt())
                .isEqualTo(49);
        assertThat(folder.toFile().list()).containsExactlyInAnyOrder("access.log", "access.log.1");
    }

    @Test
    void everyStreamIsEitherWrittenOrCountedAsMissed() throws Exception {
        Path file = folder.resolve("access.log");
        int threads = 4;
        int each = 5_000;
        AccessLog log = AccessLog.open(file);
        CountDownLatch done = new CountDownLatch(threads);
        for (int t = 0; t < threads; t++) {
            new Thread(() -> {
                        for (int i = 0; i < each; i++) {
                            log.accept(record(i));
                        }
                        done.countDown();
                    })
                    .start();
        }
        done.await();
        log.close();
        long written;
        try (java.util.stream.Stream<String> lines = Files.lines(file)) {
            written = lines.peek(MAPPER::readTree).count();
        }
        assertThat(written + log.missed()).isEqualTo(threads * each);
        assertThat(written).isPositive();
    }

    @Test
    void anInterruptByAServiceDoesNotEndIt() throws Exception {
        Path file = folder.resolve("access.log");
        try (AccessLog log = AccessLog.open(file)) {
            Thread writer = Thread.getAllStackTraces().keySet().stream()
                    .filter(thread -> thread.getName().equals("access-log"))
                    .findFirst()
                    .orElseThrow();
            writer.interrupt();
            eventually().until(() -> !writer.isInterrupted());
            int number = 0;
            long before;
            do { // What the interrupt hits in the middle of writing may be missed, but is counted.
                before = log.missed();
                log.accept(record(number++));
            } while (log.missed() > before);
        }
        assertThat(Files.readAllLines(file)).isNotEmpty();
    }

    @Test
    void aDiskThatIsFullCostsLinesAndNothingElse() throws Exception {
        Path full = Path.of("/dev/full");
        Assumptions.assumeTrue(Files.exists(full), "there is no /dev/full");
        AccessLog log = AccessLog.open(full);
        log.accept(record(1));
        eventually().until(() -> log.missed() == 1);
        log.accept(record(2));
        log.close();
        assertThat(log.missed()).isEqualTo(2);
    }

    @Test
    void aRealStreamOfANodeIsLoggedWhenItEnds() throws Exception {
        Path file = folder.resolve("access.log");
        ServiceCatalog catalog = new ServiceCatalog();
        catalog.add(
                new ServiceDefinition(Monitor.class.getName(), Monitor::new, ServiceConfig.EMPTY, FailurePolicy.DROP));
        try (AccessLog log = AccessLog.open(file);
                ExecutionEnvironment environment = new ExecutionEnvironment(
                        EeConfig.defaults().listening(List.of(TestAdmin.ANY), List.of()),
                        new RoutingTable(),
                        catalog)) {
            environment.onStreamEnd(log);
            environment.start();
            try (Socket socket = new Socket()) {
                socket.connect(environment.tcpAddresses().get(0));
                socket.getOutputStream()
                        .write(HexFormat.of().parseHex("0100544d00050019" + "00020003000000010a000207" + "68656c6c6f"));
                socket.shutdownOutput();
                socket.getInputStream().readAllBytes();
            }
            eventually()
                    .untilAsserted(() -> assertThat(Files.readAllLines(file)).hasSize(1));
            JsonNode line = MAPPER.readTree(Files.readString(file));
            assertThat(line.get("packetsIn").asInt()).isOne();
            assertThat(line.get("bytesIn").asInt()).isEqualTo(25);
            assertThat(line.get("local").asString())
                    .isEqualTo(Endpoint.toString(environment.tcpAddresses().get(0)));
        }
    }
}
