package org.tamanoir.preemption;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.FrameNode;
import org.objectweb.asm.tree.IincInsnNode;
import org.objectweb.asm.tree.InsnList;
import org.objectweb.asm.tree.InsnNode;
import org.objectweb.asm.tree.IntInsnNode;
import org.objectweb.asm.tree.JumpInsnNode;
import org.objectweb.asm.tree.LabelNode;
import org.objectweb.asm.tree.LookupSwitchInsnNode;
import org.objectweb.asm.tree.MethodInsnNode;
import org.objectweb.asm.tree.MethodNode;
import org.objectweb.asm.tree.TableSwitchInsnNode;
import org.objectweb.asm.tree.TryCatchBlockNode;
import org.objectweb.asm.tree.VarInsnNode;

/**
 * Puts checkpoints into one method, so that no path through the code goes on for ever without one: calls of {@code
 * Checkpoint.poll}, which need no stack map frames of their own.
 *
 * <ul>
 *   <li>At its entry: recursion comes by there, and loops of the JDK that call a lambda of the service's.
 *   <li>Before each jump backward. Where a round of the loop is {@linkplain #isShort short}, every {@value #STRIP} rounds,
 *       which a local variable counts down: the JIT compiles what lies between as the loop that it was, vectors included.
 *   <li>Where a handler of the service's begins that would catch {@code ServiceStopped} by its type, so that it is thrown
 *       again; not where locks are given back or resources are closed, which happens. Handlers of any throwable, {@code
 *       finally} for instance, run until they meet a checkpoint.
 * </ul>
 *
 * <p>Every cycle in the code has a jump backward that spans all of it, or a handler before what it covers; what class files
 * made by hand have besides, {@link RoomProof}, {@link StopProof} and {@link MonitorProof} find, and this refuses.
 * Finalizers are emptied: they would run on a thread of the JVM's, where nobody stops them.
 *
 * <p>Thread contract: any thread.
 */
public final class Checkpoints {
    /** Rounds of a short loop between two checkpoints: some ten microseconds. */
    static final int STRIP = 4096;
    /**
     * Variables in the stack map frames of a method, which a class file repeats with one byte for each frame. Large methods
     * of compilers have a tenth of that.
     */
    private static final int MAX_IN_FRAMES = 1 << 20;
    /**
     * Variables of a method, its stack's among them, times its instructions: what the JVM has tables of, in memory of its
     * own, to verify the method, and while all threads wait for a collection of garbage. The largest of 85,000 classes of
     * compilers has 300,000.
     */
    private static final long MAX_STATES = 1 << 22;
    /** Instructions of a loop that may count as short. */
    private static final int SHORT = 128;

    private static final String OWNER = "org/tamanoir/service/Checkpoint";
    private static final Set<String> CAUGHT =
            Set.of("java/lang/Throwable", "java/lang/Error", "org/tamanoir/service/ServiceStopped");
    /** Of the JDK; each takes primitive values alone, in constant time. */
    private static final Set<String> SHORT_OWNERS = Set.of(
            "java/lang/Math",
            "java/lang/Byte",
            "java/lang/Short",
            "java/lang/Character",
            "java/lang/Integer",
            "java/lang/Long",
            "java/lang/Float",
            "java/lang/Double",
            "java/nio/Buffer",
            "java/nio/ByteBuffer");

    private static final Set<String> LONG_NAMES =
            Set.of("allocate", "allocateDirect", "compact", "hashCode", "toString", "wait");
    private static final Set<String> SHORT_OF_STRING = Set.of("charAt", "isEmpty", "length");

    private final MethodNode method;
    private final InsnList code;
    private final boolean hasFrames;
    /** Where each instruction stands that the method had. */
    private final Map<AbstractInsnNode, Integer> places = new IdentityHashMap<>();
    /** Places that a handler covers. */
    private final BitSet covered = new BitSet();
    /** Places where a handler begins. */
    private final BitSet handlers = new BitSet();
    /** Loops that end in a conditional jump, behind the method's own code. */
    private final InsnList tail = new InsnList();
    /** The checkpoints that were put in; what the method calls itself is not among them. */
    private final Set<AbstractInsnNode> polls = identitySet();
    /** Jumps back that a count allows {@link #STRIP} times between two checkpoints. */
    private final Set<AbstractInsnNode> counted = identitySet();

    private final int rounds;
    private final long frames;

    private Checkpoints(MethodNode method, boolean hasFrames) {
        this.method = method;
        this.code = method.instructions;
        this.hasFrames = hasFrames;
        this.rounds = method.maxLocals;
        this.frames = Arrays.stream(code.toArray())
                .filter(FrameNode.class::isInstance)
                .count();
        for (AbstractInsnNode each : code) {
            places.put(each, places.size());
        }
        for (TryCatchBlockNode block : method.tryCatchBlocks) {
            covered.set(place(block.start), place(block.end));
            handlers.set(place(block.handler));
        }
    }

    private static Set<AbstractInsnNode> identitySet() {
        return Collections.newSetFromMap(new IdentityHashMap<>());
    }

    private int place(AbstractInsnNode instruction) {
        return Objects.requireNonNull(places.get(instruction));
    }

    /**
     * Returns a class file with checkpoints. Takes memory for one of its methods at a time, beside the class files.
     *
     * @throws UnfitClassException if it cannot get them
     */
    public static byte[] put(byte[] classFile) throws UnfitClassException {
        return put(classFile, new ProofEffort());
    }

    /**
     * Returns a class file of a jar with checkpoints.
     *
     * @param effort for all that is read of the jar
     * @throws UnfitClassException if it cannot get them, or has taken more than the effort
     */
    public static byte[] put(byte[] classFile, ProofEffort effort) throws UnfitClassException {
        return rewritten(classFile, writer -> new Methods(writer, effort), ClassReader.EXPAND_FRAMES);
    }

    /**
     * Returns a class file without checkpoints: what was read of it, and nothing that the JVM alone would see.
     *
     * @throws UnfitClassException if it cannot be read, or a method needs more room than it declares
     */
    public static byte[] plain(byte[] classFile) throws UnfitClassException {
        rewritten(classFile, writer -> new Rooms(), ClassReader.SKIP_FRAMES | ClassReader.SKIP_DEBUG);
        return rewritten(classFile, writer -> writer, 0);
    }

    /**
     * Returns the bytes of memory that rewriting a class file takes, the result and its class included, and the nodes of a
     * method that is as large as one can be: 64 bytes a byte of code, as compilers make it.
     */
    public static long memory(int classFileBytes) {
        return 6L * classFileBytes + 64L * Math.min(classFileBytes, 1 << 16);
    }

    private static byte[] rewritten(byte[] classFile, Function<ClassWriter, ClassVisitor> through, int flags)
            throws UnfitClassException {
        ClassAnnotations.read(classFile); // Which refuses what is nested too deeply.
        try {
            ClassReader reader = new ClassReader(classFile);
            ClassWriter writer = new ClassWriter(reader, 0);
            reader.accept(through.apply(writer), flags);
            return writer.toByteArray();
        } catch (ArrayIndexOutOfBoundsException e) { // The library's tables are as large as a method declares.
            throw new UnfitClassException("it is cut off, or frames of a method name more than it declares");
        } catch (
                RuntimeException e) { // As the library says that it cannot read a class, or that a method is too large.
            throw new UnfitClassException(String.valueOf(e.getMessage() == null ? e : e.getMessage()));
        } catch (StackOverflowError e) { // The library reads annotations of code by recursion.
            throw new UnfitClassException("annotations of its code are nested too deeply");
        }
    }

    /** Passes a class on with checkpoints in its methods, one after the other. */
    private static final class Methods extends ClassVisitor {
        private final ProofEffort effort;
        private boolean hasFrames;

        Methods(ClassWriter to, ProofEffort effort) {
            super(Opcodes.ASM9, to);
            this.effort = effort;
        }

        @Override
        public void visit(
                int version,
                int access,
                String name,
                @Nullable String signature,
                @Nullable String superName,
                String @Nullable [] interfaces) {
            hasFrames = (version & 0xffff) >= Opcodes.V1_6;
            super.visit(version, access, name, signature, superName, interfaces);
        }

        @Override
        public MethodVisitor visitMethod(
                int access,
                String name,
                String descriptor,
                @Nullable String signature,
                String @Nullable [] exceptions) {
            MethodVisitor to = super.visitMethod(access, name, descriptor, signature, exceptions);
            return new MethodNode(Opcodes.ASM9, access, name, descriptor, signature, exceptions) {
                private int inFrames;

                @Override
                public void visitFrame(int type, int locals, Object[] local, int onStack, Object[] stack) {
                    inFrames += locals + onStack;
                    if (inFrames > MAX_IN_FRAMES) {
                        throw new IllegalArgumentException("method " + name + " has stack map frames of more than "
                                + MAX_IN_FRAMES + " variables in all; split it");
                    }
                    super.visitFrame(type, locals, local, onStack, stack);
                }

                @Override
                public void visitEnd() {
                    if (name.equals("finalize") && descriptor.equals("()V")) {
                        empty(this);
                    } else {
                        new Checkpoints(this, hasFrames).put(effort);
                    }
                    accept(to);
                }
            };
        }
    }

    /** Looks at the methods of a class alone; what their frames say the JVM sees, where nothing is rewritten. */
    private static final class Rooms extends ClassVisitor {
        Rooms() {
            super(Opcodes.ASM9);
        }

        @Override
        public MethodVisitor visitMethod(
                int access,
                String name,
                String descriptor,
                @Nullable String signature,
                String @Nullable [] exceptions) {
            return new MethodNode(Opcodes.ASM9, access, name, descriptor, signature, exceptions) {
                @Override
                public void visitEnd() {
                    requireRoom(this);
                }
            };
        }
    }

    /** Leaves a method that returns, if it has code: of a finalizer that does the JVM takes no note. */
    private static void empty(MethodNode method) {
        if (method.instructions.size() > 0) {
            method.instructions.clear();
            method.instructions.add(new InsnNode(Opcodes.RETURN));
            method.tryCatchBlocks.clear();
            method.localVariables = null;
            method.visibleLocalVariableAnnotations = null;
            method.invisibleLocalVariableAnnotations = null;
        }
    }

    private void put(ProofEffort effort) {
        long variables = method.maxLocals + method.maxStack;
        requireRoom(method);
        if (variables * code.size() > MAX_STATES) {
            throw unfit("has " + variables + " variables at " + code.size() + " instructions, more than " + MAX_STATES
                    + " in all; split it");
        }
        // Each handler is looked through, where many may begin in one place.
        effort.take(method.name, (long) code.size() * method.tryCatchBlocks.size());
        for (AbstractInsnNode each : code.toArray()) {
            int opcode = each.getOpcode();
            if (opcode == Opcodes.JSR || opcode == Opcodes.RET) {
                throw unfit("has subroutines; compile it with --release 7 or later");
            }
            if (each instanceof JumpInsnNode jump && isBehind(jump, jump.label)) {
                turnBack(jump);
            } else if (each instanceof TableSwitchInsnNode choice && isBehind(each, choice.dflt, choice.labels)
                    || each instanceof LookupSwitchInsnNode other && isBehind(each, other.dflt, other.labels)) {
                code.insertBefore(each, poll());
            }
        }
        method.tryCatchBlocks.removeIf(this::coversNothingElse);
        method.tryCatchBlocks.forEach(this::handle);
        InsnList entry = new InsnList();
        if (code.size() > 0) {
            entry.add(poll());
        }
        if (!counted.isEmpty()) {
            code.add(tail);
            for (AbstractInsnNode each : code) {
                if (each instanceof FrameNode frame) {
                    addRounds(frame);
                }
            }
            entry.add(new IntInsnNode(Opcodes.SIPUSH, STRIP));
            entry.add(new VarInsnNode(Opcodes.ISTORE, rounds));
            method.maxLocals++;
            method.maxStack++;
        }
        code.insert(entry);
        ControlFlow flow = new ControlFlow(method);
        effort.take(method.name, flow.steps());
        if (!new StopProof(flow, polls, counted).holds()) {
            throw unfit("has exception handlers that cover themselves or each other, so that it goes round by throwing,"
                    + " as no compiler of Java makes it");
        }
        if (!new MonitorProof(method, flow).holds()) {
            throw unfit("enters monitors that it does not leave, or at more than " + MonitorProof.MAX_ENTERED
                    + " places; leave each in the block that entered it");
        }
    }

    private static void requireRoom(MethodNode method) {
        String fault = new RoomProof(method).fault();
        if (fault != null) {
            throw new IllegalArgumentException("method " + method.name + " " + fault);
        }
    }

    private IllegalArgumentException unfit(String why) {
        return new IllegalArgumentException("method " + method.name + " " + why);
    }

    private MethodInsnNode poll() {
        MethodInsnNode made = new MethodInsnNode(Opcodes.INVOKESTATIC, OWNER, "poll", "()V", false);
        polls.add(made);
        return made;
    }

    private boolean isBehind(AbstractInsnNode jump, LabelNode target) {
        return place(target) < place(jump);
    }

    private boolean isBehind(AbstractInsnNode choice, LabelNode other, List<LabelNode> targets) {
        return isBehind(choice, other) || targets.stream().anyMatch(each -> isBehind(choice, each));
    }

    /**
     * Ends what a handler covers where it begins itself, if all that it covers of itself is giving a monitor back. Compilers
     * of Java cover that, so that nobody's {@code Thread.stop} comes between; a monitor that is none would go round there.
     *
     * @return whether nothing is left that it covers
     */
    private boolean coversNothingElse(TryCatchBlockNode block) {
        int handler = place(block.handler);
        if (block.type != null || handler >= place(block.end) || handler < place(block.start)) {
            return false;
        }
        for (AbstractInsnNode each = block.handler; each != block.end; each = each.getNext()) {
            int opcode = each.getOpcode();
            if (opcode >= 0 && opcode != Opcodes.ASTORE && opcode != Opcodes.ALOAD && opcode != Opcodes.MONITOREXIT) {
                return false;
            }
        }
        block.end = block.handler;
        return handler == place(block.start);
    }

    /** Puts a checkpoint where a handler begins that must not go on, or that could go round without a jump. */
    private void handle(TryCatchBlockNode block) {
        if (place(block.handler) < place(block.start)
                || block.type != null && CAUGHT.contains(block.type) && !closes(block)) {
            AbstractInsnNode first = block.handler;
            while (first.getOpcode() < 0) {
                first = first.getNext();
            }
            if (!polls.contains(first)) {
                code.insertBefore(first, poll());
            }
        }
    }

    /** Returns whether a handler is one of try-with-resources, which closes and throws again. */
    private static boolean closes(TryCatchBlockNode block) {
        for (AbstractInsnNode each = block.handler;
                each != null && each.getOpcode() != Opcodes.ATHROW;
                each = each.getNext()) {
            if (each instanceof MethodInsnNode call && call.name.equals("addSuppressed")) {
                return true;
            }
        }
        return false;
    }

    /** Puts a checkpoint before a jump backward, or behind every so many of them. */
    private void turnBack(JumpInsnNode jump) {
        if (!hasRoom() || !isShort(jump)) {
            code.insertBefore(jump, poll());
        } else if (jump.getOpcode() == Opcodes.GOTO) {
            code.insertBefore(jump, countdown(jump.label));
        } else {
            turnBackByTail(jump);
        }
    }

    /** Returns whether a class file can say that there is one variable, and one place on the stack, more. */
    private boolean hasRoom() {
        return Math.max(method.maxLocals, method.maxStack) < 0xffff
                && frames * (method.maxLocals + 1L) <= MAX_IN_FRAMES;
    }

    /** Has a conditional jump go by the tail, where the state is that at its target; handlers do not cover that. */
    private void turnBackByTail(JumpInsnNode jump) {
        LabelNode target = jump.label;
        FrameNode frame = frameAt(target);
        if (covered.get(place(jump)) || hasFrames && frame == null) {
            code.insertBefore(jump, poll());
            return;
        }
        LabelNode detour = new LabelNode();
        tail.add(detour);
        if (frame != null) {
            tail.add(new FrameNode(
                    Opcodes.F_NEW,
                    frame.local.size(),
                    frame.local.toArray(),
                    frame.stack.size(),
                    frame.stack.toArray()));
        }
        tail.add(countdown(target));
        tail.add(new JumpInsnNode(Opcodes.GOTO, target));
        jump.label = detour;
    }

    private static @Nullable FrameNode frameAt(LabelNode label) {
        AbstractInsnNode each = label;
        while (each != null && each.getOpcode() < 0 && !(each instanceof FrameNode)) {
            each = each.getNext();
        }
        return each instanceof FrameNode frame ? frame : null;
    }

    private InsnList countdown(LabelNode loop) {
        InsnList made = new InsnList();
        JumpInsnNode again = new JumpInsnNode(Opcodes.IFGT, loop);
        counted.add(again);
        made.add(new IincInsnNode(rounds, -1));
        made.add(new VarInsnNode(Opcodes.ILOAD, rounds));
        made.add(again);
        made.add(poll());
        made.add(new IntInsnNode(Opcodes.SIPUSH, STRIP));
        made.add(new VarInsnNode(Opcodes.ISTORE, rounds));
        return made;
    }

    /** Adds the count to what a frame says of local variables. */
    private void addRounds(FrameNode frame) {
        List<Object> locals = new ArrayList<>(frame.local);
        int size = 0;
        for (Object each : locals) {
            size += each == Opcodes.LONG || each == Opcodes.DOUBLE ? 2 : 1;
        }
        for (; size < rounds; size++) {
            locals.add(Opcodes.TOP);
        }
        locals.add(Opcodes.INTEGER);
        frame.local = locals;
    }

    /** Returns whether a round takes no longer than some nanoseconds: few instructions, none that could take long. */
    private boolean isShort(JumpInsnNode jump) {
        if (place(jump) - place(jump.label) > SHORT || catches(jump)) {
            return false;
        }
        for (AbstractInsnNode each = jump.label; each != jump; each = each.getNext()) {
            boolean isLong = switch (each.getOpcode()) {
                case Opcodes.INVOKEVIRTUAL, Opcodes.INVOKESTATIC -> !isShort((MethodInsnNode) each);
                case Opcodes.INVOKESPECIAL,
                        Opcodes.INVOKEINTERFACE,
                        Opcodes.INVOKEDYNAMIC,
                        Opcodes.NEW,
                        Opcodes.NEWARRAY,
                        Opcodes.ANEWARRAY,
                        Opcodes.MULTIANEWARRAY,
                        Opcodes.MONITORENTER -> true;
                default -> false;
            };
            if (isLong) {
                return false;
            }
        }
        return true;
    }

    /** Returns whether a round may throw and catch, which walks the thread's stack: microseconds where that is deep. */
    private boolean catches(JumpInsnNode jump) {
        int next = handlers.nextSetBit(place(jump.label));
        return next >= 0 && next < place(jump);
    }

    private boolean isShort(MethodInsnNode call) {
        if (call.owner.equals("java/lang/String")) {
            return SHORT_OF_STRING.contains(call.name);
        }
        return polls.contains(call)
                || SHORT_OWNERS.contains(call.owner)
                        && !LONG_NAMES.contains(call.name)
                        && !call.desc.endsWith(")Ljava/lang/String;")
                        && Arrays.stream(Type.getArgumentTypes(call.desc))
                                .allMatch(each -> each.getSort() < Type.ARRAY);
    }
}
