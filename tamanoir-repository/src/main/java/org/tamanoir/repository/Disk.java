package org.tamanoir.repository;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Stream;

/** File operations that survive a crash at any moment, and digests. */
final class Disk {
    private Disk() {}

    static void write(Path file, byte[] octets, boolean sync) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE, StandardOpenOption.CREATE_NEW)) {
            write(channel, ByteBuffer.wrap(octets));
            if (sync) {
                channel.force(true);
            }
        }
    }

    static void write(FileChannel channel, ByteBuffer octets) throws IOException {
        while (octets.hasRemaining()) {
            channel.write(octets);
        }
    }

    /** Brings a file's content, or a folder's entries, to the disk. */
    static void sync(Path path) throws IOException {
        try (FileChannel channel = FileChannel.open(path, StandardOpenOption.READ)) {
            channel.force(true);
        }
    }

    /** rename(2): whole or not at all, in place of a file that is there, but not of a folder with content. */
    static void rename(Path from, Path to) throws IOException {
        Files.move(from, to, StandardCopyOption.ATOMIC_MOVE);
    }

    /** At most {@code maxOctets} of a regular file that is no symbolic link. */
    static byte[] read(Path file, int maxOctets) throws IOException {
        try (var in = Files.newInputStream(file, LinkOption.NOFOLLOW_LINKS)) {
            byte[] octets = in.readNBytes(maxOctets + 1);
            if (octets.length > maxOctets) {
                throw new IOException(file + " has more than " + maxOctets + " octets");
            }
            return octets;
        }
    }

    static boolean isFolder(Path path) {
        return Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS);
    }

    static boolean isFile(Path path) {
        return Files.isRegularFile(path, LinkOption.NOFOLLOW_LINKS);
    }

    static List<Path> list(Path folder) throws IOException {
        try (Stream<Path> paths = Files.list(folder)) {
            return paths.sorted().toList();
        }
    }

    /** Removes a file or a folder with all in it; follows no link. Nothing there is well too. */
    static void remove(Path path) throws IOException {
        try (Stream<Path> paths = Files.walk(path)) {
            for (Path each : paths.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(each);
            }
        } catch (NoSuchFileException e) {
            return;
        } catch (UncheckedIOException e) {
            throw e.getCause();
        }
    }

    static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-256", e);
        }
    }

    static String hex(byte[] octets) {
        return HexFormat.of().formatHex(octets);
    }
}
