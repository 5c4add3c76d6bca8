package org.tamanoir.repository;

import com.google.common.io.MoreFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import org.tamanoir.deploy.SmallFile;

/** File operations that survive a crash at any moment. */
final class Disk {
    private Disk() {}

    /** Renames, whole or not at all, in place of a file that is there, but not of a folder with content. */
    static void rename(Path from, Path to) throws IOException {
        Files.move(from, to, StandardCopyOption.ATOMIC_MOVE);
    }

    /** Reads at most {@code maxBytes} of a regular file that is no symbolic link. */
    static byte[] read(Path file, int maxBytes) throws IOException {
        return SmallFile.read(file, maxBytes, LinkOption.NOFOLLOW_LINKS);
    }

    static boolean isFolder(Path path) {
        return Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS);
    }

    static boolean isFile(Path path) {
        return Files.isRegularFile(path, LinkOption.NOFOLLOW_LINKS);
    }

    static List<Path> list(Path folder) throws IOException {
        return MoreFiles.listFiles(folder).stream().sorted().toList();
    }
}
