package org.tamanoir.deploy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.assertj.core.api.Assertions.fail;

import java.io.IOException;
import java.lang.annotation.ElementType;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.objectweb.asm.AnnotationVisitor;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;
import org.objectweb.asm.TypeReference;
import org.tamanoir.preemption.CheckpointPolicy;
import org.tamanoir.service.ChangesSize;
import org.tamanoir.service.ControlledBy;
import org.tamanoir.service.FanOut;
import org.tamanoir.service.PerPacket;
import org.tamanoir.service.ServiceTraits;
import org.tamanoir.service.Setting;
import org.tamanoir.service.Settings;
import org.tamanoir.service.SizeEffect;
import org.tamanoir.support.Seeds;
import org.tamanoir.support.Waiting;

/** Jars that have the JVM throw while it reads them: refused for a reason, as the jar's fault. */
class JarFaultsTest implements Opcodes {
    private static final String FOO = "org.example.Foo";
    private static final String FILE = "org/example/Foo.class";
    private static final long UNPACKED = 64 << 20;
    private static final int ROUNDS = 300;
    private static final int PATIENCE_S = 120;

    /** Set by the code of a jar that must not run. */
    private static final String RAN = "org.tamanoir.deploy.JarFaultsTest.ran";

    @TempDir
    Path dir;

    private TreeMap<String, byte[]> entries(String members) throws IOException {
        return TestJars.entries(dir, Map.of(FOO, TestJars.forwarder(FOO, members)));
    }

    private ServicePackage code(Map<String, byte[]> entries) throws IOException {
        return TestJars.code(TestJars.zip(dir, "foo", entries), FOO, "1.0");
    }

    private static CodeRefusedException refusal(ServicePackage code, CheckpointPolicy policy) {
        CodeRefusedException refused =
                catchThrowableOfType(CodeRefusedException.class, () -> TestJars.load(code, UNPACKED, policy));
        assertThat(refused).isNotNull().hasMessageStartingWith(FOO + ":1.0: ").hasMessageNotContaining("\n");
        return refused;
    }

    /** Changes the main class of a service that is whole otherwise. */
    private ServicePackage changed(Consumer<ClassVisitor> change) throws IOException {
        TreeMap<String, byte[]> entries = entries("");
        ClassReader reader = new ClassReader(Objects.requireNonNull(entries.get(FILE)));
        ClassWriter writer = new ClassWriter(reader, 0);
        reader.accept(
                new ClassVisitor(ASM9, writer) {
                    @Override
                    public void visitEnd() {
                        change.accept(cv);
                        super.visitEnd();
                    }
                },
                0);
        entries.put(FILE, writer.toByteArray());
        return code(entries);
    }

    private static AnnotationVisitor annotation(ClassVisitor type, Class<?> annotation) {
        return type.visitAnnotation(Type.getDescriptor(annotation), true);
    }

    // ---- annotations ------------------------------------------------------------------------------------------------

    @ParameterizedTest
    @EnumSource(CheckpointPolicy.class)
    void aControlThatTheJarLacksIsNamed(CheckpointPolicy policy) throws Exception {
        ServicePackage code = changed(type -> {
            AnnotationVisitor by = annotation(type, ControlledBy.class);
            by.visit("value", Type.getObjectType("org/example/Gone"));
            by.visitEnd();
        });
        CodeRefusedException refused = refusal(code, policy);
        assertThat(refused.refusal()).isEqualTo(Refusal.NOT_A_SERVICE);
        assertThat(refused).hasMessageContaining("lacks the class 'org.example.Gone', its control");
    }

    @ParameterizedTest
    @ValueSource(strings = {"java.lang.Object", "org.tamanoir.service.ServiceControl", "int", FOO})
    void aControlThatIsNoneIsRefused(String name) throws Exception {
        ServicePackage code = changed(type -> {
            AnnotationVisitor by = annotation(type, ControlledBy.class);
            by.visit("value", name.equals("int") ? Type.INT_TYPE : Type.getObjectType(name.replace('.', '/')));
            by.visitEnd();
        });
        assertThat(refusal(code, CheckpointPolicy.REQUIRED).refusal()).isEqualTo(Refusal.NOT_A_SERVICE);
    }

    @ParameterizedTest
    @ValueSource(classes = {ControlledBy.class, ChangesSize.class})
    void anAnnotationThatSaysNothingOrSomethingElseIsRefused(Class<?> annotation) throws Exception {
        List<Consumer<AnnotationVisitor>> values = List.of(
                to -> {},
                to -> to.visit("value", 5),
                to -> to.visit("other", "text"),
                to -> to.visitEnum("value", Type.getDescriptor(ElementType.class), "GONE"),
                to -> to.visitArray("value").visitEnd());
        for (Consumer<AnnotationVisitor> value : values) {
            ServicePackage code = changed(type -> {
                AnnotationVisitor made = annotation(type, annotation);
                value.accept(made);
                made.visitEnd();
            });
            assertThat(refusal(code, CheckpointPolicy.REQUIRED).refusal()).isEqualTo(Refusal.NOT_A_SERVICE);
        }
    }

    @Test
    void aPatienceThatIsNoneIsRefused() throws Exception {
        Map<Consumer<AnnotationVisitor>, String> values = Map.of(
                to -> to.visit("patienceMs", "text"), "is no int",
                to -> to.visit("patienceMs", 5000L), "is no int",
                to -> to.visit("patienceMs", new int[] {5000}), "is no int",
                to -> to.visitArray("patienceMs").visitEnd(), "is no int",
                to -> to.visitAnnotation("patienceMs", "Lorg/example/Gone;").visitEnd(), "is no int",
                to -> to.visitEnum("patienceMs", "Lorg/example/Gone;", "GONE"), "is no int",
                to -> to.visit("patienceMs", 0), "patienceMs 0 of FanOut: must be from 1 to 2147483647",
                to -> to.visit("patienceMs", -5), "patienceMs -5 of FanOut: must be from 1 to 2147483647");
        for (Map.Entry<Consumer<AnnotationVisitor>, String> value : values.entrySet()) {
            ServicePackage code = changed(type -> {
                AnnotationVisitor made = annotation(type, FanOut.class);
                value.getKey().accept(made);
                made.visitEnd();
            });
            CodeRefusedException refused = refusal(code, CheckpointPolicy.REQUIRED);
            assertThat(refused.refusal()).isEqualTo(Refusal.NOT_A_SERVICE);
            assertThat(refused).hasMessageContaining(value.getValue());
        }
    }

    @Test
    void whatAClassSaysIsReadFromItsFile() throws Exception {
        int usualMs = (int) FanOut.class.getMethod("patienceMs").getDefaultValue();
        assertThat(traits(type -> annotation(type, FanOut.class).visitEnd()))
                .isEqualTo(new ServiceTraits(SizeEffect.KEEPS, false, Duration.ofMillis(usualMs)));
        ServiceTraits all = traits(type -> {
            annotation(type, PerPacket.class).visitEnd();
            AnnotationVisitor sizes = annotation(type, ChangesSize.class);
            sizes.visitEnum("value", Type.getDescriptor(SizeEffect.class), "GROWS");
            sizes.visitEnd();
            AnnotationVisitor fanOut = annotation(type, FanOut.class);
            fanOut.visit("patienceMs", 70);
            fanOut.visitEnd();
        });
        assertThat(all).isEqualTo(new ServiceTraits(SizeEffect.GROWS, true, Duration.ofMillis(70)));
    }

    @Test
    void settingsThatCannotBeMeantAreRefused() throws Exception {
        Map<Consumer<AnnotationVisitor>, String> values = Map.of(
                to -> {}, "a name has 1 to 64",
                to -> to.visit("name", 5), "the name of a Setting is no String",
                to -> {
                            to.visit("name", "mark");
                            to.visit("min", "text");
                        },
                        "the min of a Setting is no Long",
                to -> {
                            to.visit("name", "mark");
                            to.visit("max", new long[] {5});
                        },
                        "the max of a Setting is no Long",
                to -> {
                            to.visit("name", "mark");
                            to.visitEnum("kind", "Lorg/example/Gone;", "GONE");
                        },
                        "a Setting of kind 'GONE'",
                to -> {
                            to.visit("name", "mark");
                            to.visit("min", 5L);
                            to.visit("max", 4L);
                        },
                        "min 5 is over max 4");
        for (Map.Entry<Consumer<AnnotationVisitor>, String> value : values.entrySet()) {
            ServicePackage alone = changed(type -> {
                AnnotationVisitor made = annotation(type, Setting.class);
                value.getKey().accept(made);
                made.visitEnd();
            });
            ServicePackage several = changed(type -> {
                AnnotationVisitor array = annotation(type, Settings.class).visitArray("value");
                AnnotationVisitor made = array.visitAnnotation(null, Type.getDescriptor(Setting.class));
                value.getKey().accept(made);
                made.visitEnd();
                array.visitEnd();
            });
            for (ServicePackage code : List.of(alone, several)) {
                CodeRefusedException refused = refusal(code, CheckpointPolicy.REQUIRED);
                assertThat(refused.refusal()).isEqualTo(Refusal.NOT_A_SERVICE);
                assertThat(refused).hasMessageContaining(value.getValue());
            }
        }
        ServicePackage gone = changed(type -> {
            AnnotationVisitor array = annotation(type, Settings.class).visitArray("of");
            array.visit(null, Type.getObjectType("org/example/Gone"));
            array.visitEnd();
        });
        assertThat(refusal(gone, CheckpointPolicy.REQUIRED)).hasMessageContaining("lacks the class 'org.example.Gone'");
        ServicePackage text = changed(type -> {
            AnnotationVisitor array = annotation(type, Settings.class).visitArray("value");
            array.visit(null, "text");
            array.visitEnd();
        });
        assertThat(refusal(text, CheckpointPolicy.REQUIRED)).hasMessageContaining("a value that is no Setting");
    }

    private ServiceTraits traits(Consumer<ClassVisitor> change) throws Exception {
        try (LoadedService loaded = TestJars.load(changed(change), UNPACKED, CheckpointPolicy.REQUIRED)) {
            return loaded.traits();
        }
    }

    private static void nest(AnnotationVisitor outermost, int depth, boolean inArrays) {
        AnnotationVisitor at = outermost;
        List<AnnotationVisitor> open = new ArrayList<>(List.of(at));
        for (int i = 0; i < depth; i++) {
            at = inArrays ? at.visitArray("value") : at.visitAnnotation("value", "Lorg/example/Deep;");
            open.add(at);
        }
        at.visit("value", "end");
        for (int i = open.size() - 1; i >= 0; i--) {
            open.get(i).visitEnd();
        }
    }

    private static MethodVisitor method(ClassVisitor type) {
        return type.visitMethod(ACC_PUBLIC | ACC_STATIC, "made", "(I)V", null, null);
    }

    private static void end(MethodVisitor method) {
        method.visitCode();
        method.visitInsn(RETURN);
        method.visitMaxs(0, 1);
        method.visitEnd();
    }

    private static void nest(ClassVisitor type, String place, int depth, boolean inArrays) {
        String deep = "Lorg/example/Deep;";
        switch (place) {
            case "class" -> nest(type.visitAnnotation(deep, true), depth, inArrays);
            case "class, invisible" -> nest(type.visitAnnotation(deep, false), depth, inArrays);
            case "type" ->
                nest(
                        type.visitTypeAnnotation(
                                TypeReference.newSuperTypeReference(-1).getValue(), null, deep, true),
                        depth,
                        inArrays);
            case "field" ->
                nest(type.visitField(ACC_PUBLIC, "made", "I", null, null).visitAnnotation(deep, true), depth, inArrays);
            case "method" -> {
                MethodVisitor method = method(type);
                nest(method.visitAnnotation(deep, true), depth, inArrays);
                end(method);
            }
            case "parameter" -> {
                MethodVisitor method = method(type);
                nest(method.visitParameterAnnotation(0, deep, true), depth, inArrays);
                end(method);
            }
            case "code" -> {
                MethodVisitor method = method(type);
                method.visitCode();
                method.visitInsn(ACONST_NULL);
                method.visitTypeInsn(CHECKCAST, "java/lang/String");
                nest(
                        method.visitInsnAnnotation(
                                TypeReference.newTypeArgumentReference(TypeReference.CAST, 0)
                                        .getValue(),
                                null,
                                deep,
                                true),
                        depth,
                        inArrays);
                method.visitInsn(POP);
                method.visitInsn(RETURN);
                method.visitMaxs(1, 1);
                method.visitEnd();
            }
            default -> throw new IllegalArgumentException(place);
        }
    }

    /** The JVM reads annotations of classes and members by recursion, without a bound: 100,000 end the process. */
    @ParameterizedTest
    @ValueSource(strings = {"class", "class, invisible", "type", "field", "method", "parameter", "code"})
    void annotationsThatAreNestedTooDeeplyAreRefused(String place) throws Exception {
        for (int depth : new int[] {100, 10_000, 300_000}) {
            for (boolean inArrays : new boolean[] {false, true}) {
                ServicePackage code = changed(type -> nest(type, place, depth, inArrays));
                for (CheckpointPolicy policy : CheckpointPolicy.values()) {
                    if (!place.equals("code")) {
                        assertThat(refusal(code, policy)).hasMessageContaining("nested more than 64 deep");
                    } else if (policy == CheckpointPolicy.REQUIRED && depth > 100) {
                        assertThat(refusal(code, policy)).hasMessageContaining("nested too deeply");
                    }
                }
                if (!place.equals("code")) {
                    assertThatThrownBy(() -> ServiceJar.inspect(code.jar(), UNPACKED))
                            .isInstanceOf(CodeRefusedException.class);
                }
            }
        }
    }

    /** Reflection would initialise the annotation's class: interfaces that have code are, with what implements them. */
    @Test
    void annotationsRunNoCode() throws Exception {
        ClassWriter evil = new ClassWriter(ClassWriter.COMPUTE_MAXS);
        evil.visit(
                V17,
                ACC_PUBLIC | ACC_INTERFACE | ACC_ABSTRACT | ACC_ANNOTATION,
                "org/example/Evil",
                null,
                "java/lang/Object",
                new String[] {"java/lang/annotation/Annotation"});
        AnnotationVisitor kept = evil.visitAnnotation("Ljava/lang/annotation/Retention;", true);
        kept.visitEnum("value", "Ljava/lang/annotation/RetentionPolicy;", "RUNTIME");
        kept.visitEnd();
        MethodVisitor code = evil.visitMethod(ACC_PUBLIC, "code", "()V", null, null);
        code.visitCode();
        code.visitInsn(RETURN);
        code.visitMaxs(0, 0);
        code.visitEnd();
        MethodVisitor init = evil.visitMethod(ACC_STATIC, "<clinit>", "()V", null, null);
        init.visitCode();
        init.visitLdcInsn(RAN);
        init.visitInsn(DUP);
        init.visitMethodInsn(
                INVOKESTATIC,
                "java/lang/System",
                "setProperty",
                "(Ljava/lang/String;Ljava/lang/String;)Ljava/lang/String;",
                false);
        init.visitInsn(POP);
        init.visitInsn(RETURN);
        init.visitMaxs(0, 0);
        init.visitEnd();
        evil.visitEnd();
        TreeMap<String, byte[]> entries = entries("");
        ClassReader reader = new ClassReader(Objects.requireNonNull(entries.get(FILE)));
        ClassWriter writer = new ClassWriter(reader, 0);
        reader.accept(writer, 0);
        writer.visitAnnotation("Lorg/example/Evil;", true).visitEnd();
        entries.put(FILE, writer.toByteArray());
        entries.put("org/example/Evil.class", evil.toByteArray());
        try (LoadedService loaded = TestJars.load(code(entries), UNPACKED, CheckpointPolicy.REQUIRED)) {
            assertThat(loaded.traits()).isEqualTo(ServiceTraits.NONE);
            assertThat(System.getProperty(RAN)).isNull();
        } finally {
            System.clearProperty(RAN);
        }
    }

    // ---- classes ----------------------------------------------------------------------------------------------------

    @Test
    void superclassesWithoutEndAreRefused() throws Exception {
        int depth = 8000;
        TreeMap<String, byte[]> entries = entries("");
        ClassReader reader = new ClassReader(Objects.requireNonNull(entries.get(FILE)));
        ClassWriter main = new ClassWriter(0);
        reader.accept(
                new ClassVisitor(ASM9, main) {
                    @Override
                    public void visit(int v, int access, String name, String signature, String parent, String[] of) {
                        super.visit(v, access, name, signature, "c0", of);
                    }
                },
                0);
        entries.put(FILE, main.toByteArray());
        for (int i = 0; i < depth; i++) {
            ClassWriter type = new ClassWriter(0);
            type.visit(
                    V17,
                    ACC_PUBLIC,
                    "c" + i,
                    null,
                    i == depth - 1 ? "org/tamanoir/service/Service" : "c" + (i + 1),
                    null);
            type.visitEnd();
            entries.put("c" + i + ".class", type.toByteArray());
        }
        CodeRefusedException refused = refusal(code(entries), CheckpointPolicy.REQUIRED);
        assertThat(refused.refusal()).isEqualTo(Refusal.NOT_A_SERVICE);
        assertThat(refused).hasMessageContaining("class " + FOO);
    }

    /** One byte of a class file each repeats 60,000 variables. */
    @Test
    void framesThatRepeatMuchAreRefused() throws Exception {
        int locals = 60_000;
        ServicePackage code = changed(type -> {
            MethodVisitor m = type.visitMethod(ACC_PUBLIC | ACC_STATIC, "made", "()V", null, null);
            Object[] all = new Object[locals];
            Arrays.fill(all, INTEGER);
            m.visitCode();
            for (int i = 0; i < 15_000; i++) {
                m.visitFrame(i == 0 ? F_FULL : F_SAME, i == 0 ? locals : 0, all, 0, new Object[0]);
                m.visitInsn(NOP);
                m.visitLabel(new Label());
            }
            m.visitInsn(RETURN);
            m.visitMaxs(0, locals);
            m.visitEnd();
        });
        assertThat(refusal(code, CheckpointPolicy.REQUIRED))
                .hasMessageContaining(FILE)
                .hasMessageContaining("method made has stack map frames");
    }

    /** What the JVM refuses when the class is wanted, which may be years later. */
    @ParameterizedTest
    @EnumSource(CheckpointPolicy.class)
    void classFilesThatJavaRefusesAreRefusedByPublisherAndNode(CheckpointPolicy policy) throws Exception {
        String other = "org/example/Foo$Other.class";
        String members = "public static class Other { int f = 1; }";
        byte[] whole = Objects.requireNonNull(entries(members).get(other));
        int size = whole.length;
        Map<String, byte[]> faults = Map.ofEntries(
                Map.entry("is cut off after 0 bytes; compile it anew", new byte[0]),
                Map.entry("is cut off after 1 bytes; compile it anew", Arrays.copyOf(whole, 1)),
                Map.entry("is cut off after " + (size - 1) + " bytes; compile it anew", Arrays.copyOf(whole, size - 1)),
                Map.entry("has 1 bytes behind its end; compile it anew", Arrays.copyOf(whole, size + 1)),
                Map.entry("it begins with 00000000, not cafebabe; compile it anew", with(whole, 0, 0, 0, 0, 0)),
                Map.entry("compile it without --enable-preview", with(whole, 4, 0xff, 0xff)),
                Map.entry("has class file version 61.1, and Java reads 61.0", with(whole, 4, 0, 1, 0, 61)),
                Map.entry("has class file version 44, and this Java reads 45 to", with(whole, 6, 0, 44)),
                Map.entry("has class file version 1, and this Java reads 45 to", with(whole, 6, 0, 1)),
                Map.entry("has a constant of no kind that Java has: 2", with(whole, 10, 2)),
                Map.entry(
                        "is the class 'org/example/Foo': rename it, or pack what was compiled into its folder",
                        Objects.requireNonNull(entries(members).get(FILE))));
        for (Map.Entry<String, byte[]> fault : faults.entrySet()) {
            TreeMap<String, byte[]> entries = entries(members);
            entries.put(other, fault.getValue());
            assertThat(refusal(code(entries), policy))
                    .hasMessageStartingWith(FOO + ":1.0: '" + other + "' ")
                    .hasMessageContaining(fault.getKey());
            assertThatThrownBy(() -> ServiceJar.inspect(code(entries).jar(), UNPACKED, policy))
                    .isInstanceOf(CodeRefusedException.class)
                    .hasMessageContaining("'" + other + "' ")
                    .hasMessageContaining(fault.getKey());
        }
    }

    @Test
    void aModuleOfNoBytesIsRefused() throws Exception {
        TreeMap<String, byte[]> entries = entries("");
        entries.put("module-info.class", new byte[0]);
        assertThat(refusal(code(entries), CheckpointPolicy.REQUIRED))
                .hasMessageContaining("'module-info.class' is cut off after 0 bytes; compile it anew");
    }

    private static byte[] with(byte[] file, int at, int... values) {
        byte[] made = file.clone();
        for (int i = 0; i < values.length; i++) {
            made[at + i] = (byte) values[i];
        }
        return made;
    }

    /** What is damaged anywhere is refused, or loaded; nothing else is thrown. */
    @Test
    void damagedClassesAreRefusedOrLoaded() throws Exception {
        long first = Seeds.ofCommit(JarFaultsTest.class);
        String members = """
                public static class Control implements org.tamanoir.service.ServiceControl {
                    public void init(org.tamanoir.service.ServiceConfig c, org.tamanoir.service.ControlHost h) {}
                    public java.util.Map<String, Object> view() { return null; }
                    public java.util.Map<String, Object> change(String o, java.util.Map<String, Object> a) { return a; }
                }
                enum Colour { RED, GREEN { } }
                record Point(int x, @Deprecated String y) {}
                @Deprecated(since = "1", forRemoval = true) int f(Object o) {
                    synchronized (this) { try { return o.hashCode() / f(null); } catch (RuntimeException e) { return 1; } }
                }
                static final Runnable R = () -> { for (int i = 0; i < 9; i++) System.getProperty("x" + i); };
                """;
        String annotated = "@org.tamanoir.service.ChangesSize(org.tamanoir.service.SizeEffect.GROWS)"
                + " @org.tamanoir.service.ControlledBy(Foo.Control.class) public class Foo";
        TreeMap<String, byte[]> whole = TestJars.entries(
                dir, Map.of(FOO, TestJars.forwarder(FOO, members).replace("public class Foo", annotated)));
        List<String> names =
                whole.keySet().stream().filter(each -> each.endsWith(".class")).toList();
        AtomicInteger loads = new AtomicInteger();
        for (int round = 0; round < Seeds.scaled(ROUNDS); round++) {
            long seed = first + round;
            Random random = new Random(seed);
            TreeMap<String, byte[]> entries = new TreeMap<>(whole);
            String name = names.get(random.nextInt(names.size()));
            entries.put(name, damaged(Objects.requireNonNull(whole.get(name)), random));
            CheckpointPolicy policy = CheckpointPolicy.values()[random.nextInt(3)];
            ServicePackage code = code(entries);
            try {
                TestJars.load(code, UNPACKED, policy).close();
                loads.incrementAndGet();
            } catch (CodeRefusedException e) {
                assertThat(e).hasMessageStartingWith(FOO + ":1.0: ").hasMessageNotContaining("\n");
            } catch (Throwable e) {
                fail("a fault of the node: -Dtamanoir.seed=" + seed + " plays it first", e);
            }
            try {
                ServiceJar.inspect(code.jar(), UNPACKED);
            } catch (CodeRefusedException e) {
                assertThat(e).hasMessageNotContaining("\n");
            } catch (Throwable e) {
                fail("a fault of the publisher: -Dtamanoir.seed=" + seed + " plays it first", e);
            }
            Files.delete(code.jar());
        }
        System.out.println("JarFaultsTest: " + loads + " loaded");
    }

    private static byte[] damaged(byte[] file, Random random) {
        byte[] made = random.nextInt(8) == 0 ? Arrays.copyOf(file, random.nextInt(file.length)) : file.clone();
        for (int i = random.nextInt(4); i >= 0 && made.length > 8; i--) {
            // Not the magic number and the version, which end all that comes behind.
            made[8 + random.nextInt(made.length - 8)] =
                    random.nextBoolean() ? (byte) random.nextInt(256) : (byte) (random.nextInt(3) - 1);
        }
        return made;
    }

    // ---- time -------------------------------------------------------------------------------------------------------

    /** Others wait no longer than they may, and are not refused for it. */
    @Test
    void whoseTimeIsOverDoesNotWaitForAnotherJar() throws Exception {
        ServicePackage code = code(entries(""));
        JarReading reading = new JarReading(() -> Long.MAX_VALUE, () -> {});
        long beganNs = System.nanoTime();
        CompletableFuture<Void> waits = new CompletableFuture<>();
        CompletableFuture<String> first = new CompletableFuture<>();
        CompletableFuture<String> read = Waiting.async(() -> reading.read("first", beganNs, memory -> {
            first.complete("is read");
            waits.join();
            return "was read";
        }));
        assertThat(first.get(PATIENCE_S, TimeUnit.SECONDS)).isEqualTo("is read");
        CompletableFuture<LoadedService> second =
                Waiting.async(() -> LoadedService.load(code, UNPACKED, CheckpointPolicy.REQUIRED, beganNs, reading));
        try {
            assertThat(second)
                    .failsWithin(Duration.ofSeconds(PATIENCE_S))
                    .withThrowableOfType(ExecutionException.class)
                    .havingCause()
                    .isInstanceOf(TimeoutException.class)
                    .withMessage(FOO + ":1.0 was not read in time: other jars were being read; ask again");
        } finally {
            waits.complete(null);
        }
        assertThat(read.get(PATIENCE_S, TimeUnit.SECONDS)).isEqualTo("was read");
        LoadedService.load(code, UNPACKED, CheckpointPolicy.REQUIRED, beganNs, reading)
                .close();
    }

    /** Each class is allowed; a jar of them would take long, while others wait. */
    @Test
    void manyClassesThatTakeLongToProveAreRefused() throws Exception {
        TreeMap<String, byte[]> entries = entries("");
        for (int i = 0; i < 30; i++) {
            entries.put("Long" + i + ".class", longToProve("Long" + i));
        }
        CodeRefusedException refused = refusal(code(entries), CheckpointPolicy.REQUIRED);
        assertThat(refused.refusal()).isEqualTo(Refusal.NOT_A_SERVICE);
        assertThat(refused).hasMessageContaining("method run and those before it take more than ");
    }

    /** One method: handlers that cover pieces of code within each other, and monitors. */
    private static byte[] longToProve(String name) {
        ClassWriter type = new ClassWriter(ClassWriter.COMPUTE_MAXS);
        type.visit(V1_5, ACC_PUBLIC, name, null, "java/lang/Object", null);
        MethodVisitor m = type.visitMethod(ACC_PUBLIC | ACC_STATIC, "run", "()V", null, null);
        m.visitCode();
        Label end = new Label();
        Label caught = new Label();
        for (int i = 0; i < 1000; i++) {
            Label start = new Label();
            m.visitTryCatchBlock(start, end, caught, "java/lang/Exception");
            m.visitLabel(start);
            m.visitInsn(NOP);
        }
        for (int i = 0; i < 3; i++) {
            m.visitLdcInsn("monitor");
            m.visitInsn(DUP);
            m.visitVarInsn(ASTORE, 0);
            m.visitInsn(MONITORENTER);
            m.visitVarInsn(ALOAD, 0);
            m.visitInsn(MONITOREXIT);
        }
        m.visitInsn(RETURN);
        m.visitLabel(end);
        m.visitLabel(caught);
        m.visitInsn(POP);
        m.visitInsn(RETURN);
        m.visitMaxs(0, 0);
        m.visitEnd();
        type.visitEnd();
        return type.toByteArray();
    }

    // ---- memory -----------------------------------------------------------------------------------------------------

    @ParameterizedTest
    @ValueSource(ints = {10_000_000, 1000})
    void whatDoesNotFitIntoHalfOfWhatIsFreeIsTooLarge(int freeBytes) throws Exception {
        AtomicInteger collected = new AtomicInteger();
        JarReading reading = new JarReading(() -> freeBytes, collected::incrementAndGet);
        TreeMap<String, byte[]> entries = entries("");
        entries.put("zeros", new byte[6_000_000]);
        CodeRefusedException refused = catchThrowableOfType(
                CodeRefusedException.class,
                () -> TestJars.load(code(entries), UNPACKED, CheckpointPolicy.REQUIRED, reading));
        assertThat(refused.refusal()).isEqualTo(Refusal.TOO_LARGE);
        assertThat(refused).hasMessageContaining("and a jar gets ").hasMessageContaining(", half of what is free");
        assertThat(collected).hasValue(1);
    }

    /** Jar, entries and a class's nodes each fit into half of what is free, and together they do not. */
    @Test
    void halfOfWhatIsFreeIsForAllOfAJar() throws Exception {
        AtomicInteger collected = new AtomicInteger();
        long freeBytes = 10_000_000;
        JarReading reading = new JarReading(() -> freeBytes, collected::incrementAndGet);
        byte[] noise = new byte[4_000_000];
        new Random(1).nextBytes(noise);
        TreeMap<String, byte[]> entries = entries("");
        entries.put("noise", noise);
        CodeRefusedException refused = catchThrowableOfType(
                CodeRefusedException.class,
                () -> TestJars.load(code(entries), UNPACKED, CheckpointPolicy.REQUIRED, reading));
        assertThat(refused).isNotNull().hasMessageContaining("with what was read before");
        assertThat(refused.refusal()).isEqualTo(Refusal.TOO_LARGE);
        assertThat(collected).hasValue(1);
    }

    /** However fast others fill the heap with it again. */
    @Test
    void garbageIsNotCountedAndCollectedOnceForAJar() throws Exception {
        AtomicInteger freeBytes = new AtomicInteger();
        AtomicInteger collected = new AtomicInteger();
        JarReading reading = new JarReading(() -> freeBytes.getAndSet(0), () -> {
            collected.incrementAndGet();
            freeBytes.set(100_000_000);
        });
        TestJars.load(code(entries("")), UNPACKED, CheckpointPolicy.REQUIRED, reading)
                .close();
        assertThat(collected).hasValue(1);
    }

    private static byte[] largeClass(String name, int methods) {
        ClassWriter type = new ClassWriter(0);
        type.visit(V17, ACC_PUBLIC, name, null, "java/lang/Object", null);
        for (int i = 0; i < methods; i++) {
            MethodVisitor m = type.visitMethod(ACC_PUBLIC | ACC_STATIC, "m" + i, "()V", null, null);
            m.visitCode();
            for (int at = 0; at < 65_000; at++) {
                m.visitInsn(NOP);
            }
            m.visitInsn(RETURN);
            m.visitMaxs(0, 0);
            m.visitEnd();
        }
        type.visitEnd();
        return type.toByteArray();
    }

    /** Loads jars in a process with 64 MB, which prints what becomes of them. */
    public static final class Loader {
        public static void main(String[] jars) throws IOException {
            for (String jar : jars) {
                try {
                    TestJars.load(TestJars.code(Path.of(jar), FOO, "1.0"), 256 << 20, CheckpointPolicy.REQUIRED);
                    System.out.println("loaded");
                } catch (CodeRefusedException e) {
                    System.out.println(e.refusal());
                } catch (Throwable e) {
                    System.out.println("a fault of the node: " + e);
                }
            }
        }
    }

    @Test
    void aSmallHeapIsNotFilledByAJar() throws Exception {
        TreeMap<String, byte[]> zeros = entries("");
        zeros.put("zeros", new byte[50 << 20]);
        TreeMap<String, byte[]> large = entries("");
        large.put("Large.class", largeClass("Large", 120));
        TreeMap<String, byte[]> several = entries("");
        for (int i = 0; i < 3; i++) {
            several.put("p" + i + "/Large.class", largeClass("p" + i + "/Large", 3));
        }
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx64m",
                "-cp",
                System.getProperty("java.class.path"),
                Loader.class.getName()));
        for (Map<String, byte[]> entries : List.of(zeros, large, entries(""), several)) {
            command.add(code(entries).jar().toString());
        }
        Path out = dir.resolve("out");
        Process process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(out.toFile())
                .start();
        try {
            assertThat(process.waitFor(PATIENCE_S, TimeUnit.SECONDS)).isTrue();
        } finally {
            process.destroyForcibly();
        }
        assertThat(Files.readString(out, StandardCharsets.UTF_8).lines().toList())
                .containsExactly("TOO_LARGE", "TOO_LARGE", "loaded", "loaded");
    }
}
