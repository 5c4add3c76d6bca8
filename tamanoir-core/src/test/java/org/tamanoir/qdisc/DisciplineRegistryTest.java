package org.tamanoir.qdisc;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DisciplineRegistryTest {
    private static final String PREFIX = DisciplineRegistryTest.class.getName() + "$";

    @TempDir
    private Path jar;

    /** What each of the providers below has in common. */
    abstract static class Provider implements DisciplineProvider {
        private final String name;

        Provider(String name) {
            this.name = name;
        }

        @Override
        public String name() {
            return name;
        }

        @Override
        public QueueingDiscipline create(DisciplineConfig config, Drops drops) {
            return new Fifo(config, drops);
        }
    }

    public static final class Good extends Provider {
        public Good() {
            super("good-2");
        }
    }

    public static final class GoodAsWell extends Provider {
        public GoodAsWell() {
            super("good-3");
        }

        @Override
        public boolean ordersTurns() {
            return true;
        }
    }

    public static final class Throws extends Provider {
        public Throws() {
            super("throws");
            throw new IllegalStateException("no licence\nhere");
        }
    }

    public static final class NoClass extends Provider {
        public NoClass() {
            super("no-class");
            throw new NoClassDefFoundError("org/example/Missing");
        }
    }

    public static final class SecondFifo extends Provider {
        public SecondFifo() {
            super("fifo");
        }
    }

    public static final class BadName extends Provider {
        public BadName() {
            super("Bad Name");
        }
    }

    public static final class ThrowsLater extends Provider {
        public ThrowsLater() {
            super("throws-later");
        }

        @Override
        public boolean ordersTurns() {
            throw new UnsupportedOperationException("not decided");
        }
    }

    private DisciplineRegistry registry(String... lines) throws IOException {
        Path services = Files.createDirectories(jar.resolve("META-INF/services"));
        Files.write(services.resolve(DisciplineProvider.class.getName()), List.of(lines));
        try (URLClassLoader loader =
                new URLClassLoader(new URL[] {jar.toUri().toURL()}, getClass().getClassLoader())) {
            return new DisciplineRegistry(BuiltInDisciplines.all(), loader);
        }
    }

    @Test
    void findsProvidersOnTheClassPath() throws IOException {
        DisciplineRegistry registry = registry(PREFIX + "Good", PREFIX + "GoodAsWell");
        assertThat(registry.providers()).containsKeys("fifo", "yielding", "good-2", "good-3");
        assertThat(registry.forTurns()).containsKeys("fifo", "good-3").doesNotContainKey("good-2");
        assertThat(registry.problems()).isEmpty();
    }

    @Test
    void leavesOutThoseThatCannotBeUsedAndSaysWhy() throws IOException {
        DisciplineRegistry registry = registry(
                PREFIX + "Throws",
                PREFIX + "SecondFifo",
                PREFIX + "Good",
                "org.example.Missing",
                PREFIX + "NoClass",
                TestItem.class.getName(),
                PREFIX + "BadName",
                PREFIX + "ThrowsLater",
                PREFIX + "GoodAsWell");
        assertThat(registry.providers())
                .containsKeys("good-2", "good-3")
                .doesNotContainKeys("throws", "no-class", "Bad Name", "throws-later");
        assertThat(registry.providers().get("fifo")).isNotInstanceOf(SecondFifo.class);
        assertThat(registry.problems())
                .hasSize(7)
                .allSatisfy(line -> assertThat(line).doesNotContain("\n"));
        assertThat(registry.problems().get(0)).contains(PREFIX + "Throws").contains("no licence here");
        assertThat(registry.problems().get(1))
                .startsWith("discipline provider " + PREFIX + "SecondFifo cannot be used: name 'fifo': ")
                .endsWith(" has it already; give it another one");
        assertThat(registry.problems().get(2)).contains("org.example.Missing");
        assertThat(registry.problems().get(3)).contains("org/example/Missing");
        assertThat(registry.problems().get(4)).contains(TestItem.class.getName());
        assertThat(registry.problems().get(5))
                .isEqualTo("discipline provider " + PREFIX + "BadName cannot be used: name 'Bad Name': must be"
                        + " lower-case letters, digits, hyphens between them, and perhaps a + at the end");
        assertThat(registry.problems().get(6)).contains(PREFIX + "ThrowsLater").contains("not decided");
    }

    @Test
    void endsWhenAFileNamesNothingThatCanBeUsed() throws IOException {
        String[] lines = new String[1000];
        for (int i = 0; i < lines.length; i++) {
            lines[i] = "org.example.Missing" + i;
        }
        assertThat(registry(lines).problems()).hasSize(100);
        assertThat(registry("this is no class name").problems()).hasSize(1);
    }
}
