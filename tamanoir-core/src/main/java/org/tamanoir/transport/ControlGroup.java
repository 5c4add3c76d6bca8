package org.tamanoir.transport;

import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A group of cgroup v2, cgroups(7): a folder whose files are read and written whole. What fails says so in an IOException.
 *
 * <p>Thread contract: immutable.
 */
record ControlGroup(Path folder) {
    /** In cgroup.threads and cgroup.procs: the thread that writes, or its process. */
    static final String SELF = "0";

    private static final String THREADED = "threaded";

    /** Returns the group that this process is in. */
    static ControlGroup ofThisProcess() throws IOException {
        return new ControlGroup(find(
                Files.readAllLines(Path.of("/proc/self/cgroup")), Files.readAllLines(Path.of("/proc/self/mountinfo"))));
    }

    /**
     * Returns where a group stands.
     *
     * @param groups /proc/PID/cgroup, in which that of v2 is {@code 0::PATH}
     * @param mounts /proc/PID/mountinfo: the fourth word is the group that is mounted, the fifth where
     */
    static Path find(List<String> groups, List<String> mounts) throws IOException {
        String path = groups.stream()
                .filter(line -> line.startsWith("0::/"))
                .map(line -> line.substring(3))
                .findFirst()
                .orElseThrow(() -> new IOException("the host has cgroup v1 alone, which is not supported"));
        for (String line : mounts) {
            String[] words = line.split(" ");
            if (words.length > 5 && line.contains(" - cgroup2 ")) {
                Path mounted = Path.of(words[3]);
                if (Path.of(path).startsWith(mounted)) {
                    return Path.of(words[4]).resolve(mounted.relativize(Path.of(path)));
                }
            }
        }
        throw new IOException("cgroup v2 is not mounted where " + path + " could be seen; v1 is not supported");
    }

    ControlGroup child(String name) {
        return new ControlGroup(folder.resolve(name));
    }

    /** Makes it, unless it is there. */
    ControlGroup make() throws IOException {
        try {
            Files.createDirectory(folder);
        } catch (FileAlreadyExistsException e) {
            // Of a node before, or beside, this one.
        }
        return this;
    }

    /** Makes it as one for single threads of processes that are in its parent. */
    ControlGroup makeThreaded() throws IOException {
        make();
        if (!read("cgroup.type").equals(THREADED)) {
            write("cgroup.type", THREADED);
        }
        return this;
    }

    /** Removes it; the operating system lets that be where threads are in it. */
    void remove() throws IOException {
        Files.deleteIfExists(folder);
    }

    List<ControlGroup> children(String prefix) throws IOException {
        List<ControlGroup> children = new ArrayList<>();
        try (DirectoryStream<Path> folders = Files.newDirectoryStream(folder, prefix + "*")) {
            folders.forEach(each -> children.add(new ControlGroup(each)));
        }
        return children;
    }

    boolean has(String file, @Nullable String word) throws IOException {
        return word == null || List.of(read(file).split("\\s+")).contains(word);
    }

    /** Reads through no channel: an interrupt, which the watchdog may send, would close one. */
    String read(String file) throws IOException {
        try (FileInputStream in = new FileInputStream(folder.resolve(file).toFile())) {
            return new String(in.readAllBytes(), StandardCharsets.US_ASCII).strip();
        }
    }

    /** Moves the calling thread here. */
    void enter() throws IOException {
        write("cgroup.threads", SELF);
    }

    /** Writes at once, and through no channel either. */
    void write(String file, String text) throws IOException {
        Path path = folder.resolve(file);
        try (FileOutputStream out = new FileOutputStream(path.toFile())) {
            out.write(text.getBytes(StandardCharsets.US_ASCII));
        } catch (IOException e) {
            String why = String.valueOf(e.getMessage());
            throw new IOException((why.startsWith(path.toString()) ? "" : path + ": ") + why, e);
        }
    }
}
