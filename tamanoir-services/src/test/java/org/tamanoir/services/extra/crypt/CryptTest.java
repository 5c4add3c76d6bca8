package org.tamanoir.services.extra.crypt;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import javax.crypto.Cipher;
import javax.crypto.Mac;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.service.StreamInfo.Transport;
import org.tamanoir.services.Packets;
import org.tamanoir.testkit.ServiceHarness;

class CryptTest {
    private static final String KEY = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";
    private static final String OTHER = "ffeeddccbbaa99887766554433221100";
    private static final HexFormat HEX = HexFormat.of();

    @TempDir
    Path folder;

    private Map<String, String> keys(String lines) throws Exception {
        return Map.of("keys", Files.writeString(folder.resolve("keys"), lines).toString());
    }

    private Map<String, String> keys() throws Exception {
        return keys("1 " + KEY + " use\n");
    }

    private static List<Packet> packets(int count, int maxPayload) {
        Random random = new Random(1);
        PacketBuilder builder = Packets.full("org.tamanoir.services.extra.crypt.Crypt");
        List<Packet> made = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            made.add(builder.build(ByteBuffer.wrap(Packets.noise(random, random.nextInt(maxPayload + 1)))));
        }
        return made;
    }

    private List<Packet> encrypted(List<Packet> packets) throws Exception {
        return ServiceHarness.run(new Crypt(), Transport.UDP, keys(), packets).packets();
    }

    private static List<String> payloads(List<Packet> packets) {
        return packets.stream()
                .map(packet -> packet.sequence() + " " + HEX.formatHex(Packets.bytes(packet.payload())))
                .toList();
    }

    /** What Decrypt says of one packet alone. */
    private List<String> fate(Packet packet) throws Exception {
        return ServiceHarness.run(new Decrypt(), Transport.UDP, keys(), List.of(packet))
                .drops();
    }

    private static Packet altered(Packet packet, int at) {
        Packet copy = packet.copy();
        int index = copy.payload().position() + at;
        copy.payload().put(index, (byte) (copy.payload().get(index) ^ 1));
        return copy;
    }

    @ParameterizedTest
    @EnumSource(Transport.class)
    void whatWasEncryptedComesOutAsItWas(Transport transport) throws Exception {
        List<Packet> sent = packets(200, 1400);
        List<Packet> onTheWay =
                ServiceHarness.run(new Crypt(), transport, keys(), sent).packets();
        Packets.assertWellFormed(onTheWay);
        ServiceHarness decrypt = ServiceHarness.run(new Decrypt(), transport, keys(), onTheWay);
        assertThat(payloads(decrypt.packets())).isEqualTo(payloads(sent));
        assertThat(onTheWay)
                .allMatch(packet -> packet.serviceKey()
                        == org.tamanoir.anep.ServiceKey.of("org.tamanoir.services.extra.crypt.Decrypt"));
        for (int i = 0; i < sent.size(); i++) {
            assertThat(onTheWay.get(i).payloadLength()).isEqualTo(sent.get(i).payloadLength() + 52);
        }
    }

    /** Test cases 4, 16, 2 and 1 of the specification of GCM that NIST took over (McGrew and Viega). */
    @ParameterizedTest
    @CsvSource(
            nullValues = "-",
            value = {
                "feffe9928665731c6d6a8f9467308308, cafebabefacedbaddecaf888, feedfacedeadbeeffeedfacedeadbeefabaddad2,"
                        + " d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39,"
                        + " 42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e21d514b25466931c7d8f6a5aac84aa051ba30b396a0aac973d58e091"
                        + "5bc94fbc3221a5db94fae95ae7121a47",
                "feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308, cafebabefacedbaddecaf888,"
                        + " feedfacedeadbeeffeedfacedeadbeefabaddad2,"
                        + " d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39,"
                        + " 522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662"
                        + "76fc6ece0f4e1768cddf8853bb2d551b",
                "00000000000000000000000000000000, 000000000000000000000000, -, 00000000000000000000000000000000, "
                        + "0388dace60b6a392f328c2b971b2fe78ab6e47d42cec13bdf53a67b21257bddf",
                "00000000000000000000000000000000, 000000000000000000000000, -, -, 58e2fccefa7e3061367f1d57a4e7455a"
            })
    void theCipherIsThatOfTheStandard(String key, String nonce, String authenticated, String plain, String expected) {
        byte[] iv = HEX.parseHex(nonce);
        byte[] salt = java.util.Arrays.copyOf(iv, CryptHeader.SALT_BYTES);
        byte[] text = plain == null ? new byte[0] : HEX.parseHex(plain);
        byte[] also = authenticated == null ? new byte[0] : HEX.parseHex(authenticated);
        long sequence = ByteBuffer.wrap(iv).getLong(4);
        Session session = Session.underived(HEX.parseHex(key), salt);
        ByteBuffer target = ByteBuffer.allocate(text.length + CryptHeader.TAG_BYTES);
        int written = session.run(Cipher.ENCRYPT_MODE, sequence, also, ByteBuffer.wrap(text), target);
        assertThat(HEX.formatHex(target.array(), 0, written)).isEqualTo(expected);
        ByteBuffer back = ByteBuffer.allocate(text.length);
        assertThat(session.run(Cipher.DECRYPT_MODE, sequence, also, target, back))
                .isEqualTo(text.length);
        assertThat(back.array()).isEqualTo(text);
    }

    /** The frame, put together from its description by other code. */
    @Test
    void aPacketIsWhatTheHeaderSays() throws Exception {
        Packet sent = packets(1, 100).get(0);
        Packet onTheWay = encrypted(List.of(sent)).get(0);
        ByteBuffer frame = ByteBuffer.wrap(Packets.bytes(onTheWay.payload()));
        assertThat(frame.getInt(0)).isEqualTo(0xFEC50000);
        assertThat(frame.getInt(4)).isEqualTo(1);
        assertThat(frame.getLong(28)).isZero();
        Mac mac = Mac.getInstance("HmacSHA256");
        mac.init(new SecretKeySpec(HEX.parseHex(KEY), "HmacSHA256"));
        mac.update("tamanoir crypt 1".getBytes(StandardCharsets.US_ASCII));
        mac.update(frame.array(), 8, 12);
        Cipher cipher = Cipher.getInstance("AES/GCM/NoPadding");
        byte[] nonce =
                ByteBuffer.allocate(12).put(frame.array(), 8, 4).putLong(0).array();
        cipher.init(Cipher.DECRYPT_MODE, new SecretKeySpec(mac.doFinal(), "AES"), new GCMParameterSpec(128, nonce));
        cipher.updateAAD(frame.array(), 0, 36);
        cipher.updateAAD(ByteBuffer.allocate(48)
                .putLong(sent.sourceHigh())
                .putLong(sent.sourceLow())
                .putLong(sent.destinationHigh())
                .putLong(sent.destinationLow())
                .putInt(sent.destinationPort())
                .putInt(sent.streamId())
                .putLong(sent.sequence())
                .flip());
        assertThat(cipher.doFinal(frame.array(), 36, frame.capacity() - 36)).isEqualTo(Packets.bytes(sent.payload()));
    }

    @Test
    void anyOctetThatIsAlteredIsNoticed() throws Exception {
        Packet onTheWay = encrypted(packets(1, 60)).get(0);
        for (int at = 0; at < onTheWay.payloadLength(); at++) {
            String expected = at < 4 ? "not encrypted" : at < 8 ? "unknown key" : "altered";
            assertThat(fate(altered(onTheWay, at))).as("octet %d", at).containsExactly(expected);
        }
        assertThat(fate(onTheWay)).isEmpty();
    }

    @Test
    void aPayloadUnderAnotherHeaderIsNoticed() throws Exception {
        Packet onTheWay = encrypted(packets(1, 60)).get(0);
        ByteBuffer payload = onTheWay.payload();
        List<Packet> others = List.of(
                PacketBuilder.like(onTheWay)
                        .destination(Packets.address("10.0.2.8"))
                        .build(payload),
                PacketBuilder.like(onTheWay).source(Packets.address("10.0.1.3")).build(payload),
                PacketBuilder.like(onTheWay).stream(8).build(payload),
                PacketBuilder.like(onTheWay).stream(7).nextSequence(1).build(payload),
                PacketBuilder.like(onTheWay).destinationPort(9).build(payload));
        for (Packet other : others) {
            assertThat(fate(other)).containsExactly("altered");
        }
        Packet marked = onTheWay.copy();
        marked.setClassOfService(9);
        assertThat(fate(marked)).as("a node on the way may mark").isEmpty();
    }

    @Test
    void whatIsShorterThanAFrameIsNotOne() throws Exception {
        Packet onTheWay = encrypted(packets(1, 0)).get(0);
        for (int bytes = 0; bytes < 52; bytes++) {
            ByteBuffer part = onTheWay.payload().duplicate();
            Packet cut = PacketBuilder.like(onTheWay).build(part.limit(part.position() + bytes));
            assertThat(fate(cut)).containsExactly("not encrypted");
        }
    }

    @Test
    void aPacketComesOnceAlsoToAnotherInstance() throws Exception {
        List<Packet> onTheWay = encrypted(packets(3000, 10));
        List<Packet> given = new ArrayList<>(onTheWay.subList(0, 10));
        given.add(onTheWay.get(3));
        given.add(onTheWay.get(2000));
        given.add(onTheWay.get(2000 - 1023));
        given.add(onTheWay.get(2000 - 1024));
        given.add(onTheWay.get(2000 - 1023));
        try (ServiceHarness decrypt = ServiceHarness.start(new Decrypt(), Transport.UDP, keys())) {
            decrypt.send(given);
            assertThat(decrypt.drops()).containsExactly("replayed", "replayed", "replayed");
            assertThat(decrypt.packets()).hasSize(12);
        }
    }

    /** As a reload does that changes another setting. */
    @Test
    void aDefinitionThatFollowsAnotherKnowsWhatHasComeAndWhichKeysWereAdded() throws Exception {
        List<Packet> onTheWay = encrypted(packets(100, 10));
        Map<String, String> changed = new HashMap<>(keys());
        changed.put("next", "org.tamanoir.services.Monitor");
        try (ServiceHarness before = ServiceHarness.start(new Decrypt(), Transport.UDP, keys());
                ServiceHarness after = ServiceHarness.start(new Decrypt(), Transport.UDP, changed)) {
            before.send(onTheWay.subList(0, 50));
            before.control().change("add", Map.of("id", 2, "key", OTHER));
            after.control().follow(before.control());
            after.send(onTheWay);
            assertThat(after.drops()).hasSize(50).containsOnly("replayed");
            assertThat(after.packets()).hasSize(50);
            before.send(onTheWay.get(70));
            assertThat(before.drops()).as("streams may still be there").containsExactly("replayed");
            assertThat(after.control().view().get("keys"))
                    .isEqualTo(before.control().view().get("keys"));
        }
    }

    @Test
    void aReplayWindowTakesEachNumberOnce() {
        Random random = new Random(9);
        ReplayWindows windows = new ReplayWindows();
        ReplayWindows.Id id = new ReplayWindows.Id(1, 2, 3);
        Set<Long> seen = new HashSet<>();
        long newest = -1;
        for (int i = 0; i < 200_000; i++) {
            long number = Math.max(0, newest + random.nextInt(1500) - 1300 + (random.nextInt(500) == 0 ? 3000 : 0));
            boolean expected = number > newest || newest - number < 1024 && !seen.contains(number);
            assertThat(windows.take(id, number, 0))
                    .as("%d of %d", number, newest)
                    .isEqualTo(expected);
            seen.add(number);
            newest = Math.max(newest, number);
        }
        assertThat(windows.take(id, -5, 0)).isFalse();
        assertThat(windows.take(new ReplayWindows.Id(4, 5, 6), -5, 0)).isFalse();
        assertThat(windows.take(new ReplayWindows.Id(4, 5, 6), Long.MAX_VALUE, 0))
                .isTrue();
    }

    /** A session that was forgotten cannot come back with what it has sent. */
    @Test
    void sessionsBeyondTheLimitTakeTheirPastWithThem() {
        ReplayWindows windows = new ReplayWindows();
        for (int i = 0; i <= ReplayWindows.MAX_SESSIONS; i++) {
            assertThat(windows.take(new ReplayWindows.Id(1, i, 0), 0, 100 + i)).isTrue();
        }
        assertThat(windows.sessions()).isEqualTo(ReplayWindows.MAX_SESSIONS);
        assertThat(windows.take(new ReplayWindows.Id(1, 0, 0), 0, 100)).isFalse();
        assertThat(windows.take(new ReplayWindows.Id(1, 0, 0), 1, 101)).isTrue();
    }

    @Test
    void aPacketThatIsTooOldIsDroppedAndAClockThatIsSetRightIsRight() throws Exception {
        Packet onTheWay = encrypted(packets(1, 10)).get(0);
        try (ServiceHarness decrypt = ServiceHarness.start(new Decrypt(), Transport.UDP, keys())) {
            CryptControl control = (CryptControl) decrypt.control();
            control.clock(() -> System.currentTimeMillis() + 120_000);
            decrypt.send(onTheWay);
            assertThat(decrypt.drops()).containsExactly("sent too long ago, or clocks differ");
            control.clock(System::currentTimeMillis);
            assertThat(decrypt.send(onTheWay).packets()).hasSize(1);
        }
    }

    /** 200 starts with one key, 5 packets each: no two have the same stream, salt and sequence. */
    @Test
    void aNonceComesOnceWhateverIsStartedAnew() throws Exception {
        Set<String> nonces = new HashSet<>();
        for (int start = 0; start < 200; start++) {
            for (Packet packet : encrypted(packets(5, 0))) {
                byte[] frame = Packets.bytes(packet.payload());
                nonces.add(HEX.formatHex(frame, 8, 20) + HEX.formatHex(frame, 28, 36));
            }
        }
        assertThat(nonces).hasSize(1000);
    }

    @Test
    void withoutAKeyNothingPasses() {
        ServiceHarness crypt = ServiceHarness.run(new Crypt(), Transport.UDP, Map.of(), packets(2, 10));
        assertThat(crypt.packets()).isEmpty();
        assertThat(crypt.drops()).containsExactly("no key in use", "no key in use");
    }

    @Test
    void keysChangeWithoutLoss() throws Exception {
        List<Packet> sent = packets(30, 50);
        try (ServiceHarness crypt = ServiceHarness.start(new Crypt(), Transport.UDP, keys());
                ServiceHarness decrypt = ServiceHarness.start(new Decrypt(), Transport.UDP, keys())) {
            crypt.send(sent.subList(0, 10));
            crypt.control().change("add", Map.of("id", 2, "key", OTHER));
            decrypt.control().change("add", Map.of("id", "2", "key", OTHER));
            crypt.send(sent.subList(10, 20));
            crypt.control().change("use", Map.of("id", 2));
            crypt.send(sent.subList(20, 30));
            List<Packet> onTheWay = crypt.packets();
            decrypt.send(onTheWay.subList(0, 5)).send(onTheWay.subList(20, 30)).send(onTheWay.subList(5, 20));
            assertThat(payloads(decrypt.packets())).containsExactlyInAnyOrderElementsOf(payloads(sent));
            assertThat(crypt.count("sessions")).as("adding a key begins none").isEqualTo(2);
            crypt.control().change("remove", Map.of("id", 1));
            decrypt.control().change("use", Map.of("id", 2));
            decrypt.control().change("remove", Map.of("id", 1));
            decrypt.send(onTheWay.get(0));
            assertThat(decrypt.drops()).containsExactly("unknown key");
            assertThat(crypt.control().view().toString()).doesNotContain(OTHER);
            assertThat(crypt.control().view().get("keys"))
                    .isEqualTo(decrypt.control().view().get("keys"));
        }
    }

    @Test
    void aKeyThatWasRemovedIsUsedNoMoreThoughAnotherHasItsId() throws Exception {
        try (ServiceHarness crypt = ServiceHarness.start(new Crypt(), Transport.UDP, keys());
                ServiceHarness decrypt =
                        ServiceHarness.start(new Decrypt(), Transport.UDP, keys("1 " + OTHER + " use\n"))) {
            crypt.send(packets(1, 10));
            crypt.control().change("add", Map.of("id", 2, "key", OTHER));
            crypt.control().change("use", Map.of("id", 2));
            crypt.control().change("remove", Map.of("id", 1));
            crypt.control().change("add", Map.of("id", 1, "key", OTHER));
            crypt.control().change("use", Map.of("id", 1));
            List<Packet> sent = packets(1, 10);
            crypt.send(sent);
            decrypt.send(crypt.packets().get(1));
            assertThat(payloads(decrypt.packets())).isEqualTo(payloads(sent));
        }
    }

    @Test
    void operationsThatCannotBeAreRefusedAndNoneShowsAKey() throws Exception {
        try (ServiceHarness crypt = ServiceHarness.start(new Crypt(), Transport.UDP, keys())) {
            CryptControl control = (CryptControl) crypt.control();
            assertThatThrownBy(() -> control.change("add", Map.of("id", 0, "key", OTHER)))
                    .hasMessage("key id: must be a whole number from 1 to 2147483647");
            assertThatThrownBy(() -> control.change("add", Map.of("id", 3, "key", "secret")))
                    .hasMessage("key 3: must be 32 or 64 hexadecimal digits, as of 'openssl rand -hex 32'");
            assertThatThrownBy(() -> control.change("add", Map.of("id", 1, "key", OTHER)))
                    .hasMessage("key id 1: there is another key of this id; take a new one");
            assertThatThrownBy(() -> control.change("use", Map.of("id", 9)))
                    .hasMessage("key id 9: there is no such key; there are [1]; add it first");
            assertThatThrownBy(() -> control.change("remove", Map.of("id", 1)))
                    .hasMessage("key id 1: is in use; use another one first");
            assertThatThrownBy(() -> control.change("show", Map.of()))
                    .hasMessage("operation: must be one of add, use, remove");
            assertThatThrownBy(() -> control.change("use", Map.of("key", OTHER)))
                    .hasMessage("no such argument: [key]; known: id");
            for (int id = 2; id <= Keys.MAX_KEYS; id++) {
                control.change("add", Map.of("id", id, "key", OTHER));
            }
            assertThatThrownBy(() -> control.change("add", Map.of("id", 17, "key", OTHER)))
                    .hasMessage("key id 17: there are 16 keys, as many as may be; remove one");
        }
    }

    @Test
    void aFileOfKeysIsReadWithItsFaultsAndNoKeyInThem() throws Exception {
        assertThat(keys("# hop 1\n\n 7 " + OTHER + " \n8 " + KEY + " use\n")).isNotEmpty();
        Keys read = Keys.read(folder.resolve("keys"));
        assertThat(read.used()).isEqualTo(8);
        assertThat(read.toString()).isEqualTo("keys [7, 8], used 8");
        Path file = folder.resolve("keys");
        Files.writeString(file, "1 " + KEY + "\n2 " + KEY + "0\n");
        assertThatThrownBy(() -> Keys.read(file))
                .hasMessage(file + ":2: key 2: must be 32 or 64 hexadecimal digits, as of 'openssl rand -hex 32'");
        Files.writeString(file, "1 " + KEY + " used\n");
        assertThatThrownBy(() -> Keys.read(file)).hasMessage(file + ":1: a line is ID KEY, or ID KEY use");
        Files.writeString(file, "#".repeat(64 << 10) + "\n");
        assertThatThrownBy(() -> Keys.read(file))
                .hasMessage(file + ": has more than 65536 bytes; a line is ID KEY, or ID KEY use");
    }

    @Test
    void aDeviceThatNeverEndsIsNoFileOfKeys() {
        Path zeros = Path.of("/dev/zero");
        assumeTrue(Files.exists(zeros), "there is no /dev/zero");
        assertThatThrownBy(() -> Keys.read(zeros))
                .hasMessage("/dev/zero: is no regular file; a pipe or a device may never end: name a file of keys");
    }

    @Test
    void bothRunWithWhatANodeShowsToThem() throws Exception {
        List<Packet> sent = packets(5, 100);
        try (ServiceHarness crypt = ServiceHarness.startAsDeployed(Crypt.class, Transport.UDP, keys());
                ServiceHarness decrypt = ServiceHarness.startAsDeployed(Decrypt.class, Transport.UDP, keys())) {
            decrypt.send(crypt.send(sent).packets());
            assertThat(payloads(decrypt.packets())).isEqualTo(payloads(sent));
        }
    }
}
