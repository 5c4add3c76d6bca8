package org.tamanoir.deploy;

import com.google.common.io.ByteStreams;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
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

    /**
     * Unpacks a jar.
     *
     * @param label of the jar, for messages
     * @param maxUnpackedBytes the most that all entries together may unpack to
     * @throws CodeRefusedException {@link Refusal#MALFORMED} or {@link Refusal#TOO_LARGE}
     */
    static JarContents of(byte[] jar, String label, long maxUnpackedBytes) throws CodeRefusedException {
        Map<String, byte[]> entries = new HashMap<>();
        long bytesLeft = maxUnpackedBytes;
        try (ZipInputStream zip = new ZipInputStream(new ByteArrayInputStream(jar))) {
            for (ZipEntry entry = zip.getNextEntry(); entry != null; entry = zip.getNextEntry()) {
                byte[] unpacked = ByteStreams.toByteArray(ByteStreams.limit(zip, bytesLeft + 1));
                bytesLeft -= unpacked.length;
                if (bytesLeft < 0) {
                    throw new CodeRefusedException(
                            Refusal.TOO_LARGE,
                            label + ": it unpacks to more than the " + maxUnpackedBytes
                                    + " bytes of the limit; leave something out, or raise the limit");
                }
                if (entries.put(entry.getName(), unpacked) != null) {
                    throw new IOException("entry " + OneLine.quoted(entry.getName()) + " is there twice");
                }
                if (entries.size() > MAX_ENTRIES) {
                    throw new CodeRefusedException(
                            Refusal.TOO_LARGE, label + ": more than " + MAX_ENTRIES + " entries; leave some out");
                }
            }
        } catch (IOException | IllegalArgumentException e) { // The latter of a name that is no UTF-8 text.
            throw malformed(label, String.valueOf(e.getMessage()));
        }
        if (entries.isEmpty()) {
            throw malformed(label, "it has no entries");
        }
        return new JarContents(Collections.unmodifiableMap(entries));
    }

    private static CodeRefusedException malformed(String label, String why) {
        return new CodeRefusedException(
                Refusal.MALFORMED, label + " is no jar that can be read: " + why + "; pack it again");
    }
}
