package org.tamanoir.repository;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.tamanoir.repository.Uploads.FullException;
import org.tamanoir.repository.Uploads.Upload;

class UploadsTest {
    private static final int MAX_JAR = 1_000;

    @TempDir
    Path root;

    private RepositoryTree tree;
    private Uploads uploads;
    private long nowNs;

    @BeforeEach
    void open() throws IOException {
        tree = RepositoryTree.open(root);
        uploads = new Uploads(tree, MAX_JAR, () -> nowNs);
    }

    @AfterEach
    void close() throws IOException {
        tree.close();
    }

    private int files() throws IOException {
        return Disk.list(root.resolve(".staging")).size();
    }

    private Sample upload(int number) throws Exception {
        Sample sample = Sample.of("org.example.S" + number + ":1.0", 10);
        Upload upload = uploads.begin(sample.manifest().jarSha256(), 10);
        upload.write(sample.jar());
        assertThat(upload.finish()).isNull();
        return sample;
    }

    @Test
    void anUploadCanBeTakenOnce() throws Exception {
        String sha256 = upload(1).manifest().jarSha256();
        StagedJar jar = Objects.requireNonNull(uploads.take(sha256));
        assertThat(jar.bytes()).isEqualTo(10);
        assertThat(jar.file()).hasSize(10);
        assertThat(uploads.take(sha256)).isNull();
    }

    @Test
    void theNumberIsBoundedFromTheBeginOnAndAbortedOnesMakeRoom() throws Exception {
        List<Upload> begun = new ArrayList<>();
        for (int i = 0; i < Uploads.MAX_UPLOADS; i++) {
            begun.add(uploads.begin("0".repeat(64), 1));
        }
        assertThatThrownBy(() -> uploads.begin("0".repeat(64), 1))
                .isInstanceOf(FullException.class)
                .hasMessageContaining("64 with 8000 are the bounds");
        begun.get(0).abort();
        begun.get(0).abort();
        upload(1);
        assertThatThrownBy(() -> upload(2)).isInstanceOf(FullException.class);
        begun.forEach(Upload::abort);
        assertThat(files()).isEqualTo(1);
        upload(2);
    }

    @Test
    void theBytesAreBoundedAsAnnounced() throws Exception {
        List<Upload> begun = new ArrayList<>();
        for (int i = 0; i < Uploads.MAX_JARS; i++) {
            begun.add(uploads.begin("0".repeat(64), MAX_JAR));
        }
        assertThatThrownBy(() -> uploads.begin("0".repeat(64), 1)).isInstanceOf(FullException.class);
        assertThatThrownBy(() -> begun.get(0).write(new byte[MAX_JAR + 1])).isInstanceOf(IOException.class);
        begun.forEach(Upload::abort);
        assertThat(files()).isZero();
    }

    @Test
    void whatIsNotPublishedInTimeMakesRoom() throws Exception {
        for (int i = 0; i < Uploads.MAX_UPLOADS; i++) {
            upload(i);
        }
        nowNs += Uploads.EXPIRY.toNanos() - 1;
        assertThatThrownBy(() -> upload(99)).isInstanceOf(FullException.class);
        nowNs += 1;
        Sample last = upload(99);
        assertThat(files()).isEqualTo(1);
        assertThat(uploads.take(last.manifest().jarSha256())).isNotNull();
    }

    @Test
    void anotherDigestOrTooFewBytesLeaveNothing() throws Exception {
        Sample sample = Sample.of("org.example.Foo:1.0", 10);
        Upload shorter = uploads.begin(sample.manifest().jarSha256(), 11);
        shorter.write(sample.jar());
        assertThat(shorter.finish()).isNotNull();
        Upload other = uploads.begin("0".repeat(64), 10);
        other.write(sample.jar());
        assertThat(other.finish()).isEqualTo(sample.manifest().jarSha256());
        assertThat(files()).isZero();
    }

    @Test
    void theSameUploadedTwiceCountsOnce() throws Exception {
        for (int i = 0; i < 2 * Uploads.MAX_UPLOADS; i++) {
            upload(1);
        }
        assertThat(files()).isEqualTo(1);
    }
}
