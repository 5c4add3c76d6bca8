package org.tamanoir.preemption;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.tamanoir.support.Waiting.eventually;

import com.google.common.collect.ImmutableList;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Enumeration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.tree.ClassNode;
import org.tamanoir.deploy.TestJars;
import org.tamanoir.service.Checkpoint;
import org.tamanoir.service.ServiceStopped;

/** Classes that got checkpoints. */
class CheckpointsTest {
    @TempDir
    Path dir;

    /** Defines classes as given, with checkpoints; others are its parent's. */
    private static final class Classes extends ClassLoader {
        private final Map<String, byte[]> files;

        Classes(Map<String, byte[]> files) {
            super(CheckpointsTest.class.getClassLoader());
            this.files = files;
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            synchronized (getClassLoadingLock(name)) {
                Class<?> known = findLoadedClass(name);
                return known != null
                        ? known
                        : files.containsKey(name) ? findClass(name) : super.loadClass(name, resolve);
            }
        }

        @Override
        protected Class<?> findClass(String name) throws ClassNotFoundException {
            byte[] file = files.get(name);
            if (file == null) {
                throw new ClassNotFoundException(name);
            }
            return defineClass(name, file, 0, file.length);
        }
    }

    private static Map<String, byte[]> put(Map<String, byte[]> files) throws UnfitClassException {
        Map<String, byte[]> all = new HashMap<>();
        for (Map.Entry<String, byte[]> each : files.entrySet()) {
            all.put(each.getKey(), Checkpoints.put(each.getValue()));
        }
        return all;
    }

    private static Object call(Class<?> type, String method) throws ReflectiveOperationException {
        Method found = type.getDeclaredMethod(method);
        found.setAccessible(true);
        return found.invoke(null);
    }

    /** Compiles {@code static Object run()} with more members; its class has checkpoints. */
    private Class<?> compiled(String members) throws Exception {
        String source =
                "import java.util.*;\nimport java.util.function.*;\n@SuppressWarnings(\"all\")\npublic class Code {\n"
                        + "    static volatile int sink;\n" + members + "\n}\n";
        return new Classes(put(TestJars.classes(dir, "Code", source))).loadClass("Code");
    }

    /** Runs it on a thread of its own, and has it stopped after some checkpoints; returns what came of that. */
    private static Object stopped(Class<?> type) throws Exception {
        AtomicReference<@Nullable Object> outcome = new AtomicReference<>();
        ServiceStopped stop = new ServiceStopped("the test wants it");
        AtomicInteger passed = new AtomicInteger();
        Thread thread = new Thread(() -> {
            Checkpoint.keep(() -> passed.incrementAndGet() > 2000 ? stop : null);
            try {
                outcome.set(String.valueOf(call(type, "run")));
            } catch (InvocationTargetException e) {
                outcome.set(e.getCause());
            } catch (Throwable e) {
                outcome.set(e);
            }
        });
        thread.setDaemon(true);
        thread.start();
        Checkpoint.want(thread, true);
        try {
            eventually().until(() -> outcome.get() != null);
        } finally {
            Checkpoint.want(thread, false);
        }
        Object came = outcome.get();
        return came == stop ? "stopped" : String.valueOf(came);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "static Object run() { while (true) { } }",
                "static Object run() { do { sink++; } while (sink != 0 || sink == 0); return 1; }",
                "static Object run() { for (int i = 0; ; i++) { sink = i; } }",
                "static Object run() { for (int i = 0; i < 10; i++) { i = 0; } return 1; }",
                "static Object run() { outer: for (;;) { for (int i = 0; ; i++) { if (i == 3) continue outer; } } }",
                "static Object run() { int s = 0; while (true) { switch (s) { case 0: s = 1; break; case 1: s = 0; break; default: return s; } } }",
                "static Object run() { return f(1); } static int f(int n) { while (true) { g(n); } } static int g(int n) { return n + 1; }",
                "static Object run() { Runnable r = () -> { while (true) { sink++; } }; r.run(); return 1; }",
                "static Object run() { while (true) { try { throw new RuntimeException(); } catch (Throwable e) { } } }",
                "static Object run() { while (true) { try { while (true) { } } catch (Throwable e) { sink++; } } }",
                "static Object run() { while (true) { try { while (true) { } } finally { continue; } } }",
                "static Object run() { try { while (true) { } } finally { while (true) { sink++; } } }",
                "static Object run() { try { while (true) { } } catch (Error e) { while (true) { } } }",
                "static Object run() { synchronized (Code.class) { while (true) { sink++; } } }",
                "static Object run() { Object a = new Object(); while (true) { try { synchronized (a) { sink++; synchronized (Code.class) {"
                        + " f(); } } } catch (Exception e) { sink--; } catch (Throwable t) { sink--; } finally { sink++; } } }"
                        + " static void f() { throw new IllegalStateException(); }",
                "static synchronized Object run() { do { sink++; } while (sink != 0 || sink == 0); return 1; }",
                "static Object run() { for (Iterator<Integer> i = forever(); i.hasNext(); ) i.next(); return 1; }"
                        + " static Iterator<Integer> forever() { return new Iterator<Integer>() {"
                        + " public boolean hasNext() { return true; } public Integer next() { return 1; } }; }",
                "static Object run() { return java.util.stream.IntStream.iterate(0, i -> 1 - i).filter(i -> i == 2).findFirst(); }",
                "static Object run() { new Code(0); return 1; } Code(int n) { this(spin(), n); } Code(long s, int n) { }"
                        + " static long spin() { long s = 0; while (true) s++; }",
                "static Object run() { f(); return 1; } static void f() { try { f(); } finally { f(); } }",
                "interface Spins { default void spin() { for (;;) { } } } static Object run() { new Spins() { }.spin(); return 1; }",
            })
    void anEndlessLoopEnds(String members) throws Exception {
        assertThat(stopped(compiled(members))).isEqualTo("stopped");
    }

    @Test
    void aStaticInitialiserEnds() throws Exception {
        Class<?> type = compiled(
                "static class Sick { static int x; static { while (x == 0) { } } } static Object run() { return Sick.x; }");
        assertThat(stopped(type)).isEqualTo("stopped");
    }

    @Test
    void finallyGivesLocksBackAndTryClosesResources() throws Exception {
        Class<?> type = compiled(
                "static final Scanner SCANNER = new Scanner(\"\");"
                        + " static final java.util.concurrent.locks.ReentrantLock LOCK = new java.util.concurrent.locks.ReentrantLock();"
                        + " static Object run() { LOCK.lock(); try (Scanner s = SCANNER) { while (true) { } } finally { LOCK.unlock(); } }"
                        + " static Object free() { return !LOCK.isLocked(); }"
                        + " static Object closed() { try { SCANNER.hasNext(); return false; } catch (IllegalStateException e) { return true; } }");
        assertThat(stopped(type)).isEqualTo("stopped");
        assertThat(call(type, "free")).isEqualTo(true);
        assertThat(call(type, "closed")).isEqualTo(true);
    }

    @Test
    void aMonitorIsGivenBack() throws Exception {
        Class<?> type = compiled("static final Object LOCK = new Object();"
                + " static Object run() { synchronized (LOCK) { int i = 0; do { i++; } while (i != 0 || i == 0); return 1; } }"
                + " static Object enter() { synchronized (LOCK) { return 1; } }");
        assertThat(stopped(type)).isEqualTo("stopped");
        AtomicReference<@Nullable Object> entered = new AtomicReference<>();
        Thread other = new Thread(() -> {
            try {
                entered.set(call(type, "enter"));
            } catch (ReflectiveOperationException e) {
                entered.set(e);
            }
        });
        other.setDaemon(true);
        other.start();
        eventually().until(() -> Integer.valueOf(1).equals(entered.get()));
    }

    /** A round that throws walks the stack, so 4,096 of them may take long. */
    @Test
    void eachRoundThatCatchesHasACheckpoint() throws Exception {
        Class<?> type = compiled("static Object run() { int caught = 0; for (int i = 0; i < 100; i++) {"
                + " try { sink = 1 / sink; } catch (ArithmeticException e) { caught++; } } return caught; }");
        AtomicInteger passed = new AtomicInteger();
        Checkpoint.Keeper counts = () -> {
            passed.incrementAndGet();
            return null;
        };
        Checkpoint.keep(counts);
        Checkpoint.want(this, true);
        try {
            assertThat(call(type, "run")).isEqualTo(100);
        } finally {
            Checkpoint.want(this, false);
            Checkpoint.release(counts);
        }
        assertThat(passed).hasValueGreaterThanOrEqualTo(100);
    }

    @Test
    void resultsStayTheSame() throws Exception {
        String members = "static Object run() { long h = 7; double d = 1; int[] a = new int[9000];"
                + " for (int i = 0; i < a.length; i++) a[i] = i * 31 ^ i >>> 3;"
                + " for (int x : a) { h = h * 31 + x; if ((x & 7) == 3) continue; d += 1.0 / (1 + x & 1023 | 1); }"
                + " int n = 0; do { h ^= n; n += 3; } while (n < 20000);"
                + " outer: for (long i = 0; i < 9000; i++) { for (int j = 0; j < 5; j++) { if ((i + j) % 11 == 0) continue outer; h += i * j; } }"
                + " Map<String, Integer> m = new TreeMap<>(); for (int i = 0; i < 50; i++) m.merge(\"k\" + i % 7, i, Integer::sum);"
                + " try { for (int i = 0; ; i++) { h += a[i]; } } catch (ArrayIndexOutOfBoundsException e) { h += 5; } finally { h *= 3; }"
                + " String s = \"\"; for (String each : m.keySet()) s += each + new Code(each.length()).n;"
                + " switch (s.length() % 3) { case 0: h++; case 1: h += 2; break; default: h -= 9; }"
                + " return h + \" \" + d + \" \" + m + s; }"
                + " final int n; Code(int k) { int t = 0; for (int i = 0; i < k; i++) t += i; n = t; }";
        String source = "import java.util.*;\npublic class Code {\n" + members + "\n}\n";
        Map<String, byte[]> plain = TestJars.classes(dir, "Code", source);
        Object expected = call(new Classes(plain).loadClass("Code"), "run");
        assertThat(call(new Classes(put(plain)).loadClass("Code"), "run")).isEqualTo(expected);
    }

    @Test
    void stackTracesKeepTheirLines() throws Exception {
        Class<?> type = compiled(
                "static Object run() {\n for (int i = 0; i < 3; i++) {\n if (i == 2)\n throw new IllegalStateException();\n }\n return 1; }");
        assertThatThrownBy(() -> call(type, "run"))
                .cause()
                .satisfies(e -> assertThat(e.getStackTrace()[0].getLineNumber()).isEqualTo(9));
    }

    /** The verifier of the JVM is the judge: of all shapes of code that a large library has. */
    @Test
    void everyClassOfALargeLibraryIsStillVerified() throws Exception {
        Map<String, byte[]> files = new HashMap<>();
        Path library = Path.of(ImmutableList.class
                .getProtectionDomain()
                .getCodeSource()
                .getLocation()
                .toURI());
        try (JarFile jar = new JarFile(library.toFile())) {
            for (Enumeration<JarEntry> all = jar.entries(); all.hasMoreElements(); ) {
                JarEntry entry = all.nextElement();
                if (entry.getName().startsWith("com/google/common/")
                        && entry.getName().endsWith(".class")) {
                    String name = entry.getName()
                            .substring(0, entry.getName().length() - 6)
                            .replace('/', '.');
                    files.put(name, jar.getInputStream(entry).readAllBytes());
                }
            }
        }
        Classes classes = new Classes(put(files));
        List<String> unsound = new ArrayList<>();
        for (String name : files.keySet()) {
            try {
                Method[] ofLinked = classes.loadClass(name).getDeclaredMethods();
                assertThat(ofLinked).isNotNull();
            } catch (VerifyError | ClassFormatError e) {
                unsound.add(name + ": " + e);
            } catch (NoClassDefFoundError e) {
                // Of what the library does not need.
            }
        }
        assertThat(files.size()).isGreaterThan(1000);
        assertThat(unsound).isEmpty();
    }

    @Test
    void aMethodThatBecomesTooLargeIsRefused() throws Exception {
        String loops = IntStream.range(0, 3500)
                .mapToObj(i -> "for (int i = 0; i < 9; i++) sink = i;")
                .collect(Collectors.joining("\n"));
        Map<String, byte[]> plain = TestJars.classes(
                dir,
                "Code",
                "public class Code { static volatile int sink; static Object run() {\n" + loops + "\nreturn 1; } }");
        assertThatThrownBy(() -> put(plain))
                .isInstanceOf(UnfitClassException.class)
                .hasMessageContaining("too large")
                .hasMessageContaining("run");
    }

    @Test
    void anUnknownVersionIsRefused() throws IOException {
        byte[] file = TestJars.classes(dir, "Code", "public class Code { }").get("Code");
        byte[] unknown = Objects.requireNonNull(file);
        unknown[7] = 99;
        assertThatThrownBy(() -> Checkpoints.put(unknown))
                .isInstanceOf(UnfitClassException.class)
                .hasMessageContaining("99");
    }

    @Test
    void aMethodWithAsManyVariablesAsThereCanBeGetsNoneMore() throws Exception {
        ClassWriter type = new ClassWriter(0);
        type.visit(Opcodes.V1_5, Opcodes.ACC_PUBLIC, "Code", null, "java/lang/Object", null);
        MethodVisitor run = type.visitMethod(Opcodes.ACC_STATIC, "run", "()V", null, null);
        Label start = new Label();
        run.visitCode();
        run.visitLabel(start);
        run.visitJumpInsn(Opcodes.GOTO, start);
        run.visitMaxs(0, 65_535);
        run.visitEnd();
        type.visitEnd();
        ClassNode read = new ClassNode();
        new ClassReader(Checkpoints.put(type.toByteArray())).accept(read, 0);
        assertThat(read.methods.get(0).maxLocals).isEqualTo(65_535);
    }

    /** It goes round by throwing, without a jump. */
    @Test
    void aHandlerThatCoversItselfIsRefused() {
        ClassWriter type = new ClassWriter(ClassWriter.COMPUTE_MAXS);
        type.visit(Opcodes.V1_5, Opcodes.ACC_PUBLIC, "Code", null, "java/lang/Object", null);
        MethodVisitor run = type.visitMethod(Opcodes.ACC_STATIC, "run", "()Ljava/lang/Object;", null, null);
        Label start = new Label();
        Label handler = new Label();
        Label end = new Label();
        run.visitTryCatchBlock(start, end, handler, null);
        run.visitLabel(start);
        run.visitInsn(Opcodes.ACONST_NULL);
        run.visitLabel(handler);
        run.visitInsn(Opcodes.POP);
        run.visitInsn(Opcodes.ACONST_NULL);
        run.visitInsn(Opcodes.ATHROW);
        run.visitLabel(end);
        run.visitMaxs(1, 0);
        type.visitEnd();
        assertThatThrownBy(() -> Checkpoints.put(type.toByteArray()))
                .isInstanceOf(UnfitClassException.class)
                .hasMessageContaining("cover themselves");
    }
}
