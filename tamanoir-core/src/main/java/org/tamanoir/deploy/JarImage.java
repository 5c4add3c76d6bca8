package org.tamanoir.deploy;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.zip.CRC32;
import java.util.zip.DataFormatException;
import java.util.zip.Inflater;
import org.jspecify.annotations.Nullable;

/**
 * A jar in memory, still packed, with an index of its entries. What was checked is what is used: the file is read
 * once, and may change or vanish afterwards.
 *
 * <p>Only plain jars are read (PKWARE's APPNOTE 6.3.10, sections 4.3.7, 4.3.12 and 4.3.16): in one piece, nothing in
 * front, stored or deflated, not encrypted, without the 64-bit extension, each name once and the same in its local
 * and its central header, packed data not shared between entries.
 *
 * <pre>
 * local header, packed data    for each entry
 * central header               for each entry, with the offset of its local header
 * end record                   with number of entries, size and offset of the central headers
 * </pre>
 *
 * <p>Thread contract: any thread; immutable.
 */
final class JarImage {
    static final int MAX_ENTRIES = 20_000;

    private static final int MAX_NAME_OCTETS = 1000;
    private static final int LOCAL_SIGNATURE = 0x04034b50;
    private static final int LOCAL_OCTETS = 30;
    private static final int CENTRAL_SIGNATURE = 0x02014b50;
    private static final int CENTRAL_OCTETS = 46;
    private static final int END_SIGNATURE = 0x06054b50;
    private static final int END_OCTETS = 22;
    private static final int MAX_COMMENT_OCTETS = 0xffff;
    private static final int ENCRYPTED = 1;
    private static final int STORED = 0;
    private static final int DEFLATED = 8;
    private static final int BLOCK_OCTETS = 8192;

    /**
     * Where an entry lies.
     *
     * @param crc of its unpacked octets
     */
    record Entry(String name, int offset, int packedOctets, int unpackedOctets, boolean deflated, int crc) {}

    private final byte[] octets;
    private final Map<String, Entry> entries;

    private JarImage(byte[] octets, Map<String, Entry> entries) {
        this.octets = octets;
        this.entries = entries;
    }

    /** The octets of a file; null when it has more than {@code max}. */
    static byte @Nullable [] read(Path file, long max) throws IOException {
        try (InputStream in = Files.newInputStream(file)) {
            if (Files.size(file) > max) {
                return null;
            }
            byte[] octets = in.readNBytes((int) Math.min(max + 1, Integer.MAX_VALUE - 8));
            return octets.length > max ? null : octets;
        }
    }

    /**
     * Reads the index.
     *
     * @param octets not copied, so not to be changed
     * @param label of the jar, for messages
     * @param maxUnpackedOctets the most that the entries may say they unpack to, all together
     * @throws CodeRefusedException {@link Refusal#MALFORMED} or {@link Refusal#TOO_LARGE}
     */
    static JarImage of(byte[] octets, String label, long maxUnpackedOctets) throws CodeRefusedException {
        try {
            return new JarImage(
                    octets, index(ByteBuffer.wrap(octets).order(ByteOrder.LITTLE_ENDIAN), maxUnpackedOctets));
        } catch (TooLarge e) {
            throw new CodeRefusedException(Refusal.TOO_LARGE, label + ": " + e.getMessage());
        } catch (IOException e) {
            throw new CodeRefusedException(
                    Refusal.MALFORMED, label + " is no jar that can be read: " + e.getMessage() + "; pack it again");
        }
    }

    private static Map<String, Entry> index(ByteBuffer jar, long maxUnpackedOctets) throws IOException {
        int end = endRecord(jar);
        int count = unsigned(jar.getShort(end + 10));
        int from = jar.getInt(end + 16);
        int size = jar.getInt(end + 12);
        if (count > MAX_ENTRIES) {
            throw new TooLarge(count + " entries: at most " + MAX_ENTRIES + "; leave some out");
        }
        if (from < 0 || size < 0 || (long) from + size != end || jar.getInt(end + 4) != 0) {
            throw new IOException("its end record does not fit a jar in one piece");
        }
        Map<String, Entry> entries = new LinkedHashMap<>();
        long packed = 0;
        long unpacked = 0;
        int at = from;
        for (int i = 0; i < count; i++) {
            if (end - at < CENTRAL_OCTETS || jar.getInt(at) != CENTRAL_SIGNATURE) {
                throw new IOException("entry " + i + " of " + count + " has no central header");
            }
            unpacked += jar.getInt(at + 24) & 0xffffffffL;
            if (unpacked > maxUnpackedOctets) {
                throw new TooLarge("it unpacks to more than the " + maxUnpackedOctets
                        + " octets of the limit; leave something out, or raise the limit");
            }
            Entry entry = entry(jar, at, from);
            packed += entry.packedOctets();
            if (entries.put(entry.name(), entry) != null) {
                throw new IOException("entry " + OneLine.quoted(entry.name()) + " is there twice");
            }
            at += CENTRAL_OCTETS
                    + unsigned(jar.getShort(at + 28))
                    + unsigned(jar.getShort(at + 30))
                    + unsigned(jar.getShort(at + 32));
        }
        if (at != end || packed > from) {
            throw new IOException("its entries overlap, or not all are listed");
        }
        return entries;
    }

    private static int endRecord(ByteBuffer jar) throws IOException {
        int last = jar.limit() - END_OCTETS;
        for (int at = last; at >= Math.max(0, last - MAX_COMMENT_OCTETS); at--) {
            if (jar.getInt(at) == END_SIGNATURE && unsigned(jar.getShort(at + 20)) == last - at) {
                return at;
            }
        }
        throw new IOException("it has no end record, as of a file that was cut off");
    }

    /** The entry with its central header at {@code at}; local headers and data lie before {@code dataEnd}. */
    private static Entry entry(ByteBuffer jar, int at, int dataEnd) throws IOException {
        int nameOctets = unsigned(jar.getShort(at + 28));
        int method = unsigned(jar.getShort(at + 10));
        int local = jar.getInt(at + 42);
        String name = name(jar, at + CENTRAL_OCTETS, nameOctets);
        if (local < 0 || dataEnd - LOCAL_OCTETS < local || jar.getInt(local) != LOCAL_SIGNATURE) {
            throw new IOException("entry " + OneLine.quoted(name) + " has no local header");
        }
        if ((jar.getShort(at + 8) & ENCRYPTED) != 0 || method != STORED && method != DEFLATED) {
            throw new IOException("entry " + OneLine.quoted(name) + " is encrypted, or packed by method " + method
                    + ": it must be stored or deflated");
        }
        long offset =
                (long) local + LOCAL_OCTETS + unsigned(jar.getShort(local + 26)) + unsigned(jar.getShort(local + 28));
        long packed = jar.getInt(at + 20) & 0xffffffffL;
        long unpacked = jar.getInt(at + 24) & 0xffffffffL;
        if (offset + packed > dataEnd || unpacked > Integer.MAX_VALUE - 8 || method == STORED && packed != unpacked) {
            throw new IOException("entry " + OneLine.quoted(name) + " has sizes that do not fit the file");
        }
        if (unsigned(jar.getShort(local + 26)) != nameOctets
                || !name.equals(name(jar, local + LOCAL_OCTETS, nameOctets))) {
            throw new IOException("entry " + OneLine.quoted(name) + " has another name in its local header");
        }
        return new Entry(name, (int) offset, (int) packed, (int) unpacked, method == DEFLATED, jar.getInt(at + 16));
    }

    private static String name(ByteBuffer jar, int at, int octets) throws IOException {
        if (octets > MAX_NAME_OCTETS || jar.limit() - at < octets) {
            throw new IOException("an entry's name has " + octets + " octets: at most " + MAX_NAME_OCTETS);
        }
        String name;
        try {
            name = StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(jar.slice(at, octets))
                    .toString();
        } catch (CharacterCodingException e) {
            throw new IOException("an entry's name is no UTF-8 text", e);
        }
        for (String part : (name.endsWith("/") ? name + "x" : name).split("/", -1)) {
            boolean up = part.isEmpty() || part.equals(".") || part.equals("..");
            if (up || part.indexOf('\\') >= 0 || !part.codePoints().allMatch(OneLine::isShown)) {
                throw new IOException(
                        "entry " + OneLine.quoted(name) + ": the name must be a plain path inside the jar");
            }
        }
        return name;
    }

    private static int unsigned(short number) {
        return Short.toUnsignedInt(number);
    }

    /** All entries by name, folders too, in the order of the jar. */
    Map<String, Entry> entries() {
        return Collections.unmodifiableMap(entries);
    }

    /** The unpacked octets of an entry; null when there is none of this name. */
    byte @Nullable [] unpack(String name) throws IOException {
        Entry entry = entries.get(name);
        if (entry == null) {
            return null;
        }
        // A claim of gigabytes costs no memory before the octets are there.
        ByteArrayOutputStream out =
                new ByteArrayOutputStream((int) Math.min(entry.unpackedOctets(), 16L * (entry.packedOctets() + 1)));
        unpack(entry, out);
        return out.toByteArray();
    }

    /**
     * Unpacks an entry, never more than it says it has, and checks its size and its checksum.
     *
     * @throws TooLarge if there is more
     */
    void unpack(Entry entry, OutputStream to) throws IOException {
        CRC32 crc = new CRC32();
        if (entry.deflated()) {
            inflate(entry, to, crc);
        } else {
            crc.update(octets, entry.offset(), entry.packedOctets());
            to.write(octets, entry.offset(), entry.packedOctets());
        }
        if ((int) crc.getValue() != entry.crc()) {
            throw new IOException("entry " + OneLine.quoted(entry.name()) + " is damaged");
        }
    }

    private void inflate(Entry entry, OutputStream to, CRC32 crc) throws IOException {
        Inflater inflater = new Inflater(true);
        try {
            inflater.setInput(octets, entry.offset(), entry.packedOctets());
            byte[] block = new byte[BLOCK_OCTETS];
            long total = 0;
            while (!inflater.finished()) {
                int length = inflater.inflate(block);
                total += length;
                if (total > entry.unpackedOctets()) {
                    throw new TooLarge("entry " + OneLine.quoted(entry.name()) + " unpacks to more than the "
                            + entry.unpackedOctets() + " octets that it says it has");
                }
                if (length == 0 && !inflater.finished()) {
                    break; // It wants more input, or a dictionary, than there is.
                }
                crc.update(block, 0, length);
                to.write(block, 0, length);
            }
            if (total != entry.unpackedOctets()) {
                throw new IOException("entry " + OneLine.quoted(entry.name()) + " unpacks to " + total
                        + " octets and says it has " + entry.unpackedOctets());
            }
        } catch (DataFormatException e) {
            throw new IOException("entry " + OneLine.quoted(entry.name()) + " is damaged", e);
        } finally {
            inflater.end();
        }
    }

    /** More than a bound. */
    static final class TooLarge extends IOException {
        private static final long serialVersionUID = 1L;

        TooLarge(String line) {
            super(line);
        }
    }
}
