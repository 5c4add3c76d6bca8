package org.tamanoir.ee;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Option;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.routing.NextHop.Transport;
import org.tamanoir.service.Verdict;
import org.tamanoir.support.Seeds;
import org.tamanoir.traffic.TrafficSnapshot;
import org.tamanoir.transport.TransportKind;

/** Damaged packets beside a good flow: each is accounted for, and the flow is not harmed. */
@ExtendWith(UdpTestNode.NoLeaks.class)
class UdpMutationTest {
    private static final int ROUNDS = Seeds.scaled(600);
    private static final int DAMAGED_A_ROUND = 50;
    private static final String GOOD = "org.example.Good";
    private static final String OTHER = "org.example.Other";

    private static List<byte[]> templates(UdpFarEnd sink) {
        List<byte[]> packets = new ArrayList<>();
        for (String service : List.of("", GOOD, OTHER, "org.example.Unknown")) {
            packets.add(UdpTestNode.packet(UdpTestNode.builder(sink.address(), service, 9), 120));
            packets.add(UdpTestNode.packet(
                    UdpTestNode.builder(sink.address(), service, 9)
                            .source(UdpTestNode.address("10.1.1.1"))
                            .hopBudget(2)
                            .checksum(),
                    140));
        }
        packets.add(UdpTestNode.packet(
                new PacketBuilder()
                        .destination(UdpTestNode.address("10.2.2.2"))
                        .option(Option.ROUND.wireType(), new byte[12])
                        .option(Option.AUTHENTICATION.wireType(), new byte[40])
                        .option(Option.PUBLIC_AUTHENTICATION.wireType(), new byte[8]),
                150));
        packets.add(UdpTestNode.packet(
                new PacketBuilder().typeId(0x4A4E).destination(UdpTestNode.address("10.2.2.2")), 60));
        return packets;
    }

    private static byte[] damage(Random random, byte[] packet) {
        byte[] bytes = packet.clone();
        for (int changes = 1 + random.nextInt(4); changes > 0; changes--) {
            // Most damage goes to the header, where it decides most.
            int at = random.nextInt(random.nextBoolean() ? bytes.length : 60);
            switch (random.nextInt(4)) {
                case 0 -> bytes[at] ^= (byte) (1 << random.nextInt(8));
                case 1 -> bytes[at] = (byte) random.nextInt(6);
                case 2 -> bytes[at] = (byte) random.nextInt(256);
                default -> bytes[at] = (byte) 0xFF;
            }
        }
        if (random.nextInt(4) == 0) {
            bytes = Arrays.copyOf(bytes, random.nextInt(bytes.length + 8));
        }
        return bytes;
    }

    @ParameterizedTest
    @EnumSource(names = {"NATIVE", "NIO"})
    void everyDamagedPacketIsAccountedForAndTheGoodFlowIsWhole(TransportKind kind) throws Exception {
        long seed = Seeds.ofCommit(UdpMutationTest.class);
        Random random = new Random(seed);
        try (UdpFarEnd attacker = new UdpFarEnd(kind, "127.0.0.1");
                UdpFarEnd good = new UdpFarEnd(kind, "127.0.0.1");
                UdpFarEnd receiver = new UdpFarEnd(kind, "127.0.0.1");
                UdpFarEnd sink = new UdpFarEnd(kind, "127.0.0.1");
                UdpTestNode node = UdpTestNode.start(kind)) {
            // What survives goes to one sink, whatever port it names: no other program hears of it.
            node.via("0.0.0.0/0", sink.address(), Transport.UDP)
                    // No damage to another destination leads there.
                    .toHost("198.51.100.7/32", receiver.address(), Transport.UDP)
                    .service(GOOD, (service, packet) -> {
                        packet.setClassOfService(1);
                        return Verdict.FORWARD;
                    })
                    .service(OTHER, (service, packet) -> {
                        packet.setPayload(
                                packet.payload().slice(packet.payload().position(), 0));
                        packet.setServiceKey(77);
                        return packet.sequence() % 2 == 0 ? Verdict.FORWARD : service.answer(packet);
                    });
            List<byte[]> templates = templates(sink);
            PacketBuilder builder = UdpTestNode.builder(UdpTestNode.at("198.51.100.7", 5), GOOD, 1);
            for (int round = 0; round < ROUNDS; round++) {
                List<byte[]> damaged = new ArrayList<>();
                for (int i = 0; i < DAMAGED_A_ROUND; i++) {
                    damaged.add(damage(random, templates.get(random.nextInt(templates.size()))));
                }
                attacker.send(node.udp(), damaged);
                byte[] packet = UdpTestNode.packet(builder, 200);
                // It comes in behind the damaged ones: when it is here, those have been read.
                assertThat(good.pump(node.udp(), List.of(packet), receiver)).containsExactly(packet);
                sink.discard();
                attacker.discard();
            }
            TrafficSnapshot traffic = node.balanced(ROUNDS * (DAMAGED_A_ROUND + 1L));
            assertThat(traffic.packetsOut()).isGreaterThan(ROUNDS);
            assertThat(traffic.drops())
                    .containsKeys(
                            DropReason.SHORT,
                            DropReason.VERSION,
                            DropReason.HEADER_LENGTH,
                            DropReason.TRUNCATED,
                            DropReason.OPTION_LENGTH,
                            DropReason.CHECKSUM,
                            DropReason.OPTION,
                            DropReason.OPTION_FORMAT,
                            DropReason.NO_ROUTE,
                            DropReason.UNKNOWN_SERVICE)
                    .doesNotContainKeys(
                            DropReason.INBOX_FULL, DropReason.SHUTDOWN, DropReason.SEND_ERROR, DropReason.NO_INSTANCE);
            assertThat(node.environment.instances())
                    .allSatisfy(instance -> assertThat(instance.counters()).doesNotContainKey("failures"));
        } catch (AssertionError | RuntimeException e) {
            fail("-Dtamanoir.seed=" + seed, e);
        }
    }
}
