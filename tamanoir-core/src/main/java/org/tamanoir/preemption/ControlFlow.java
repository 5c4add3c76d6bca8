package org.tamanoir.preemption;

import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.IntConsumer;
import java.util.stream.IntStream;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.InsnList;
import org.objectweb.asm.tree.JumpInsnNode;
import org.objectweb.asm.tree.LabelNode;
import org.objectweb.asm.tree.LookupSwitchInsnNode;
import org.objectweb.asm.tree.MethodNode;
import org.objectweb.asm.tree.TableSwitchInsnNode;
import org.objectweb.asm.tree.TryCatchBlockNode;

/**
 * What may come behind what in a method, as nodes of a graph: its instructions are numbered first, then what is thrown in
 * each piece of its code. A piece is code in which no handler's cover begins or ends, so that
 * the graph is no larger than the code and what its handlers cover of each other.
 *
 * <p>The JVM looks up the class that a handler catches when something is thrown. Where it cannot be had (access is checked
 * then, not by the verifier) that error is thrown in its place, as if at the handler's first instruction and before it
 * runs. So a handler may lead to what covers it though nothing in it throws.
 *
 * <p>Thread contract: one thread.
 */
final class ControlFlow {
    /** Pairs of a handler and a piece of code that it covers: those of the largest methods are some thousands. */
    static final int MAX_PAIRS = 1 << 20;

    private static final String THROWABLE = "java/lang/Throwable";
    /** Classes that are there, and that all may name. */
    private static final Set<String> SURE =
            Set.of(THROWABLE, "java/lang/Error", "java/lang/Exception", "java/lang/RuntimeException");

    private final InsnList code;
    private final List<TryCatchBlockNode> blocks;
    /** Where pieces begin, the first at 0. */
    private final int[] pieces;
    /** Of each piece the handlers that cover it, in the order in which the JVM asks them. */
    private final int[][] covers;

    private int pairs;

    /**
     * Looks at a method, which is not to be changed meanwhile.
     *
     * @throws IllegalArgumentException in one line, if its handlers cover too much of each other
     */
    ControlFlow(MethodNode method) {
        this.code = method.instructions;
        this.blocks = method.tryCatchBlocks;
        TreeSet<Integer> bounds = new TreeSet<>(Set.of(0));
        for (TryCatchBlockNode block : blocks) {
            bounds.add(code.indexOf(block.start));
            bounds.add(code.indexOf(block.end));
        }
        pieces = bounds.stream().mapToInt(Integer::intValue).toArray();
        covers = covers(method.name);
    }

    private int[][] covers(String method) {
        IntStream.Builder[] all = new IntStream.Builder[pieces.length];
        for (int i = 0; i < blocks.size(); i++) {
            int end = piece(blocks.get(i).end);
            for (int piece = piece(blocks.get(i).start); piece < end; piece++) {
                if (++pairs > MAX_PAIRS) {
                    throw new IllegalArgumentException(
                            "method " + method + " has exception handlers that cover more than " + MAX_PAIRS
                                    + " pieces of code; split it");
                }
                if (all[piece] == null) {
                    all[piece] = IntStream.builder();
                }
                all[piece].add(i);
            }
        }
        int[][] made = new int[pieces.length][];
        for (int piece = 0; piece < made.length; piece++) {
            made[piece] = all[piece] == null ? new int[0] : all[piece].build().toArray();
        }
        return made;
    }

    private int piece(AbstractInsnNode at) {
        return piece(code.indexOf(at));
    }

    private int piece(int at) {
        int found = Arrays.binarySearch(pieces, at);
        return found >= 0 ? found : -found - 2;
    }

    /** Returns the number of nodes. */
    int size() {
        return code.size() + pieces.length;
    }

    /**
     * Returns the most steps that proofs take: each node passes on what is known of it once, and again for each monitor that
     * is entered or left.
     */
    long steps() {
        long nodes = size() + pairs;
        long monitors = 0;
        for (AbstractInsnNode each : code) {
            int opcode = each.getOpcode();
            monitors += opcode == Opcodes.MONITORENTER || opcode == Opcodes.MONITOREXIT ? 1 : 0;
            if (each instanceof TableSwitchInsnNode choice) {
                nodes += choice.labels.size();
            } else if (each instanceof LookupSwitchInsnNode choice) {
                nodes += choice.labels.size();
            }
        }
        return nodes * (1 + monitors);
    }

    boolean isInstruction(int node) {
        return node < code.size();
    }

    AbstractInsnNode instruction(int node) {
        return code.get(node);
    }

    /** Returns the node for what an instruction throws. */
    int thrownAt(int node) {
        return code.size() + piece(node);
    }

    /** Gives what comes behind something that was thrown. */
    void caught(int node, IntConsumer next) {
        for (int i : covers[node - code.size()]) {
            TryCatchBlockNode block = blocks.get(i);
            next.accept(code.indexOf(block.handler));
            if (block.type != null && !SURE.contains(block.type)) {
                next.accept(thrownAt(code.indexOf(block.handler)));
            }
            if (block.type == null || block.type.equals(THROWABLE)) {
                return;
            }
        }
    }

    /** Gives what comes behind an instruction that throws nothing. */
    void goesOn(int node, IntConsumer next) {
        goesOn(code, code.get(node), next);
    }

    /** Gives the indices of what comes behind an instruction of a method that throws nothing. */
    static void goesOn(InsnList code, AbstractInsnNode each, IntConsumer next) {
        if (each instanceof JumpInsnNode jump) {
            next.accept(code.indexOf(jump.label));
        } else if (each instanceof TableSwitchInsnNode choice) {
            goesOn(code, choice.dflt, choice.labels, next);
        } else if (each instanceof LookupSwitchInsnNode choice) {
            goesOn(code, choice.dflt, choice.labels, next);
        }
        if (!ends(each.getOpcode()) && each.getNext() != null) {
            next.accept(code.indexOf(Objects.requireNonNull(each.getNext())));
        }
    }

    private static void goesOn(InsnList code, LabelNode other, List<LabelNode> targets, IntConsumer next) {
        next.accept(code.indexOf(other));
        targets.forEach(each -> next.accept(code.indexOf(each)));
    }

    /** Returns whether code does not go on with the next instruction. */
    static boolean ends(int opcode) {
        return opcode == Opcodes.GOTO
                || opcode >= Opcodes.RET && opcode <= Opcodes.RETURN // Switches are between them.
                || opcode == Opcodes.ATHROW;
    }

    /** Returns whether an instruction may throw; a return does, whose monitors are not given back. */
    static boolean mayThrow(int opcode) {
        boolean moves = opcode >= Opcodes.NOP && opcode <= Opcodes.SIPUSH
                || opcode >= Opcodes.ILOAD && opcode <= Opcodes.ALOAD
                || opcode >= Opcodes.ISTORE && opcode <= Opcodes.ASTORE
                || opcode >= Opcodes.POP && opcode <= Opcodes.SWAP;
        boolean computes = opcode >= Opcodes.IADD
                && opcode <= Opcodes.DCMPG
                && opcode != Opcodes.IDIV
                && opcode != Opcodes.LDIV
                && opcode != Opcodes.IREM
                && opcode != Opcodes.LREM;
        boolean jumps = opcode >= Opcodes.IFEQ && opcode <= Opcodes.LOOKUPSWITCH
                || opcode == Opcodes.IFNULL
                || opcode == Opcodes.IFNONNULL;
        return opcode >= 0 && !moves && !computes && !jumps;
    }
}
