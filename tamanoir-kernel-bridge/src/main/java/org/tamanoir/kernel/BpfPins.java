package org.tamanoir.kernel;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The folder {@code tamanoir-NAMESPACE-INSTANCE} of a BPF file system, where an instance's maps and programs can be found
 * by name, and by their traces the next node finds what a killed one left. NAMESPACE is the inode of the network
 * namespace. An empty folder {@code clsact-IFINDEX} in it says that the node made that interface's {@code clsact}.
 *
 * <p>Thread contract: one thread at a time, in the network namespace that it is about.
 */
final class BpfPins {
    private static final Path MOUNTS = Path.of("/proc/thread-self/mounts");
    private static final Path NAMESPACE = Path.of("/proc/thread-self/ns/net");
    private static final String CLSACT = "clsact-";

    private final @Nullable Path folder;
    private @Nullable String whyNot;

    private BpfPins(@Nullable Path folder, @Nullable String whyNot) {
        this.folder = folder;
        this.whyNot = whyNot;
    }

    /** Returns those of an instance in the calling thread's network namespace; nothing is made yet. */
    static BpfPins of(int instance) {
        try {
            for (String mount : Files.readAllLines(MOUNTS)) {
                String[] words = mount.split(" ");
                if (words.length > 2 && words[2].equals("bpf")) {
                    Object inode = Files.getAttribute(NAMESPACE, "unix:ino");
                    return new BpfPins(Path.of(words[1], "tamanoir-" + inode + "-" + instance), null);
                }
            }
            return new BpfPins(null, "no BPF file system is mounted");
        } catch (IOException e) {
            return new BpfPins(null, e.getMessage());
        }
    }

    /** Returns why things are not pinned; null if they are, or nothing was to be. */
    @Nullable
    String whyNot() {
        return whyNot;
    }

    /** Pins a map or program; that it cannot be is no error. */
    void pin(String name, int fd) {
        if (folder == null || whyNot != null) {
            return;
        }
        try {
            Files.createDirectories(folder);
            Files.deleteIfExists(folder.resolve(name));
            int result = LibBpf.bpf_obj_pin(fd, folder.resolve(name).toString());
            if (result < 0) {
                whyNot = folder + ": " + BpfLibC.error(result);
            }
        } catch (IOException e) {
            whyNot = folder + ": " + e;
        }
    }

    void unpin(String name) {
        if (folder != null) {
            delete(folder.resolve(name));
        }
    }

    /** Notes that {@code clsact} of this interface is ours. */
    void noteQdisc(int ifindex) {
        if (folder == null || whyNot != null) {
            return;
        }
        try {
            Files.createDirectories(folder.resolve(CLSACT + ifindex));
        } catch (IOException e) {
            whyNot = folder + ": " + e;
        }
    }

    /** Interfaces whose {@code clsact} is noted. */
    List<Integer> notedQdiscs() {
        return names().stream()
                .filter(name -> name.matches(CLSACT + "[0-9]{1,9}"))
                .map(name -> Integer.valueOf(name.substring(CLSACT.length())))
                .toList();
    }

    private List<String> names() {
        if (folder == null || !Files.isDirectory(folder)) {
            return List.of();
        }
        try (Stream<Path> entries = Files.list(folder)) {
            List<String> names = new ArrayList<>();
            entries.forEach(entry -> names.add(entry.getFileName().toString()));
            return names;
        } catch (IOException e) {
            return List.of();
        }
    }

    /** Removes the folder with all in it; returns how many maps and programs were there. */
    int removeAll() {
        if (folder == null) {
            return 0;
        }
        int removed = 0;
        for (String name : names()) {
            removed += delete(folder.resolve(name)) && !name.startsWith(CLSACT) ? 1 : 0;
        }
        delete(folder);
        return removed;
    }

    private static boolean delete(Path path) {
        try {
            return Files.deleteIfExists(path);
        } catch (IOException e) {
            return false; // of another's making; it holds nothing of ours
        }
    }
}
