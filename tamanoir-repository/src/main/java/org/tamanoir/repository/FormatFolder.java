package org.tamanoir.repository;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.deploy.CodeRefusedException;
import org.tamanoir.deploy.FormatFile;
import org.tamanoir.deploy.Signature;
import org.tamanoir.deploy.SmallFile;
import org.tamanoir.format.Format;
import org.tamanoir.format.FormatException;
import org.tamanoir.format.FormatId;
import org.tamanoir.format.FormatLimits;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

/**
 * The formats of a repository, as files beside its services:
 *
 * <pre>
 * formats.json               every format
 * formats/&lt;24 hex digits&gt;     a description; its name is its identifier
 * formats/&lt;24 hex digits&gt;.sig its signature, if it has one
 * </pre>
 *
 * <p>Neither changes once it is there. A signature comes before its description, so that whoever sees the one can have
 * the other; one may be added later.
 *
 * <p>Thread contract: any thread; calls block on the disk.
 */
final class FormatFolder implements FormatShelf {
    /** What a repository holds at most; an entry of the list has below 300 bytes. */
    static final int MAX_FORMATS = 4_096;

    private static final long MAX_BYTES = 256L << 20;
    /** The longest list that is read. */
    static final int MAX_LIST_BYTES = 4 << 20;

    static final String LIST = "formats.json";
    private static final String FOLDER = "formats";
    private static final int MAX_NAME = 100;
    private static final Pattern PATH = Pattern.compile(FOLDER + "/([0-9a-f]{24})(\\.sig)?");
    private static final String BINARY = "application/octet-stream";
    private static final JsonMapper JSON = new JsonMapper();
    private static final Logger LOG = LoggerFactory.getLogger(FormatFolder.class);

    /**
     * A format of the list.
     *
     * @param name of its top structure, the first 100 characters
     * @param publisher key id of who signed it; null = nobody
     */
    record Entry(
            String id, String name, int bytes, @Nullable String publisher) {}

    /** The file {@code formats.json}. */
    record Listing(int format, List<Entry> formats) {
        /** @throws IOException in one line */
        static Listing decode(byte[] bytes) throws IOException {
            try {
                Listing listing = JSON.readValue(bytes, Listing.class);
                if (listing.format == 1 && listing.formats.size() <= MAX_FORMATS) {
                    return listing;
                }
            } catch (JacksonException | NullPointerException e) {
                throw new IOException("no list of formats of a repository", e);
            }
            throw new IOException("no list of formats of format 1 with at most " + MAX_FORMATS);
        }
    }

    private final Path root;
    private final Supplier<Path> newStagingPath;
    private final SortedMap<String, Entry> entries = new TreeMap<>();
    private long bytes;
    /** Null while there are none. */
    private volatile @Nullable TreeFile list;

    /** Reads what is there. What is no format is reported, left out and left alone. */
    FormatFolder(Path root, Supplier<Path> newStagingPath) throws IOException {
        this.root = root;
        this.newStagingPath = newStagingPath;
        Path folder = root.resolve(FOLDER);
        if (!Disk.isFolder(folder)) {
            Files.createDirectory(folder);
        }
        for (Path file : Disk.list(folder)) {
            String name = file.getFileName().toString();
            if (!name.endsWith(".sig") && entries.size() < MAX_FORMATS) {
                scan(file, name);
            }
        }
        list = writeList();
    }

    private void scan(Path file, String name) throws IOException {
        try {
            Format format = Format.of(FormatId.parse(name), Disk.read(file, FormatLimits.DESCRIPTION_BYTES));
            put(format, format.description().length, signer(format.id()));
        } catch (IOException | FormatException | CodeRefusedException e) {
            LOG.warn("{}: is no format and is not served; remove it: {}", file, e.getMessage());
        }
    }

    private @Nullable String signer(FormatId id) throws IOException, CodeRefusedException {
        Path file = signatureFile(id);
        return Disk.isFile(file)
                ? Signature.decode(Disk.read(file, Signature.MAX_BYTES)).keyId()
                : null;
    }

    private Path descriptionFile(FormatId id) {
        return root.resolve(FormatFile.path(id));
    }

    private Path signatureFile(FormatId id) {
        return root.resolve(FormatFile.path(id) + ".sig");
    }

    private void put(Format format, int length, @Nullable String publisher) {
        String name = format.name();
        Entry entry = new Entry(
                format.id().toString(), name.substring(0, Math.min(MAX_NAME, name.length())), length, publisher);
        Entry before = entries.put(entry.id(), entry);
        bytes += before == null ? length : 0;
    }

    /** Returns all formats, by identifier. */
    synchronized Collection<Entry> entries() {
        return List.copyOf(entries.values());
    }

    @Override
    public byte @Nullable [] description(FormatId id) throws IOException {
        TreeFile file = file(FormatFile.path(id));
        return file == null ? null : file.bytes();
    }

    @Override
    public void add(Format format) throws IOException, ConflictException {
        try {
            publish(format, null);
        } catch (CodeRefusedException e) {
            throw new IllegalStateException("there is no signature to refuse", e);
        }
    }

    /**
     * Publishes a format. Whether the publisher may is the caller's to have decided.
     *
     * @param signature the signature file; null = none
     * @throws ConflictException if the identifier stands for another description here
     * @throws CodeRefusedException if the signature is no signature
     */
    synchronized RepositoryTree.Outcome publish(Format format, byte @Nullable [] signature)
            throws IOException, ConflictException, CodeRefusedException {
        String publisher =
                signature == null ? null : Signature.decode(signature).keyId();
        byte[] description = format.description();
        Entry here = entries.get(format.id().toString());
        if (here != null) {
            if (!Arrays.equals(Disk.read(descriptionFile(format.id()), FormatLimits.DESCRIPTION_BYTES), description)) {
                throw new ConflictException("format " + format.id() + " stands for another description here: one of "
                        + "both was made to have this identifier; find out which, and remove the file");
            }
            if (signature == null || here.publisher() != null) {
                return RepositoryTree.Outcome.SAME;
            }
        } else if (entries.size() >= MAX_FORMATS || bytes + description.length > MAX_BYTES) {
            throw new IOException("the repository is full: it holds " + MAX_FORMATS + " formats and " + MAX_BYTES
                    + " bytes of them at most");
        }
        if (signature != null) {
            write(signatureFile(format.id()), signature);
        }
        if (here == null) {
            write(descriptionFile(format.id()), description);
        }
        put(format, description.length, publisher);
        list = writeList();
        return RepositoryTree.Outcome.CREATED;
    }

    private void write(Path file, byte[] content) throws IOException {
        Path made = newStagingPath.get();
        try {
            SmallFile.create(made, content);
            Disk.rename(made, file);
        } finally {
            Files.deleteIfExists(made);
        }
    }

    private @Nullable TreeFile writeList() throws IOException {
        if (entries.isEmpty()) {
            return null;
        }
        byte[] content = JSON.writeValueAsBytes(new Listing(1, List.copyOf(entries.values())));
        TreeFile made = TreeFile.of(root.resolve(LIST), content, false, TreeFile.JSON);
        if (!Disk.isFile(made.file()) || !Arrays.equals(Files.readAllBytes(made.file()), content)) {
            write(made.file(), content);
        }
        return made;
    }

    /** Returns a file as it is served; null for all that is none. */
    @Nullable
    TreeFile file(String path) throws IOException {
        if (path.equals(LIST)) {
            return list;
        }
        Matcher named = PATH.matcher(path);
        if (!named.matches() || !isHere(named.group(1))) {
            return null;
        }
        Path file = root.resolve(path);
        if (!Disk.isFile(file) || !file.toRealPath().equals(file)) {
            return null;
        }
        // A signature may come later, so it is asked for again.
        return named.group(2) == null
                ? TreeFile.of(file, Disk.read(file, FormatLimits.DESCRIPTION_BYTES), true, BINARY)
                : TreeFile.of(file, Disk.read(file, Signature.MAX_BYTES), false, TreeFile.TEXT);
    }

    private synchronized boolean isHere(String id) {
        return entries.containsKey(id);
    }
}
