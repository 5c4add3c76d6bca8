package org.tamanoir.offload;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.tamanoir.gateway.TransitGateway;
import org.tamanoir.plain.PlainMatch;
import org.tamanoir.plain.PlainRule;
import org.tamanoir.plain.PlainTraffic;
import org.tamanoir.service.FailurePolicy;
import org.tamanoir.transport.StreamGateway;

/**
 * The sockets that listen for the connections of rules for TCP, one of each family for each rule. A rule that stays keeps
 * its own. Those of the last {@value #MAX_LEFT} rules that left stay, too: connections that had begun when their rule left
 * end their handshake there.
 *
 * <p>Thread contract: one thread at a time.
 */
final class PlainListeners {
    private static final int MAX_LEFT = 64;

    private final Levels.Listener listener;
    private final boolean hasIpv6;
    private final int typeId;
    private final int mark;
    /** By their rules, those that came in force last at the end. */
    private final Map<PlainRule, Ends> open = new LinkedHashMap<>();

    /** The sockets of a rule. */
    private record Ends(Levels.Listening v4, Levels.@Nullable Listening v6) {
        void close() {
            v4.close();
            if (v6 != null) {
                v6.close();
            }
        }
    }

    /** @param mark of what the node sends on */
    PlainListeners(Levels.Listener listener, boolean hasIpv6, int typeId, int mark) {
        this.listener = listener;
        this.hasIpv6 = hasIpv6;
        this.typeId = typeId;
        this.mark = mark;
    }

    /**
     * Opens those that rules lack.
     *
     * @return the rules that lacked them
     * @throws IOException in one line, if one cannot be had; none is opened then
     */
    List<PlainRule> open(List<PlainRule> rules) throws IOException {
        List<PlainRule> fresh = new ArrayList<>();
        try {
            for (PlainRule rule : rules) {
                if (rule.match().protocol() == PlainMatch.Protocol.TCP && !open.containsKey(rule)) {
                    open.put(rule, open(rule));
                    fresh.add(rule);
                }
            }
            return fresh;
        } catch (IOException | RuntimeException e) {
            close(fresh);
            throw e;
        }
    }

    private Ends open(PlainRule rule) throws IOException {
        Levels.Listening v4 = listener.listen(gateway(rule, "127.0.0.1"));
        try {
            return new Ends(v4, hasIpv6 ? listener.listen(gateway(rule, "::1")) : null);
        } catch (IOException | RuntimeException e) {
            v4.close();
            throw e;
        }
    }

    private StreamGateway gateway(PlainRule rule, String address) throws IOException {
        return TransitGateway.listening(
                new InetSocketAddress(InetAddress.getByName(address), 0),
                rule.serviceKey(),
                Math.max(0, rule.classOfService()),
                typeId,
                mark,
                rule.onFailure() == FailurePolicy.DROP);
    }

    /** Returns the ports by rule. */
    PlainTraffic.Listening ports(List<PlainRule> rules) {
        List<Integer> v4 = new ArrayList<>();
        List<Integer> v6 = new ArrayList<>();
        for (PlainRule rule : rules) {
            Ends ends = open.get(rule);
            v4.add(ends == null ? 0 : ends.v4.port());
            v6.add(ends == null || ends.v6 == null ? 0 : ends.v6.port());
        }
        return new PlainTraffic.Listening(v4, v6);
    }

    /** Takes note that rules are in force, and closes the sockets of those that left long ago. */
    void inForce(List<PlainRule> rules) {
        int left = open.size();
        for (PlainRule rule : rules) {
            Ends ends = open.remove(rule);
            if (ends != null) {
                open.put(rule, ends);
                left--;
            }
        }
        Iterator<Ends> eldest = open.values().iterator();
        for (; left > MAX_LEFT; left--) {
            eldest.next().close();
            eldest.remove();
        }
    }

    /** Closes the sockets of rules that are not to be. */
    void close(List<PlainRule> rules) {
        for (PlainRule rule : rules) {
            Ends ends = open.remove(rule);
            if (ends != null) {
                ends.close();
            }
        }
    }
}
