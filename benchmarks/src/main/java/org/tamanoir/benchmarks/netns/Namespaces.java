package org.tamanoir.benchmarks.netns;

import com.google.common.io.MoreFiles;
import com.google.common.io.RecursiveDeleteOption;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Network namespaces of this process. What a process that was killed left behind is removed when the next one makes its
 * own: names have the process's number.
 *
 * <p>Thread contract: one thread; the hook that ends the JVM removes what is left.
 */
public final class Namespaces implements AutoCloseable {
    private static final Path PINS = Path.of("/sys/fs/bpf");

    private final String prefix;
    private final List<Namespace> all = new ArrayList<>();
    private final Thread hook = new Thread(this::remove, "remove namespaces");

    /**
     * Makes them.
     *
     * @param kind tells them from those of other experiments
     * @throws IOException in one line, with nothing left behind
     */
    public Namespaces(String kind, List<String> names) throws IOException {
        removeLeftBehind(kind);
        prefix = "tamanoir-" + kind + "-" + ProcessHandle.current().pid() + "-";
        names.forEach(name -> all.add(new Namespace(prefix + name)));
        Runtime.getRuntime().addShutdownHook(hook);
        try {
            Namespace.batch(all.stream().map(each -> "netns add " + each.name()).toList());
        } catch (IOException e) {
            close();
            throw e;
        }
    }

    /** Returns all of them, in the order of their names. */
    public List<Namespace> all() {
        return all;
    }

    private static void removeLeftBehind(String kind) throws IOException {
        Matcher left = Pattern.compile("(?m)^tamanoir-" + kind + "-([0-9]+)-[a-z][0-9]*")
                .matcher(Shell.run(List.of("ip", "netns", "list")));
        while (left.find()) {
            if (ProcessHandle.of(Long.parseLong(left.group(1))).isEmpty()) {
                Shell.run(List.of("ip", "netns", "delete", left.group()));
            }
        }
    }

    private synchronized void remove() {
        try {
            List<Namespace> there =
                    all.stream().filter(each -> Files.exists(each.file())).toList();
            List<String> pins = new ArrayList<>();
            for (Namespace each : there) {
                pins.add("tamanoir-" + Files.getAttribute(each.file(), "unix:ino") + "-*");
            }
            if (!there.isEmpty()) {
                Namespace.batch(there.stream()
                        .map(each -> "netns delete " + each.name())
                        .toList());
            }
            for (String each : pins) {
                removePins(each);
            }
        } catch (IOException e) {
            System.err.println("left behind: network namespaces " + prefix + "* (" + e.getMessage() + ")");
        }
    }

    /** Removes what a node that was killed has left: no other one will start in a namespace with its number. */
    private static void removePins(String names) throws IOException {
        if (Files.isDirectory(PINS)) {
            try (DirectoryStream<Path> folders = Files.newDirectoryStream(PINS, names)) {
                for (Path folder : folders) {
                    MoreFiles.deleteRecursively(folder, RecursiveDeleteOption.ALLOW_INSECURE);
                }
            }
        }
    }

    @Override
    public void close() {
        remove();
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException e) {
            // The JVM ends: the hook runs, and finds nothing.
        }
    }
}
