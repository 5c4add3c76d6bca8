package org.tamanoir.ee;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.ee.TestServices.MARK;
import static org.tamanoir.ee.TestServices.number;
import static org.tamanoir.ee.TestServices.packets;
import static org.tamanoir.ee.TestServices.payload;
import static org.tamanoir.support.Waiting.eventually;

import java.io.IOException;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.admission.StreamRefusal;
import org.tamanoir.anep.Packet;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.client.AnepSender;
import org.tamanoir.service.Service;
import org.tamanoir.service.Verdict;
import org.tamanoir.traffic.StreamRecord;
import org.tamanoir.transport.Buffer;
import org.tamanoir.transport.BufferPool;
import org.tamanoir.transport.NoMemoryException;
import org.tamanoir.transport.TransportKind;

/** Nodes with little memory for packets. */
class TcpMemoryTest extends TcpNodeTesting {
    private static final int LONGEST_PAYLOAD = 65_000;

    private final List<StreamRecord> records = new CopyOnWriteArrayList<>();

    private TestNode recording(ServiceDefinition... services) throws IOException {
        TestNode node = node(services);
        node.environment.onStreamEnd(records::add);
        return node;
    }

    /** Takes all memory that is left. */
    private static List<Buffer> exhaust(BufferPool pool) {
        List<Buffer> taken = new ArrayList<>();
        try {
            while (true) {
                taken.add(pool.take(BufferPool.SMALL_BYTES, BufferPool.SMALL_BYTES));
            }
        } catch (NoMemoryException e) {
            return taken;
        }
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void asManyStreamsAreAdmittedAsThereIsMemoryForAndAllOfThemGetOn(TransportKind kind) throws IOException {
        settings.transport = kind;
        settings.memoryBytes = 2 << 20;
        TestSink sink = sink();
        TestNode node = recording(MARK).toHost(sink.address());
        int places = node.environment.maxStreams();
        assertThat(places).isEqualTo(11);
        List<AnepSender> senders = new ArrayList<>();
        for (int i = 0; i < places; i++) {
            senders.add(sender(node));
        }
        eventually().until(() -> node.environment.places().taken() == places);
        for (int i = 0; i < 5; i++) {
            SocketChannel refused = connect(node);
            eventually().until(() -> node.environment.streams().refused() > 0);
            refused.close();
        }
        eventually().until(() -> node.environment.streams().refused() == 5);
        assertThat(node.environment.places().refused()).isEqualTo(Map.of(StreamRefusal.MEMORY, 5L));
        int each = 20;
        for (int i = 0; i < each; i++) {
            for (AnepSender sender : senders) {
                sender.send(packets("mark"), payload(i, LONGEST_PAYLOAD));
                sender.flush();
            }
        }
        for (AnepSender sender : senders) {
            sender.finish();
        }
        sink.await(places * each);
        sink.awaitEnds();
        assertThat(sink.connections()).hasSize(places).allSatisfy(connection -> {
            for (int i = 0; i < each; i++) {
                assertThat(TestSink.bytes(connection.packets().get(i))).isEqualTo(payload(i, LONGEST_PAYLOAD));
            }
        });
        node.assertDrops(Map.of());
        assertThat(node.environment.context.pool().usedBytes()).isLessThanOrEqualTo(2 << 20);
        assertThat(records).hasSize(places).allMatch(record -> record.end().equals("finished"));
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void aStreamWithoutMemorySaysSoAndOthersGoOn(TransportKind kind) throws IOException {
        settings.transport = kind;
        settings.memoryBytes = 2 << 20;
        TestSink sink = sink();
        TestNode node = recording(MARK).toHost(sink.address());
        AnepSender poor = sender(node);
        AnepSender other = sender(node);
        poor.send(packets("mark"), number(1));
        poor.flush();
        sink.await(1);
        other.send(packets("mark"), number(2));
        other.flush();
        sink.await(2);
        List<Buffer> taken = exhaust(node.environment.context.pool());
        poor.send(packets("mark"), number(3));
        poor.flush();
        eventually().until(() -> records.size() == 1);
        taken.forEach(node.environment.context.pool()::give);
        other.send(packets("mark"), number(4));
        other.finish();
        sink.await(3);
        eventually().until(() -> records.size() == 2);
        assertThat(records.get(0).end()).startsWith("NO_MEMORY: ").contains("-XX:MaxDirectMemorySize");
        assertThat(records.get(1).end()).isEqualTo("finished");
        assertThat(sink.numbers()).containsExactlyInAnyOrder(1, 2, 4);
        eventually().until(() -> sink.connections().stream().anyMatch(connection -> connection.fault() != null));
        assertThat(sink.connections()).filteredOn(TestSink.Arrivals::endedWell).hasSize(1);
        assertThat(node.environment.places().aborted()).isEqualTo(Map.of(DropReason.NO_MEMORY, 1L));
        node.assertDrops(Map.of());
    }

    @Test
    void aPacketThatAServiceHasNoMemoryForEndsInThatReasonAndTheServiceHasNotFailed() throws IOException {
        settings.memoryBytes = 2 << 20;
        BufferPool[] pool = new BufferPool[1];
        List<Buffer> taken = new ArrayList<>();
        ServiceDefinition doubling = TestServices.define("doubling", () -> new Service() {
            @Override
            public Verdict process(Packet packet) {
                taken.addAll(exhaust(pool[0]));
                emit(packet);
                return Verdict.FORWARD;
            }
        });
        TestSink sink = sink();
        TestNode node = recording(doubling).toHost(sink.address());
        pool[0] = node.environment.context.pool();
        AnepSender sender = sender(node);
        sender.send(packets("doubling"), number(1));
        sender.flush();
        eventually().until(() -> records.size() == 1);
        taken.forEach(pool[0]::give);
        assertThat(records.get(0).end()).startsWith("NO_MEMORY: ");
        node.assertDrops(Map.of(DropReason.NO_MEMORY, 1L));
        assertThat(doubling.health().hasFailed()).isFalse();
        assertThat(sink.packets()).isEmpty();
    }
}
