package org.tamanoir.preemption;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.JumpInsnNode;
import org.objectweb.asm.tree.LookupSwitchInsnNode;
import org.objectweb.asm.tree.MethodNode;
import org.objectweb.asm.tree.TableSwitchInsnNode;
import org.objectweb.asm.tree.TryCatchBlockNode;
import org.objectweb.asm.tree.VarInsnNode;

/**
 * Proves that a method holds a bounded number of monitors. The JVM keeps each in the method's frame on the stack, which
 * grows by those that are entered and not left; where the method catches the overflow and goes on, the process ends.
 *
 * <p>A monitor is left without an exception where the variable that it is left by has held it since it was entered, as
 * compilers of Java have it: {@code dup, astore v, monitorenter} or {@code aload v, monitorenter}, and then {@code aload
 * v, monitorexit}. Any other {@code monitorexit} may throw and leave none, or leave one that a variable holds.
 *
 * <p>Thread contract: one thread.
 */
final class MonitorProof {
    /** Places of a method where a monitor is entered. What so many take of the stack fits behind its end. */
    static final int MAX_ENTERED = 255;

    private final MethodNode method;
    private final ControlFlow flow;
    /** Where code goes on that does not come from the instruction before. */
    private final Set<AbstractInsnNode> targets = new HashSet<>();
    /** The numbers of variables that monitors are left by. What is beyond the 64th counts as unknown. */
    private final Map<Integer, Integer> numbers = new HashMap<>();
    /** Of each node the variables that hold a monitor which was entered, as bits; all until it is reached. */
    private final long[] holding;
    /** Of each node the monitors that are held at most; -1 until it is reached. */
    private final int[] held;

    /** Tells the node {@code to} what is known at the node {@code from}; returns whether that changes anything. */
    private interface Step {
        boolean pass(int from, int to, boolean isThrown);
    }

    MonitorProof(MethodNode method, ControlFlow flow) {
        this.method = method;
        this.flow = flow;
        holding = new long[flow.size()];
        held = new int[flow.size()];
        Arrays.fill(holding, -1);
        Arrays.fill(held, -1);
    }

    /** Returns whether it never holds more monitors than it has places where one is entered, which are not too many. */
    boolean holds() {
        int places = 0;
        for (AbstractInsnNode each : method.instructions) {
            places += each.getOpcode() == Opcodes.MONITORENTER ? 1 : 0;
            int variable = each.getOpcode() == Opcodes.MONITOREXIT ? variable(before(each), Opcodes.ALOAD) : -1;
            if (variable >= 0 && numbers.size() < Long.SIZE) {
                numbers.putIfAbsent(variable, numbers.size());
            }
        }
        return places == 0 || places <= MAX_ENTERED && isBounded(places);
    }

    private boolean isBounded(int places) {
        findTargets();
        BitSet reached = new BitSet();
        holding[0] = 0;
        spread((from, to, isThrown) -> {
            long before = holding[to];
            holding[to] &= isThrown ? holding[from] : holdingBehind(from);
            boolean isNew = !reached.get(to);
            reached.set(to);
            return isNew || holding[to] != before;
        });
        held[0] = 0;
        spread((from, to, isThrown) -> {
            int before = held[to];
            held[to] = Math.max(before, isThrown ? held[from] : heldBehind(from));
            return held[to] > before && held[to] <= places;
        });
        return Arrays.stream(held).allMatch(each -> each <= places);
    }

    private void findTargets() {
        for (TryCatchBlockNode block : method.tryCatchBlocks) {
            targets.add(block.handler);
        }
        for (AbstractInsnNode each : method.instructions) {
            if (each instanceof JumpInsnNode jump) {
                targets.add(jump.label);
            } else if (each instanceof TableSwitchInsnNode choice) {
                targets.add(choice.dflt);
                targets.addAll(choice.labels);
            } else if (each instanceof LookupSwitchInsnNode choice) {
                targets.add(choice.dflt);
                targets.addAll(choice.labels);
            }
        }
    }

    /** Passes on what is known, from the method's beginning, until nothing changes. */
    private void spread(Step step) {
        Deque<Integer> changed = new ArrayDeque<>();
        BitSet waiting = new BitSet();
        changed.add(0);
        while (!changed.isEmpty()) {
            int at = changed.remove();
            waiting.clear(at);
            IntConsumer next = to -> {
                if (step.pass(at, to, false) && !waiting.get(to)) {
                    waiting.set(to);
                    changed.add(to);
                }
            };
            if (!flow.isInstruction(at)) {
                flow.caught(at, next);
                continue;
            }
            flow.goesOn(at, next);
            int thrown = flow.thrownAt(at);
            if (mayThrow(at) && step.pass(at, thrown, true) && !waiting.get(thrown)) {
                waiting.set(thrown);
                changed.add(thrown);
            }
        }
    }

    private int opcode(int node) {
        return flow.isInstruction(node) ? flow.instruction(node).getOpcode() : -1;
    }

    private boolean mayThrow(int node) {
        return opcode(node) == Opcodes.MONITOREXIT
                ? (holding[node] & bit(variable(before(flow.instruction(node)), Opcodes.ALOAD))) == 0
                : ControlFlow.mayThrow(opcode(node));
    }

    private int heldBehind(int node) {
        return switch (opcode(node)) {
            case Opcodes.MONITORENTER -> held[node] + 1;
            case Opcodes.MONITOREXIT -> Math.max(held[node] - 1, 0);
            default -> held[node];
        };
    }

    private long holdingBehind(int node) {
        long before = holding[node];
        return switch (opcode(node)) {
            case Opcodes.MONITORENTER -> before | bit(entered(flow.instruction(node)));
            case Opcodes.MONITOREXIT ->
                mayThrow(node) ? 0 : before & ~bit(variable(before(flow.instruction(node)), Opcodes.ALOAD));
            case Opcodes.ISTORE, Opcodes.FSTORE, Opcodes.ASTORE -> before & ~bit(stored(node));
            case Opcodes.LSTORE, Opcodes.DSTORE -> before & ~bit(stored(node)) & ~bit(stored(node) + 1);
            default -> before;
        };
    }

    private int stored(int node) {
        return ((VarInsnNode) flow.instruction(node)).var;
    }

    /** Returns the variable that holds what is entered; -1 = none that is known. */
    private int entered(AbstractInsnNode enter) {
        AbstractInsnNode before = before(enter);
        int stored = variable(before, Opcodes.ASTORE);
        AbstractInsnNode first = stored < 0 || before == null ? null : before(before);
        return first != null && first.getOpcode() == Opcodes.DUP ? stored : variable(before, Opcodes.ALOAD);
    }

    private static int variable(@Nullable AbstractInsnNode each, int opcode) {
        return each instanceof VarInsnNode moved && moved.getOpcode() == opcode ? moved.var : -1;
    }

    private long bit(int variable) {
        Integer number = numbers.get(variable);
        return number == null ? 0 : 1L << number;
    }

    /** Returns the instruction that comes before this one always; null if it is reached in another way too. */
    private @Nullable AbstractInsnNode before(AbstractInsnNode each) {
        AbstractInsnNode before = each.getPrevious();
        while (before != null && before.getOpcode() < 0 && !targets.contains(before)) {
            before = before.getPrevious();
        }
        return before == null || before.getOpcode() < 0 ? null : before;
    }
}
