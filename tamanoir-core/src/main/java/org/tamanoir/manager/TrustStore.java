package org.tamanoir.manager;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.deploy.SmallFile;
import org.tamanoir.deploy.TrustPolicy;
import org.tamanoir.platform.Causes;

/**
 * The trust policy in force: the operator's, and what was revoked while the node ran, which a file keeps over
 * restarts, one key id or jar digest a line. Processes may share the file, as while one takes the place of another: each
 * adds to it under a lock, and reads it again when it has changed.
 *
 * <p>It errs on the side of refusing: what is revoked is in force at once and stays so to the end of the process,
 * whether or not it can be written; of a file that is damaged all that can be read is in force.
 *
 * <p>Thread contract: any thread.
 */
public final class TrustStore implements Supplier<TrustPolicy> {
    private static final Logger LOG = LoggerFactory.getLogger(TrustStore.class);
    /** More than a node can need. */
    private static final int MAX_REVOCATIONS = 16_000;
    /** Room for that many digests. */
    private static final int MAX_BYTES = 1 << 20;

    /** For another process that writes the file. */
    private static final Duration LOCK_PATIENCE = Duration.ofSeconds(5);

    private static final int LOCK_LOOK_MS = 10;

    private static final int KEY_DIGITS = 16;
    private static final int DIGEST_DIGITS = 64;
    /** NUL: what some file systems show for bytes that a crash kept from the disk. */
    private static final Pattern LINE_END = Pattern.compile("[\\r\\n\\x00]+");

    private static final Pattern DIGITS = Pattern.compile("[0-9a-f]{16,}");

    private final @Nullable Path file;
    private volatile TrustPolicy policy;
    /** Revoked by others than the operator's policy. Guarded by the lock. */
    private final Set<String> revoked;
    /** Of the file, when it was read. Guarded by the lock. */
    private @Nullable String lastState;
    /** Revoked and not in the file. Guarded by the lock, as is the file. */
    private final Set<String> unwritten = new LinkedHashSet<>();

    private TrustStore(TrustPolicy policy, Set<String> revoked, @Nullable Path file) {
        this.policy = policy.revoking(revoked);
        this.revoked = revoked;
        this.file = file;
    }

    /**
     * Returns the policy with the file's revocations. A line that is none is said in the log and left where it is.
     *
     * @param file null = revocations are forgotten at the end; need not exist
     * @throws IOException in one line, if the file is there and cannot be read or is too long: what it revokes is not
     *     known
     */
    public static TrustStore open(TrustPolicy policy, @Nullable Path file) throws IOException {
        if (file == null) {
            return new TrustStore(policy, new LinkedHashSet<>(), null);
        }
        TrustStore store = new TrustStore(policy, new LinkedHashSet<>(), file);
        store.readAgain();
        return store;
    }

    /**
     * Puts what other processes have written into the file meanwhile in force; a look at the file's date, if they have
     * not.
     *
     * @return whether there was anything new
     * @throws IOException as {@link #open}
     */
    synchronized boolean readAgain() throws IOException {
        if (file == null) {
            return false;
        }
        String state = state(file);
        if (state.equals(lastState)) {
            return false;
        }
        boolean isNew = revoked.addAll(revocations(file));
        lastState = state;
        policy = policy.revoking(revoked);
        return isNew;
    }

    /** Returns what is another string when a file was replaced or written. */
    private static String state(Path file) throws IOException {
        try {
            BasicFileAttributes now = Files.readAttributes(file, BasicFileAttributes.class);
            return now.fileKey() + " " + now.lastModifiedTime() + " " + now.size();
        } catch (NoSuchFileException e) {
            return "";
        } catch (AccessDeniedException e) {
            throw new IOException(
                    "revocations " + file + ": no permission to read them; give a folder with --cache that can be had",
                    e);
        }
    }

    private static Set<String> revocations(Path file) throws IOException {
        Set<String> revoked = new LinkedHashSet<>();
        List<String> unreadable = new ArrayList<>();
        for (String line : lines(read(file))) {
            if (!revocation(line, revoked)) {
                unreadable.add(line);
            }
        }
        if (!unreadable.isEmpty()) {
            String first = unreadable.get(0).replaceAll("[^ -~]", "?");
            LOG.warn(
                    "revocations {}: {} lines are neither a key id of {} hexadecimal digits nor a jar's SHA-256 of {}, "
                            + "the first is '{}'; {} revocations are read and in force: correct or remove those lines",
                    file,
                    unreadable.size(),
                    KEY_DIGITS,
                    DIGEST_DIGITS,
                    first.substring(0, Math.min(first.length(), 2 * DIGEST_DIGITS)),
                    revoked.size());
        }
        return revoked;
    }

    /**
     * Adds what a line revokes; false when the line is not as it should be. What looks like a digest or a key id in
     * such a line counts all the same. A line without its end and the next one behind it make a run of a wrong length,
     * whose last digits are the later one. That may revoke what nobody has, and leaves out nothing that was written
     * whole.
     */
    private static boolean revocation(String line, Set<String> revoked) {
        String text = line.strip().toLowerCase(Locale.ROOT);
        Matcher run = DIGITS.matcher(text);
        boolean whole = false;
        while (run.find()) {
            String digits = run.group();
            int length = digits.length();
            if (length >= DIGEST_DIGITS) {
                revoked.add(digits.substring(length - DIGEST_DIGITS));
            }
            if (length != DIGEST_DIGITS) {
                revoked.add(digits.substring(length - KEY_DIGITS));
            }
            whole = length == text.length() && (length == KEY_DIGITS || length == DIGEST_DIGITS);
        }
        return whole;
    }

    private static byte[] read(Path file) throws IOException {
        try {
            return SmallFile.read(file, MAX_BYTES);
        } catch (SmallFile.TooLargeException e) {
            throw new IOException(
                    "revocations " + file + ": more than " + MAX_BYTES
                            + " bytes; shorten it by what the configuration revokes",
                    e);
        } catch (NoSuchFileException e) {
            return new byte[0];
        }
    }

    /** Returns the lines of a file; bytes that are no text are kept as they are. */
    private static List<String> lines(byte[] bytes) {
        return LINE_END.splitAsStream(new String(bytes, StandardCharsets.ISO_8859_1))
                .filter(line -> !line.isBlank())
                .toList();
    }

    @Override
    public TrustPolicy get() {
        return policy;
    }

    /**
     * Revokes from now on, until the process ends; {@link #keep} makes it outlast that.
     *
     * @throws IllegalArgumentException in one line, if it is neither a key id nor a digest, or too many are revoked
     */
    synchronized void revoke(String keyIdOrDigest) {
        TrustPolicy stricter = policy.revoking(keyIdOrDigest);
        if (stricter.revocations() > Math.max(MAX_REVOCATIONS, policy.revocations())) {
            throw new IllegalArgumentException("cannot revoke " + keyIdOrDigest + ": " + policy.revocations()
                    + " keys and digests are revoked, the limit is " + MAX_REVOCATIONS
                    + "; revoke a publisher's key in place of its jars, or take old ones from "
                    + (file == null ? "the configuration" : file + " and start the node again"));
        }
        policy = stricter;
        revoked.add(keyIdOrDigest.toLowerCase(Locale.ROOT));
        unwritten.add(keyIdOrDigest.toLowerCase(Locale.ROOT));
    }

    /** Puts another policy of the operator in place; what the file or {@link #revoke} revoked stays so. */
    synchronized void replace(TrustPolicy operators) {
        policy = operators.revoking(revoked);
    }

    /**
     * Writes what was revoked, also what could not be written before. Lines that others put into the file stay.
     *
     * @throws IOException in one line, if it cannot be written; the next call tries again
     */
    synchronized void keep() throws IOException {
        if (file == null) {
            return;
        }
        try {
            FileChannel lock = lock(file);
            try {
                write(file);
            } finally {
                lock.close();
            }
        } catch (IOException e) {
            throw new IOException("revocations " + file + " cannot be written: " + Causes.text(e), e);
        }
    }

    /** Returns a lock on the file's changes, which closing frees: another process may read and replace it too. */
    private static FileChannel lock(Path file) throws IOException {
        Path beside = file.resolveSibling(file.getFileName() + ".lock");
        FileChannel channel = FileChannel.open(beside, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        try {
            for (long untilNs = System.nanoTime() + LOCK_PATIENCE.toNanos(); ; ) {
                if (hasLocked(channel)) {
                    return channel;
                }
                if (System.nanoTime() - untilNs > 0) {
                    throw new IOException(beside + " has been locked by another process for "
                            + LOCK_PATIENCE.toSeconds() + " s: end it, or try again");
                }
                TimeUnit.MILLISECONDS.sleep(LOCK_LOOK_MS);
            }
        } catch (InterruptedException e) {
            channel.close();
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        } catch (IOException e) {
            channel.close();
            throw e;
        }
    }

    private static boolean hasLocked(FileChannel channel) throws IOException {
        try {
            return channel.tryLock() != null;
        } catch (OverlappingFileLockException e) {
            return false; // Another store of this process has it.
        }
    }

    private void write(Path file) throws IOException {
        Collection<String> lines = new ArrayList<>(lines(read(file)));
        Set<String> there = new HashSet<>(lines);
        unwritten.stream().filter(each -> !there.contains(each)).forEach(lines::add);
        byte[] bytes = (String.join("\n", lines) + "\n").getBytes(StandardCharsets.ISO_8859_1);
        if (bytes.length > MAX_BYTES) {
            throw new IOException("it would have more than " + MAX_BYTES + " bytes");
        }
        SmallFile.replace(file, bytes);
        unwritten.clear();
    }
}
