package org.tamanoir.ee;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.tamanoir.service.Allowance;

/**
 * What may still leave on account of datagrams that a service has taken in and keeps. Copies of a message share one, and
 * several become one where a message is made of many.
 *
 * <p>Joined ones form a tree, whose root has what is left: the younger one always points at the older one, so that
 * threads which join at the same time make no circle.
 *
 * <p>Thread contract: any thread.
 */
final class KeptAllowance implements Allowance {
    private static final AtomicLong NUMBERS = new AtomicLong();

    /** Where a datagram says that it came from, and the bytes of its headers of IP and UDP. */
    record Source(long high, long low, int port, int headerBytes) {}

    private final long number = NUMBERS.getAndIncrement();
    private final AtomicLong onward;
    private final AtomicLong answers;
    /** Bytes that one datagram may cause. */
    private final long limit;
    /** Of the datagram that came last, as for what leaves while that is in hand. */
    private volatile Source source;

    private final AtomicReference<@Nullable KeptAllowance> joined = new AtomicReference<>();

    KeptAllowance(long onward, long answers, long limit, Source source) {
        this.onward = new AtomicLong(onward);
        this.answers = new AtomicLong(answers);
        this.limit = limit;
        this.source = source;
    }

    @Override
    public Allowance keep() {
        return this;
    }

    @Override
    public Allowance join(Allowance other, long holding) {
        if (other instanceof UdpReaction inHand) {
            KeptAllowance root = root();
            inHand.moveTo(root, holding);
            return root;
        }
        return other instanceof KeptAllowance kept ? join(kept, holding) : this;
    }

    private KeptAllowance join(KeptAllowance other, long holding) {
        while (true) {
            KeptAllowance mine = root();
            KeptAllowance theirs = other.root();
            if (mine == theirs) {
                return mine;
            }
            KeptAllowance older = mine.number < theirs.number ? mine : theirs;
            KeptAllowance younger = older == mine ? theirs : mine;
            if (younger.joined.compareAndSet(null, older)) {
                older.add(younger.onward.getAndSet(0), younger.answers.getAndSet(0), holding, other.source);
                return older;
            }
        }
    }

    private KeptAllowance root() {
        KeptAllowance root = this;
        for (KeptAllowance next = root.joined.get(); next != null; next = root.joined.get()) {
            root = next;
        }
        return root;
    }

    /** Adds what a datagram from there has left. */
    void add(long moreOnward, long moreAnswers, long holding, Source from) {
        long most = limit * Math.max(1, holding);
        onward.accumulateAndGet(moreOnward, (had, more) -> Math.max(had, Math.min(most, had + more)));
        answers.accumulateAndGet(moreAnswers, (had, more) -> Math.max(had, Math.min(most, had + more)));
        source = from;
    }

    /** Pays for packets of so many bytes in all, and their headers; false, and nothing is taken, if it cannot. */
    boolean pay(long high, long low, int port, int packets, long bytes) {
        KeptAllowance root = root();
        Source from = root.source;
        long cost = bytes + (long) packets * from.headerBytes;
        return root.pay(port == from.port && low == from.low && high == from.high, cost);
    }

    /** Pays for so many bytes, headers included; false, and nothing is taken, if it cannot. */
    boolean pay(boolean isAnswer, long cost) {
        KeptAllowance root = root();
        AtomicLong left = isAnswer ? root.answers : root.onward;
        return left.getAndUpdate(had -> had >= cost ? had - cost : had) >= cost;
    }

    /** Takes all that may go onward. */
    long takeOnward() {
        return root().onward.getAndSet(0);
    }

    /** Takes all that may go back. */
    long takeAnswers() {
        return root().answers.getAndSet(0);
    }
}
