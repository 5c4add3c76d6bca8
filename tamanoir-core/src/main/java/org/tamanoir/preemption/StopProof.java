package org.tamanoir.preemption;

import java.util.Set;
import java.util.stream.IntStream;
import org.objectweb.asm.tree.AbstractInsnNode;

/**
 * Proves that a method with checkpoints ends once each of them throws: what may come behind what has no cycle. A checkpoint
 * leads to the handlers alone that cover it, any other instruction that may throw to those too; the jumps back that a count
 * allows lead on alone. It does not matter which exceptions a handler catches: code of compilers of Java passes all the same,
 * whose handlers lead out of what they cover.
 *
 * <p>Thread contract: one thread.
 */
final class StopProof {
    private static final byte NEW = 0;
    private static final byte OPEN = 1;
    private static final byte DONE = 2;

    private final ControlFlow flow;
    private final Set<AbstractInsnNode> polls;
    private final Set<AbstractInsnNode> counted;

    /**
     * @param polls its checkpoints
     * @param counted jumps that are taken a limited number of times between two checkpoints
     */
    StopProof(ControlFlow flow, Set<AbstractInsnNode> polls, Set<AbstractInsnNode> counted) {
        this.flow = flow;
        this.polls = polls;
        this.counted = counted;
    }

    /** Returns whether nothing goes round: looks deep first, and for a way back to what it came by. */
    boolean holds() {
        byte[] state = new byte[flow.size()];
        int[] path = new int[flow.size()];
        int[][] next = new int[flow.size()][];
        int[] taken = new int[flow.size()];
        for (int start = 0; start < state.length; start++) {
            int depth = 0;
            if (state[start] == NEW) {
                path[depth++] = start;
            }
            while (depth > 0) {
                int at = path[depth - 1];
                if (state[at] == NEW) {
                    state[at] = OPEN;
                    next[at] = behind(at);
                }
                if (taken[at] == next[at].length) {
                    state[at] = DONE;
                    depth--;
                    continue;
                }
                int then = next[at][taken[at]++];
                if (state[then] == OPEN) {
                    return false;
                }
                if (state[then] == NEW) {
                    path[depth++] = then;
                }
            }
        }
        return true;
    }

    private int[] behind(int node) {
        IntStream.Builder next = IntStream.builder();
        if (!flow.isInstruction(node)) {
            flow.caught(node, next);
        } else if (polls.contains(flow.instruction(node))) {
            next.add(flow.thrownAt(node));
        } else if (counted.contains(flow.instruction(node))) {
            next.add(node + 1);
        } else {
            flow.goesOn(node, next);
            if (ControlFlow.mayThrow(flow.instruction(node).getOpcode())) {
                next.add(flow.thrownAt(node));
            }
        }
        return next.build().toArray();
    }
}
