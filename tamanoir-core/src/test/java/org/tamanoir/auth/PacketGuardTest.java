package org.tamanoir.auth;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Anep;
import org.tamanoir.anep.NodeOptions;
import org.tamanoir.anep.Option;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.anep.PacketSpace;
import org.tamanoir.anep.ParseFault;

/** What becomes of packets that come to be checked and signed. */
class PacketGuardTest {
    private static final String FIRST = "11".repeat(32);
    private static final String SECOND = "22".repeat(16);

    private long nowNs;
    private final List<String> told = new ArrayList<>();
    private final Authentication authentication = new Authentication(() -> nowNs);
    private final AuthKey first = AuthKey.of(7, FIRST);
    private final AuthKey second = AuthKey.of(0xFFFF_FFFF, SECOND);

    private PacketGuard guard(AuthRules rules) {
        authentication.onRefusal(told::add);
        authentication.change(rules, List.of(), List.of(first, second));
        return Objects.requireNonNull(authentication.guard(null));
    }

    private static AuthRules rules(String from, String to) {
        return new AuthRules(
                from.isEmpty() ? List.of() : List.of(AuthRules.Guarded.of(from)),
                to.isEmpty() ? List.of() : List.of(AuthRules.Guarded.of(to)),
                List.of(),
                64,
                4);
    }

    private static AuthRules signing(String to, int key) {
        return new AuthRules(
                List.of(), List.of(), List.of(new AuthRules.Signer(AuthRules.Guarded.of(to), null, key)), 64, 4);
    }

    private static InetAddress address(String text) {
        try {
            return InetAddress.getByName(text);
        } catch (UnknownHostException e) {
            throw new IllegalArgumentException(e);
        }
    }

    private static PacketBuilder builder() {
        return new PacketBuilder()
                .source(address("10.0.1.5")).destination(address("10.0.2.7")).stream(3)
                        .authentication();
    }

    private static Packet packet(PacketBuilder builder) {
        return builder.build(ByteBuffer.wrap(new byte[] {1, 2, 3}));
    }

    private static Packet signed(PacketBuilder builder, AuthKey key) {
        Packet packet = packet(builder);
        new PacketSigner(key).sign(packet);
        return packet;
    }

    @Test
    void whatIsSignedPassesOnce() {
        PacketGuard guard = guard(rules("10.0.1.0/24", ""));
        Packet packet = signed(builder(), first);
        assertThat(guard.peek(packet)).isNull();
        assertThat(guard.peek(packet)).isNull();
        assertThat(guard.check(packet)).isNull();
        assertThat(guard.peek(packet)).isEqualTo(DropReason.AUTH_REPLAY);
        assertThat(guard.check(packet)).isEqualTo(DropReason.AUTH_REPLAY);
    }

    @Test
    void whatHasGoneAfterALookHasCome() {
        PacketGuard guard = guard(AuthRules.ALL);
        Packet packet = signed(builder(), first);
        assertThat(guard.peek(packet)).isNull();
        guard.take(packet);
        assertThat(guard.check(packet)).isEqualTo(DropReason.AUTH_REPLAY);
    }

    @Test
    void onlyGuardedPrefixesAreChecked() throws UnknownHostException {
        Packet bare = packet(builder());
        assertThat(guard(rules("10.0.1.0/24", "")).check(bare)).isEqualTo(DropReason.AUTH_MISSING);
        assertThat(guard(rules("10.0.3.0/24", "")).check(bare)).isNull();
        assertThat(guard(rules("", "10.0.2.7")).check(bare)).isEqualTo(DropReason.AUTH_MISSING);
        assertThat(guard(rules("", "10.0.2.8")).check(bare)).isNull();
        Packet mapped = packet(new PacketBuilder()
                .option(
                        1,
                        ByteBuffer.allocate(20)
                                .putInt(Anep.SCHEME_IPV6)
                                .putLong(0)
                                .putInt(0xFFFF)
                                .put(address("10.0.1.5").getAddress())
                                .array()));
        assertThat(guard(rules("10.0.1.0/24", "")).check(mapped))
                .as("IPv4 written as IPv6")
                .isEqualTo(DropReason.AUTH_MISSING);
        Packet nameless = packet(new PacketBuilder());
        assertThat(guard(rules("0.0.0.0/0", "::/0")).check(nameless)).isNull();
        assertThat(guard(rules("any", "")).check(nameless)).isEqualTo(DropReason.AUTH_MISSING);
        assertThat(guard(rules("", "any")).check(nameless)).isEqualTo(DropReason.AUTH_MISSING);
    }

    @Test
    void packetsOfAnotherTypeCannotBeAuthenticated() {
        PacketGuard guard = guard(rules("10.0.1.0/24", ""));
        assertThat(guard.check(packet(builder().typeId(99)))).isEqualTo(DropReason.AUTH_MISSING);
        PacketBuilder alike = new PacketBuilder().typeId(99).source(address("10.0.1.5"));
        assertThat(guard.check(packet(alike.option(Option.AUTHENTICATION.wireType() & 0x8FFF, new byte[40]))))
                .isEqualTo(DropReason.AUTH_MISSING);
    }

    @Test
    void eachRefusalHasAReason() {
        PacketGuard guard = guard(AuthRules.ALL);
        assertThat(guard.check(packet(builder()))).isEqualTo(DropReason.AUTH_MISSING);
        Packet algorithm = signed(builder(), first);
        NodeOptions.setAuthentication(algorithm, 7, 2, new byte[32]);
        assertThat(guard.check(algorithm)).isEqualTo(DropReason.AUTH_ALGORITHM);
        assertThat(guard.check(signed(builder(), AuthKey.of(8, FIRST)))).isEqualTo(DropReason.AUTH_KEY);
        assertThat(guard.check(signed(builder(), AuthKey.of(7, SECOND)))).isEqualTo(DropReason.AUTH_MAC);
        Packet altered = signed(builder(), first);
        altered.payload().put(altered.payload().position(), (byte) 9);
        assertThat(guard.check(altered)).isEqualTo(DropReason.AUTH_MAC);
        PacketBuilder unnumbered = new PacketBuilder().authentication();
        assertThat(guard.check(signed(unnumbered, first))).isEqualTo(DropReason.AUTH_SEQUENCE);
        assertThat(guard.check(signed(builder().nextSequence(-5), first))).isEqualTo(DropReason.AUTH_SEQUENCE);
        assertThat(authentication.keys().get(0).streams())
                .as("strangers take no place")
                .isZero();
        assertThat(told).hasSize(5).allMatch(line -> !line.contains(FIRST) && !line.contains(SECOND));
    }

    @Test
    void withoutAWindowReplaysAndPacketsWithoutANumberPass() {
        PacketGuard guard = guard(new AuthRules(AuthRules.ALL.from(), List.of(), List.of(), 0, 4));
        Packet packet = signed(new PacketBuilder().authentication(), first);
        assertThat(guard.check(packet)).isNull();
        assertThat(guard.check(packet)).isNull();
    }

    @Test
    void whoDoesNotHaveTheKeyMovesNoWindow() {
        PacketGuard guard = guard(AuthRules.ALL);
        assertThat(guard.check(signed(builder().nextSequence(10), first))).isNull();
        Packet forged = signed(builder().nextSequence(1 << 20), AuthKey.of(7, SECOND));
        assertThat(guard.check(forged)).isEqualTo(DropReason.AUTH_MAC);
        assertThat(guard.check(signed(builder().nextSequence(11), first))).isNull();
        assertThat(authentication.keys().get(0).streams()).isEqualTo(1);
    }

    @Test
    void theFirstOfTwoOptionsCountsAndTheMacCoversTheOther() {
        PacketGuard guard = guard(AuthRules.ALL);
        Packet twice = signed(builder().option(Option.AUTHENTICATION.wireType(), new byte[40]), first);
        assertThat(twice.hasRepeatedOption()).isTrue();
        assertThat(guard.peek(twice)).isNull();
        twice.buffer().put(twice.headerLength() - 1, (byte) 1);
        assertThat(guard.check(twice)).isEqualTo(DropReason.AUTH_MAC);
    }

    @Test
    void anOptionOfAnotherLengthIsMalformed() {
        for (int bytes : new int[] {0, 4, 36, 44, 400}) {
            ByteBuffer octets = ByteBuffer.allocate(1000);
            new PacketBuilder()
                    .option(Option.AUTHENTICATION.wireType(), new byte[bytes])
                    .write(octets, ByteBuffer.allocate(9));
            Packet packet = new Packet(Anep.DEFAULT_TYPE_ID, PacketSpace.HEAP);
            assertThat(packet.parse(octets, 0, octets.position()))
                    .as("%d", bytes)
                    .isEqualTo(ParseFault.OPTION_FORMAT);
        }
    }

    @Test
    void bytesBehindThePacketAreNotOfIt() {
        PacketGuard guard = guard(AuthRules.ALL);
        Packet packet = signed(builder(), first);
        ByteBuffer longer = ByteBuffer.allocate(packet.length() + 7);
        packet.copyTo(longer, 0);
        longer.put(packet.length() + 3, (byte) 1);
        Packet view = new Packet();
        assertThat(view.parse(longer, 0, longer.capacity())).isNull();
        assertThat(view.hasTrailer()).isTrue();
        assertThat(guard.check(view)).isNull();
    }

    @Test
    void twoKeysHoldAtOnceAndOneThatIsRemovedNoMore() {
        PacketGuard guard = guard(AuthRules.ALL);
        PacketBuilder builder = builder();
        assertThat(guard.check(signed(builder, first))).isNull();
        assertThat(guard.check(signed(builder, second))).isNull();
        assertThat(authentication.remove(7)).isTrue();
        assertThat(guard.check(signed(builder, first))).isEqualTo(DropReason.AUTH_KEY);
        assertThat(guard.check(signed(builder, second))).isNull();
        assertThat(authentication.remove(7)).isFalse();
    }

    @Test
    void whatWaitedIsJudgedByTheRulesThatCameMeanwhile() {
        PacketGuard guard = guard(rules("10.0.3.0/24", ""));
        Packet bare = packet(builder());
        Packet signed = signed(builder(), first);
        assertThat(guard.check(bare)).isNull();
        int proof = guard.proof();
        assertThat(guard.check(signed)).isNull();
        assertThat(guard.proof()).isEqualTo(proof).isNegative();
        authentication.change(rules("10.0.1.0/24", ""), List.of(first, second), List.of(first, second));
        assertThat(guard.check(bare, proof)).isEqualTo(DropReason.AUTH_MISSING);
        assertThat(guard.check(signed, proof)).isNull();
        assertThat(guard.proof()).isPositive();
        assertThat(guard.check(signed, proof)).as("its number has come").isEqualTo(DropReason.AUTH_REPLAY);
    }

    @Test
    void whatWasAuthenticatedIsNoReplayOfItself() {
        PacketGuard guard = guard(AuthRules.ALL);
        Packet packet = signed(builder(), first);
        assertThat(guard.check(packet)).isNull();
        int proof = guard.proof();
        packet.payload().put(packet.payload().position(), (byte) 9);
        assertThat(guard.check(packet, proof)).as("nobody looks again").isNull();
        packet.payload().put(packet.payload().position(), (byte) 1);
        authentication.change(rules("10.0.3.0/24", ""), List.of(first, second), List.of(first, second));
        assertThat(guard.check(packet, proof)).isNull();
        assertThat(guard.proof()).as("which is remembered").isEqualTo(proof);
        authentication.change(AuthRules.ALL, List.of(first, second), List.of(first, second));
        assertThat(guard.check(packet, proof)).isNull();
        assertThat(guard.proof()).isGreaterThan(proof);
        authentication.remove(7);
        assertThat(guard.check(packet, proof)).isEqualTo(DropReason.AUTH_KEY);
    }

    /** Each is asked by itself, and rules may come between. */
    @Test
    void rulesThatComeBetweenCheckAndSignatureSignNothingUnchecked() {
        PacketGuard guard = guard(signing("any", 7));
        Packet packet = packet(builder());
        assertThat(guard.check(packet)).isNull();
        authentication.change(
                new AuthRules(AuthRules.ALL.from(), List.of(), signing("any", 7).signers(), 64, 4),
                List.of(first, second),
                List.of(first, second));
        assertThat(guard.sign(packet, null)).isNull();
        assertThat(guard(AuthRules.ALL).check(packet)).isEqualTo(DropReason.AUTH_MISSING);
    }

    @Test
    void refusalsAreToldOnceASecond() {
        PacketGuard guard = guard(AuthRules.ALL);
        for (int i = 0; i < 1000; i++) {
            guard.check(packet(builder()));
        }
        assertThat(told)
                .singleElement()
                .asString()
                .startsWith("AUTH_MISSING: packet from 10.0.1.5 to 10.0.2.7, key 0, stream 3");
        nowNs += 1_000_000_000;
        guard.check(packet(builder()));
        assertThat(told).hasSize(2).last().asString().endsWith("; 999 more since the last such line");
    }

    // ---- signing ---------------------------------------------------------------------------------------------------

    @Test
    void aPacketThatLeavesIsSignedInPlace() {
        PacketGuard guard = guard(signing("10.0.2.0/24", 7));
        Packet packet = packet(builder().checksum());
        ByteBuffer where = packet.buffer();
        assertThat(guard.sign(packet, null)).isNull();
        assertThat(packet.buffer()).isSameAs(where);
        assertThat(new Packet().parse(where, 0, packet.length()))
                .as("the checksum holds")
                .isNull();
        assertThat(guard(AuthRules.ALL).check(packet)).isNull();
    }

    @Test
    void aPacketWithoutTheOptionsGetsThem() {
        PacketGuard guard = guard(signing("any", 7));
        List<Packet> packets = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            Packet packet = packet(new PacketBuilder().destination(address("10.9.9.9")));
            assertThat(guard.sign(packet, null)).isNull();
            assertThat(packet.has(Option.STREAM)).isTrue();
            packets.add(packet);
        }
        PacketGuard far = guard(AuthRules.ALL);
        assertThat(packets).allMatch(packet -> far.check(packet) == null);
    }

    @Test
    void whatIsNotSignedCarriesNoMacOfTheHopBefore() {
        PacketGuard guard = guard(signing("10.9.0.0/16", 7));
        Packet packet = signed(builder().checksum(), second);
        assertThat(guard.sign(packet, null)).isNull();
        assertThat(new Packet().parse(packet.buffer(), 0, packet.length())).isNull();
        assertThat(guard(AuthRules.ALL).check(packet)).isEqualTo(DropReason.AUTH_MISSING);
    }

    @Test
    void theFirstRuleThatFitsSigns() {
        InetSocketAddress way = new InetSocketAddress(address("10.0.0.2"), 3322);
        PacketGuard guard = guard(new AuthRules(
                List.of(),
                List.of(),
                List.of(
                        new AuthRules.Signer(null, way, -1),
                        new AuthRules.Signer(AuthRules.Guarded.of("10.0.2.0/24"), null, 7)),
                64,
                4));
        assertThat(signer(guard, way)).isEqualTo(-1);
        assertThat(signer(guard, new InetSocketAddress(address("10.0.0.2"), 3323)))
                .isEqualTo(7);
        assertThat(signer(guard, null)).isEqualTo(7);
    }

    private static int signer(PacketGuard guard, @Nullable InetSocketAddress way) {
        Packet packet = packet(builder());
        assertThat(guard.sign(packet, way)).isNull();
        return packet.buffer().getInt(packet.optionOffset(Option.AUTHENTICATION));
    }

    @Test
    void aPacketWithoutRoomDoesNotLeave() {
        PacketGuard guard = guard(signing("any", 7));
        PacketBuilder builder = new PacketBuilder().stream(1);
        Packet packet = builder.build(ByteBuffer.allocate(Anep.MAX_PACKET_OCTETS - builder.headerLength()));
        assertThat(guard.sign(packet, null)).isEqualTo(DropReason.PACKET_TOO_LONG);
    }

    // ---- keys and rules --------------------------------------------------------------------------------------------

    @Test
    void aKeyThatSignsStays() {
        guard(signing("any", 7));
        assertThatThrownBy(() -> authentication.remove(7)).hasMessageContaining("key 7 signs what leaves");
        assertThatThrownBy(
                        () -> authentication.change(signing("any", 9), List.of(first, second), List.of(first, second)))
                .hasMessage("key 9 is to sign and is not there; add it to the file of keys");
        assertThat(authentication.rules()).isEqualTo(signing("any", 7));
    }

    @Test
    void filesOfKeysChangeOnlyWhatDiffersBetweenThem() {
        guard(AuthRules.ALL);
        AuthKey added = AuthKey.of(1, FIRST);
        authentication.add(added);
        authentication.remove(0xFFFF_FFFF);
        AuthKey third = AuthKey.of(9, FIRST);
        AuthKey again = AuthKey.of(7, FIRST);
        PacketGuard guard = Objects.requireNonNull(authentication.guard(null));
        Packet packet = signed(builder(), first);
        assertThat(guard.check(packet)).isNull();
        authentication.change(AuthRules.ALL, List.of(first, second), List.of(again, second, third));
        assertThat(authentication.keys()).extracting(Authentication.Shown::id).containsExactly(1, 7, 9);
        assertThat(guard.check(packet)).as("with what it has seen").isEqualTo(DropReason.AUTH_REPLAY);
        authentication.change(AuthRules.ALL, List.of(again, second, third), List.of());
        assertThat(authentication.keys()).extracting(Authentication.Shown::id).containsExactly(1);
        assertThatThrownBy(() -> authentication.add(AuthKey.of(1, SECOND)))
                .hasMessageContaining("key 1 is there already");
    }

    @Test
    void keysAreBounded() {
        for (int id = 1; id <= Authentication.MAX_KEYS; id++) {
            authentication.add(AuthKey.of(id, FIRST));
        }
        assertThatThrownBy(() -> authentication.add(AuthKey.of(9999, FIRST)))
                .hasMessageContaining("must be at most 256");
    }

    @Test
    void aSecretIsNeverShown() {
        assertThat(first.toString()).isEqualTo("AuthKey[7]");
        assertThatThrownBy(() -> AuthKey.of(7, "abcdefgh".repeat(5))).hasMessageNotContaining("abcdefgh");
        assertThatThrownBy(() -> AuthKey.of(7, "ab".repeat(15))).hasMessageContaining("has 15 bytes");
        assertThatThrownBy(() -> AuthKey.of(7, "ab".repeat(65))).hasMessageContaining("has 65 bytes");
        assertThatThrownBy(() -> AuthKey.id("0")).hasMessageContaining("1 to 4294967295");
        assertThatThrownBy(() -> AuthKey.id("4294967296")).hasMessageContaining("1 to 4294967295");
        assertThat(AuthKey.id("4294967295")).isEqualTo(-1);
    }

    @Test
    void withoutRulesThereIsNoGuard() {
        authentication.change(AuthRules.NONE, List.of(), List.of(first));
        assertThat(authentication.guard(null)).isNull();
        assertThat(authentication.isOn()).isFalse();
    }
}
