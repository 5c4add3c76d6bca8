package org.tamanoir.repository;

import java.io.IOException;
import java.io.OutputStream;
import java.net.URI;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;
import org.tamanoir.deploy.BoundedBody;
import org.tamanoir.deploy.CodeRefusedException;
import org.tamanoir.deploy.Manifest;
import org.tamanoir.deploy.Refusal;
import org.tamanoir.deploy.ServiceId;
import org.tamanoir.deploy.ServiceJar;
import org.tamanoir.deploy.Signature;
import org.tamanoir.deploy.TrustPolicy;

/** Checks a version as a node does before it runs it. Any thread; calls block. */
public final class Verifier {
    private static final long DEFAULT_MAX_UNPACKED_BYTES = 256L << 20;

    private Verifier() {}

    /**
     * What was found good.
     *
     * @param publisher key id of who signed it
     */
    public record Verified(Manifest manifest, String publisher) {}

    /**
     * Returns a jar with {@code manifest.json} and {@code manifest.sig} beside it.
     *
     * @throws CodeRefusedException if a node with this policy would not run it
     * @throws IOException in one line, if a file cannot be read
     */
    public static Verified verify(Path jar, TrustPolicy policy) throws IOException, CodeRefusedException {
        byte[] manifest =
                read(jar.resolveSibling(RepositoryTree.MANIFEST), Manifest.MAX_BYTES, "it belongs beside the jar");
        Path signatureFile = jar.resolveSibling(RepositoryTree.SIGNATURE);
        byte[] signature = Files.exists(signatureFile)
                ? read(signatureFile, Signature.MAX_BYTES, "it belongs beside the jar")
                : null;
        Manifest decoded = policy.verify(manifest, signature);
        requireJar(decoded, jar);
        return new Verified(
                decoded, signature == null ? "" : Signature.decode(signature).keyId());
    }

    private static byte[] read(Path file, int maxBytes, String remedy) throws IOException {
        try {
            return Disk.read(file, maxBytes);
        } catch (NoSuchFileException e) {
            throw new IOException(file + ": there is no such file; " + remedy, e);
        }
    }

    private static void requireJar(Manifest manifest, Path jar) throws CodeRefusedException {
        ServiceJar found = ServiceJar.inspect(jar, DEFAULT_MAX_UNPACKED_BYTES);
        if (found.bytes() != manifest.jarBytes()) {
            throw new CodeRefusedException(
                    Refusal.WRONG_SIZE,
                    jar + " has " + found.bytes() + " bytes, the signed manifest says " + manifest.jarBytes()
                            + "; fetch it again");
        }
        if (!found.sha256().equals(manifest.jarSha256())) {
            throw new CodeRefusedException(
                    Refusal.WRONG_DIGEST,
                    jar + " has SHA-256 " + found.sha256() + ", the signed manifest says " + manifest.jarSha256()
                            + "; fetch it again");
        }
        if (!found.services().contains(manifest.mainClass())) {
            throw new CodeRefusedException(
                    Refusal.NOT_A_SERVICE,
                    jar + " has no service " + manifest.mainClass() + ", which its manifest names; it has "
                            + found.services());
        }
    }

    /**
     * Returns a version in a repository.
     *
     * @param tls for https; null = the JDK's own
     * @throws CodeRefusedException if a node with this policy would not run it
     * @throws IOException in one line, if it cannot be had
     */
    public static Verified verify(URI repository, @Nullable SSLContext tls, ServiceId id, TrustPolicy policy)
            throws IOException, InterruptedException, CodeRefusedException {
        Calls calls = new Calls(repository, tls);
        byte[] manifest = get(calls, id, RepositoryTree.MANIFEST, Manifest.MAX_BYTES);
        byte[] signature = get(calls, id, RepositoryTree.SIGNATURE, Signature.MAX_BYTES);
        Manifest decoded = policy.verify(manifest, signature);
        if (!decoded.id().equals(id)) {
            throw new CodeRefusedException(
                    Refusal.WRONG_SERVICE, repository + ": the manifest for " + id + " is one for " + decoded.id());
        }
        Path jar = Files.createTempFile("tamanoir-verify", ".jar");
        try (OutputStream content = Files.newOutputStream(jar)) {
            HttpResponse<String> answer = calls.send(
                    calls.request(id.path() + "/" + id.jarName()).build(),
                    BoundedBody.file(decoded.jarBytes(), content));
            requireOk(answer, id);
            requireJar(decoded, jar);
        } finally {
            Files.deleteIfExists(jar);
        }
        return new Verified(decoded, Signature.decode(signature).keyId());
    }

    private static byte[] get(Calls calls, ServiceId id, String name, int maxBytes)
            throws IOException, InterruptedException {
        HttpResponse<byte[]> answer =
                calls.send(calls.request(id.path() + "/" + name).build(), BoundedBody.bytes(maxBytes));
        requireOk(answer, id);
        return answer.body();
    }

    private static void requireOk(HttpResponse<?> answer, ServiceId id) throws IOException {
        if (answer.statusCode() == 404) {
            throw new IOException(answer.uri() + ": there is no " + id + " in this repository");
        } else if (answer.statusCode() != 200) {
            throw new IOException(
                    answer.uri() + ": answers " + answer.statusCode() + "; is this the address of a repository?");
        }
    }
}
