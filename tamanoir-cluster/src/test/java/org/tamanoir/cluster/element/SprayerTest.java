package org.tamanoir.cluster.element;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.io.IOException;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.tamanoir.anep.Anep;
import org.tamanoir.anep.Option;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.anep.ServiceKey;
import org.tamanoir.transport.TransportKind;

class SprayerTest {
    private final List<DatagramSocket> sockets = new ArrayList<>();
    private final List<Unit> units = new ArrayList<>();

    @BeforeEach
    void openUnits() throws IOException {
        for (int path = 0; path < 3; path++) {
            sockets.add(Sockets.open());
            units.add(new Unit(path, Sockets.address(sockets.get(path)), 1));
        }
    }

    @AfterEach
    void closeUnits() {
        sockets.forEach(DatagramSocket::close);
    }

    private Sprayer.Settings sprayer() {
        return Sprayer.over(units).firstRound(1);
    }

    private static ByteBuffer text(String text) {
        return ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
    }

    private Packet receive(int path) throws IOException {
        byte[] bytes = Sockets.receive(sockets.get(path));
        Packet packet = new Packet();
        assertThat(packet.parse(ByteBuffer.wrap(bytes), 0, bytes.length)).isNull();
        return packet;
    }

    private static String payload(Packet packet) {
        return StandardCharsets.UTF_8.decode(packet.payload()).toString();
    }

    @ParameterizedTest
    @EnumSource(names = {"NATIVE", "NIO"})
    void datagramsGoRoundByRoundAsPayloadsOfPackets(TransportKind kind) throws Exception {
        try (Sprayer sprayer = sprayer()
                .transportKind(kind)
                .destination(InetAddress.getByName("10.0.9.1"))
                .destinationPort(77)
                .service("org.example.Foo")
                .streamId(9)
                .open()) {
            for (int i = 0; i < 7; i++) {
                ByteBuffer datagram = text("datagram " + i);
                assertThat(sprayer.send(datagram)).isEqualTo(10);
                assertThat(datagram.hasRemaining()).isFalse();
            }
            sprayer.flush();
            for (int i = 0; i < 7; i++) {
                Packet packet = receive(i % 3);
                assertThat(payload(packet)).isEqualTo("datagram " + i);
                assertThat(packet.round()).isEqualTo(1 + i / 3);
                assertThat(packet.pathOfRound()).isEqualTo(i % 3);
                assertThat(packet.roundFlags()).isEqualTo(Anep.ROUND_LAST);
                assertThat(packet.streamId()).isEqualTo(9);
                assertThat(packet.sequence()).isEqualTo(i);
                assertThat(packet.serviceKey()).isEqualTo(ServiceKey.of("org.example.Foo"));
                assertThat(packet.destination()).isEqualTo(InetAddress.getByName("10.0.9.1"));
                assertThat(packet.destinationPort()).isEqualTo(77);
            }
            assertThat(sprayer.sentPackets()).isEqualTo(7);
            assertThat(sprayer.packets(0)).isEqualTo(3);
        }
    }

    @Test
    void aDatagramAloneCosts40Bytes() throws Exception {
        try (Sprayer sprayer = sprayer().open()) {
            assertThat(sprayer.headerBytes()).isEqualTo(40);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 7, 64})
    void datagramsOfAllLengthsArriveUnchanged(int burst) throws Exception {
        try (Sprayer sprayer = sprayer().burst(burst).open()) {
            for (int bytes = 0; bytes <= 3_000; bytes += 37) {
                sprayer.send(pattern(bytes));
                sprayer.send(pattern(bytes));
                sprayer.send(pattern(1_432));
                sprayer.flush();
                for (int i = 0; i < 3; i++) {
                    assertThat(receive(i).payload()).isEqualTo(pattern(i == 2 ? 1_432 : bytes));
                }
            }
            sprayer.send(pattern(sprayer.maxDatagramBytes()));
            sprayer.flush();
            assertThat(receive(0).payload()).isEqualTo(pattern(sprayer.maxDatagramBytes()));
        }
    }

    private static ByteBuffer pattern(int bytes) {
        ByteBuffer pattern = ByteBuffer.allocate(bytes);
        for (int i = 0; i < bytes; i++) {
            pattern.put(i, (byte) (i * 31 + bytes));
        }
        return pattern;
    }

    @Test
    void packetsGetARoundAndKeepAllElse() throws Exception {
        Packet packet = new PacketBuilder()
                .destination(InetAddress.getByName("10.0.9.1")).service("org.example.Foo").stream(4)
                        .nextSequence(99)
                        .checksum()
                        .build(text("hello"));
        try (Sprayer sprayer = sprayer().open()) {
            sprayer.send(packet);
            sprayer.send(packet);
            sprayer.flush();
            for (int path = 0; path < 2; path++) {
                Packet received = receive(path);
                assertThat(received.round()).isEqualTo(1);
                assertThat(received.pathOfRound()).isEqualTo(path);
                assertThat(received.sequence()).isEqualTo(99);
                assertThat(received.has(Option.CHECKSUM)).isTrue();
                assertThat(payload(received)).isEqualTo("hello");
            }
        }
    }

    @Test
    void exactRoundsHaveMarkersOnTheWire() throws Exception {
        units.set(1, new Unit(1, units.get(1).address(), 0));
        try (Sprayer sprayer = sprayer().distribution(Distribution.EXACT).open()) {
            sprayer.send(text("a"));
            sprayer.flush();
            Packet marker = receive(1);
            assertThat(marker.roundFlags()).isEqualTo(Anep.ROUND_EMPTY | Anep.ROUND_LAST | Anep.ROUND_FIRST);
            assertThat(marker.round()).isEqualTo(1);
            assertThat(marker.payloadLength()).isZero();
            assertThat(sprayer.markers()).isEqualTo(1);
        }
    }

    @Test
    void aUnitThatLeavesIsToldSo() throws Exception {
        try (Sprayer sprayer = sprayer().open()) {
            sprayer.send(text("a"));
            sprayer.leave(2);
            for (int i = 0; i < 4; i++) {
                sprayer.send(text("b"));
            }
            sprayer.flush();
            assertThat(receive(2).roundFlags()).isEqualTo(Anep.ROUND_EMPTY | Anep.ROUND_LAST);
            Packet last = receive(2);
            assertThat(last.roundFlags() & Anep.ROUND_PATH_ENDS).isNotZero();
            assertThat(last.round()).isEqualTo(2);
            assertThat(sprayer.packets(2)).isZero();
            assertThat(receive(1).round()).isEqualTo(1);
            assertThat(receive(1).round()).isEqualTo(2);
        }
    }

    @Test
    void roundsOfALaterStartAreAboveThoseOfAnEarlierOne() throws Exception {
        long before = Beginning.at(System.currentTimeMillis()) - 1;
        for (int start = 0; start < 3; start++) {
            try (Sprayer sprayer = Sprayer.over(units).open()) {
                sprayer.send(text("a"));
                assertThat(sprayer.round()).isGreaterThan(before);
                assertThat(start == 0 || Beginning.isAnother(before, sprayer.round()))
                        .isTrue();
                before = sprayer.round();
            }
        }
    }

    @Test
    void whatCannotBeSentIsRefusedInOneLine() throws Exception {
        try (Sprayer sprayer = sprayer().open()) {
            ByteBuffer tooLong = ByteBuffer.allocate(sprayer.maxDatagramBytes() + 1);
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> sprayer.send(tooLong))
                    .withMessage("datagram of 65468 bytes: 65467 fit behind a header of 40; send several");
            for (int path = 0; path < 3; path++) {
                sprayer.weight(path, 0);
            }
            assertThatIOException()
                    .isThrownBy(() -> sprayer.send(text("a")))
                    .withMessageStartingWith("no unit takes packets");
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> sprayer.leave(7))
                    .withMessage("unit 7: must be one of those that this sprayer was opened with");
        }
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Sprayer.over(List.of()).open())
                .withMessage("units 0: must be 1 to 64");
        assertThatIllegalArgumentException()
                .isThrownBy(
                        () -> Sprayer.over(List.of(units.get(0), units.get(0))).open())
                .withMessage("numbers of units 1: must be 2 different ones");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new Unit(64, units.get(0).address(), 1))
                .withMessage("unit 64: its number must be 0 to 63");
    }
}
