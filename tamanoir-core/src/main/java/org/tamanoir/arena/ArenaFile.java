package org.tamanoir.arena;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.HexFormat;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * A file that the slots of an {@link Arena} stand in, for other processes to map and read. Numbers have the byte order of
 * the node's processor; what is not drawn is 0:
 *
 * <pre>
 *   0  magic "TMNARENA"                              8 octets
 *   8  byte order: 0x01020304                        int
 *  12  version of this layout: 1                     int
 *  16  octets of this header, H                      int
 *  20  octets of a slot, S                           int
 *  24  slots, N                                      int
 *  32  process of the node; 0 when it has ended      long
 *  40  start of that process, ms since 1970; 0 = unknown    long
 *  48  the same in ticks since the boot, field 22 of /proc/PID/stat; 0 = unknown    long
 *
 *  H + i S, for i from 0 to N - 1:
 *   0  change: one more when the label begins to change, odd then, and one more when it has changed    int
 *   4  kind, by the place in SlotKind; 0 = free      int
 *   8  i of the slot of its scheduling point; -1 when that has none; a point's own for a point         int
 *  12  octets of the name, 0 to 112                  int
 *  16  name in UTF-8                                 112 octets
 * 128  numbers, by the places in Fields              16 longs
 * </pre>
 *
 * A reader takes what it has read of a slot for what the label says if its change was even, and is the same afterwards.
 *
 * <p>The file is whole when it appears under its name, and never becomes shorter: who has mapped it keeps what it has. It is
 * written once with all its octets, so that a file system without room says so here and not by a signal later.
 *
 * <p>Thread contract: one thread.
 */
public final class ArenaFile implements AutoCloseable {
    static final byte[] MAGIC = "TMNARENA".getBytes(StandardCharsets.US_ASCII);
    static final int ORDER = 8;
    static final int ORDER_MARK = 0x01020304;
    static final int VERSION = 12;
    static final int CURRENT = 1;
    static final int HEADER_BYTES = 16;
    static final int SLOT_BYTES = 20;
    static final int SLOT_COUNT = 24;
    static final int PROCESS = 32;
    static final int START_MS = 40;
    static final int START_TICKS = 48;
    static final int HEADER = 128;
    static final int BYTES = HEADER + Arena.SLOTS * Slot.BYTES;

    private static final Set<StandardOpenOption> CREATE =
            Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.READ, StandardOpenOption.WRITE);

    private final Path file;
    private final Object key;
    private final ByteBuffer all;

    private ArenaFile(Path file, Object key, ByteBuffer all) {
        this.file = file;
        this.key = key;
        this.all = all;
    }

    /**
     * Makes the file, in place of one that a node has left which runs no more. Whoever may enter its folder may read it.
     *
     * @throws IOException in one line, if it cannot be made, or something else has that name
     */
    public static ArenaFile create(Path file) throws IOException {
        Object left = requireFree(file);
        Path temporary = hidden(file);
        try (FileChannel channel = FileChannel.open(
                temporary,
                CREATE,
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")))) {
            try {
                ByteBuffer content = header();
                while (content.hasRemaining()) {
                    channel.write(content);
                }
                ByteBuffer all = channel.map(MapMode.READ_WRITE, 0, BYTES).order(ByteOrder.nativeOrder());
                Files.setPosixFilePermissions(temporary, PosixFilePermissions.fromString("rw-r--r--"));
                if (left != null) {
                    remove(file, left);
                }
                Files.createLink(file, temporary); // Of two nodes that begin at once one comes first.
                return new ArenaFile(file, key(temporary), all);
            } finally {
                Files.deleteIfExists(temporary);
            }
        } catch (FileAlreadyExistsException e) {
            throw taken(file, e);
        } catch (FileSystemException e) {
            String reason = e instanceof NoSuchFileException
                    ? "there is no such folder"
                    : e instanceof AccessDeniedException ? "no permission" : e.getReason();
            throw refused(file, (reason == null ? e.toString() : reason) + "; name a file that the node may make", e);
        } catch (IOException e) {
            throw refused(file, e.getMessage() + "; it needs " + BYTES + " bytes: make room, or name another file", e);
        } catch (UnsupportedOperationException e) {
            throw refused(file, "its file system has no POSIX permissions or links; name a file on another", e);
        }
    }

    private static Path hidden(Path file) {
        return file.resolveSibling("." + file.getFileName() + "."
                + HexFormat.of().toHexDigits(ThreadLocalRandom.current().nextLong()));
    }

    /** Removes what was found there, and nothing that has taken its place since. */
    private static void remove(Path file, Object left) throws IOException {
        Path aside = hidden(file);
        try {
            Files.move(file, aside, StandardCopyOption.ATOMIC_MOVE);
        } catch (NoSuchFileException e) {
            return; // Another node has removed it.
        }
        try {
            if (!key(aside).equals(left)) {
                Files.createLink(file, aside);
                throw taken(file, null);
            }
        } finally {
            Files.delete(aside);
        }
    }

    private static IOException taken(Path file, @Nullable Throwable cause) {
        return refused(file, "another node has begun there at the same moment; name another", cause);
    }

    private static IOException refused(Path file, String why, @Nullable Throwable cause) {
        return new IOException("arena " + file + ": " + why, cause);
    }

    /** Returns which file a node has left there that runs no more; null = none. */
    private static @Nullable Object requireFree(Path file) throws IOException {
        if (file.getFileName() == null) {
            throw refused(file, "is no name of a file; name one, as in /dev/shm/tamanoir", null);
        }
        BasicFileAttributes there;
        try {
            there = Files.readAttributes(file, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
        } catch (NoSuchFileException e) {
            return null;
        } catch (IOException e) {
            throw refused(file, "cannot be looked at; name a file that the node may make", e);
        }
        if (!there.isRegularFile()) {
            throw refused(file, "is there and no regular file; remove it, or name another", null);
        }
        ArenaReader other;
        try {
            other = ArenaReader.open(file);
        } catch (IOException e) {
            if (!hasKey(file, there.fileKey())) {
                return null; // Another node has removed it since, and may have made its own.
            }
            throw new IOException(e.getMessage() + "; it is left alone: remove it, or name another", e);
        }
        if (other.isLive()) {
            throw refused(file, "belongs to a node that runs, process " + other.process() + "; name another", null);
        }
        return there.fileKey();
    }

    private static ByteBuffer header() {
        return ByteBuffer.allocate(BYTES)
                .order(ByteOrder.nativeOrder())
                .put(0, MAGIC)
                .putInt(ORDER, ORDER_MARK)
                .putInt(VERSION, CURRENT)
                .putInt(HEADER_BYTES, HEADER)
                .putInt(SLOT_BYTES, Slot.BYTES)
                .putInt(SLOT_COUNT, Arena.SLOTS)
                .putLong(PROCESS, ProcessHandle.current().pid())
                .putLong(START_MS, startMs(ProcessHandle.current()))
                .putLong(START_TICKS, startTicks(ProcessHandle.current().pid()));
    }

    /** Returns when a process began, in ticks since the boot, which no clock that is set moves; 0 where that is not known. */
    static long startTicks(long process) {
        try {
            String stat = Files.readString(Path.of("/proc", String.valueOf(process), "stat"));
            // Behind the name, which may have any character: field 3 of proc(5) is the first.
            return Long.parseLong(stat.substring(stat.lastIndexOf(')') + 2).split(" ")[22 - 3]);
        } catch (IOException | RuntimeException e) {
            return 0;
        }
    }

    /** Returns when a process began, in ms since 1970; 0 when the operating system does not tell. */
    static long startMs(ProcessHandle process) {
        return process.info().startInstant().map(Instant::toEpochMilli).orElse(0L);
    }

    /** Returns whether it is that file which has the name. */
    private static boolean hasKey(Path file, @Nullable Object key) throws IOException {
        try {
            return key(file).equals(key);
        } catch (NoSuchFileException e) {
            return false;
        }
    }

    private static Object key(Path file) throws IOException {
        return Objects.requireNonNull(
                Files.readAttributes(file, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS)
                        .fileKey(),
                "POSIX has inodes");
    }

    ByteBuffer slots() {
        return all.slice(HEADER, BYTES - HEADER).order(ByteOrder.nativeOrder());
    }

    /** Tells readers that the node has ended, and removes the file, unless another has its name by now. */
    @Override
    public void close() throws IOException {
        all.putLong(PROCESS, 0);
        if (hasKey(file, key)) {
            Files.deleteIfExists(file);
        }
    }
}
