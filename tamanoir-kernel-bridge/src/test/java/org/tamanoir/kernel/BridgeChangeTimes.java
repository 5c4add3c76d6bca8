package org.tamanoir.kernel;

import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import org.tamanoir.nodeos.Flow;
import org.tamanoir.nodeos.Level;
import org.tamanoir.nodeos.LevelException;
import org.tamanoir.nodeos.NodeOs;
import org.tamanoir.nodeos.Offload;
import org.tamanoir.nodeos.Policy;
import org.tamanoir.nodeos.Share;

/**
 * Measures how long a policy takes to come, to change and to go, and how long after a change the first packet obeys it:
 * {@code java org.tamanoir.kernel.BridgeChangeTimes [tc|module]}, as root.
 */
final class BridgeChangeTimes {
    private static final int ROUNDS = 2_000;
    private static final int WARM_UP = 500;

    private BridgeChangeTimes() {}

    private interface Step {
        void run(int round) throws LevelException;
    }

    public static void main(String[] arguments) throws Exception {
        Level level = Level.of(arguments.length == 0 ? "tc" : arguments[0]);
        EnumSet<Level> only = EnumSet.of(level);
        try (BridgeNet net = new BridgeNet("times")) {
            NodeOs os = net.attach(BridgeNet.PORT, level);
            try {
                Offload offload = os.offload(List.of(BridgeNet.KEY), Flow.ANY, Policy.forward(), only, false);
                List<Policy> marks =
                        List.of(Policy.forward().markClass(1), Policy.forward().markClass(2));
                measure(level + ": change of a parameter", round -> offload.change(marks.get(round % 2)));
                List<Policy> shares = List.of(Policy.forward(), Policy.forward().share(Share.every(2)));
                measure(level + ": change of the share", round -> offload.change(shares.get(round % 2)));
                measure(level + ": counters", round -> offload.counters());
                measure(
                        level + ": offload and close",
                        round -> os.offload(
                                        List.of(1L),
                                        new Flow(Flow.Protocol.UDP, null, null, (long) round),
                                        Policy.drop(),
                                        only,
                                        false)
                                .close());
                measure(level + ": settled", round -> os.settled(1, 1));
                long[] times = new long[200];
                for (int round = 0; round < times.length; round++) {
                    offload.change(Policy.forward());
                    net.exchange(os, 1, 2); // the first may go up, as it waits for those that did
                    int before = net.atNode.size();
                    long startNs = System.nanoTime();
                    offload.change(Policy.up());
                    net.exchange(os, 1, 1);
                    times[round] = System.nanoTime() - startNs;
                    if (net.atNode.size() == before) {
                        throw new IllegalStateException("a packet after the change obeyed the old policy");
                    }
                }
                print(level + ": change, and a packet that obeys it there", times);
            } finally {
                net.close(os);
            }
        }
    }

    private static void measure(String what, Step step) throws LevelException {
        for (int round = 0; round < WARM_UP; round++) {
            step.run(round);
        }
        long[] times = new long[ROUNDS];
        for (int round = 0; round < ROUNDS; round++) {
            long startNs = System.nanoTime();
            step.run(round);
            times[round] = System.nanoTime() - startNs;
        }
        print(what, times);
    }

    private static void print(String what, long[] times) {
        Arrays.sort(times);
        System.out.printf(
                "%-50s p50 %8.1f us   p99 %8.1f us%n",
                what, times[times.length / 2] / 1e3, times[times.length * 99 / 100] / 1e3);
    }
}
