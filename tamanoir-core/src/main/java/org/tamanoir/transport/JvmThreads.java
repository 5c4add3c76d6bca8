package org.tamanoir.transport;

import com.sun.jna.Platform;
import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The threads on which HotSpot compiles and collects. A compilation takes milliseconds, and it takes them from packets
 * where processors are few: a nicer thread gives way to one that a packet wakes. Any user may make a thread nicer; only
 * root can take that back.
 *
 * <p>The JVM starts more of them as it needs them. A compiler's are started by a compiler's, and are as nice; a
 * collector's are not, so {@link #nicer} has to be called again.
 *
 * <p>Thread contract: any thread.
 */
public final class JvmThreads {
    private static final Logger LOG = LoggerFactory.getLogger(JvmThreads.class);
    private static final Path TASKS = Path.of("/proc/self/task");
    /** Beginnings of their names, of which the kernel keeps 15 bytes. */
    private static final Set<String> NAMES = Set.of("C1 Compiler", "C2 Compiler", "G1 ", "GC Thread#");

    private JvmThreads() {}

    /**
     * Makes those threads this nice that are less so, by setpriority(2), and returns how many that were. Reads the names
     * of all threads of the process: some µs for each. Elsewhere than on Linux, and where it is not allowed, nothing
     * happens but a line in the log's details.
     *
     * @param nice 1 to 19; the JVM's threads begin with that of the process, 0 mostly. Each step is worth about a
     *     quarter of processor time where threads compete for it
     */
    public static int nicer(int nice) {
        if (!Platform.isLinux()) {
            return 0;
        }
        int changed = 0;
        try (DirectoryStream<Path> tasks = Files.newDirectoryStream(TASKS, JvmThreads::isOfTheJvm)) {
            for (Path task : tasks) {
                int thread = Integer.parseInt(task.getFileName().toString());
                if (LibC.getpriority(LibC.PRIO_PROCESS, thread) < nice
                        && LibC.setpriority(LibC.PRIO_PROCESS, thread, nice) == 0) {
                    changed++;
                }
            }
        } catch (IOException | DirectoryIteratorException | LinkageError e) {
            LOG.debug("compiler and collector threads stay as they are: {}", e.toString());
        }
        return changed;
    }

    private static boolean isOfTheJvm(Path task) {
        try {
            String name = Files.readString(task.resolve("comm"));
            return NAMES.stream().anyMatch(name::startsWith);
        } catch (IOException e) {
            return false; // It has ended.
        }
    }
}
