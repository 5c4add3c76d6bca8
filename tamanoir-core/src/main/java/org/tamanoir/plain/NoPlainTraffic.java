package org.tamanoir.plain;

import java.net.InetSocketAddress;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.tamanoir.nodeos.LevelException;

/** A node without interfaces that plain IP comes in by. */
final class NoPlainTraffic implements PlainTraffic {
    private static final Status OFF =
            new Status(false, "off: the configuration names no plain-interfaces", Map.of(), List.of(), 0);

    @Override
    public PlainRules rules() {
        return PlainRules.NONE;
    }

    @Override
    public void attach(@Nullable InetSocketAddress v4, @Nullable InetSocketAddress v6, Listening listening) {
        // There is nothing to look for.
    }

    @Override
    public Staged stage(PlainRules rules, int alertsPerSecond, int generation, Listening listening)
            throws LevelException {
        throw new LevelException("the node was started without plain-interfaces: name them and start it again");
    }

    @Override
    public void notAttached(String why) {
        // It was not to be.
    }

    @Override
    public int upMark() {
        return 0;
    }

    @Override
    public int sentMark() {
        return 0;
    }

    @Override
    public void lost(long datagrams) {
        // Nothing comes up.
    }

    @Override
    public Status status() {
        return OFF;
    }

    @Override
    public void release() {
        // Nothing comes up.
    }

    @Override
    public void close() {
        // Nothing was put anywhere.
    }
}
