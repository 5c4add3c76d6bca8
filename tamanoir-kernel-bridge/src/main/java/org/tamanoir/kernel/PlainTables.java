package org.tamanoir.kernel;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.tamanoir.icmp.IcmpType;
import org.tamanoir.plain.PlainMatch;
import org.tamanoir.plain.PlainRule;
import org.tamanoir.plain.PlainRules;
import org.tamanoir.plain.PlainTraffic;
import org.tamanoir.routing.Prefix;

/**
 * Rules for plain IP as the kernel's program reads them: for each field of a packet a table that says, by a bit for each
 * rule, which rules a value fits. See {@code tamanoir_plain.h}, and for the method: Lakshman and Stiliadis, High-Speed
 * Policy-based Packet Forwarding Using Efficient Multi-dimensional Range Matching, SIGCOMM 1998, section 4.
 */
final class PlainTables {
    static final int PORTS = PlainMatch.MAX_PORT + 1;
    private static final int DSCPS = PlainMatch.MAX_DSCP + 1;

    private final List<PlainRule> rules;

    PlainTables(PlainRules rules) {
        this.rules = rules.rules();
    }

    /** Returns a bit for each rule that is such. */
    private long bits(Predicate<PlainMatch> is) {
        long bits = 0;
        for (int rule = 0; rule < rules.size(); rule++) {
            bits |= is.test(rules.get(rule).match()) ? 1L << rule : 0;
        }
        return bits;
    }

    /**
     * Returns struct tmn_plain_hook.
     *
     * @param port4 of the socket for IPv4; 0 = there is none
     * @param port6 likewise for IPv6
     */
    ByteBuffer hook(int mark, int port4, int port6, PlainTraffic.Listening listening, int alertsPerSecond) {
        ByteBuffer hook = ByteBuffer.allocate(PlainAbi.HookStruct.SIZE).order(ByteOrder.nativeOrder());
        long gapNs = 1_000_000_000L / alertsPerSecond;
        hook.putInt(PlainAbi.HookStruct.VERSION, PlainAbi.VERSION);
        hook.putInt(PlainAbi.HookStruct.MARK, mark);
        putPort(hook, PlainAbi.HookStruct.PORT4, port4);
        putPort(hook, PlainAbi.HookStruct.PORT6, port6);
        hook.putLong(PlainAbi.HookStruct.ALERT_GAP_NS, gapNs);
        hook.putLong(PlainAbi.HookStruct.ALERT_BURST_NS, Math.max(gapNs, 100_000_000L));
        hook.putLong(PlainAbi.HookStruct.UDP, bits(match -> match.protocol() == PlainMatch.Protocol.UDP));
        hook.putLong(PlainAbi.HookStruct.TCP, bits(match -> match.protocol() == PlainMatch.Protocol.TCP));
        hook.putLong(PlainAbi.HookStruct.ICMP, bits(match -> match.protocol() == PlainMatch.Protocol.ICMP));
        hook.putLong(PlainAbi.HookStruct.NO_ALERT, bits(match -> !Boolean.TRUE.equals(match.routerAlert())));
        hook.putLong(PlainAbi.HookStruct.ALERT, bits(match -> !Boolean.FALSE.equals(match.routerAlert())));
        hook.putLong(PlainAbi.HookStruct.ANY_SOURCE, bits(match -> match.source() == null));
        hook.putLong(PlainAbi.HookStruct.ANY_DESTINATION, bits(match -> match.destination() == null));
        hook.putLong(PlainAbi.HookStruct.ANY_MARK, bits(match -> match.mark() == PlainMatch.ANY));
        for (int dscp = 0; dscp < DSCPS; dscp++) {
            int value = dscp;
            hook.putLong(
                    PlainAbi.HookStruct.DSCP + dscp * Long.BYTES,
                    bits(match -> match.dscp() == PlainMatch.ANY || match.dscp() == value));
        }
        putPorts(hook, PlainAbi.HookStruct.TCP4, listening.v4());
        putPorts(hook, PlainAbi.HookStruct.TCP6, listening.v6());
        return hook;
    }

    private static void putPorts(ByteBuffer hook, int at, List<Integer> ports) {
        for (int rule = 0; rule < ports.size(); rule++) {
            putPort(hook, at + rule * Short.BYTES, ports.get(rule));
        }
    }

    private static void putPort(ByteBuffer hook, int at, int port) {
        hook.put(at, (byte) (port >>> 8)).put(at + 1, (byte) port);
    }

    /** Returns the rules of each destination port; of ICMP those of each type, by its number among {@link IcmpType}. */
    long[] ports() {
        long[] ports = new long[PORTS];
        for (int rule = 0; rule < rules.size(); rule++) {
            PlainMatch match = rules.get(rule).match();
            if (match.protocol() == PlainMatch.Protocol.ICMP) {
                for (IcmpType type : match.types()) {
                    ports[type.ordinal()] |= 1L << rule;
                }
                continue;
            }
            for (int port = match.firstPort(); port <= match.lastPort(); port++) {
                ports[port] |= 1L << rule;
            }
        }
        return ports;
    }

    /** Returns struct tmn_plain_prefix of each source that a rule asks for, and the rules whose prefixes cover it. */
    Map<ByteBuffer, Long> sources(int buffer) {
        return prefixes(PlainMatch::source, buffer);
    }

    /** Returns the same of destinations. */
    Map<ByteBuffer, Long> destinations(int buffer) {
        return prefixes(PlainMatch::destination, buffer);
    }

    private Map<ByteBuffer, Long> prefixes(Function<PlainMatch, @Nullable Prefix> which, int buffer) {
        Map<ByteBuffer, Long> covering = new HashMap<>();
        for (PlainRule rule : rules) {
            Prefix prefix = which.apply(rule.match());
            if (prefix != null) {
                covering.put(key(prefix, buffer), bits(match -> covers(which.apply(match), prefix)));
            }
        }
        return covering;
    }

    private static boolean covers(@Nullable Prefix wide, Prefix narrow) {
        return wide != null && wide.length() <= narrow.length() && wide.contains(narrow.high(), narrow.low());
    }

    private static ByteBuffer key(Prefix prefix, int buffer) {
        ByteBuffer key = ByteBuffer.allocate(PlainAbi.PrefixStruct.SIZE);
        key.order(ByteOrder.nativeOrder()).putInt(PlainAbi.PrefixStruct.BITS, Integer.SIZE + prefix.length());
        key.putInt(PlainAbi.PrefixStruct.BUFFER, buffer);
        key.order(ByteOrder.BIG_ENDIAN).putLong(PlainAbi.PrefixStruct.ADDRESS, prefix.high());
        return key.putLong(PlainAbi.PrefixStruct.ADDRESS + Long.BYTES, prefix.low());
    }

    /** Returns struct tmn_plain_asked of each mark that a rule asks for, and the rules that do. */
    Map<ByteBuffer, Long> marks(int buffer) {
        Map<ByteBuffer, Long> asking = new HashMap<>();
        for (PlainRule rule : rules) {
            long mark = rule.match().mark();
            if (mark != PlainMatch.ANY) {
                ByteBuffer key = ByteBuffer.allocate(PlainAbi.AskedStruct.SIZE).order(ByteOrder.nativeOrder());
                key.putInt(PlainAbi.AskedStruct.MARK, (int) mark).putInt(PlainAbi.AskedStruct.BUFFER, buffer);
                asking.put(key, bits(match -> match.mark() == mark));
            }
        }
        return asking;
    }
}
