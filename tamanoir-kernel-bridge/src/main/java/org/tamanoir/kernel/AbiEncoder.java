package org.tamanoir.kernel;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.tamanoir.nodeos.Fate;
import org.tamanoir.nodeos.Flow;
import org.tamanoir.nodeos.Level;
import org.tamanoir.nodeos.LevelException;
import org.tamanoir.nodeos.Mark;
import org.tamanoir.nodeos.Policy;
import org.tamanoir.nodeos.Rule;

/**
 * Makes structs of {@code tamanoir_abi.h}: buffers in the host's byte order, from index 0 to their capacity.
 *
 * <p>Thread contract: any thread.
 */
final class AbiEncoder {
    static final int ADDRESS_BYTES = 16;

    private static final int IPV4_BYTES = 4;
    private static final int IPV4_AT = ADDRESS_BYTES - IPV4_BYTES;
    private static final int IPPROTO_TCP = 6;
    private static final int IPPROTO_UDP = 17;

    private AbiEncoder() {}

    /** Returns the mark of packets that go up to the node of this instance. */
    static int upMark(int instance) {
        return Abi.MARK_BASE | instance << Abi.MARK_INSTANCE_SHIFT;
    }

    /** Returns an {@code enum tmn_level}. */
    static int level(Level level) {
        return switch (level) {
            case MODULE -> Abi.LEVEL_MODULE;
            case TC -> Abi.LEVEL_TC;
            case XDP -> Abi.LEVEL_XDP;
            case JVM -> throw new IllegalArgumentException("the JVM is no level of the kernel");
        };
    }

    /** Returns a {@code struct tmn_hook}. */
    static ByteBuffer hook(int upMark, int typeId, Set<Integer> udpPorts, Set<Integer> tcpPorts, boolean unknownUp) {
        ByteBuffer hook = allocate(Abi.HookStruct.SIZE);
        hook.putInt(Abi.HookStruct.ABI, Abi.ABI_VERSION);
        hook.putInt(Abi.HookStruct.MARK, upMark);
        hook.putShort(Abi.HookStruct.TYPE_ID, (short) typeId);
        hook.put(Abi.HookStruct.UDP_PORTS, (byte) udpPorts.size());
        hook.put(Abi.HookStruct.TCP_PORTS, (byte) tcpPorts.size());
        hook.put(Abi.HookStruct.UNKNOWN_UP, bit(unknownUp));
        putPorts(hook, Abi.HookStruct.UDP, udpPorts);
        putPorts(hook, Abi.HookStruct.TCP, tcpPorts);
        return hook;
    }

    private static void putPorts(ByteBuffer hook, int at, Set<Integer> ports) {
        int next = at;
        for (int port : ports) {
            putWireShort(hook, next, port);
            next += Short.BYTES;
        }
    }

    /** Returns a {@code struct tmn_flow}. The service of TCP is zero: none is known when a connection begins. */
    static ByteBuffer flow(long serviceKey, Flow flow) {
        ByteBuffer struct = allocate(Abi.FlowStruct.SIZE);
        boolean isTcp = flow.protocol() == Flow.Protocol.TCP;
        struct.order(ByteOrder.BIG_ENDIAN).putLong(Abi.FlowStruct.SERVICE, isTcp ? 0 : serviceKey);
        int wild = 0;
        InetAddress source = flow.source();
        if (source == null) {
            wild |= Abi.WILD_SOURCE;
        } else {
            putAddress(struct, Abi.FlowStruct.SOURCE, source);
        }
        InetAddress destination = flow.destination();
        if (destination == null) {
            wild |= Abi.WILD_DESTINATION;
        } else {
            putAddress(struct, Abi.FlowStruct.DESTINATION, destination);
        }
        Long stream = flow.stream();
        if (stream == null) {
            wild |= Abi.WILD_STREAM;
        } else {
            struct.putInt(Abi.FlowStruct.STREAM, (int) (long) stream);
        }
        struct.put(Abi.FlowStruct.WILD, (byte) wild);
        struct.put(Abi.FlowStruct.PROTOCOL, (byte) (isTcp ? IPPROTO_TCP : IPPROTO_UDP));
        return struct.order(ByteOrder.nativeOrder());
    }

    /**
     * Returns a {@code struct tmn_policy}.
     *
     * @param ordered whether packets may be on their way up, which none is to overtake
     * @throws LevelException if the network interface that it names does not exist
     */
    static ByteBuffer policy(int slot, Level level, Policy policy, boolean ordered) throws LevelException {
        ByteBuffer struct = allocate(Abi.PolicyStruct.SIZE);
        struct.putInt(Abi.PolicyStruct.SLOT, slot);
        struct.put(Abi.PolicyStruct.LEVEL, (byte) level(level));
        struct.put(Abi.PolicyStruct.SHARE, (byte) share(policy));
        struct.putInt(Abi.PolicyStruct.NUMBER, (int) policy.share().number());
        putMark(struct, policy.mark());
        putFate(struct, policy.fate());
        struct.put(Abi.PolicyStruct.ORDERED, bit(ordered));
        struct.put(Abi.PolicyStruct.DEFAULT_DROPS, bit(policy.otherwiseDrops()));
        List<Rule> rules = policy.rules();
        struct.put(Abi.PolicyStruct.RULE_COUNT, (byte) rules.size());
        for (int i = 0; i < rules.size(); i++) {
            putRule(struct, Abi.PolicyStruct.RULES + i * Abi.RuleStruct.SIZE, rules.get(i));
        }
        return struct;
    }

    private static int share(Policy policy) {
        return switch (policy.share().kind()) {
            case NONE -> Abi.SHARE_NONE;
            case ALL -> Abi.SHARE_ALL;
            case EVERY -> Abi.SHARE_EVERY;
            case FIRST -> Abi.SHARE_FIRST;
        };
    }

    private static void putMark(ByteBuffer struct, Mark mark) {
        if (mark instanceof Mark.ClassOfService service) {
            struct.put(Abi.PolicyStruct.MARK, (byte) Abi.MARK_CLASS);
            struct.putInt(Abi.PolicyStruct.MARK_VALUE, service.value());
        } else if (mark instanceof Mark.At at) {
            struct.put(Abi.PolicyStruct.MARK, (byte) Abi.MARK_OCTETS);
            struct.putInt(Abi.PolicyStruct.MARK_VALUE, (int) at.value());
            struct.putShort(Abi.PolicyStruct.MARK_OFFSET, (short) at.offset());
            struct.put(Abi.PolicyStruct.MARK_OCTETS, (byte) at.bytes());
        } else {
            struct.put(Abi.PolicyStruct.MARK, (byte) Abi.MARK_NONE);
        }
    }

    private static void putFate(ByteBuffer struct, Fate fate) throws LevelException {
        int code = Abi.FATE_ON;
        if (fate instanceof Fate.Drop) {
            code = Abi.FATE_DROP;
        } else if (fate instanceof Fate.To to) {
            code = Abi.FATE_TO;
            InetSocketAddress address = to.address();
            putAddress(struct, Abi.PolicyStruct.TO_ADDRESS, address.getAddress());
            putWireShort(struct, Abi.PolicyStruct.TO_PORT, address.getPort());
        } else if (fate instanceof Fate.Redirect redirect) {
            code = Abi.FATE_REDIRECT;
            struct.putInt(Abi.PolicyStruct.IFINDEX, Interfaces.index(redirect.networkInterface()));
        }
        struct.put(Abi.PolicyStruct.FATE, (byte) code);
    }

    private static void putRule(ByteBuffer struct, int at, Rule rule) {
        struct.put(at + Abi.RuleStruct.SUBJECT, (byte) subject(rule));
        struct.put(at + Abi.RuleStruct.COMPARISON, (byte) comparison(rule));
        struct.put(at + Abi.RuleStruct.DROPS, bit(rule.drops()));
        struct.putInt(at + Abi.RuleStruct.NUMBER, (int) rule.number());
        InetAddress address = rule.address();
        if (address != null) {
            int leading = address instanceof Inet4Address ? 8 * IPV4_AT : 0;
            struct.put(at + Abi.RuleStruct.PREFIX, (byte) (leading + rule.prefixBits()));
            putAddress(struct, at + Abi.RuleStruct.ADDRESS, address);
        }
    }

    private static int subject(Rule rule) {
        return switch (rule.subject()) {
            case ALL -> Abi.RULE_ALL;
            case SOURCE -> Abi.RULE_SOURCE;
            case DESTINATION -> Abi.RULE_DESTINATION;
            case CLASS -> Abi.RULE_CLASS;
            case STREAM -> Abi.RULE_STREAM;
            case SIZE -> Abi.RULE_SIZE;
        };
    }

    private static int comparison(Rule rule) {
        return switch (rule.comparison()) {
            case EQUAL -> Abi.EQUAL;
            case BELOW -> Abi.BELOW;
            case ABOVE -> Abi.ABOVE;
        };
    }

    /** Returns addresses one behind the other, 16 bytes each. */
    static ByteBuffer addresses(Collection<InetAddress> addresses) {
        ByteBuffer all = allocate(addresses.size() * ADDRESS_BYTES);
        int at = 0;
        for (InetAddress address : addresses) {
            putAddress(all, at, address);
            at += ADDRESS_BYTES;
        }
        return all;
    }

    private static void putAddress(ByteBuffer struct, int at, @Nullable InetAddress address) {
        if (address == null) {
            throw new IllegalArgumentException("address: must be numeric");
        }
        byte[] bytes = address.getAddress();
        if (bytes.length == IPV4_BYTES) {
            struct.put(at + IPV4_AT - 2, (byte) 0xff);
            struct.put(at + IPV4_AT - 1, (byte) 0xff);
            struct.put(at + IPV4_AT, bytes);
        } else {
            struct.put(at, bytes);
        }
    }

    private static void putWireShort(ByteBuffer struct, int at, int value) {
        struct.put(at, (byte) (value >> 8));
        struct.put(at + 1, (byte) value);
    }

    private static byte bit(boolean value) {
        return (byte) (value ? 1 : 0);
    }

    private static ByteBuffer allocate(int bytes) {
        return ByteBuffer.allocate(bytes).order(ByteOrder.nativeOrder());
    }
}
