package org.tamanoir.cluster.element;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.tamanoir.accounting.DropReason;

/** A sender's queue and its place in a ring, which note what the sender does. */
final class TestRing implements Heads, RingPort {
    /** A packet of the queue. */
    record Waiting(long round, int sequence) {}

    final Deque<Waiting> queue = new ArrayDeque<>();
    /** In the words of the vectors. */
    final List<String> done = new ArrayList<>();

    final List<Token> passed = new ArrayList<>();

    /** Returns what was done since it was asked last. */
    List<String> takeDone() {
        List<String> taken = List.copyOf(done);
        done.clear();
        return taken;
    }

    @Override
    public long headRound() {
        return queue.isEmpty() ? 0 : queue.getFirst().round();
    }

    @Override
    public void send() {
        done.add("SEND " + queue.removeFirst().sequence());
    }

    @Override
    public void drop(DropReason reason) {
        done.add("DROP " + queue.removeFirst().sequence() + " " + reason);
    }

    @Override
    public void pass(Token token) {
        passed.add(token);
        done.add("PASS " + token.serial() + " " + token.round() + " " + token.minHead() + " " + token.holdBudget());
    }

    @Override
    public void timer(long delayNs) {
        done.add("TIMER " + delayNs);
    }

    @Override
    public void wake(long headRound) {
        done.add("WAKE " + headRound);
    }

    @Override
    public void drained() {
        done.add("DRAINED");
    }
}
