package org.tamanoir.repository;

import com.google.common.hash.Hashing;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import java.util.Random;
import org.tamanoir.deploy.Manifest;
import org.tamanoir.deploy.ServiceId;
import org.tamanoir.deploy.ServiceLimits;
import org.tamanoir.deploy.SigningKey;
import tools.jackson.databind.json.JsonMapper;

/**
 * A signed version. The jar is any bytes: a repository does not look into it.
 *
 * @param signature the file's bytes
 */
record Sample(Manifest manifest, byte[] manifestBytes, byte[] signature, byte[] jar) {
    static final SigningKey KEY = SigningKey.generate();

    static Sample of(String id, byte[] jar) {
        return of(id, jar, KEY);
    }

    static Sample of(String id, byte[] jar, SigningKey key) {
        Manifest manifest = new Manifest(
                ServiceId.parse(id),
                ServiceId.parse(id).name(),
                Hashing.sha256().hashBytes(jar).toString(),
                jar.length,
                List.of("jvm"),
                ServiceLimits.NONE,
                "sample " + id);
        byte[] bytes = manifest.encode();
        return new Sample(manifest, bytes, key.sign(bytes).encode(), jar);
    }

    /** With this many bytes, always the same ones for the same id. */
    static Sample of(String id, int bytes) {
        byte[] jar = new byte[bytes];
        new Random(id.hashCode()).nextBytes(jar);
        return of(id, jar);
    }

    ServiceId id() {
        return manifest.id();
    }

    String jarPath() {
        return id().path() + "/" + id().jarName();
    }

    /** The body of a call that publishes it. */
    String body() {
        return new JsonMapper()
                .writeValueAsString(java.util.Map.of(
                        "manifest",
                        Base64.getEncoder().encodeToString(manifestBytes),
                        "signature",
                        new String(signature, java.nio.charset.StandardCharsets.US_ASCII)));
    }

    StagedJar stage(RepositoryTree tree) throws IOException {
        Path file = tree.newStagingPath();
        Files.write(file, jar);
        return new StagedJar(file, manifest.jarSha256(), jar.length);
    }

    RepositoryTree.Outcome publish(RepositoryTree tree) throws Exception {
        return tree.publish(manifestBytes, signature, stage(tree), null);
    }
}
