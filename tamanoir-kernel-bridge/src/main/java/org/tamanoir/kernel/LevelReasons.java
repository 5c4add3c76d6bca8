package org.tamanoir.kernel;

import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.tamanoir.nodeos.Fate;
import org.tamanoir.nodeos.Flow;
import org.tamanoir.nodeos.Level;
import org.tamanoir.nodeos.Mark;
import org.tamanoir.nodeos.Policy;
import org.tamanoir.nodeos.Share;

/**
 * Why a level cannot be used, or cannot do what a policy says; each reason is one line and null where it can.
 *
 * <p>Thread contract: any thread.
 */
final class LevelReasons {
    private LevelReasons() {}

    /** Returns why this level cannot be attached on such a host. */
    static @Nullable String unavailable(Level level, Set<Level> enabled, HostFacts facts) {
        if (!enabled.contains(level)) {
            return "off: the configuration does not name it among the levels";
        }
        if (facts.noNative() != null) {
            return facts.noNative();
        }
        if (!facts.mayAdministerNetwork()) {
            return "needs CAP_NET_ADMIN: run the node as root or give it that capability";
        }
        return level == Level.MODULE ? facts.noModule() : bpfUnavailable(facts);
    }

    private static @Nullable String bpfUnavailable(HostFacts facts) {
        if (!facts.mayLoadBpf()) {
            return "needs CAP_BPF: run the node as root or give it that capability";
        }
        if (facts.noBpf() != null) {
            return facts.noBpf();
        }
        if (!facts.missingInterfaces().isEmpty()) {
            return "interface " + String.join(", ", facts.missingInterfaces())
                    + " does not exist: name interfaces that \"ip link\" shows";
        }
        return null;
    }

    /** Returns why no level can do this. */
    static @Nullable String impossible(Flow flow, Policy policy) {
        if (flow.protocol() == Flow.Protocol.TCP) {
            if (!(policy.mark() instanceof Mark.None) || !policy.rules().isEmpty()) {
                return "a level steers TCP by connection and sees no packets: no mark and no rules for TCP";
            }
            if (!(policy.fate() instanceof Fate.On) && !(policy.fate() instanceof Fate.Drop)) {
                return "a level steers TCP by connection: its fate is to go on or to end";
            }
        }
        if (policy.fate() instanceof Fate.To to) {
            Class<?> family = to.address().getAddress().getClass();
            if (flow.source() != null && flow.source().getClass() != family
                    || flow.destination() != null && flow.destination().getClass() != family) {
                return "to " + to.address() + ": must be of the flow's own family";
            }
        }
        return null;
    }

    /**
     * Returns why this level cannot do what others might.
     *
     * @param isOrdered whether packets may be on their way up
     */
    static @Nullable String impossible(Level level, Flow flow, Policy policy, boolean isOrdered) {
        if (level == Level.MODULE && policy.fate() instanceof Fate.Redirect) {
            return "the module does not redirect";
        }
        if (level != Level.XDP) {
            return null;
        }
        if (flow.protocol() == Flow.Protocol.TCP) {
            return "handles UDP alone";
        }
        if (!policy.share().equals(Share.NONE)) {
            return "handles all packets of a flow itself";
        }
        return isOrdered ? "begins only while no packet comes, as it cannot wait for those on their way up" : null;
    }
}
