package org.tamanoir.deploy;

import com.google.common.io.ByteStreams;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;

/**
 * The entries of a jar, unpacked in memory. What was verified is what runs: the file is read once, and may change or
 * vanish afterwards. Sizes that a jar claims are not believed, what it really unpacks to is counted.
 *
 * <p>Thread contract: any thread; immutable.
 *
 * @param entries unpacked bytes by name, folders included; not to be changed
 */
record JarContents(Map<String, byte[]> entries) {
    static final int MAX_ENTRIES = 20_000;
    /** What an array can have. */
    private static final int MAX_ENTRY_BYTES = Integer.MAX_VALUE - 8;

    /**
     * Unpacks a jar. Counts first what it unpacks to, so that no memory is taken before it is known how much.
     *
     * @param label of the jar, for messages
     * @param maxUnpackedBytes the most that all entries together may unpack to, with their names
     * @param memory what they are taken of
     * @throws CodeRefusedException {@link Refusal#MALFORMED} or {@link Refusal#TOO_LARGE}
     */
    static JarContents of(byte[] jar, String label, long maxUnpackedBytes, JarMemory memory)
            throws CodeRefusedException {
        Map<String, byte[]> entries = new HashMap<>();
        try {
            List<Integer> sizes = sizes(jar, label, maxUnpackedBytes);
            memory.take(sizes.stream().mapToLong(each -> each).sum(), label, "what it unpacks to");
            try (ZipInputStream zip = open(jar)) {
                for (int size : sizes) {
                    String name = Objects.requireNonNull(zip.getNextEntry()).getName();
                    byte[] unpacked = new byte[size];
                    zip.readNBytes(unpacked, 0, size);
                    if (entries.put(name, unpacked) != null) {
                        throw new IOException("entry " + OneLine.quoted(name) + " is there twice");
                    }
                }
            }
        } catch (IOException | RuntimeException e) { // The latter of a name that is no UTF-8 text, for instance.
            throw malformed(label, String.valueOf(e.getMessage()));
        }
        if (entries.isEmpty()) {
            throw malformed(label, "it has no entries");
        }
        return new JarContents(Collections.unmodifiableMap(entries));
    }

    private static ZipInputStream open(byte[] jar) {
        return new ZipInputStream(new ByteArrayInputStream(jar));
    }

    /** Returns what each entry unpacks to. */
    private static List<Integer> sizes(byte[] jar, String label, long maxUnpackedBytes)
            throws IOException, CodeRefusedException {
        List<Integer> sizes = new ArrayList<>();
        long bytesLeft = maxUnpackedBytes;
        try (ZipInputStream zip = open(jar)) {
            for (ZipEntry entry = zip.getNextEntry(); entry != null; entry = zip.getNextEntry()) {
                bytesLeft -= entry.getName().length();
                long size = ByteStreams.exhaust(ByteStreams.limit(zip, Math.max(0, bytesLeft) + 1));
                bytesLeft -= size;
                if (bytesLeft < 0 || size > MAX_ENTRY_BYTES) {
                    throw new CodeRefusedException(
                            Refusal.TOO_LARGE,
                            label + ": it unpacks to more than the " + Math.min(maxUnpackedBytes, MAX_ENTRY_BYTES)
                                    + " bytes of the limit; leave something out, or raise the limit");
                }
                sizes.add((int) size);
                if (sizes.size() > MAX_ENTRIES) {
                    throw new CodeRefusedException(
                            Refusal.TOO_LARGE, label + ": more than " + MAX_ENTRIES + " entries; leave some out");
                }
            }
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
                Refusal.MALFORMED, label + " is no jar that can be read: " + why + "; pack it again");
    }
}
