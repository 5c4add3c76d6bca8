package org.tamanoir.deploy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.lang.management.ClassLoadingMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;
import org.tamanoir.preemption.CheckpointPolicy;
import org.tamanoir.service.Service;
import org.tamanoir.support.Seeds;

class LoadedServiceTest {
    private static final long UNPACKED = 1 << 20;
    private static final String FOO = "org.example.Foo";
    private static final Duration BOUND = Duration.ofSeconds(40);

    @TempDir
    Path dir;

    // ---- what runs --------------------------------------------------------------------------------------------------

    @Test
    void eachCallMakesAnInstanceOfTheMainClass() throws Exception {
        try (LoadedService loaded = load(TestJars.forwarder(FOO, ""))) {
            Service one = loaded.factory().get();
            assertThat(one.getClass().getName()).isEqualTo(FOO);
            assertThat(one).isNotSameAs(loaded.factory().get());
            assertThat(one.getClass().getClassLoader()).isNotSameAs(Service.class.getClassLoader());
            assertThat(one.getContextClassLoader()).isSameAs(one.getClass().getClassLoader());
            assertThat(Thread.currentThread().getContextClassLoader()).isSameAs(Service.class.getClassLoader());
        }
    }

    @Test
    void stackTracesShowTheVersion() throws Exception {
        String members = "public Foo() { throw new IllegalStateException(\"no\"); }";
        try (LoadedService loaded = load(TestJars.forwarder(FOO, members))) {
            Throwable thrown = catchThrowableOfType(
                    IllegalStateException.class, () -> loaded.factory().get());
            assertThat(thrown.getStackTrace()[0].toString()).startsWith("org.example.Foo:1.0//org.example.Foo.<init>");
        }
    }

    @Test
    void loadingRunsNoCodeAndAStaticInitialiserThatThrowsDoesNotHurtTheNextVersion() throws Exception {
        String trap = "static { if (true) throw new IllegalStateException(\"not today\"); }";
        try (LoadedService bad = load(TestJars.forwarder(FOO, trap));
                LoadedService good = load(TestJars.forwarder(FOO, ""), "1.1")) {
            assertThatThrownBy(() -> bad.factory().get())
                    .isInstanceOf(ExceptionInInitializerError.class)
                    .hasRootCauseMessage("not today");
            assertThatThrownBy(() -> bad.factory().get()).isInstanceOf(NoClassDefFoundError.class);
            assertThat(good.factory().get()).isNotNull();
        }
    }

    @Test
    void twoVersionsHaveStaticsOfTheirOwn() throws Exception {
        String counting = "static int made; public Foo() { setName(\"V\" + ++made); }";
        try (LoadedService one = load(TestJars.forwarder(FOO, counting.replace("V", "one-")), "1.0");
                LoadedService two = load(TestJars.forwarder(FOO, counting.replace("V", "two-")), "2.0")) {
            assertThat(one.factory().get().getName()).isEqualTo("one-1");
            assertThat(one.factory().get().getName()).isEqualTo("one-2");
            assertThat(two.factory().get().getName()).isEqualTo("two-1");
        }
    }

    @Test
    void aClosedServiceMakesNoInstances() throws Exception {
        LoadedService loaded = load(TestJars.forwarder(FOO, ""));
        Supplier<Service> factory = loaded.factory();
        loaded.close();
        loaded.close();
        assertThatThrownBy(factory::get)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("org.example.Foo:1.0 is closed");
    }

    // ---- what it sees -----------------------------------------------------------------------------------------------

    @ParameterizedTest
    @ValueSource(
            strings = {
                "io.netty.buffer.ByteBuf",
                "org.tamanoir.ee.ExecutionEnvironment",
                "org.tamanoir.deploy.LoadedService",
                "org.tamanoir.transport.IoLoop",
                "org.slf4j.Logger",
                "tools.jackson.core.JsonParser",
                "org.jspecify.annotations.Nullable",
                "org.tamanoir.service.Gone"
            })
    void theRestOfTheNodeIsNotSeen(String className) throws Exception {
        assertThat(seen(className)).isEqualTo("missing");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "org.tamanoir.service.Counter",
                "org.tamanoir.anep.Packet",
                "java.util.List",
                "java.sql.Driver",
                "java.net.http.HttpClient",
                "javax.crypto.Mac"
            })
    void packetsServicesAndTheJdkAreTheNodes(String className) throws Exception {
        assertThat(seen(className))
                .isEqualTo(String.valueOf(Class.forName(className).getClassLoader()));
    }

    private String seen(String className) throws Exception {
        String members = "public Foo() throws Exception { try { setName(String.valueOf(Class.forName(\"" + className
                + "\").getClassLoader())); } catch (ClassNotFoundException e) { setName(\"missing\"); } }";
        try (LoadedService loaded = load(TestJars.forwarder(FOO, members))) {
            return loaded.factory().get().getName();
        }
    }

    @Test
    void itsOwnCopyOfAServiceOfTheNodeWinsButNotOneOfTheNodesContracts() throws Exception {
        String monitor = "org.tamanoir.services.Monitor";
        Map<String, String> sources = Map.of(
                monitor,
                TestJars.forwarder(
                        monitor, "public Monitor() { setName(new org.tamanoir.service.Counter(\"x\").name()); }"),
                "org.tamanoir.service.Counter",
                "package org.tamanoir.service; public class Counter { public Counter(String name) {} "
                        + "public String name() { return \"forged\"; } }",
                "org.tamanoir.service.Extra",
                "package org.tamanoir.service; public class Extra {}");
        Path jar = TestJars.jar(dir, sources);
        assertThat(ServiceJar.inspect(jar, 1 << 20).services()).containsExactly(monitor);
        try (LoadedService loaded =
                TestJars.load(TestJars.code(jar, monitor, "1.0"), UNPACKED, CheckpointPolicy.REQUIRED)) {
            Service made = loaded.factory().get();
            ClassLoader own = made.getClass().getClassLoader();
            assertThat(made.getName()).isEqualTo("x");
            assertThat(own.getName()).isEqualTo(monitor + ":1.0");
            assertThatThrownBy(() -> own.loadClass("org.tamanoir.service.Extra"))
                    .isInstanceOf(ClassNotFoundException.class);
        }
    }

    @Test
    void classesOfTheJarComeBeforeThoseOfTheJdkExceptForItsCore() throws Exception {
        TreeMap<String, byte[]> entries = TestJars.entries(dir, Map.of(FOO, TestJars.forwarder(FOO, "")));
        entries.put("java/util/List.class", new byte[] {1});
        // The compiler does not let a package of the JDK be added to: the name is changed afterwards.
        Map<String, String> source =
                Map.of("jovax.sql.DataSource", "package jovax.sql; public interface DataSource {}");
        byte[] bytes = Objects.requireNonNull(TestJars.entries(dir, source).get("jovax/sql/DataSource.class"));
        String renamed = new String(bytes, StandardCharsets.ISO_8859_1).replace("jovax", "javax");
        entries.put("javax/sql/DataSource.class", renamed.getBytes(StandardCharsets.ISO_8859_1));
        try (LoadedService loaded = TestJars.load(
                TestJars.code(TestJars.zip(dir, "own", entries), FOO, "1.0"), UNPACKED, CheckpointPolicy.REQUIRED)) {
            ClassLoader own = loaded.factory().get().getClass().getClassLoader();
            assertThat(own.loadClass("java.util.List")).isSameAs(List.class);
            assertThat(own.loadClass("javax.sql.DataSource").getClassLoader()).isSameAs(own);
        }
    }

    @Test
    void resourcesAreThoseOfItsJarAlone() throws Exception {
        TreeMap<String, byte[]> entries = TestJars.entries(dir, Map.of(FOO, TestJars.forwarder(FOO, "")));
        byte[] text = "words".getBytes(StandardCharsets.UTF_8);
        entries.put("org/example/a b#?%+\u00e9.txt", text);
        entries.put("org/example/other.txt", new byte[0]);
        try (LoadedService loaded = TestJars.load(
                TestJars.code(TestJars.zip(dir, "words", entries), FOO, "1.0"), UNPACKED, CheckpointPolicy.REQUIRED)) {
            Class<?> type = loaded.factory().get().getClass();
            var url = Objects.requireNonNull(type.getResource("a b#?%+\u00e9.txt"));
            assertThat(url.openStream().readAllBytes()).isEqualTo(text);
            assertThat(url.openConnection().getContentLengthLong()).isEqualTo(text.length);
            assertThat(url.toString()).startsWith("tamanoir:org.example.Foo:1.0!/org/example/");
            assertThat(type.getResourceAsStream("/org/example/other.txt")).isEmpty();
            assertThat(type.getResource("gone.txt")).isNull();
            assertThat(type.getResource("/logback-test.xml")).isNull();
            assertThat(type.getResource("/java/lang/Object.class")).isNull();
            assertThat(type.getClassLoader()
                            .getResources("META-INF/MANIFEST.MF")
                            .asIterator())
                    .toIterable()
                    .hasSize(1);
            assertThat(type.getClassLoader().getResources("logback-test.xml").hasMoreElements())
                    .isFalse();
        }
    }

    // ---- what is refused --------------------------------------------------------------------------------------------

    @Test
    void aJarThatIsNotTheOneOfTheManifestIsRefused() throws Exception {
        Path jar = TestJars.jar(dir, FOO, TestJars.forwarder(FOO, ""));
        ServicePackage code = TestJars.code(jar, FOO, "1.0");
        byte[] bytes = Files.readAllBytes(jar);
        bytes[bytes.length / 2]++;
        Files.write(jar, bytes);
        assertThat(refusal(code)).isEqualTo(Refusal.WRONG_DIGEST);
        Files.write(jar, new byte[1 << 20]);
        assertThat(refusal(code)).isEqualTo(Refusal.WRONG_DIGEST);
        Files.delete(jar);
        assertThat(refusal(code)).isEqualTo(Refusal.WRONG_DIGEST);
    }

    @Test
    void aJarThatIsExchangedAfterLoadingChangesNothing() throws Exception {
        String members = "public static class Later extends Foo {}";
        Path jar = TestJars.jar(dir, FOO, TestJars.forwarder(FOO, members));
        try (LoadedService loaded =
                TestJars.load(TestJars.code(jar, FOO, "1.0"), UNPACKED, CheckpointPolicy.REQUIRED)) {
            Files.write(jar, new byte[] {1});
            Class<?> type = loaded.factory().get().getClass();
            assertThat(type.getClassLoader().loadClass(FOO + "$Later")).isNotNull();
            Files.delete(jar);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "org.example.Gone",
                "org.example.foo",
                "org.example.Foo$Half",
                "org.example.Foo$Plain",
                "org.example.Foo$Closed",
                "org.example.Foo$Asking",
                "java.lang.Thread",
                "org.tamanoir.service.Service"
            })
    void aMainClassThatIsNoServiceIsRefused(String mainClass) throws Exception {
        String members = """
                public abstract static class Half extends Foo {}
                public static class Plain extends Thread {}
                static class Closed extends Foo {}
                public static class Asking extends Foo { public Asking(int why) {} }
                """;
        Path jar = TestJars.jar(dir, FOO, TestJars.forwarder(FOO, members));
        assertThat(refusal(TestJars.code(jar, mainClass, "1.0"))).isEqualTo(Refusal.NOT_A_SERVICE);
    }

    @Test
    void aServiceForOtherLevelsIsRefused() throws Exception {
        ServicePackage code = TestJars.code(TestJars.jar(dir, FOO, TestJars.forwarder(FOO, "")), FOO, "1.0");
        Manifest jvm = code.manifest();
        Manifest kernel =
                new Manifest(jvm.id(), FOO, jvm.jarSha256(), jvm.jarBytes(), List.of("kernel"), ServiceLimits.NONE, "");
        assertThat(refusal(new ServicePackage(kernel, null, code.jar(), "cache")))
                .isEqualTo(Refusal.NOT_A_SERVICE);
    }

    @Test
    void aJarThatLacksASuperclassIsRefused() throws Exception {
        Map<String, String> sources =
                Map.of(FOO, TestJars.forwarder(FOO, ""), "Bar", "public class Bar extends org.example.Foo {}");
        TreeMap<String, byte[]> entries = TestJars.entries(dir, sources);
        entries.remove("org/example/Foo.class");
        assertThat(refusal(TestJars.code(TestJars.zip(dir, "half", entries), "Bar", "1.0")))
                .isEqualTo(Refusal.NOT_A_SERVICE);
    }

    // ---- unloading --------------------------------------------------------------------------------------------------

    @Test
    void aClosedServiceIsUnloadedAlthoughItsMakerIsKept() throws Exception {
        LoadedService loaded = load(TestJars.forwarder(FOO, ""));
        Supplier<Service> factory = loaded.factory();
        makeOne(loaded);
        assertThat(loaded.isUnloaded()).isFalse();
        loaded.close();
        Awaitility.await().atMost(BOUND).until(loaded::isUnloaded);
        assertThat(loaded.holders()).isEmpty();
        assertThat(factory).isNotNull();
    }

    @Test
    void whatHoldsAServiceIsNamed() throws Exception {
        String members = """
                    public static final java.util.concurrent.CountDownLatch END =
                            new java.util.concurrent.CountDownLatch(1);
                    static void sit() {
                        try {
                            END.await();
                        } catch (InterruptedException e) {
                            throw new IllegalStateException(e);
                        }
                    }
                    public static class Worker extends Thread {
                        public Worker() { super("worker"); setContextClassLoader(null); start(); }
                        public void run() { sit(); }
                    }
                    public Foo() {
                        Thread plain = new Thread(END::countDown, "never started");
                        new Worker();
                        new Thread(Foo::sit, "sitter").start();
                    }
                    public Foo call() { END.countDown(); return this; }
                """;
        String source = TestJars.forwarder(FOO, members)
                .replace("extends Service", "extends Service implements java.util.concurrent.Callable<Foo>");
        LoadedService loaded = load(source);
        Callable<?> end = (Callable<?>) loaded.factory().get();
        loaded.close();
        try {
            Awaitility.await()
                    .atMost(BOUND)
                    .until(() -> loaded.holders().stream()
                                    .filter(line -> line.contains(" runs "))
                                    .count()
                            == 2);
            assertThat(loaded.isUnloaded()).isFalse();
            assertThat(loaded.holders())
                    .containsExactly(
                            "thread 'sitter' runs org.example.Foo.sit, has the service's class loader as its context",
                            "thread 'worker' runs org.example.Foo.sit, is an instance of org.example.Foo$Worker");
        } finally {
            end.call();
        }
        Awaitility.await().atMost(BOUND).until(() -> loaded.holders().isEmpty());
    }

    @Test
    void threadsOfAnotherLoaderWithTheSameNameAreNotHolders() throws Exception {
        try (LoadedService one = load(TestJars.forwarder(FOO, ""));
                LoadedService two = load(TestJars.forwarder(FOO, ""))) {
            Thread thread = one.factory().get();
            assertThat(thread.getContextClassLoader().getName()).isEqualTo("org.example.Foo:1.0");
            assertThat(two.holders()).isEmpty();
        }
    }

    @Test
    void manyCyclesReturnTheMetaspace() throws Exception {
        StringBuilder members = new StringBuilder();
        for (int i = 0; i < 20; i++) {
            members.append("static class C").append(i).append(" { static int[] x = new int[10]; }\n");
        }
        members.append("public Foo() throws Exception {");
        for (int i = 0; i < 20; i++) {
            members.append("C").append(i).append(".x[0]++;");
        }
        members.append("Runnable r = () -> C1.x[1]++; r.run(); }");
        ServicePackage code =
                TestJars.code(TestJars.jar(dir, FOO, TestJars.forwarder(FOO, members.toString())), FOO, "1.0");
        ClassLoadingMXBean classes = ManagementFactory.getClassLoadingMXBean();

        cycles(code, 50);
        int classesBefore = classes.getLoadedClassCount();
        long metaspaceBefore = metaspaceBytes();
        LoadedService last = cycles(code, Seeds.scaled(300));
        Awaitility.await().atMost(BOUND).until(last::isUnloaded);

        // A cycle loads 21 classes, 6,300 in all; the test's own libraries load some hundreds.
        Awaitility.await().atMost(BOUND).untilAsserted(() -> {
            System.gc();
            assertThat(classes.getLoadedClassCount()).isLessThan(classesBefore + 1000);
            assertThat(metaspaceBytes()).isLessThan(metaspaceBefore + (8 << 20));
        });
    }

    private static LoadedService cycles(ServicePackage code, int count) throws CodeRefusedException {
        LoadedService loaded = TestJars.load(code, UNPACKED, CheckpointPolicy.REQUIRED);
        for (int i = 0; i < count; i++) {
            makeOne(loaded);
            loaded.close();
            loaded = TestJars.load(code, UNPACKED, CheckpointPolicy.REQUIRED);
        }
        loaded.close();
        return loaded;
    }

    private static long metaspaceBytes() {
        return ManagementFactory.getMemoryPoolMXBeans().stream()
                .filter(pool -> pool.getName().equals("Metaspace"))
                .map(MemoryPoolMXBean::getUsage)
                .mapToLong(usage -> usage.getUsed())
                .findFirst()
                .orElseThrow();
    }

    /** In a frame of its own, so that no register keeps the instance. */
    private static void makeOne(LoadedService loaded) {
        assertThat(loaded.factory().get().getState()).isEqualTo(Thread.State.NEW);
    }

    // ---- helpers ----------------------------------------------------------------------------------------------------

    @Test
    void aJarThatUnpacksToMoreThanTodaysBoundIsTooLarge() throws Exception {
        ServicePackage code = TestJars.code(TestJars.jar(dir, FOO, TestJars.forwarder(FOO, "")), FOO, "1.0");

        CodeRefusedException refused = catchThrowableOfType(
                CodeRefusedException.class, () -> TestJars.load(code, 100, CheckpointPolicy.REQUIRED));

        assertThat(refused.refusal()).isEqualTo(Refusal.TOO_LARGE);
    }

    private LoadedService load(String source) throws Exception {
        return load(source, "1.0");
    }

    private LoadedService load(String source, String version) throws Exception {
        return TestJars.load(
                TestJars.code(TestJars.jar(dir, FOO, source), FOO, version), UNPACKED, CheckpointPolicy.REQUIRED);
    }

    private static Refusal refusal(ServicePackage code) {
        CodeRefusedException refused = catchThrowableOfType(
                CodeRefusedException.class, () -> TestJars.load(code, UNPACKED, CheckpointPolicy.REQUIRED));
        assertThat(refused)
                .isNotNull()
                .hasMessageStartingWith(code.manifest().id().toString())
                .hasMessageNotContaining("\n");
        return refused.refusal();
    }

    /** A class file that no method of which gets checkpoints: one of them becomes too large. */
    private Path unfit() throws Exception {
        String loops = "for (int i = 0; i < 9; i++) sink = i;\n".repeat(3500);
        return TestJars.jar(
                dir, FOO, TestJars.forwarder(FOO, "static volatile int sink; static void large() {\n" + loops + "}"));
    }

    @Test
    void aClassThatGetsNoCheckpointsIsRefused() throws Exception {
        ServicePackage code = TestJars.code(unfit(), FOO, "1.0");
        assertThat(refusal(code)).isEqualTo(Refusal.NOT_A_SERVICE);
        assertThatThrownBy(() -> TestJars.load(code, UNPACKED, CheckpointPolicy.REQUIRED))
                .hasMessageContaining("Foo.class")
                .hasMessageContaining("too large")
                .hasMessageContaining("preferred");
    }

    @ParameterizedTest
    @EnumSource(value = CheckpointPolicy.class, names = "REQUIRED", mode = EnumSource.Mode.EXCLUDE)
    void aClassThatGetsNoCheckpointsRunsWithoutWhereThatIsAllowed(CheckpointPolicy policy) throws Exception {
        try (LoadedService loaded = TestJars.load(TestJars.code(unfit(), FOO, "1.0"), UNPACKED, policy)) {
            assertThat(loaded.factory().get().getClass().getName()).isEqualTo(FOO);
        }
    }

    /** Of a class that is refused the log does not say that it runs. */
    @ParameterizedTest
    @EnumSource(CheckpointPolicy.class)
    void aClassFileOfAnUnknownVersionIsRefusedAlways(CheckpointPolicy policy) throws Exception {
        TreeMap<String, byte[]> entries = TestJars.entries(dir, Map.of(FOO, TestJars.forwarder(FOO, "")));
        byte[] file =
                Objects.requireNonNull(entries.get("org/example/Foo.class")).clone();
        file[7] = (byte) 200; // The major version's low byte.
        entries.put("org/example/Foo.class", file);
        ServicePackage code = TestJars.code(TestJars.zip(dir, "new", entries), FOO, "1.0");
        Logger log = (Logger) LoggerFactory.getLogger(ServiceClassLoader.class);
        ListAppender<ILoggingEvent> said = new ListAppender<>();
        said.start();
        log.addAppender(said);
        try {
            assertThatThrownBy(() -> TestJars.load(code, UNPACKED, policy))
                    .isInstanceOf(CodeRefusedException.class)
                    .hasMessageContaining(
                            "'org/example/Foo.class' has class file version 200, and this Java reads 45 to ")
                    .hasMessageNotContaining("preferred");
            assertThat(said.list).isEmpty();
        } finally {
            log.detachAppender(said);
        }
    }
}
