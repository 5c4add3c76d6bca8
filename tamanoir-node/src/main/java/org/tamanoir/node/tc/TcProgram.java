package org.tamanoir.node.tc;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.tamanoir.cluster.lvs.ClusterException;
import org.tamanoir.cluster.lvs.Program;

/** Asks the program {@code tc} of iproute2, started anew each time, in the network namespace of the thread. Any thread. */
final class TcProgram implements HtbControl {
    @Override
    public Map<String, HtbClass> show(String device) throws ClusterException {
        Program.Result result = Program.run(List.of("tc", "-s", "-d", "class", "show", "dev", device));
        if (!result.isGood()) {
            throw new ClusterException(
                    "no interface " + device + ": correct the name, or set it up; tc says: " + result.words());
        }
        try {
            return HtbClass.parse(result.output());
        } catch (IllegalArgumentException | ArithmeticException e) {
            throw new ClusterException("tc class show dev " + device + ": " + e.getMessage(), e);
        }
    }

    @Override
    public void change(String device, HtbClass wanted) throws ClusterException {
        List<String> command = new ArrayList<>(wanted.change(device));
        command.add(0, "tc");
        Program.Result result = Program.run(command);
        if (!result.isGood()) {
            throw new ClusterException(
                    "not permitted"
                                    .regionMatches(
                                            true,
                                            0,
                                            result.words(),
                                            Math.max(0, result.words().length() - 13),
                                            13)
                            ? "tc may not change classes: give the node CAP_NET_ADMIN (AmbientCapabilities of systemd)"
                            : "tc refuses: " + result.words());
        }
    }
}
