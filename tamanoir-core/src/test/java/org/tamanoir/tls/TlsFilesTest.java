package org.tamanoir.tls;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.tamanoir.support.Tiers;

@Tag("process")
class TlsFilesTest {
    @TempDir
    private Path folder;

    private TestAuthority authority;

    @BeforeEach
    void makeAuthority() {
        authority = new TestAuthority(folder, "authority");
    }

    private static void assertRefused(TlsFiles files, String... words) {
        assertThatThrownBy(files::context)
                .isInstanceOf(IOException.class)
                .satisfies(e -> assertThat(e.getMessage()).contains(words).doesNotContain("\n"));
    }

    private TlsFiles with(@Nullable Path certificate, @Nullable Path key) {
        return new TlsFiles(certificate, key, null, false);
    }

    private Path file(String name, String text) throws IOException {
        return Files.writeString(folder.resolve(name), text);
    }

    @ParameterizedTest
    @ValueSource(strings = {"RSA", "EC", "Ed25519"})
    void keysOfEachAlgorithmServe(String algorithm) throws IOException {
        assertThat(authority.withKey("node", algorithm).context().getProtocol()).isEqualTo("TLS");
    }

    @Test
    void aClientMayComeWithoutAnything() throws IOException {
        assertThat(TlsFiles.NONE.context()).isNotNull();
    }

    @Test
    void aChainAndTextBetweenItsCertificatesAreRead() throws IOException {
        TlsFiles own = authority.files("node");
        Path chain = file(
                "chain.pem",
                "subject=node\n" + Files.readString(own.certificate()) + "issuer\n"
                        + Files.readString(authority.certificate()));
        Path trust = file(
                "trust.pem",
                Files.readString(authority.certificate())
                        + Files.readString(new TestAuthority(folder, "other").certificate()));

        assertThat(new TlsFiles(chain, own.key(), trust, true).context()).isNotNull();
    }

    @Test
    void anExpiredCertificateIsUsedWithAWarning() throws IOException {
        assertThat(authority.expired("late").context()).isNotNull();
    }

    @Test
    void aChainInAnotherOrderIsRefused() throws IOException {
        TlsFiles own = authority.files("node");
        String ownText = Files.readString(own.certificate());
        Path chain = file(
                "chain.pem", ownText + Files.readString(authority.files("stray").certificate()));

        assertRefused(with(chain, own.key()), "chain.pem", "certificate 2", "CN=stray", "own one first");
    }

    @Test
    void aKeyThatDoesNotFitIsRefused() {
        TlsFiles own = authority.files("node");
        TlsFiles other = authority.withKey("other", "RSA");

        assertRefused(with(own.certificate(), other.key()), "other.key", "does not fit", "CN=node");
        assertRefused(with(own.certificate(), authority.files("third").key()), "third.key", "does not fit", "node.pem");
    }

    @Test
    void missingPartsAreNamed() {
        TlsFiles own = authority.files("node");

        assertRefused(new TlsFiles(own.certificate(), null, null, false), "node.pem", "its key is missing");
        assertRefused(new TlsFiles(null, own.key(), null, false), "node.key", "its certificate is missing");
        assertRefused(new TlsFiles(own.certificate(), own.key(), null, true), "no trust file");
    }

    @Test
    void filesThatAreNotThereOrNotPemAreRefused() throws IOException {
        TlsFiles own = authority.files("node");

        assertRefused(with(folder.resolve("none.pem"), own.key()), "none.pem", "no such file");
        assertRefused(with(file("der.pem", "0\u0082\u0001"), own.key()), "der.pem", "is not PEM", "openssl x509");
        assertRefused(with(own.key(), own.key()), "node.key", "holds no certificate but PRIVATE KEY");
        assertRefused(with(own.certificate(), own.certificate()), "node.pem", "holds no PRIVATE KEY");
        assertRefused(with(folder, own.key()), folder.toString());
    }

    @Test
    void filesThatAreTooLongAreRefused() throws IOException {
        Path large = file("large.pem", "x".repeat(PemFile.MAX_BYTES + 1));

        assertRefused(with(large, large), "large.pem", "more than 1048576 bytes");
    }

    @Test
    void damagedFilesAreRefused() throws IOException {
        TlsFiles own = authority.files("node");
        String text = Files.readString(own.certificate());

        assertRefused(with(file("cut.pem", text.replaceAll("(?s)-----END.*", "")), own.key()), "cut.pem", "is not PEM");
        assertRefused(
                with(file("mixed.pem", text.replace("END CERTIFICATE", "END KEY")), own.key()),
                "mixed.pem",
                "BEGIN CERTIFICATE ends with END KEY");
        assertRefused(
                with(file("bad.pem", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"), own.key()),
                "bad.pem",
                "certificate 1",
                "damaged");
        assertRefused(
                with(
                        own.certificate(),
                        file("bad.key", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----")),
                "bad.key",
                "the key is damaged");
    }

    @ParameterizedTest
    @ValueSource(strings = {"RSA PRIVATE KEY", "EC PRIVATE KEY", "ENCRYPTED PRIVATE KEY"})
    void otherFormatsOfKeysAreRefusedWithTheCommandThatConvertsThem(String label) throws IOException {
        TlsFiles own = authority.files("node");
        Path key = file("old.key", "-----BEGIN " + label + "-----\nAAAA\n-----END " + label + "-----\n");

        assertRefused(with(own.certificate(), key), "old.key", "openssl pkcs8 -topk8 -nocrypt -in " + key);
    }

    @Test
    void anEncryptedKeyOfTheOldFormatIsRefused() throws IOException {
        TlsFiles own = authority.files("node");
        Path key = file(
                "old.key",
                "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,00\n\nAAAA\n"
                        + "-----END RSA PRIVATE KEY-----\n");

        assertRefused(with(own.certificate(), key), "old.key", "is encrypted", "openssl pkcs8 -topk8 -nocrypt");
    }

    @ParameterizedTest
    @ValueSource(strings = {"rsa:2048", "ed25519", "ec -pkeyopt ec_paramgen_curve:P-256"})
    void filesMadeByOpensslAreRead(String algorithm) throws Exception {
        String command = "openssl req -x509 -newkey " + algorithm
                + " -nodes -days 2 -subj /CN=node -addext subjectAltName=IP:127.0.0.1 -keyout k.pem -out c.pem";
        Process process;
        try {
            process = new ProcessBuilder(command.split(" "))
                    .directory(folder.toFile())
                    .redirectErrorStream(true)
                    .start();
        } catch (IOException e) {
            Tiers.require("openssl", false, "no program openssl: " + e.getMessage());
            return;
        }
        String output = new String(process.getInputStream().readAllBytes(), java.nio.charset.StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(output).isZero();
        Path certificate = folder.resolve("c.pem");

        assertThat(new TlsFiles(certificate, folder.resolve("k.pem"), certificate, true).context())
                .isNotNull();
    }
}
