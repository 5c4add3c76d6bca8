package org.tamanoir.deploy;

import com.google.common.io.MoreFiles;
import com.google.common.io.RecursiveDeleteOption;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.util.Set;

/**
 * Operations on small files: they are read up to a bound, and replaced whole or not at all. Any thread; two that replace one file at once are
 * the caller's to avoid.
 */
public final class SmallFile {
    /** A file has more bytes than are read. */
    public static final class TooLargeException extends IOException {
        private static final long serialVersionUID = 1L;

        TooLargeException(Path file, long limitBytes) {
            super(file + " has more than " + limitBytes + " bytes");
        }
    }

    private SmallFile() {}

    /** A path leads to a pipe, a device, a socket or a folder. */
    public static final class NotRegularException extends IOException {
        private static final long serialVersionUID = 1L;

        NotRegularException(Path file) {
            super(file + " is no regular file: name one; a pipe or a device may never end");
        }
    }

    /**
     * Reads a file. What is no regular one is not opened: to open a pipe waits for who writes to it, without end. Whoever
     * can put a pipe in the file's place after that look can write the file too.
     *
     * @throws TooLargeException if it has more bytes; no more than one of them is read
     * @throws NotRegularException if it is no regular file, or a link where {@code how} follows none
     */
    public static byte[] read(Path file, long limitBytes, LinkOption... how) throws IOException {
        requireRegular(file, how);
        byte[] bytes =
                MoreFiles.asByteSource(file, how).slice(0, limitBytes + 1).read();
        if (bytes.length > limitBytes) {
            throw new TooLargeException(file, limitBytes);
        }
        return bytes;
    }

    /**
     * Passes if a path leads to a regular file, which can be opened without a wait.
     *
     * @throws NotRegularException if it leads to something else
     */
    public static void requireRegular(Path file, LinkOption... how) throws IOException {
        if (!Files.readAttributes(file, BasicFileAttributes.class, how).isRegularFile()) {
            throw new NotRegularException(file);
        }
    }

    /** Returns whether every user of the host may read or write a file; false where files have no such rights. */
    public static boolean isOpenToAll(Path file) throws IOException {
        if (!file.getFileSystem().supportedFileAttributeViews().contains("posix")) {
            return false;
        }
        Set<PosixFilePermission> mode = Files.getPosixFilePermissions(file);
        return mode.contains(PosixFilePermission.OTHERS_READ) || mode.contains(PosixFilePermission.OTHERS_WRITE);
    }

    /**
     * Puts these bytes in place of a file, which then has them also after a power failure; or leaves it as it was.
     *
     * @throws IOException as when the disk is full; the file is what it was, or has the bytes where only the folder
     *     could not be synced
     */
    public static void replace(Path file, byte[] bytes) throws IOException {
        Path whole = file.toAbsolutePath();
        // Beside it: a rename is atomic within one file system alone.
        Path fresh = whole.resolveSibling(whole.getFileName() + ".new");
        try {
            Files.write(fresh, bytes);
            sync(fresh);
            Files.move(fresh, whole, StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException e) {
            try {
                Files.deleteIfExists(fresh);
            } catch (IOException left) {
                e.addSuppressed(left);
            }
            throw e;
        }
        if (!whole.getFileSystem().supportedFileAttributeViews().contains("posix")) {
            return; // Folders cannot be opened there.
        }
        // The new name is an entry of the folder, which has a cache of its own.
        sync(whole.resolveSibling("."));
    }

    /** Writes a file that does not exist, and brings it to the disk. */
    public static void create(Path file, byte[] bytes) throws IOException {
        Files.write(file, bytes, StandardOpenOption.WRITE, StandardOpenOption.CREATE_NEW);
        sync(file);
    }

    /** Removes a file, or a folder with all in it; follows no link. Nothing there is well too. */
    public static void remove(Path path) throws IOException {
        if (Files.exists(path, LinkOption.NOFOLLOW_LINKS)) {
            MoreFiles.deleteRecursively(path, RecursiveDeleteOption.ALLOW_INSECURE);
        }
    }

    /** Brings a file's content, or a folder's entries, to the disk. */
    public static void sync(Path path) throws IOException {
        StandardOpenOption how = Files.isDirectory(path) ? StandardOpenOption.READ : StandardOpenOption.WRITE;
        try (FileChannel channel = FileChannel.open(path, how)) {
            channel.force(true);
        }
    }
}
