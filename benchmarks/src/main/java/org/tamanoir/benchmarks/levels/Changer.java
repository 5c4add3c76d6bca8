package org.tamanoir.benchmarks.levels;

import java.net.InetSocketAddress;
import java.util.EnumSet;
import java.util.List;
import org.tamanoir.anep.Anep;
import org.tamanoir.anep.ServiceKey;
import org.tamanoir.benchmarks.Arguments;
import org.tamanoir.benchmarks.Control;
import org.tamanoir.benchmarks.Load;
import org.tamanoir.kernel.KernelBridge;
import org.tamanoir.kernel.KernelConfig;
import org.tamanoir.nodeos.Flow;
import org.tamanoir.nodeos.Level;
import org.tamanoir.nodeos.NodeOs;
import org.tamanoir.nodeos.Offload;
import org.tamanoir.nodeos.Policy;

/**
 * Asks a level for one policy, by the node's own port, and changes it when it is told to. Question:
 *
 * <pre>
 *   mark CLASS    → ns of the monotonic clock when the call began, and when it returned
 * </pre>
 */
public final class Changer {
    private Changer() {}

    /** Runs until nobody asks any more. */
    public static void run(Arguments arguments) throws Exception {
        Level level = Level.of(arguments.text("level"));
        EnumSet<Level> used = level == Level.XDP ? EnumSet.of(level, Level.TC) : EnumSet.of(level);
        try (NodeOs nodeOs = KernelBridge.open(new KernelConfig(used, List.of(Network.FROM), false))) {
            nodeOs.attach(List.of(new InetSocketAddress(Network.PORT)), List.of(), Anep.DEFAULT_TYPE_ID);
            Policy first = Policy.forward().markClass(1);
            try (Offload offload =
                    nodeOs.offload(List.of(ServiceKey.of(Load.SERVICE)), Flow.ANY, first, EnumSet.of(level), false)) {
                Control.serve("", words -> {
                    Policy policy = Policy.forward().markClass(Integer.parseInt(words[1]));
                    long beganNs = System.nanoTime();
                    offload.change(policy);
                    return beganNs + " " + System.nanoTime();
                });
            }
        }
    }
}
