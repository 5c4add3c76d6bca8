package org.tamanoir.deploy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.KeyPairGenerator;
import java.util.Base64;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class KeysTest {
    private static final byte[] MESSAGE = "message".getBytes(StandardCharsets.UTF_8);
    /** The first test of RFC 8032, section 7.1: an empty message. */
    private static final String RFC_PUBLIC = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a";

    private static final String RFC_SECRET = "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60";
    private static final String RFC_SIGNATURE =
            "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb88215"
                    + "90a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b";

    @TempDir
    Path dir;

    @Test
    void aPairSurvivesItsFiles() throws Exception {
        SigningKey made = SigningKey.generate();
        Path file = dir.resolve("me.key");
        made.write(file);

        SigningKey read = SigningKey.read(file);
        PublisherKey publisher = PublisherKey.read(dir.resolve("me.key.pub"));

        assertThat(publisher).isEqualTo(made.publisher());
        assertThat(publisher.id()).isEqualTo(read.publisher().id()).matches("[0-9a-f]{16}");
        assertThat(publisher.pem()).isEqualTo(Files.readString(dir.resolve("me.key.pub")));
        assertThat(publisher.verifies(MESSAGE, read.sign(MESSAGE))).isTrue();
        assertThat(publisher.verifies(new byte[0], read.sign(MESSAGE))).isFalse();
    }

    @Test
    void thePrivateKeyIsItsOwnersAloneAndNeitherFileIsOverwritten() throws Exception {
        Path file = dir.resolve("me.key");
        SigningKey.generate().write(file);
        String before = Files.readString(file);
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
                .isEqualTo("rw-------");

        assertThatThrownBy(() -> SigningKey.generate().write(file)).isInstanceOf(IOException.class);
        Files.delete(dir.resolve("me.key.pub"));
        assertThatThrownBy(() -> SigningKey.generate().write(file))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("me.key: it exists and is not overwritten");
        assertThat(file).hasContent(before);
        assertThat(dir.resolve("me.key.pub")).doesNotExist();

        Files.writeString(dir.resolve("other.pub"), "mine");
        assertThatThrownBy(() -> SigningKey.generate().write(dir.resolve("other")))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("other.pub");
        assertThat(dir.resolve("other")).doesNotExist();
        assertThat(dir.resolve("other.pub")).hasContent("mine");
    }

    @Test
    void keysOfRfc8410AreReadAndSignAsRfc8032Says() throws Exception {
        Path file = dir.resolve("rfc");
        Files.writeString(file, pem("PRIVATE KEY", "302e020100300506032b657004220420" + RFC_SECRET));
        Files.writeString(dir.resolve("rfc.pub"), pem("PUBLIC KEY", "302a300506032b6570032100" + RFC_PUBLIC));

        SigningKey key = SigningKey.read(file);

        assertThat(key.publisher().id()).isEqualTo("06e3fd8fda29bb60");
        assertThat(HexFormat.of().formatHex(key.sign(new byte[0]).bytes())).isEqualTo(RFC_SIGNATURE);
    }

    @Test
    void filesThatDoNotBelongTogetherAreRefused() throws Exception {
        SigningKey.generate().write(dir.resolve("a"));
        SigningKey.generate().write(dir.resolve("b"));
        Files.copy(dir.resolve("b.pub"), dir.resolve("a.pub"), java.nio.file.StandardCopyOption.REPLACE_EXISTING);
        assertThatThrownBy(() -> SigningKey.read(dir.resolve("a")))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("does not belong to");
        assertThatThrownBy(() -> SigningKey.read(dir.resolve("gone")))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("gone: there is none; make one with keygen");
    }

    @Test
    void aPrivateKeyIsNotTakenForAPublicOneNorShown() throws Exception {
        SigningKey.generate().write(dir.resolve("a"));
        String secret = Files.readString(dir.resolve("a")).lines().toList().get(1);
        assertThatThrownBy(() -> PublisherKey.read(dir.resolve("a")))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("-----BEGIN PUBLIC KEY-----")
                .hasMessageNotContaining(secret);
    }

    @Test
    void otherKindsOfKeysAreRefused() throws Exception {
        KeyPairGenerator generator = KeyPairGenerator.getInstance("RSA");
        generator.initialize(512); // What it is made from takes seconds in its usual length.
        byte[] rsa = generator.generateKeyPair().getPublic().getEncoded();
        assertThatThrownBy(() -> PublisherKey.parse(Pem.encode("PUBLIC KEY", rsa)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("no public key of kind Ed25519");
        // The same key with a longer form of its length would have another id.
        assertThatThrownBy(() -> PublisherKey.parse(pem("PUBLIC KEY", "30812a300506032b6570032100" + RFC_PUBLIC)))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "-----BEGIN PUBLIC KEY-----",
                "-----BEGIN PUBLIC KEY----------END PUBLIC KEY-----",
                "-----BEGIN PUBLIC KEY-----\n!!!!\n-----END PUBLIC KEY-----",
                "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----",
                "-----BEGIN PUBLIC KEY-----END PUBLIC KEY-----"
            })
    void whatIsNoKeyIsRefusedInOneLine(String text) throws Exception {
        Path file = Files.writeString(dir.resolve("k.pub"), text);
        assertThatThrownBy(() -> PublisherKey.read(file))
                .isInstanceOf(IOException.class)
                .hasMessageStartingWith("key file " + file)
                .hasMessageNotContaining("\n");
        Files.writeString(file, text + " ".repeat(5000));
        assertThatThrownBy(() -> PublisherKey.read(file)).hasMessageContaining("more than 4096 bytes");
    }

    @Test
    void aSignatureSurvivesItsFile() throws Exception {
        Signature signature = SigningKey.generate().sign(MESSAGE);
        byte[] file = signature.encode();
        String line = new String(file, StandardCharsets.US_ASCII);

        assertThat(Signature.decode(file)).isEqualTo(signature);
        assertThat(line).matches("ed25519 [0-9a-f]{16} [A-Za-z0-9+/]{86}==\n");
        assertThat(Signature.decode(bytes(line.replace("==\n", "")))).isEqualTo(signature);
        assertThat(Signature.decode(bytes(line.replace("\n", "\r\n")))).isEqualTo(signature);
    }

    @Test
    void whatIsNoSignatureIsMalformed() {
        String line = new String(SigningKey.generate().sign(MESSAGE).encode(), StandardCharsets.US_ASCII);
        for (String text : new String[] {
            "",
            line + line,
            line + "\n",
            " " + line,
            line.replace("==", "="),
            line.replace("ed25519", "rsa"),
            line.toUpperCase(java.util.Locale.ROOT),
            line.substring(0, 60),
            line.substring(0, 30) + "\u00e9" + line.substring(31),
            line + " ".repeat(1 << 20)
        }) {
            CodeRefusedException refused =
                    catchThrowableOfType(CodeRefusedException.class, () -> Signature.decode(bytes(text)));
            assertThat(refused).as(text).isNotNull();
            assertThat(refused.refusal()).isEqualTo(Refusal.MALFORMED);
        }
    }

    private static String pem(String label, String hex) {
        String base64 = Base64.getEncoder().encodeToString(HexFormat.of().parseHex(hex));
        return "-----BEGIN " + label + "-----\n" + base64 + "\n-----END " + label + "-----\n";
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
