package org.tamanoir.preemption;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.objectweb.asm.ConstantDynamic;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.FieldInsnNode;
import org.objectweb.asm.tree.FrameNode;
import org.objectweb.asm.tree.IincInsnNode;
import org.objectweb.asm.tree.InsnList;
import org.objectweb.asm.tree.InvokeDynamicInsnNode;
import org.objectweb.asm.tree.LdcInsnNode;
import org.objectweb.asm.tree.MethodInsnNode;
import org.objectweb.asm.tree.MethodNode;
import org.objectweb.asm.tree.MultiANewArrayInsnNode;
import org.objectweb.asm.tree.TryCatchBlockNode;
import org.objectweb.asm.tree.VarInsnNode;

/**
 * Proves that a method, before it gets checkpoints, keeps to the variables, the stack and the code that its class file
 * declares. The JVM refuses a method that does not; with checkpoints, which take one more of each, it would pass, and could
 * write into the variable that counts the rounds of its loops.
 *
 * <p>Types are left to the JVM: it also refuses code that is reached with stacks of different depths.
 *
 * <p>Thread contract: one thread.
 */
final class RoomProof {
    /**
     * By opcode, what an instruction adds to the stack, as a letter: {@code E} nothing, {@code F} one place, {@code D} takes
     * one off. Fields, calls and constants have another type each time; subroutines are refused elsewhere.
     */
    private static final String GROWTH = "EFFFFFFFFGGFFFGGFFFEE" // nop to ldc2_w
            + "FGFGFEEEEEEEEEEEEEEEEEEEE" // loads
            + "DEDEDDDDDCDCDEEEEEEEEEEEEEEEEEEEEBABABBBB" // loads of elements, stores
            + "DCFFFGGGE" // pop to swap
            + "DCDCDCDCDCDCDCDCDCDCEEEEDDDDDDDCDCDCE" // arithmetic
            + "FEFDDEEFFDEDEEEBDDBB" // conversions, comparisons
            + "DDDDDDCCCCCCCCEEEDD" // jumps, switches
            + "DCDCDEEEEEEEEEEFEEEEEEDDEEDD"; // returns to ifnonnull

    private static final int NEW = Integer.MIN_VALUE;

    private final MethodNode method;
    private final InsnList code;
    /** Of each instruction the places of the stack that are taken before it; {@link #NEW} until it is reached. */
    private final int[] depth;

    private final Deque<Integer> reached = new ArrayDeque<>();

    private int deepest;
    private boolean runsOff;

    RoomProof(MethodNode method) {
        this.method = method;
        this.code = method.instructions;
        depth = new int[code.size()];
        Arrays.fill(depth, NEW);
    }

    /** Returns what the method does beyond what it declares; null = nothing. */
    @Nullable
    String fault() {
        if (code.size() == 0) {
            return null;
        }
        int variables = variables();
        if (variables > method.maxLocals) {
            return "uses " + variables + " variables and declares " + method.maxLocals;
        }
        reachAll();
        if (deepest > method.maxStack) {
            return "uses " + deepest + " places of the stack and declares " + method.maxStack;
        }
        return runsOff ? "goes on behind its last instruction" : null;
    }

    private int variables() {
        int arguments = Type.getArgumentsAndReturnSizes(method.desc) >> 2; // With an object.
        int used = (method.access & Opcodes.ACC_STATIC) == 0 ? arguments : arguments - 1;
        for (AbstractInsnNode each : code) {
            used = Math.max(used, end(each));
        }
        return used;
    }

    /** Returns the number of the variable behind those that an instruction or a frame names. */
    private static int end(AbstractInsnNode each) {
        if (each instanceof VarInsnNode moved) {
            return moved.var + (GROWTH.charAt(moved.getOpcode()) == 'E' ? 1 : size(moved.getOpcode()));
        } else if (each instanceof IincInsnNode added) {
            return added.var + 1;
        }
        return each instanceof FrameNode frame ? size(frame.local) : 0;
    }

    private static int size(int moving) {
        return Math.abs(GROWTH.charAt(moving) - 'E');
    }

    private static int size(List<Object> inFrame) {
        return inFrame.stream()
                .mapToInt(each -> each == Opcodes.LONG || each == Opcodes.DOUBLE ? 2 : 1)
                .sum();
    }

    private void reachAll() {
        reach(0, 0);
        for (TryCatchBlockNode block : method.tryCatchBlocks) {
            reach(code.indexOf(block.handler), 1);
        }
        for (AbstractInsnNode each : code) {
            if (each instanceof FrameNode frame) { // The JVM verifies what is behind it, though nothing may lead there.
                reach(code.indexOf(each), size(frame.stack));
            }
        }
    }

    /** Goes on from an instruction to all that it leads to and that was not reached before. */
    private void reach(int from, int taken) {
        add(from, taken);
        while (!reached.isEmpty()) {
            int at = reached.remove();
            AbstractInsnNode each = code.get(at);
            int behind = depth[at] + growth(each);
            deepest = Math.max(deepest, behind);
            runsOff |= each.getNext() == null && !ControlFlow.ends(each.getOpcode());
            ControlFlow.goesOn(code, each, to -> add(to, behind));
        }
    }

    private void add(int at, int taken) {
        deepest = Math.max(deepest, taken);
        if (depth[at] == NEW) {
            depth[at] = taken;
            reached.add(at);
        }
    }

    private static int growth(AbstractInsnNode each) {
        int opcode = each.getOpcode();
        if (each instanceof FieldInsnNode field) {
            int size = Type.getType(field.desc).getSize();
            return switch (opcode) {
                case Opcodes.GETSTATIC -> size;
                case Opcodes.PUTSTATIC -> -size;
                case Opcodes.GETFIELD -> size - 1;
                default -> -size - 1;
            };
        } else if (each instanceof MethodInsnNode call) {
            return growth(call.desc) - (opcode == Opcodes.INVOKESTATIC ? 0 : 1);
        } else if (each instanceof InvokeDynamicInsnNode call) {
            return growth(call.desc);
        } else if (each instanceof LdcInsnNode constant) {
            return constant.cst instanceof Long
                            || constant.cst instanceof Double
                            || constant.cst instanceof ConstantDynamic made && made.getSize() == 2
                    ? 2
                    : 1;
        } else if (each instanceof MultiANewArrayInsnNode array) {
            return 1 - array.dims;
        }
        return opcode < 0 ? 0 : GROWTH.charAt(opcode) - 'E';
    }

    /** Returns what a call without an object adds to the stack. */
    private static int growth(String descriptor) {
        int sizes = Type.getArgumentsAndReturnSizes(descriptor); // With an object, in the higher bits.
        return (sizes & 3) - (sizes >> 2) + 1;
    }
}
