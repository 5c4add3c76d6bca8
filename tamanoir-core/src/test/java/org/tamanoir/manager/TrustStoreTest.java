package org.tamanoir.manager;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.tamanoir.deploy.TrustPolicy;
import org.tamanoir.support.Waiting;

class TrustStoreTest {
    private static final String KEY = "3f2a9c5511d0e7b4";
    private static final String OTHER = "0011223344556677";
    private static final String DIGEST = "0123456789abcdef".repeat(4);

    @TempDir
    Path folder;

    @Test
    void whatIsRevokedStaysSoOverRestarts() throws IOException {
        Path file = folder.resolve("revoked");
        TrustStore store = TrustStore.open(TrustPolicy.NOBODY, file);
        store.revoke(KEY);
        store.revoke(DIGEST);
        store.keep();
        assertThat(store.get().revokedKeys()).containsExactly(KEY);
        TrustPolicy again = TrustStore.open(TrustPolicy.NOBODY, file).get();
        assertThat(again.revokedKeys()).containsExactly(KEY);
        assertThat(again.revokedDigests()).containsExactly(DIGEST);
    }

    @Test
    void whatIsNeitherKeyNorDigestChangesNothing() throws IOException {
        Path file = folder.resolve("revoked");
        TrustStore store = TrustStore.open(TrustPolicy.NOBODY, file);
        assertThatThrownBy(() -> store.revoke("me")).isInstanceOf(IllegalArgumentException.class);
        assertThat(file).doesNotExist();
    }

    @Test
    void aFileWhoseRevocationsAreNotKnownStopsTheStartInOneLine() throws IOException {
        Path file = Files.write(folder.resolve("revoked"), new byte[(1 << 20) + 1]);
        assertThatThrownBy(() -> TrustStore.open(TrustPolicy.NOBODY, file))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("1048576")
                .hasMessageContaining(file.toString())
                .message()
                .hasLineCount(1);
        assertThatThrownBy(() -> TrustStore.open(TrustPolicy.NOBODY, folder)).isInstanceOf(IOException.class);
    }

    /** What a crash, a full disk or an editor leaves. The rest holds. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "3f2a9c55",
                "0123456789abcdef0123456789abcdef",
                "nonsense",
                "\u0000\u0000\u0000\u0000",
                "\u00ff\u00fe\u0001",
                "# why"
            })
    void aDamagedLineLeavesTheOthersInForceAndIsNotRemoved(String damaged) throws IOException {
        Path file = folder.resolve("revoked");
        byte[] bytes = (KEY + "\n" + damaged + "\n" + DIGEST + "\r\n").getBytes(StandardCharsets.ISO_8859_1);
        Files.write(file, bytes);
        TrustStore store = TrustStore.open(TrustPolicy.NOBODY, file);
        assertThat(store.get().revokedKeys()).contains(KEY);
        assertThat(store.get().revokedDigests()).containsExactly(DIGEST);
        store.revoke(OTHER);
        store.keep();
        TrustPolicy again = TrustStore.open(TrustPolicy.NOBODY, file).get();
        assertThat(again.revokedKeys()).contains(KEY, OTHER);
        assertThat(again.revokedDigests()).containsExactly(DIGEST);
        assertThat(Files.readString(file, StandardCharsets.ISO_8859_1)).contains(damaged.replace("\u0000", ""));
    }

    /** A line was cut short, and the next one was written behind it. */
    @ParameterizedTest
    @ValueSource(ints = {1, 15, 16, 40, 63, 64})
    void whatWasWrittenBehindAHalfLineIsInForce(int digits) throws IOException {
        String half = "fedcba9876543210".repeat(4).substring(0, digits);
        Path file = Files.writeString(folder.resolve("revoked"), half + KEY + "\n" + half + DIGEST + "\n" + half);
        TrustPolicy policy = TrustStore.open(TrustPolicy.NOBODY, file).get();
        assertThat(policy.revokedKeys()).contains(KEY);
        assertThat(policy.revokedDigests()).contains(DIGEST);
    }

    @Test
    void linesThatOthersAddMeanwhileStay() throws IOException {
        Path file = folder.resolve("revoked");
        TrustStore store = TrustStore.open(TrustPolicy.NOBODY, file);
        Files.writeString(file, OTHER + "\n");
        store.revoke(KEY);
        store.keep();
        store.revoke(KEY);
        store.keep();
        assertThat(Files.readAllLines(file)).containsExactly(OTHER, KEY);
    }

    /** As while one process takes the place of another. */
    @Test
    void processesThatShareTheFileLoseNothing() throws Exception {
        Path file = folder.resolve("revoked");
        TrustStore old = TrustStore.open(TrustPolicy.NOBODY, file);
        TrustStore next = TrustStore.open(TrustPolicy.NOBODY, file);
        assertThat(next.readAgain()).isFalse();
        old.revoke(KEY);
        old.keep();
        assertThat(next.readAgain()).isTrue();
        assertThat(next.get().revokedKeys()).containsExactly(KEY);
        assertThat(next.readAgain()).isFalse();

        CompletableFuture<Void> writing = Waiting.async(() -> revokeMany(old, 0));
        revokeMany(next, 1);
        assertThat(writing).succeedsWithin(Waiting.PATIENCE);
        assertThat(TrustStore.open(TrustPolicy.NOBODY, file).get().revokedKeys())
                .hasSize(81);
    }

    private static void revokeMany(TrustStore store, int odd) throws IOException {
        for (int i = 0; i < 40; i++) {
            store.revoke("%016x".formatted(2 * i + odd));
            store.keep();
        }
    }

    @Test
    void whatCannotBeWrittenIsRevokedAllTheSameAndWrittenLater() throws IOException {
        Path nowhere = folder.resolve("none");
        TrustStore store = TrustStore.open(TrustPolicy.NOBODY, nowhere.resolve("revoked"));
        store.revoke(KEY);
        assertThatThrownBy(store::keep).isInstanceOf(IOException.class);
        assertThat(store.get().revokedKeys()).containsExactly(KEY);
        Files.createDirectory(nowhere);
        store.keep();
        assertThat(nowhere.resolve("revoked")).hasContent(KEY);
    }

    @Test
    void anotherPolicyOfTheOperatorTakesNothingBackThatWasRevokedBesideIt() throws IOException {
        Path file = Files.writeString(folder.resolve("revoked"), DIGEST + "\n");
        TrustStore store = TrustStore.open(TrustPolicy.NOBODY.revoking(OTHER), file);
        store.revoke(KEY);
        store.replace(TrustPolicy.NOBODY);
        assertThat(store.get().revokedKeys()).as("the operator's own goes").containsExactly(KEY);
        assertThat(store.get().revokedDigests()).containsExactly(DIGEST);
        store.replace(TrustPolicy.NOBODY.revoking(OTHER));
        assertThat(store.get().revokedKeys()).containsExactlyInAnyOrder(KEY, OTHER);
        store.keep();
        assertThat(file).as("what the configuration revokes is not written").hasContent(DIGEST + "\n" + KEY);
    }

    @Test
    void noMoreAreRevokedThanTheFileHolds() throws IOException {
        List<String> many = IntStream.range(0, 16_000)
                .mapToObj(i -> String.format("%064x", i))
                .toList();
        TrustStore full = TrustStore.open(TrustPolicy.NOBODY.revoking(many), folder.resolve("revoked"));
        assertThatThrownBy(() -> full.revoke(KEY))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("16000");
        assertThat(full.get().revokedKeys()).isEmpty();
    }
}
