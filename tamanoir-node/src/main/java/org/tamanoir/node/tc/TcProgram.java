package org.tamanoir.node.tc;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.tamanoir.cluster.lvs.ClusterException;
import org.tamanoir.cluster.lvs.Program;

/** Asks the program {@code tc} of iproute2, started anew each time, in the network namespace of the thread. Any thread. */
final class TcProgram implements HtbControl {
    @Override
    public Map<String, HtbClass> show(String device) throws HostException {
        Program.Result result = run(List.of("tc", "-s", "-d", "class", "show", "dev", device));
        if (!result.isGood()) {
            throw new HostException(whyNotShown(device, result.words()));
        }
        try {
            return HtbClass.parse(result.output());
        } catch (IllegalArgumentException | ArithmeticException e) {
            throw new HostException("tc class show dev " + device + ": " + e.getMessage(), e);
        }
    }

    @Override
    public void change(String device, HtbClass wanted) throws HostException {
        List<String> command = new ArrayList<>(wanted.change(device));
        command.add(0, "tc");
        Program.Result result = run(command);
        if (!result.isGood()) {
            throw new HostException(whyNotChanged(result.words()));
        }
    }

    static String whyNotShown(String device, String words) {
        return words.startsWith("Cannot find device")
                ? "no interface " + device + ": correct the name, or set it up; tc says: " + words
                : "tc does not show the classes of " + device + ": " + words;
    }

    static String whyNotChanged(String words) {
        return words.toLowerCase(Locale.ROOT).endsWith("not permitted")
                ? "tc may not change classes: give the node CAP_NET_ADMIN (AmbientCapabilities of systemd)"
                : "tc refuses: " + words;
    }

    private static Program.Result run(List<String> command) throws HostException {
        try {
            return Program.run(command);
        } catch (ClusterException e) {
            throw new HostException(String.valueOf(e.getMessage()), e);
        }
    }
}
