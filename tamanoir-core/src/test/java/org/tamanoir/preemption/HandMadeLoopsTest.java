package org.tamanoir.preemption;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.fail;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import java.net.URI;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.ConstantDynamic;
import org.objectweb.asm.Handle;
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;
import org.objectweb.asm.tree.ClassNode;
import org.objectweb.asm.tree.MethodNode;
import org.tamanoir.service.Checkpoint;
import org.tamanoir.service.ServiceStopped;
import org.tamanoir.support.Seeds;

/**
 * Class files that no compiler makes: each is refused with a reason, or ends when its checkpoints throw. The judge is the
 * JVM, which runs them.
 */
class HandMadeLoopsTest implements Opcodes {
    private static final int ROUNDS = 600;
    /** Checkpoints that a thread passes before it is stopped. */
    private static final int PASSED = 100;
    /** A method that is stopped runs some thousands of instructions more at most. */
    private static final int PATIENCE_S = 60;

    private static final String CHECKPOINT = "org/tamanoir/service/Checkpoint";
    private static final String NO_CLASS = "hidden/Hidden";

    /** A null reference, a lock that nobody holds, and a number, for what the code tries. */
    private static final int NOTHING = 0;

    private static final int LOCK = 1;
    private static final int NUMBER = 2;
    private static final int CAUGHT = 3;
    /** Variables that all methods use; others they may not declare. */
    private static final int OWN = 4;

    /** What is thrown there can be caught by name where the class is, and nowhere else. */
    private static byte[] hidden() {
        ClassWriter type = new ClassWriter(0);
        type.visit(V1_5, 0, NO_CLASS, null, "java/lang/Exception", null);
        type.visitEnd();
        return type.toByteArray();
    }

    private static byte[] classFile(Consumer<ClassWriter> members) {
        ClassWriter type = new ClassWriter(ClassWriter.COMPUTE_MAXS);
        type.visit(V1_5, ACC_PUBLIC, "made/Code", null, "java/lang/Object", null);
        members.accept(type);
        type.visitEnd();
        return type.toByteArray();
    }

    private static void method(ClassWriter type, String name, Consumer<MethodVisitor> body) {
        MethodVisitor method = type.visitMethod(ACC_STATIC | ACC_PUBLIC, name, "()V", null, null);
        method.visitCode();
        method.visitInsn(ACONST_NULL);
        method.visitVarInsn(ASTORE, NOTHING);
        method.visitTypeInsn(NEW, "java/lang/Object");
        method.visitInsn(DUP);
        method.visitMethodInsn(INVOKESPECIAL, "java/lang/Object", "<init>", "()V", false);
        method.visitVarInsn(ASTORE, LOCK);
        method.visitInsn(ICONST_0);
        method.visitVarInsn(ISTORE, NUMBER);
        body.accept(method);
        method.visitMaxs(0, 0);
        method.visitEnd();
    }

    private static byte[] run(Consumer<MethodVisitor> body) {
        return classFile(type -> method(type, "run", body));
    }

    private static final class Classes extends ClassLoader {
        private final Map<String, byte[]> files;

        Classes(byte[] code) {
            super(HandMadeLoopsTest.class.getClassLoader());
            files = Map.of("made.Code", code, "hidden.Hidden", hidden());
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

    /** Returns what came of a class: refused with a reason, stopped, or how it ended; null if it goes round for ever. */
    private static @Nullable String outcome(byte[] classFile) throws Exception {
        byte[] fit;
        try {
            fit = Checkpoints.put(classFile);
        } catch (UnfitClassException e) {
            assertThat(e.getMessage()).isNotBlank();
            return "refused";
        }
        ServiceStopped stop = new ServiceStopped("the test wants it");
        AtomicInteger passed = new AtomicInteger();
        AtomicReference<@Nullable String> outcome = new AtomicReference<>();
        Runnable code = () -> {
            Checkpoint.keep(() -> passed.incrementAndGet() > PASSED ? stop : null);
            try {
                new Classes(fit).loadClass("made.Code").getMethod("run").invoke(null);
                outcome.set("returned");
            } catch (Throwable e) {
                Throwable thrown = e.getCause() == null ? e : e.getCause();
                outcome.set(thrown == stop ? "stopped" : thrown.getClass().getSimpleName());
            }
        };
        Thread thread = new Thread(code, "hand-made");
        thread.setDaemon(true);
        thread.start();
        Checkpoint.want(thread, true);
        try {
            thread.join(TimeUnit.SECONDS.toMillis(PATIENCE_S));
        } finally {
            Checkpoint.want(thread, false);
        }
        return outcome.get();
    }

    private static Arguments kind(String name, Consumer<MethodVisitor> body) {
        return arguments(name, run(body));
    }

    private static void throwsNull(MethodVisitor m) {
        m.visitInsn(ACONST_NULL);
        m.visitInsn(ATHROW);
    }

    private static void tries(MethodVisitor m, int monitor, int opcode) {
        m.visitVarInsn(ALOAD, monitor);
        m.visitInsn(opcode);
    }

    /** The way in throws; the handler, which covers itself, tries a monitor and throws again. */
    private static void coversItself(MethodVisitor m, @Nullable String type, int monitor, int opcode) {
        Label start = new Label();
        Label handler = new Label();
        Label end = new Label();
        m.visitTryCatchBlock(start, handler, handler, type);
        m.visitTryCatchBlock(handler, end, handler, type);
        m.visitLabel(start);
        throwsNull(m);
        m.visitLabel(handler);
        m.visitVarInsn(ASTORE, CAUGHT);
        tries(m, monitor, opcode);
        m.visitLabel(end);
        m.visitVarInsn(ALOAD, CAUGHT);
        m.visitInsn(ATHROW);
    }

    /** Two handlers, each of which throws in what the other one covers. */
    private static void coverEachOther(MethodVisitor m, @Nullable String type, int monitor, int opcode) {
        Label start = new Label();
        Label one = new Label();
        Label two = new Label();
        Label end = new Label();
        m.visitTryCatchBlock(start, two, two, type);
        m.visitTryCatchBlock(two, end, one, type);
        m.visitLabel(start);
        throwsNull(m);
        m.visitLabel(one);
        m.visitVarInsn(ASTORE, CAUGHT);
        tries(m, monitor, opcode);
        throwsNull(m);
        m.visitLabel(two);
        m.visitVarInsn(ASTORE, CAUGHT);
        tries(m, monitor, opcode);
        throwsNull(m);
        m.visitLabel(end);
    }

    /** A handler before what it covers begins with what looks like a checkpoint and is none. */
    private static void falseCheckpoint(MethodVisitor m, String name, boolean isInterface) {
        Label one = new Label();
        Label two = new Label();
        Label next = new Label();
        Label start = new Label();
        Label end = new Label();
        m.visitTryCatchBlock(start, end, one, null);
        m.visitTryCatchBlock(one, next, two, null);
        m.visitJumpInsn(GOTO, start);
        m.visitLabel(one);
        m.visitMethodInsn(INVOKESTATIC, CHECKPOINT, name, "()V", isInterface);
        m.visitLabel(next);
        m.visitLabel(two);
        m.visitInsn(POP);
        m.visitLabel(start);
        tries(m, NOTHING, MONITORENTER);
        m.visitLabel(end);
        m.visitInsn(RETURN);
    }

    private static void switchesBack(MethodVisitor m, boolean isTable) {
        Label start = new Label();
        Label end = new Label();
        m.visitLabel(start);
        m.visitIincInsn(NUMBER, 1);
        m.visitVarInsn(ILOAD, NUMBER);
        if (isTable) {
            m.visitTableSwitchInsn(0, 1, start, end, start);
        } else {
            m.visitLookupSwitchInsn(start, new int[] {-7}, new Label[] {end});
        }
        m.visitLabel(end);
        m.visitJumpInsn(GOTO, start);
    }

    /** A handler behind a return that throws, as a monitor was not given back; or at what throws in another way. */
    private static void goesBackByThrowing(MethodVisitor m, Consumer<MethodVisitor> thrown) {
        Label handler = new Label();
        Label start = new Label();
        Label end = new Label();
        m.visitTryCatchBlock(start, end, handler, null);
        m.visitJumpInsn(GOTO, start);
        m.visitLabel(handler);
        m.visitInsn(POP);
        m.visitLabel(start);
        thrown.accept(m);
        m.visitLabel(end);
        m.visitInsn(RETURN);
    }

    private static void subroutine(MethodVisitor m) {
        Label sub = new Label();
        Label start = new Label();
        m.visitLabel(start);
        m.visitJumpInsn(JSR, sub);
        m.visitJumpInsn(GOTO, start);
        m.visitLabel(sub);
        m.visitVarInsn(ASTORE, CAUGHT);
        m.visitVarInsn(RET, CAUGHT);
    }

    private static byte[] inInitialiser() {
        return classFile(type -> {
            MethodVisitor m = type.visitMethod(ACC_STATIC, "<clinit>", "()V", null, null);
            m.visitCode();
            m.visitInsn(ACONST_NULL);
            m.visitVarInsn(ASTORE, NOTHING);
            coversItself(m, null, NOTHING, MONITOREXIT);
            m.visitMaxs(0, 0);
            m.visitEnd();
            method(type, "run", body -> body.visitInsn(RETURN));
        });
    }

    /** It calls itself twice, whatever is thrown: by itself it would take longer than the world is old. */
    private static byte[] recursion() {
        return run(m -> {
            Label start = new Label();
            Label handler = new Label();
            m.visitTryCatchBlock(start, handler, handler, null);
            m.visitLabel(start);
            m.visitMethodInsn(INVOKESTATIC, "made/Code", "run", "()V", false);
            m.visitInsn(RETURN);
            m.visitLabel(handler);
            m.visitInsn(POP);
            m.visitMethodInsn(INVOKESTATIC, "made/Code", "run", "()V", false);
            m.visitInsn(RETURN);
        });
    }

    /** A constant, or a call, whose value a method of the class makes, which goes round. */
    private static byte[] bootstrap(boolean isConstant) {
        ClassWriter type = new ClassWriter(ClassWriter.COMPUTE_FRAMES | ClassWriter.COMPUTE_MAXS);
        type.visit(V11, ACC_PUBLIC, "made/Code", null, "java/lang/Object", null);
        String lookup = "(Ljava/lang/invoke/MethodHandles$Lookup;Ljava/lang/String;"
                + (isConstant ? "Ljava/lang/Class;)I" : "Ljava/lang/invoke/MethodType;)Ljava/lang/invoke/CallSite;");
        MethodVisitor boot = type.visitMethod(ACC_STATIC | ACC_PUBLIC, "boot", lookup, null, null);
        Label start = new Label();
        boot.visitCode();
        boot.visitLabel(start);
        boot.visitJumpInsn(GOTO, start);
        boot.visitMaxs(0, 0);
        boot.visitEnd();
        Handle handle = new Handle(H_INVOKESTATIC, "made/Code", "boot", lookup, false);
        method(type, "run", m -> {
            if (isConstant) {
                m.visitLdcInsn(new ConstantDynamic("c", "I", handle));
                m.visitInsn(POP);
            } else {
                m.visitInvokeDynamicInsn("c", "()V", handle);
            }
            m.visitInsn(RETURN);
        });
        type.visitEnd();
        return type.toByteArray();
    }

    static Stream<Arguments> kinds() {
        List<Arguments> all = new ArrayList<>();
        for (String type :
                new @Nullable String[] {null, "java/lang/Throwable", "java/lang/RuntimeException", NO_CLASS}) {
            for (int monitor : new int[] {NOTHING, LOCK}) {
                for (int opcode : new int[] {MONITORENTER, MONITOREXIT}) {
                    String how = " " + type + ", " + (monitor == LOCK ? "a lock" : "null")
                            + (opcode == MONITORENTER ? " entered" : " left");
                    all.add(kind("covers itself" + how, m -> coversItself(m, type, monitor, opcode)));
                    all.add(kind("cover each other" + how, m -> coverEachOther(m, type, monitor, opcode)));
                }
            }
        }
        all.add(kind("no such checkpoint", m -> falseCheckpoint(m, "gone", false)));
        all.add(kind("a checkpoint of an interface", m -> falseCheckpoint(m, "poll", true)));
        all.add(kind("its own checkpoint", m -> falseCheckpoint(m, "poll", false)));
        all.add(kind("table switch", m -> switchesBack(m, true)));
        all.add(kind("lookup switch", m -> switchesBack(m, false)));
        all.add(kind("return", m -> goesBackByThrowing(m, to -> tries(to, LOCK, MONITORENTER))));
        all.add(kind("null thrown", m -> goesBackByThrowing(m, HandMadeLoopsTest::throwsNull)));
        all.add(kind(
                "a class that is not there",
                m -> goesBackByThrowing(m, to -> {
                    to.visitLdcInsn(Type.getObjectType("made/Gone"));
                    to.visitInsn(POP);
                })));
        all.add(kind(
                "division",
                m -> goesBackByThrowing(m, to -> {
                    to.visitVarInsn(ILOAD, NUMBER);
                    to.visitInsn(DUP);
                    to.visitInsn(IREM);
                    to.visitInsn(POP);
                })));
        all.add(kind("subroutine", HandMadeLoopsTest::subroutine));
        all.add(arguments("static initialiser", inInitialiser()));
        all.add(arguments("recursion", recursion()));
        all.add(arguments("constant", bootstrap(true)));
        all.add(arguments("call site", bootstrap(false)));
        return all.stream();
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("kinds")
    void itIsRefusedOrEnds(String name, byte[] classFile) throws Exception {
        assertThat(outcome(classFile))
                .as(name)
                .isNotNull()
                .doesNotEndWith("VerifyError")
                .isNotEqualTo("ClassFormatError");
    }

    /** The JVM keeps monitors in the frame: its stack would overflow where the method catches that, and end the process. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void monitorsThatAreNotLeftAreRefused(boolean isCaught) {
        byte[] file = run(m -> {
            Label start = new Label();
            Label handler = new Label();
            if (isCaught) {
                m.visitTryCatchBlock(start, handler, handler, "java/lang/StackOverflowError");
            }
            m.visitLabel(start);
            tries(m, LOCK, MONITORENTER);
            m.visitJumpInsn(GOTO, start);
            m.visitLabel(handler);
            if (isCaught) {
                m.visitInsn(POP);
                m.visitJumpInsn(GOTO, start);
            }
        });
        assertThatThrownBy(() -> Checkpoints.put(file))
                .isInstanceOf(UnfitClassException.class)
                .hasMessageContaining("method run enters monitors that it does not leave");
    }

    // ---- beyond what a method declares ------------------------------------------------------------------------------

    private static void link(byte[] file) throws Exception {
        assertThat(new Classes(file).loadClass("made.Code").getMethods()).isNotEmpty();
    }

    private static byte[] declared(
            int version, String descriptor, int stack, int variables, Consumer<MethodVisitor> body) {
        ClassWriter type = new ClassWriter(0);
        type.visit(version, ACC_PUBLIC, "made/Code", null, "java/lang/Object", null);
        MethodVisitor m = type.visitMethod(ACC_STATIC | ACC_PUBLIC, "run", descriptor, null, null);
        m.visitCode();
        body.accept(m);
        m.visitMaxs(stack, variables);
        m.visitEnd();
        type.visitEnd();
        return type.toByteArray();
    }

    /** Has the methods of a class declare less than they may use. */
    private static byte[] declaring(byte[] file, int lessStack, int variables) {
        ClassWriter to = new ClassWriter(0);
        new ClassReader(file)
                .accept(
                        new ClassVisitor(ASM9, to) {
                            @Override
                            public MethodVisitor visitMethod(
                                    int access,
                                    String name,
                                    String descriptor,
                                    @Nullable String signature,
                                    String @Nullable [] thrown) {
                                return new MethodVisitor(
                                        ASM9, super.visitMethod(access, name, descriptor, signature, thrown)) {
                                    @Override
                                    public void visitMaxs(int stack, int all) {
                                        super.visitMaxs(stack - lessStack, Math.min(all, variables));
                                    }
                                };
                            }
                        },
                        0);
        return to.toByteArray();
    }

    private static void frame(MethodVisitor m, Object... locals) {
        m.visitFrame(F_NEW, locals.length, locals, 0, new Object[0]);
    }

    /** A loop that does something each round. */
    private static Consumer<MethodVisitor> loop(Consumer<MethodVisitor> round, Object... locals) {
        return m -> {
            Label loop = new Label();
            m.visitLabel(loop);
            frame(m, locals);
            round.accept(m);
            m.visitJumpInsn(GOTO, loop);
        };
    }

    /** A loop that ends in a conditional jump, which is always taken. */
    private static Consumer<MethodVisitor> conditional(Consumer<MethodVisitor> round) {
        return m -> {
            Label loop = new Label();
            m.visitLabel(loop);
            frame(m);
            round.accept(m);
            m.visitInsn(ICONST_0);
            m.visitJumpInsn(IFEQ, loop);
            m.visitInsn(RETURN);
        };
    }

    private static Consumer<MethodVisitor> sets(int variable) {
        return m -> {
            m.visitIntInsn(SIPUSH, Checkpoints.STRIP);
            m.visitVarInsn(ISTORE, variable);
        };
    }

    private static void setsLong(MethodVisitor m, int opcode, int variable) {
        m.visitInsn(opcode == LSTORE ? LCONST_1 : DCONST_1);
        m.visitVarInsn(opcode, variable);
        m.visitIntInsn(SIPUSH, Checkpoints.STRIP);
        m.visitVarInsn(ISTORE, variable + 1);
    }

    static Stream<Arguments> beyond() {
        List<Arguments> all = new ArrayList<>();
        for (int version : new int[] {V1_5, V1_6, V17}) {
            all.add(arguments(version + " set", declared(version, "()V", 1, 0, loop(sets(0)))));
            all.add(arguments(version + " added to", declared(version, "()V", 1, 0, loop(m -> m.visitIincInsn(0, 1)))));
            all.add(arguments(version + " conditional", declared(version, "()V", 1, 0, conditional(sets(0)))));
            all.add(arguments(
                    version + " conditional, added to",
                    declared(version, "()V", 1, 0, conditional(m -> m.visitIincInsn(0, 1)))));
            all.add(arguments(version + " wide", declared(version, "()V", 1, 300, loop(sets(300)))));
            all.add(arguments(
                    version + " wide, added to",
                    declared(version, "()V", 1, 300, loop(m -> m.visitIincInsn(300, 999)))));
            all.add(arguments(version + " read", declared(version, "()V", 1, 0, loop(m -> {
                m.visitVarInsn(ILOAD, 0);
                m.visitInsn(POP);
            }))));
            for (int opcode : new int[] {LSTORE, DSTORE}) {
                all.add(arguments(
                        version + " set by the half of " + opcode,
                        declared(version, "()V", 2, 1, loop(m -> setsLong(m, opcode, 0)))));
            }
            all.add(arguments(version + " an argument", declared(version, "(I)V", 1, 0, loop(m -> {}))));
            all.add(arguments(version + " an argument that is set", declared(version, "(I)V", 1, 0, loop(sets(0)))));
            all.add(arguments(version + " stack", declared(version, "()V", 0, 0, loop(m -> {
                m.visitInsn(ICONST_0);
                m.visitInsn(POP);
            }))));
            all.add(arguments(version + " stack of a handler", declared(version, "()V", 0, 0, m -> {
                Label start = new Label();
                Label handler = new Label();
                Label loop = new Label();
                m.visitTryCatchBlock(start, handler, handler, null);
                m.visitLabel(start);
                frame(m);
                m.visitJumpInsn(GOTO, start);
                m.visitLabel(handler);
                m.visitFrame(F_NEW, 0, new Object[0], 1, new Object[] {"java/lang/Throwable"});
                m.visitInsn(POP);
                m.visitLabel(loop);
                frame(m);
                m.visitJumpInsn(GOTO, loop);
            })));
            all.add(arguments(version + " code", declared(version, "()V", 1, 0, m -> {
                Label loop = new Label();
                m.visitLabel(loop);
                frame(m);
                m.visitInsn(ICONST_0);
                m.visitJumpInsn(IFEQ, loop);
            })));
        }
        // What nothing leads to, which the verifier of these versions looks at by its frame.
        all.add(arguments("stack where nothing leads", declared(V17, "()V", 1, 0, m -> {
            loop(round -> {}).accept(m);
            m.visitFrame(F_NEW, 0, new Object[0], 1, new Object[] {INTEGER});
            m.visitInsn(ICONST_0);
            m.visitInsn(POP2);
            m.visitInsn(RETURN);
        })));
        return all.stream();
    }

    /** The JVM refuses each as it is published. With checkpoints, which take room too, the count would be theirs to set. */
    @ParameterizedTest(name = "{0}")
    @MethodSource("beyond")
    void whatAMethodDoesNotDeclareIsRefused(String name, byte[] file) {
        assertThatThrownBy(() -> link(file)).as("as it is published").isInstanceOf(LinkageError.class);
        if (!name.endsWith("where nothing leads")) {
            assertThatThrownBy(() -> Checkpoints.plain(file))
                    .as("without checkpoints")
                    .isInstanceOf(UnfitClassException.class)
                    .hasMessageMatching("method run (uses|goes on) .*");
        }
        assertThatThrownBy(() -> Checkpoints.put(file))
                .isInstanceOf(UnfitClassException.class)
                .hasMessageMatching("method run (uses \\d+ (variables|places of the stack) and declares \\d+"
                        + "|goes on behind its last instruction)|.* frames of a method name more than it declares");
    }

    /** Compilers declare what is used, so that all instructions which they make are counted as they are. */
    @Test
    void whatCompilersDeclareIsWhatIsUsed() throws Exception {
        Path classes = FileSystems.getFileSystem(URI.create("jrt:/")).getPath("modules", "java.base", "java", "util");
        List<Path> files;
        try (Stream<Path> all = Files.list(classes)) {
            files = all.filter(each -> each.toString().endsWith(".class")).toList();
        }
        int methods = 0;
        int exact = 0;
        for (Path file : files) {
            ClassNode type = new ClassNode();
            new ClassReader(Files.readAllBytes(file)).accept(type, ClassReader.EXPAND_FRAMES);
            for (MethodNode method : type.methods) {
                assertThat(new RoomProof(method).fault())
                        .as(type.name + "." + method.name)
                        .isNull();
                if (method.instructions.size() > 0 && method.maxStack > 0) {
                    methods++;
                    method.maxStack--;
                    exact += new RoomProof(method).fault() == null ? 0 : 1;
                }
            }
        }
        assertThat(methods).isGreaterThan(1000);
        assertThat(exact).as("of " + methods).isGreaterThan(methods * 99 / 100);
    }

    /** What it declares and no more, of each kind. */
    @Test
    void whatAMethodDeclaresIsItsToUse() throws Exception {
        assertThat(outcome(declared(V17, "()V", 1, 1, loop(sets(0))))).isEqualTo("stopped");
        assertThat(outcome(declared(V17, "()V", 2, 2, loop(m -> setsLong(m, LSTORE, 0)))))
                .isEqualTo("stopped");
        assertThat(outcome(declared(V1_5, "()V", 1, 301, loop(sets(300))))).isEqualTo("stopped");
    }

    /** The JVM would take 500 MB and seconds, to verify it and while all threads wait for a collection of garbage. */
    @Test
    void muchCodeOfManyVariablesIsRefused() {
        byte[] file = run(m -> {
            for (int i = 0; i < 2000; i++) {
                Label next = new Label();
                m.visitVarInsn(ILOAD, NUMBER);
                m.visitVarInsn(ISTORE, 60_000 - i);
                m.visitVarInsn(ILOAD, NUMBER);
                m.visitJumpInsn(IFEQ, next);
                m.visitLabel(next);
            }
            m.visitInsn(RETURN);
        });
        assertThatThrownBy(() -> Checkpoints.put(file))
                .isInstanceOf(UnfitClassException.class)
                .hasMessageContaining("method run has 60003 variables");
    }

    /** Blocks of one handler, each within the one before, over pieces that enter and leave monitors. */
    private static void covers(MethodVisitor m, int handlers, int monitors) {
        Label end = new Label();
        Label caught = new Label();
        for (int i = 0; i < handlers; i++) {
            Label start = new Label();
            m.visitTryCatchBlock(start, end, caught, "java/lang/Exception");
            m.visitLabel(start);
            m.visitInsn(NOP);
        }
        for (int i = 0; i < monitors; i++) {
            m.visitVarInsn(ALOAD, LOCK);
            m.visitInsn(MONITORENTER);
            m.visitVarInsn(ALOAD, LOCK);
            m.visitInsn(MONITOREXIT);
        }
        m.visitInsn(RETURN);
        m.visitLabel(end);
        m.visitLabel(caught);
        m.visitInsn(POP);
        m.visitInsn(RETURN);
    }

    /** What is known of monitors goes round what handlers cover, for each of them: a small class file would take long. */
    @Test
    void muchThatHandlersCoverTimesMonitorsIsRefused() throws Exception {
        byte[] file = run(m -> covers(m, 1000, 100));
        assertThatThrownBy(() -> Checkpoints.put(file))
                .isInstanceOf(UnfitClassException.class)
                .hasMessageContaining("method run takes ")
                .hasMessageContaining(" steps to prove that it ends, more than 4194304");
        assertThat(Checkpoints.put(run(m -> covers(m, 1000, 3)))).isNotEmpty();
        assertThat(Checkpoints.put(run(m -> covers(m, 10, 100)))).isNotEmpty();
    }

    /** Each handler is looked through; thousands may begin in one place, before much code. */
    @Test
    void manyHandlersBeforeMuchCodeAreRefused() {
        byte[] file = run(m -> {
            Label start = new Label();
            Label end = new Label();
            for (int i = 0; i < 2000; i++) {
                m.visitTryCatchBlock(start, end, end, "java/lang/Throwable");
            }
            m.visitLabel(start);
            m.visitInsn(RETURN);
            m.visitLabel(end);
            for (int i = 0; i < 3000; i++) {
                m.visitInsn(NOP);
            }
            m.visitInsn(ATHROW);
        });
        assertThatThrownBy(() -> Checkpoints.put(file))
                .isInstanceOf(UnfitClassException.class)
                .hasMessageContaining("method run takes ")
                .hasMessageContaining(" steps to prove that it ends, more than 4194304");
    }

    /** Of which each is allowed. */
    @Test
    void manySuchMethodsOfAJarAreRefused() throws Exception {
        byte[] file = run(m -> covers(m, 1000, 3));
        ProofEffort effort = new ProofEffort();
        Checkpoints.put(file, effort);
        long steps = effort.taken();
        for (int i = 2; i <= ProofEffort.MAX / steps; i++) {
            Checkpoints.put(file, effort);
        }
        assertThatThrownBy(() -> Checkpoints.put(file, effort))
                .isInstanceOf(UnfitClassException.class)
                .hasMessageContaining("method run and those before it take more than 67108864 steps");
    }

    /** The JVM would run it on a thread of its own, which nobody stops, and no other finalizer after it. */
    @Test
    void finalizersAreEmptied() throws Exception {
        byte[] file = classFile(type -> {
            MethodVisitor m = type.visitMethod(ACC_PROTECTED, "finalize", "()V", null, null);
            Label start = new Label();
            m.visitCode();
            m.visitLabel(start);
            m.visitJumpInsn(GOTO, start);
            m.visitMaxs(0, 0);
            m.visitEnd();
        });
        ClassNode read = new ClassNode();
        new ClassReader(Checkpoints.put(file)).accept(read, 0);
        assertThat(read.methods.get(0).instructions)
                .singleElement()
                .satisfies(each -> assertThat(each.getOpcode()).isEqualTo(RETURN));
    }

    /** Code cannot take away who is asked at its checkpoints. */
    @Test
    void nobodyReplacesWhoIsAsked() throws Exception {
        byte[] file = run(m -> {
            Label start = new Label();
            Label handler = new Label();
            m.visitTryCatchBlock(start, handler, handler, null);
            m.visitLabel(start);
            m.visitInsn(ACONST_NULL);
            m.visitMethodInsn(INVOKESTATIC, CHECKPOINT, "keep", "(L" + CHECKPOINT + "$Keeper;)V", false);
            m.visitInsn(ACONST_NULL);
            m.visitLabel(handler);
            m.visitInsn(POP);
            m.visitJumpInsn(GOTO, handler(m));
        });
        assertThat(outcome(file)).isEqualTo("stopped");
    }

    private static Label handler(MethodVisitor m) {
        Label loop = new Label();
        m.visitLabel(loop);
        m.visitIincInsn(NUMBER, 1);
        return loop;
    }

    // ---- made at random ---------------------------------------------------------------------------------------------

    /** Puts a body together of pieces that leave the stack empty, and handlers over any part of it. */
    private static final class Body implements Consumer<MethodVisitor> {
        private static final String[] TYPES = {
            null,
            null,
            "java/lang/Throwable",
            "java/lang/Error",
            "java/lang/Exception",
            "java/lang/NullPointerException",
            "java/lang/IllegalMonitorStateException",
            "org/tamanoir/service/ServiceStopped",
            NO_CLASS
        };

        private final Random random;
        private final List<Label> anywhere = new ArrayList<>();
        private final List<Label> handlers = new ArrayList<>();
        private Label[] pieces = {};

        Body(Random random) {
            this.random = random;
        }

        @Override
        public void accept(MethodVisitor m) {
            pieces = Stream.generate(Label::new).limit(2 + random.nextInt(10)).toArray(Label[]::new);
            for (Label piece : pieces) {
                m.visitLabel(piece);
                anywhere.add(piece);
                piece(m);
            }
            mark(m);
            m.visitInsn(RETURN);
            for (int i = random.nextInt(5); i > 0 && !handlers.isEmpty(); i--) {
                int start = random.nextInt(anywhere.size() - 1);
                int end = start + 1 + random.nextInt(Math.min(8, anywhere.size() - 1 - start));
                m.visitTryCatchBlock(
                        anywhere.get(start),
                        anywhere.get(end),
                        handlers.get(random.nextInt(handlers.size())),
                        TYPES[random.nextInt(TYPES.length)]);
            }
        }

        private void mark(MethodVisitor m) {
            Label here = new Label();
            m.visitLabel(here);
            anywhere.add(here);
        }

        private Label any() {
            return pieces[random.nextInt(pieces.length)];
        }

        private void piece(MethodVisitor m) {
            switch (random.nextInt(17)) {
                case 16 -> sets(OWN + random.nextInt(3)).accept(m);
                case 0 -> m.visitIincInsn(NUMBER, 1);
                case 1, 2 -> monitor(m);
                case 3 -> throwsNull(m);
                case 4 -> {
                    m.visitVarInsn(ILOAD, NUMBER);
                    m.visitInsn(DUP);
                    m.visitInsn(IDIV);
                    mark(m);
                    m.visitInsn(POP);
                }
                case 5 -> m.visitJumpInsn(GOTO, any());
                case 6 -> {
                    m.visitIincInsn(NUMBER, 1);
                    m.visitVarInsn(ILOAD, NUMBER);
                    m.visitInsn(ICONST_3);
                    m.visitInsn(IAND);
                    m.visitJumpInsn(IFNE, any());
                }
                case 7 -> {
                    m.visitVarInsn(ILOAD, NUMBER);
                    m.visitTableSwitchInsn(0, 1, any(), any(), any());
                }
                case 8 ->
                    m.visitMethodInsn(INVOKESTATIC, "made/Code", random.nextBoolean() ? "run" : "other", "()V", false);
                case 9 -> {
                    m.visitLdcInsn(Type.getObjectType("made/Gone"));
                    m.visitInsn(POP);
                }
                case 10 -> {
                    m.visitInsn(ICONST_M1);
                    m.visitTypeInsn(ANEWARRAY, "java/lang/Object");
                    m.visitInsn(POP);
                }
                case 11 -> m.visitInsn(RETURN);
                case 12 ->
                    m.visitMethodInsn(
                            INVOKESTATIC,
                            CHECKPOINT,
                            random.nextBoolean() ? "poll" : "gone",
                            "()V",
                            random.nextBoolean());
                default -> handler(m);
            }
        }

        private void monitor(MethodVisitor m) {
            m.visitVarInsn(ALOAD, random.nextBoolean() ? NOTHING : LOCK);
            mark(m);
            m.visitInsn(random.nextBoolean() ? MONITORENTER : MONITOREXIT);
        }

        private void handler(MethodVisitor m) {
            Label handler = new Label();
            Label over = new Label();
            m.visitJumpInsn(GOTO, over);
            m.visitLabel(handler);
            anywhere.add(handler);
            handlers.add(handler);
            if (random.nextBoolean()) {
                m.visitInsn(POP);
            } else {
                m.visitVarInsn(ASTORE, CAUGHT);
                mark(m);
                if (random.nextBoolean()) {
                    monitor(m);
                }
                if (random.nextBoolean()) {
                    mark(m);
                    m.visitVarInsn(ALOAD, CAUGHT);
                    m.visitInsn(ATHROW);
                }
            }
            m.visitLabel(over);
        }
    }

    @Test
    void whatIsMadeAtRandomIsRefusedOrEnds() throws Exception {
        long first = Seeds.ofCommit(HandMadeLoopsTest.class);
        Map<String, Integer> outcomes = new TreeMap<>();
        for (int round = 0; round < Seeds.scaled(ROUNDS); round++) {
            long seed = first + round;
            Random random = new Random(seed);
            byte[] made = classFile(type -> {
                method(type, "run", new Body(random));
                method(type, "other", new Body(random));
            });
            byte[] file = random.nextInt(3) == 0 ? declaring(made, random.nextInt(3), OWN + random.nextInt(2)) : made;
            String outcome = outcome(file);
            if ("VerifyError".equals(outcome) || "ClassFormatError".equals(outcome)) {
                assertThatThrownBy(() -> link(file))
                        .as("without checkpoints, -Dtamanoir.seed=%d", seed)
                        .isInstanceOf(LinkageError.class);
            } else if (outcome == null) {
                fail("it goes round for ever: -Dtamanoir.seed=" + seed + " plays it first");
            } else if (!outcome.equals("refused")) {
                assertThatCode(() -> link(file))
                        .as("without checkpoints, -Dtamanoir.seed=%d", seed)
                        .doesNotThrowAnyException();
            }
            outcomes.merge(outcome, 1, Integer::sum);
        }
        System.out.println("HandMadeLoopsTest: " + outcomes);
    }
}
