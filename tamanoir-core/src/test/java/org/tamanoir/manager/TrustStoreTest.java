package org.tamanoir.manager;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.tamanoir.deploy.TrustPolicy;

class TrustStoreTest {
    private static final String KEY = "3f2a9c5511d0e7b4";
    private static final String DIGEST = "0123456789abcdef".repeat(4);

    @TempDir
    Path folder;

    @Test
    void whatIsRevokedStaysSoOverRestarts() throws IOException {
        Path file = folder.resolve("revoked");
        TrustStore store = TrustStore.open(TrustPolicy.NOBODY, file);
        store.revoke(KEY);
        store.revoke(DIGEST);
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
    void aFileThatCannotBeReadIsSaidInOneLine() throws IOException {
        Path file = Files.writeString(folder.resolve("revoked"), KEY + "\nnonsense\n");
        assertThatThrownBy(() -> TrustStore.open(TrustPolicy.NOBODY, file))
                .isInstanceOf(IOException.class)
                .hasMessageContaining(file.toString())
                .message()
                .hasLineCount(1);
        Files.write(file, new byte[(1 << 20) + 1]);
        assertThatThrownBy(() -> TrustStore.open(TrustPolicy.NOBODY, file))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("1048576");
    }

    @Test
    void whatCannotBeWrittenIsRevokedAllTheSame() throws IOException {
        TrustStore store =
                TrustStore.open(TrustPolicy.NOBODY, folder.resolve("none").resolve("revoked"));
        assertThatThrownBy(() -> store.revoke(KEY)).isInstanceOf(IOException.class);
        assertThat(store.get().revokedKeys()).containsExactly(KEY);
    }
}
