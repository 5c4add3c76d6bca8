package org.tamanoir.deploy;

import com.google.common.hash.Hashing;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import org.tamanoir.anep.ServiceKey;

/** A repository's files, signed by one publisher, for tests. */
final class CodeFetcherRepository {
    static final String NAME = "org.example.Foo";
    /** Seed of the jars' filling, which does not compress. */
    private static final long SEED = 2003;

    /** Compiled once. */
    private static final TreeMap<String, byte[]> CLASSES = new TreeMap<>();

    final SigningKey signer = SigningKey.generate();
    final Map<String, byte[]> files = new ConcurrentHashMap<>();
    private final Path dir;

    CodeFetcherRepository(Path dir) {
        this.dir = dir;
    }

    TrustPolicy trust() {
        return new TrustPolicy(
                List.of(new TrustPolicy.Publisher(signer.publisher(), List.of("org.example.*"))),
                Set.of(),
                Set.of(),
                false);
    }

    /** Publishes a jar of some more than {@code filling} bytes under a version's key and the bare name's. */
    Manifest publish(String version, int filling) throws IOException {
        return publish(new ServiceId(NAME, version), filling);
    }

    Manifest publish(ServiceId id, int filling) throws IOException {
        byte[] jar = jar(id, filling);
        Manifest manifest = manifest(id, jar);
        put(manifest, jar);
        return manifest;
    }

    byte[] jar(ServiceId id, int filling) throws IOException {
        byte[] noise = new byte[filling];
        new Random(SEED + id.hashCode()).nextBytes(noise);
        TreeMap<String, byte[]> entries = classes(dir);
        entries.put("noise", noise);
        return Files.readAllBytes(TestJars.zip(dir, NAME, entries));
    }

    private static TreeMap<String, byte[]> classes(Path dir) throws IOException {
        synchronized (CLASSES) {
            if (CLASSES.isEmpty()) {
                CLASSES.putAll(TestJars.entries(dir, Map.of(NAME, TestJars.forwarder(NAME, ""))));
            }
            return new TreeMap<>(CLASSES);
        }
    }

    static Manifest manifest(ServiceId id, byte[] jar) {
        return new Manifest(
                id,
                NAME,
                Hashing.sha256().hashBytes(jar).toString(),
                jar.length,
                List.of("jvm"),
                ServiceLimits.NONE,
                "");
    }

    void put(Manifest manifest, byte[] jar) {
        ServiceId id = manifest.id();
        byte[] bytes = manifest.encode();
        files.put(id.path() + "/manifest.json", bytes);
        files.put(id.path() + "/manifest.sig", signer.sign(bytes).encode());
        files.put(id.path() + "/" + id.jarName(), jar);
        files.put("keys/" + ServiceKey.toString(id.key()), bytes);
        files.put("keys/" + ServiceKey.toString(id.nameKey()), bytes);
    }

    byte[] jarOf(Manifest manifest) {
        return Objects.requireNonNull(files.get(jarPath(manifest)));
    }

    static String jarPath(Manifest manifest) {
        return manifest.id().path() + "/" + manifest.id().jarName();
    }
}
