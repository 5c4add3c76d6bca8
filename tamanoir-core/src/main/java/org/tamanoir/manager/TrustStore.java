package org.tamanoir.manager;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.tamanoir.deploy.TrustPolicy;

/**
 * The trust policy in force: the operator's, and what was revoked while the node ran, which a file keeps over
 * restarts, one key id or jar digest a line. Any thread may call.
 */
public final class TrustStore implements Supplier<TrustPolicy> {
    /** More revocations than a node can need: 16 Ki digests. */
    private static final int MAX_OCTETS = 1 << 20;

    private final @Nullable Path file;
    private volatile TrustPolicy policy;

    private TrustStore(TrustPolicy policy, @Nullable Path file) {
        this.policy = policy;
        this.file = file;
    }

    /**
     * The policy with the file's revocations.
     *
     * @param file null = revocations are forgotten at the end; need not exist
     * @throws IOException in one line, if the file cannot be read or has a line that is none
     */
    public static TrustStore open(TrustPolicy policy, @Nullable Path file) throws IOException {
        TrustPolicy whole = policy;
        if (file != null) {
            try {
                if (Files.size(file) > MAX_OCTETS) {
                    throw new IOException("revocations " + file + ": more than " + MAX_OCTETS
                            + " octets; shorten it by what the configuration revokes");
                }
                for (String line : Files.readAllLines(file)) {
                    whole = line.isBlank() ? whole : whole.revoking(line.strip());
                }
            } catch (NoSuchFileException e) {
                return new TrustStore(whole, file);
            } catch (IllegalArgumentException e) {
                throw new IOException("revocations " + file + ": " + e.getMessage(), e);
            }
        }
        return new TrustStore(whole, file);
    }

    @Override
    public TrustPolicy get() {
        return policy;
    }

    /**
     * Revokes from now on.
     *
     * @throws IllegalArgumentException in one line, if it is neither a key id nor a digest
     * @throws IOException if the file cannot be written; it is revoked until the end of the process all the same
     */
    synchronized void revoke(String keyIdOrDigest) throws IOException {
        policy = policy.revoking(keyIdOrDigest);
        if (file != null) {
            byte[] line = (keyIdOrDigest + "\n").getBytes(StandardCharsets.US_ASCII);
            Files.write(file, line, StandardOpenOption.CREATE, StandardOpenOption.APPEND, StandardOpenOption.SYNC);
        }
    }
}
