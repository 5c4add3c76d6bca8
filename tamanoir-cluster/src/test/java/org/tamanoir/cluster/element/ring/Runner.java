package org.tamanoir.cluster.element.ring;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.tamanoir.cluster.element.RingMember;
import org.tamanoir.cluster.element.RingPort;
import org.tamanoir.cluster.element.Token;

/** A sender without packets that passes each token at once. Thread contract: the ring's thread; what is counted: any. */
class Runner implements RingMember {
    private final int unit;
    final RingPort port;
    final AtomicLong tokens = new AtomicLong();
    final List<String> mistakes = new CopyOnWriteArrayList<>();
    volatile boolean alone;
    private volatile long serial;
    private volatile long round;
    private volatile boolean master;

    Runner(int unit, RingPort port) {
        this.unit = unit;
        this.port = port;
    }

    @Override
    public void token(Token token) {
        if (Long.compareUnsigned(token.serial(), serial) < (master ? 0 : 1)) {
            mistakes.add(token + " after " + Long.toHexString(serial));
        }
        tokens.incrementAndGet();
        serial = master ? token.serial() + 1 : token.serial();
        round = master ? round + 1 : token.round();
        port.pass(master ? new Token(serial, round, 0, 0, 0, token.origin()) : token);
    }

    @Override
    public void timer() {}

    @Override
    public void wake(long headRound) {}

    @Override
    public void view(int epoch, boolean isMaster, int units, long from) {
        alone = false;
        master = isMaster;
        serial = Epoch.begin(epoch);
        round = Math.max(round, from);
        if (isMaster && units > 1) {
            serial++;
            port.pass(new Token(serial, round, 0, 0, 0, unit));
        }
    }

    @Override
    public void alone() {
        alone = true;
    }

    @Override
    public State state() {
        return new State(serial, round, 0, 0, false);
    }

    /** Returns the units of a view, none if there is no view. */
    static List<Integer> units(@Nullable RingView view) {
        return view == null ? List.of() : view.units();
    }
}
