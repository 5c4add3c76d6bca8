package org.tamanoir.benchmarks.levels;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.EnumSet;
import java.util.List;
import java.util.concurrent.Callable;
import org.tamanoir.anep.Anep;
import org.tamanoir.anep.ServiceKey;
import org.tamanoir.benchmarks.Control;
import org.tamanoir.benchmarks.Load;
import org.tamanoir.kernel.KernelBridge;
import org.tamanoir.kernel.KernelConfig;
import org.tamanoir.nodeos.Flow;
import org.tamanoir.nodeos.Level;
import org.tamanoir.nodeos.NodeOs;
import org.tamanoir.nodeos.Offload;
import org.tamanoir.nodeos.Policy;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * Asks a level for one policy, by the node's own port, and changes it when it is told to. Question:
 *
 * <pre>
 *   mark CLASS    → ns of the monotonic clock when the call began, and when it returned
 * </pre>
 */
@Command(name = "level-changer", hidden = true, description = "Changes a policy.")
public final class Changer implements Callable<Integer> {
    @Option(names = "--level", required = true)
    private String level = "";

    /** Made by picocli. */
    public Changer() {}

    @Override
    public Integer call() throws Exception {
        EnumSet<Level> levels = EnumSet.of(Level.of(level));
        EnumSet<Level> used = EnumSet.of(Level.of(level));
        if (levels.contains(Level.XDP)) {
            used.add(Level.TC);
        }
        try (NodeOs nodeOs = KernelBridge.open(new KernelConfig(used, List.of(Network.FROM), false))) {
            nodeOs.attach(List.of(new InetSocketAddress(Network.PORT)), List.of(), Anep.DEFAULT_TYPE_ID);
            try (Offload offload = nodeOs.offload(
                    ServiceKey.of(Load.SERVICE), Flow.ANY, Policy.forward().markClass(1), levels, false)) {
                Control.serve("", words -> {
                    if (!words[0].equals("mark")) {
                        throw new IOException("no answer to '" + words[0] + "': known is mark");
                    }
                    Policy policy = Policy.forward().markClass(Integer.parseInt(words[1]));
                    long beganNs = System.nanoTime();
                    offload.change(policy);
                    return beganNs + " " + System.nanoTime();
                });
            }
        }
        return 0;
    }
}
