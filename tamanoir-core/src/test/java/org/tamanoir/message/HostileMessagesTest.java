package org.tamanoir.message;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.tamanoir.anep.Anep;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketSpace;
import org.tamanoir.format.RecordTree;
import org.tamanoir.service.StreamInfo.Transport;
import org.tamanoir.support.Seeds;
import org.tamanoir.testkit.ServiceHarness;

/** Packets of messages, damaged and mixed up by a seed that is printed. */
class HostileMessagesTest extends MessageTesting {
    private static final int ROUNDS = Seeds.number("tamanoir.message.rounds", Seeds.scaled(30));

    private static List<Packet> packets(Random random) {
        List<Packet> packets = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            byte[] record = Flights.flight(i, i, "h".repeat(random.nextInt(200)));
            int stream = 1 + random.nextInt(4);
            switch (random.nextInt(4)) {
                case 0 -> packets.add(Flights.packet(Flights.FLIGHT, record));
                case 1 -> {
                    int one = random.nextInt(record.length);
                    int two = one + random.nextInt(record.length - one);
                    packets.addAll(Flights.packets(Flights.FLIGHT.id(), record, stream, random.nextInt(40), one, two));
                }
                case 2 ->
                    packets.add(Flights.run(
                            Flights.formatItem(Flights.FLIGHT),
                            Flights.dataItem(record),
                            Flights.dataItem(Flights.small(i, i))));
                default -> packets.add(Flights.packet(Flights.SHORT, Flights.small(i, i)));
            }
        }
        return packets;
    }

    /** Returns the packet with some of its bytes changed; null if a node would not give it to a service. */
    private static byte @Nullable [] damaged(Packet packet, Random random) {
        byte[] bytes = Flights.bytes(packet);
        ByteBuffer memory = ByteBuffer.wrap(bytes);
        for (int i = random.nextInt(4); i > 0; i--) {
            bytes[8 + random.nextInt(bytes.length - 8)] = (byte) random.nextInt();
        }
        for (int at = 8; at < packet.headerLength(); at += Math.max(1, memory.getShort(at + 2)) * 4) {
            if (memory.getShort(at) == 3 && at + 8 <= bytes.length) {
                memory.putInt(at + 4, 0);
                memory.putShort(at + 4, (short) ~org.tamanoir.anep.Checksum.sum(memory, 0, bytes.length));
                break;
            }
            if (memory.getShort(at + 2) <= 0) {
                break;
            }
        }
        Packet view = new Packet(Anep.DEFAULT_TYPE_ID, PacketSpace.HEAP);
        return view.parse(ByteBuffer.wrap(bytes), 0, bytes.length) == null ? bytes : null;
    }

    @ParameterizedTest
    @EnumSource(Transport.class)
    void messagesAreConservedWhateverComes(Transport transport) {
        long seed = Seeds.ofCommit(HostileMessagesTest.class);
        Random random = new Random(seed);
        long sent = 0;
        for (int round = 0; round < ROUNDS; round++) {
            TestFormats some = random.nextBoolean() ? formats : new TestFormats(Flights.SHORT);
            TestHandler handler = new TestHandler((message, outlet) -> {
                RecordTree.read(message.record());
                return switch (random.nextInt(8)) {
                    case 0 -> outlet.drop("chance");
                    case 1 -> Outcome.MERGE;
                    case 2 -> Outcome.HOLD;
                    case 3 -> {
                        outlet.to(random.nextInt(8));
                        yield Outcome.FORWARD;
                    }
                    case 4 -> {
                        outlet.emit(0, message);
                        yield Outcome.FORWARD;
                    }
                    default -> Outcome.FORWARD;
                };
            });
            ServiceHarness harness = start(
                    handler,
                    transport,
                    some,
                    "reassembly-messages=6",
                    "hold-packets=10",
                    "hold-formats=2",
                    "hold-time=500",
                    random.nextBoolean() ? "failure=pass" : "failure=drop",
                    random.nextBoolean() ? "other=pass" : "other=drop");
            List<Packet> packets = packets(random);
            java.util.Collections.shuffle(packets, random);
            long given = 0;
            for (Packet packet : packets) {
                byte[] bytes = damaged(packet, random);
                if (bytes != null) {
                    harness.send(bytes);
                    given++;
                    assertBalanced(harness);
                }
                if (random.nextInt(10) == 0) {
                    harness.advance(Duration.ofMillis(random.nextInt(1_500)));
                    assertBalanced(harness);
                }
                if (random.nextInt(10) == 0 && some.requests.containsKey(Flights.FLIGHT.id())) {
                    some.answer(Flights.FLIGHT);
                    harness.advance(Duration.ZERO);
                    assertBalanced(harness);
                }
            }
            harness.advance(Duration.ofSeconds(3)).endOfStream();
            sent += given;
            assertThat(harness.failures()).isEmpty();
            assertThat(harness.packets().size()
                            - harness.emitted().size()
                            + harness.drops().size()
                            + harness.consumed())
                    .as("packets of round %d, seed %d", round, seed)
                    .isEqualTo(given);
        }
        assertThat(sent).isGreaterThan(ROUNDS);
    }
}
