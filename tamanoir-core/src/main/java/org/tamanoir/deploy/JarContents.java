package org.tamanoir.deploy;

import com.google.common.io.ByteStreams;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.regex.Pattern;
import java.util.zip.CRC32;
import java.util.zip.ZipFile;
import org.jspecify.annotations.Nullable;
import org.tamanoir.platform.Causes;

/**
 * The entries of a jar, unpacked in memory, as Java itself reads them ({@link JarFile}): by the central directory, and by
 * {@code META-INF/versions} where the manifest says {@code Multi-Release}. What was verified is what runs: the file is read
 * once, and may change or vanish afterwards. Sizes that a jar claims are not believed, what it really unpacks to is counted.
 *
 * <p>Thread contract: any thread; immutable.
 *
 * @param entries unpacked bytes by name, folders included, in the jar's order; not to be changed
 */
record JarContents(Map<String, byte[]> entries) {
    static final int MAX_ENTRIES = 20_000;
    static final int MAX_MANIFEST_BYTES = 256 * 1024;
    /** What an array can have. */
    private static final int MAX_ENTRY_BYTES = Integer.MAX_VALUE - 8;

    /** Names that lead out of the folder that a jar is unpacked in, or that no class or resource can be asked for by. */
    private static final Pattern STRANGE =
            Pattern.compile("/.*|.*[\\\\\\p{Cntrl}].*|(.*/)?\\.{1,2}(/.*)?", Pattern.DOTALL);

    /**
     * Unpacks a jar. Counts first what it unpacks to, so that no memory is taken before it is known how much.
     *
     * @param label of the jar, for messages
     * @param maxUnpackedBytes the most that all entries together may unpack to, with their names
     * @param memory what they are taken of
     * @throws CodeRefusedException {@link Refusal#MALFORMED} or {@link Refusal#TOO_LARGE}
     * @throws LocalException if there is no room where jars are read; another node may have it
     */
    static JarContents of(byte[] jar, String label, long maxUnpackedBytes, JarMemory memory)
            throws CodeRefusedException, LocalException {
        // Java reads jars from files alone; this one is its owner's, and gone when it was read.
        Path folder = CodeCache.temporaryFolder();
        @Nullable Path copy = null;
        try {
            copy = Files.createTempFile(folder, "tamanoir-", ".jar");
            Files.write(copy, jar);
        } catch (IOException e) {
            delete(copy);
            throw new LocalException(
                    label + ": there is no room for " + jar.length + " bytes in " + folder + ", where jars are read: "
                            + Causes.text(e) + "; give this program another folder (-Djava.io.tmpdir)",
                    e);
        }
        try (JarFile file = new JarFile(copy.toFile(), false, ZipFile.OPEN_READ, JarFile.runtimeVersion())) {
            return unpacked(file, label, maxUnpackedBytes, memory);
        } catch (IOException | RuntimeException e) { // The latter of a name that is no UTF-8 text, for instance.
            String why = e.getMessage();
            throw malformed(label, why != null ? why : "it is cut off or damaged (" + e + ")");
        } finally {
            delete(copy);
        }
    }

    private static void delete(@Nullable Path file) {
        if (file != null) {
            File gone = file.toFile();
            if (!gone.delete()) {
                gone.deleteOnExit();
            }
        }
    }

    private static JarContents unpacked(JarFile file, String label, long maxUnpackedBytes, JarMemory memory)
            throws IOException, CodeRefusedException {
        if (file.size() == 0) {
            throw malformed(label, "it has no entries");
        }
        if (file.size() > MAX_ENTRIES) {
            throw new CodeRefusedException(
                    Refusal.TOO_LARGE,
                    label + ": " + file.size() + " entries, more than " + MAX_ENTRIES + "; leave some out");
        }
        List<JarEntry> all = Collections.list(file.entries());
        List<Integer> sizes = sizes(file, all, label, maxUnpackedBytes);
        memory.take(sizes.stream().mapToLong(each -> each).sum(), label, "what it unpacks to");
        Map<String, byte[]> entries = new LinkedHashMap<>();
        boolean hasManifest = false;
        for (int i = 0; i < all.size(); i++) {
            JarEntry entry = all.get(i);
            String name = entry.getName();
            String shown = "entry " + OneLine.quoted(name);
            if (STRANGE.matcher(name).matches()) {
                throw malformed(
                        label,
                        shown + " has a name that is absolute, or has a '.' or '..', a '\\' or a control"
                                + " character in it");
            }
            byte[] unpacked = new byte[sizes.get(i)];
            try (InputStream in = file.getInputStream(entry)) {
                in.readNBytes(unpacked, 0, unpacked.length);
            }
            CRC32 checksum = new CRC32();
            checksum.update(unpacked);
            if (unpacked.length != entry.getSize() || checksum.getValue() != entry.getCrc()) {
                throw malformed(
                        label,
                        shown + " unpacks to " + unpacked.length + " bytes with the checksum "
                                + Long.toHexString(checksum.getValue()) + ", and is said to have " + entry.getSize()
                                + " with "
                                + Long.toHexString(entry.getCrc()));
            }
            if (entries.put(name, unpacked) != null) {
                throw malformed(label, shown + " is there twice");
            }
            if (isManifest(name)) {
                if (hasManifest) {
                    throw malformed(label, "it has " + JarFile.MANIFEST_NAME + " twice, in letters of other case");
                }
                hasManifest = true;
                if (unpacked.length > MAX_MANIFEST_BYTES) {
                    throw new CodeRefusedException(
                            Refusal.TOO_LARGE,
                            label + ": " + JarFile.MANIFEST_NAME + " has more than " + MAX_MANIFEST_BYTES
                                    + " bytes; make it smaller");
                }
            }
        }
        if (file.isMultiRelease()) {
            Map<String, byte[]> raw = Map.copyOf(entries);
            file.versionedStream()
                    .filter(entry -> !entry.getRealName().equals(entry.getName()))
                    .forEach(entry -> entries.put(entry.getName(), raw.get(entry.getRealName())));
        }
        return new JarContents(Collections.unmodifiableMap(entries));
    }

    /** Java finds it whatever the case of its letters. */
    private static boolean isManifest(String name) {
        return name.equalsIgnoreCase(JarFile.MANIFEST_NAME);
    }

    /** Returns the manifest; empty = there is none. */
    byte[] manifest() {
        return entries.entrySet().stream()
                .filter(entry -> isManifest(entry.getKey()))
                .findFirst()
                .map(Map.Entry::getValue)
                .orElse(new byte[0]);
    }

    /** Returns what each entry unpacks to. */
    private static List<Integer> sizes(JarFile file, List<JarEntry> entries, String label, long maxUnpackedBytes)
            throws IOException, CodeRefusedException {
        List<Integer> sizes = new ArrayList<>(entries.size());
        long bytesLeft = maxUnpackedBytes;
        for (JarEntry entry : entries) {
            bytesLeft -= entry.getName().length();
            long size;
            try (InputStream in = file.getInputStream(entry)) {
                size = ByteStreams.exhaust(ByteStreams.limit(in, Math.max(0, bytesLeft) + 1));
            }
            bytesLeft -= size;
            if (bytesLeft < 0 || size > MAX_ENTRY_BYTES) {
                throw new CodeRefusedException(
                        Refusal.TOO_LARGE,
                        label + ": it unpacks to more than the " + Math.min(maxUnpackedBytes, MAX_ENTRY_BYTES)
                                + " bytes of the limit; leave something out, or raise the limit");
            }
            sizes.add((int) size);
        }
        return sizes;
    }

    /** Returns the size of the largest class file. */
    int largestClassBytes() {
        return entries.entrySet().stream()
                .filter(entry -> ServiceJar.isClass(entry.getKey()))
                .mapToInt(entry -> entry.getValue().length)
                .max()
                .orElse(0);
    }

    private static CodeRefusedException malformed(String label, String why) {
        return new CodeRefusedException(
                Refusal.MALFORMED, label + " is no jar that Java reads: " + why + "; pack it again (jar cf)");
    }
}
