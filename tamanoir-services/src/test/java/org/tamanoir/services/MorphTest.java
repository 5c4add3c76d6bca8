package org.tamanoir.services;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.tamanoir.anep.Option;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.format.Format;
import org.tamanoir.format.FormatRegistry;
import org.tamanoir.format.FormatSource;
import org.tamanoir.format.Layout;
import org.tamanoir.format.RecordEncoder;
import org.tamanoir.message.Bound;
import org.tamanoir.message.MessageService;
import org.tamanoir.message.Outcome;
import org.tamanoir.service.StreamInfo.Transport;
import org.tamanoir.support.Waiting;
import org.tamanoir.testkit.Output;
import org.tamanoir.testkit.ServiceHarness;

/** Packets through the shipped service, with a plan from a file. */
class MorphTest {
    private static final Format FLIGHT = Format.builder(Layout.X86_64)
            .structure("flight")
            .field("id", "integer", 8)
            .field("delay", "integer")
            .build();

    @TempDir
    Path folder;

    private static Packet flight(long id) {
        try {
            byte[] record = new RecordEncoder(FLIGHT).encode(Map.of("id", id, "delay", id));
            return new PacketBuilder()
                    .destination(InetAddress.getByAddress(new byte[] {10, 0, 9, 1}))
                    .option(Option.FORMAT.wireType(), FLIGHT.id().toBytes())
                    .build(ByteBuffer.wrap(record));
        } catch (UnknownHostException e) {
            throw new IllegalStateException(e);
        }
    }

    private ServiceHarness start(String plan) throws Exception {
        Path file = Files.writeString(folder.resolve("plan.yaml"), plan, StandardCharsets.UTF_8);
        FormatRegistry known = new FormatRegistry(64, 1 << 20);
        known.add(FLIGHT);
        return ServiceHarness.start(
                new Morph(), Transport.TCP, Map.of("plan", file.toString()), FormatSource.of(known));
    }

    private static List<Long> ids(ServiceHarness harness) {
        return harness.outputs().stream()
                .map(output -> ByteBuffer.wrap(output.payload()).order(ByteOrder.LITTLE_ENDIAN))
                .map(record -> record.getLong(FLIGHT.headerBytes()))
                .toList();
    }

    @Test
    void runsAPlanFromAFile() throws Exception {
        try (ServiceHarness harness = start("handlers: {a: {nothing: , then: out}}\npaths: [{enter: a}]")) {
            Packet packet = flight(7);
            harness.send(packet).endOfStream();

            assertThat(harness.outputs()).hasSize(1);
            assertThat(harness.outputs().get(0).emitted())
                    .as("in the packet that it came in")
                    .isFalse();
            assertThat(ids(harness)).containsExactly(7L);
        }
    }

    /** Where a path names no format nothing is derived before the first record, and receivers ask for it all the same. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "handlers: {a: {enrich: {table: ids.csv, key: id}, then: out}}\npaths: [{enter: a}]",
                "contexts: {work: }\n"
                        + "handlers: {a: {enrich: {table: ids.csv, key: id}, context: work, then: out}}\n"
                        + "paths: [{enter: a}]",
                "handlers: {a: {select: [id], then: out}}\npaths: [{enter: a}]",
                "handlers: {a: {select: [id], then: [out, b]}, b: {enrich: {table: ids.csv, key: id}, then: out}}\n"
                        + "paths: [{enter: a}]",
            })
    void formatsThatHandlersDeriveAreKnownWhenTheirRecordsLeave(String plan) throws Exception {
        Files.writeString(folder.resolve("ids.csv"), "id,name\n7,seven\n");
        try (ServiceHarness harness = start(plan)) {
            harness.send(flight(7)).endOfStream();
            assertThat(harness.outputs()).isNotEmpty();
            for (Output output : harness.outputs()) {
                ByteBuffer payload = ByteBuffer.wrap(output.payload());
                Format format = harness.formats().known().find(payload, 0, payload.remaining());
                assertThat(format).isNotNull().isNotEqualTo(FLIGHT);
            }
        }
    }

    @Test
    void handlesInAContextAndSendsFromItsOwnThread() throws Exception {
        try (ServiceHarness harness = start(
                "contexts: {work: }\nhandlers: {a: {nothing: , context: work, then: out}}\npaths: [{enter: a}]")) {
            harness.send(List.of(flight(1), flight(2), flight(3)));
            harness.endOfStream();
            assertThat(ids(harness)).containsExactly(1L, 2L, 3L);
            assertThat(harness.count("messages.held")).isZero();
        }
    }

    @Test
    void sendsWhatComesBackWhileNoPacketComes() throws Exception {
        try (ServiceHarness harness = start(
                "contexts: {work: }\nhandlers: {a: {nothing: , context: work, then: out}}\npaths: [{enter: a}]")) {
            harness.send(flight(1));
            Waiting.eventually().until(() -> {
                harness.advance(Duration.ofMillis(1));
                return harness.outputs().size() == 1;
            });
        }
    }

    @Test
    void changesItsPlanByTheControl() throws Exception {
        try (ServiceHarness harness = start("handlers: {a: {nothing: , then: out}}\npaths: [{enter: a}]")) {
            harness.send(flight(1));
            var changed = Waiting.async(() -> harness.control().change("apply", Map.of("plan", "default: drop")));
            Waiting.eventually().until(() -> {
                harness.advance(Duration.ofMillis(1));
                return changed.isDone();
            });
            harness.send(flight(2));
            assertThat(ids(harness)).containsExactly(1L);
            assertThat(harness.drops()).containsExactly("NO_PATH");
            assertThat(harness.control().view().get("conservation"))
                    .isEqualTo("2 in + 0 made = 1 out + 1 dropped + 0 merged + 0 held + 0 queued");
        }
    }

    /** A message service of somebody else. */
    public static final class Even extends MessageService {
        @Override
        public Bound bind(Format input) {
            var id = input.accessor("id");
            return new SameFormat(
                    input,
                    (message, outlet) -> id.getLong(message.record()) % 2 == 0 ? Outcome.FORWARD : outlet.drop("odd"));
        }
    }

    @Test
    void runsAServiceAsAHandler() throws Exception {
        String plan =
                "handlers: {a: {service: 'org.tamanoir.services.MorphTest$Even', then: out}}\npaths: [{enter: a}]";
        try (ServiceHarness harness = start(plan)) {
            harness.send(List.of(flight(1), flight(2)));
            assertThat(ids(harness)).containsExactly(2L);
            assertThat(harness.drops()).containsExactly("odd");
        }
    }

    @Test
    void refusesAServiceOfPacketsAsAHandler() {
        String plan = "handlers: {a: {service: org.tamanoir.services.Monitor, then: out}}\npaths: [{enter: a}]";
        assertThatThrownBy(() -> start(plan))
                .hasMessageContaining(
                        "handlers.a.service: org.tamanoir.services.Monitor handles packets, not messages");
    }
}
