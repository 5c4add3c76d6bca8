package org.tamanoir.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

/** One step is enough to see, and does not slow the tests that follow in this JVM. */
@EnabledOnOs(OS.LINUX)
class JvmThreadsTest {
    private static final String COMPILER = "C1 CompilerThre";
    private static final String OTHER = "VM Thread";
    private static final Path TASKS = Path.of("/proc/self/task");
    /** In stat, counted from the state behind the name's bracket; see proc(5), field 19. */
    private static final int NICE_FIELD = 16;

    /** Returns how nice the nicest thread of a name is. */
    private static int niceOf(String name) throws IOException {
        int nicest = -20;
        try (Stream<Path> tasks = Files.list(TASKS)) {
            for (Path task : tasks.toList()) {
                nicest = Math.max(nicest, niceOf(name, task));
            }
        }
        return nicest;
    }

    private static int niceOf(String name, Path task) {
        try {
            String stat = Files.readString(task.resolve("stat"));
            return stat.contains("(" + name + ")")
                    ? Integer.parseInt(stat.substring(stat.lastIndexOf(')') + 2).split(" ")[NICE_FIELD])
                    : -20;
        } catch (IOException e) {
            return -20; // It has ended.
        }
    }

    @Test
    void compilersGiveWay() throws Exception {
        int before = niceOf(COMPILER);
        JvmThreads.nicer(before + 1);
        assertThat(niceOf(COMPILER)).isEqualTo(before + 1);
    }

    @Test
    void otherThreadsDoNot() throws Exception {
        int before = niceOf(OTHER);
        JvmThreads.nicer(niceOf(COMPILER) + 1);
        assertThat(niceOf(OTHER)).isEqualTo(before);
    }
}
