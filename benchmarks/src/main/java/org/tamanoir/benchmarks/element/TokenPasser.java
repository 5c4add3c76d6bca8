package org.tamanoir.benchmarks.element;

import org.tamanoir.cluster.element.RingMember;
import org.tamanoir.cluster.element.RingPort;
import org.tamanoir.cluster.element.Token;

/** A unit's sender without packets: it passes each token at once. Thread contract: the ring's thread. */
final class TokenPasser implements RingMember {
    private static final int EPOCH_SHIFT = 48;

    private final RingPort port;
    private final TokenTimes times;
    private boolean master;
    private volatile long serial;
    private volatile long round;

    TokenPasser(RingPort port, TokenTimes times) {
        this.port = port;
        this.times = times;
    }

    @Override
    public void token(Token token) {
        times.came(master);
        serial = master ? token.serial() + 1 : token.serial();
        round = master ? round + 1 : token.round();
        port.pass(master ? new Token(serial, round, 0, 0, 0, token.origin()) : token);
    }

    @Override
    public void view(int epoch, boolean isMaster, int units, long from) {
        master = isMaster;
        serial = (long) epoch << EPOCH_SHIFT;
        round = Math.max(round, from);
        if (isMaster && units > 1) {
            serial++;
            port.pass(new Token(serial, round, 0, 0, 0, 0));
        }
    }

    @Override
    public State state() {
        return new State(serial, round, 0, 0, false);
    }

    @Override
    public void timer() {}

    @Override
    public void wake(long headRound) {}

    @Override
    public void alone() {}
}
