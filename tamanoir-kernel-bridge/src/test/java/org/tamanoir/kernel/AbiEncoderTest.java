package org.tamanoir.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HexFormat;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.tamanoir.nodeos.Fate;
import org.tamanoir.nodeos.Flow;
import org.tamanoir.nodeos.Level;
import org.tamanoir.nodeos.LevelCounters;
import org.tamanoir.nodeos.LevelException;
import org.tamanoir.nodeos.Mark;
import org.tamanoir.nodeos.Policy;
import org.tamanoir.nodeos.Rule;
import org.tamanoir.nodeos.Share;

class AbiEncoderTest {
    private static final long KEY = 0x0102_0304_0506_0708L;

    @Test
    void aFlowNamesAllThatIsKnown() throws Exception {
        Flow flow = new Flow(Flow.Protocol.UDP, address("10.0.0.1"), address("10.0.1.2"), 0xAABB_CCDDL);

        assertThat(hex(AbiEncoder.flow(KEY, flow)))
                .isEqualTo("0102030405060708"
                        + "00000000000000000000ffff0a000001"
                        + "00000000000000000000ffff0a000102"
                        + "aabbccdd"
                        + "00110000");
    }

    @Test
    void whatIsWildIsZeroAndSaysSo() throws Exception {
        assertThat(hex(AbiEncoder.flow(KEY, Flow.ANY))).isEqualTo("0102030405060708" + "00".repeat(36) + "07110000");
        assertThat(hex(AbiEncoder.flow(KEY, new Flow(Flow.Protocol.UDP, null, address("2001:db8::1"), null))))
                .isEqualTo("0102030405060708" + "00".repeat(16) + "20010db8000000000000000000000001" + "00000000"
                        + "05110000");
    }

    @Test
    void tcpHasNoServiceAndNoStream() throws Exception {
        assertThat(hex(AbiEncoder.flow(KEY, new Flow(Flow.Protocol.TCP, address("10.0.0.1"), null, null))))
                .isEqualTo("00".repeat(8) + "00000000000000000000ffff0a000001" + "00".repeat(20) + "06060000");
    }

    @Test
    void aPolicySaysShareMarkRulesAndFate() throws Exception {
        Policy policy = Policy.forward()
                .share(Share.first(0xFFFF_FFFFL))
                .mark(new Mark.At(12, 4, 0x8000_0001L))
                .fate(new Fate.To(new InetSocketAddress("10.9.8.7", 0x1234)))
                .rules(
                        List.of(
                                Rule.prefix(true, Rule.Subject.SOURCE, address("10.0.0.0"), 8),
                                Rule.prefix(false, Rule.Subject.DESTINATION, address("2001:db8::"), 128),
                                Rule.number(true, Rule.Subject.SIZE, Rule.Comparison.ABOVE, 1400)),
                        true);

        ByteBuffer struct = AbiEncoder.policy(16383, Level.TC, policy, true);

        assertThat(struct.order()).isEqualTo(ByteOrder.nativeOrder());
        assertThat(struct.capacity()).isEqualTo(Abi.PolicyStruct.SIZE);
        assertThat(struct.getInt(Abi.PolicyStruct.SLOT)).isEqualTo(16383);
        assertThat(struct.get(Abi.PolicyStruct.LEVEL)).isEqualTo((byte) Abi.LEVEL_TC);
        assertThat(struct.get(Abi.PolicyStruct.SHARE)).isEqualTo((byte) Abi.SHARE_FIRST);
        assertThat(struct.getInt(Abi.PolicyStruct.NUMBER)).isEqualTo(-1);
        assertThat(struct.get(Abi.PolicyStruct.MARK)).isEqualTo((byte) Abi.MARK_OCTETS);
        assertThat(struct.getInt(Abi.PolicyStruct.MARK_VALUE)).isEqualTo(0x8000_0001);
        assertThat(struct.getShort(Abi.PolicyStruct.MARK_OFFSET)).isEqualTo((short) 12);
        assertThat(struct.get(Abi.PolicyStruct.MARK_OCTETS)).isEqualTo((byte) 4);
        assertThat(struct.get(Abi.PolicyStruct.ORDERED)).isEqualTo((byte) 1);
        assertThat(struct.get(Abi.PolicyStruct.DEFAULT_DROPS)).isEqualTo((byte) 1);
        assertThat(struct.get(Abi.PolicyStruct.FATE)).isEqualTo((byte) Abi.FATE_TO);
        assertThat(hex(struct, Abi.PolicyStruct.TO_PORT, 2)).isEqualTo("1234");
        assertThat(hex(struct, Abi.PolicyStruct.TO_ADDRESS, 16)).isEqualTo("00000000000000000000ffff0a090807");
        assertThat(struct.get(Abi.PolicyStruct.RULE_COUNT)).isEqualTo((byte) 3);
        int rule = Abi.PolicyStruct.RULES;
        assertThat(hex(struct, rule, 4)).isEqualTo("01000168");
        assertThat(hex(struct, rule + Abi.RuleStruct.ADDRESS, 16)).isEqualTo("00000000000000000000ffff0a000000");
        rule += Abi.RuleStruct.SIZE;
        assertThat(hex(struct, rule, 4)).isEqualTo("02000080");
        assertThat(hex(struct, rule + Abi.RuleStruct.ADDRESS, 16)).isEqualTo("20010db8000000000000000000000000");
        rule += Abi.RuleStruct.SIZE;
        assertThat(hex(struct, rule, 4)).isEqualTo("05020100");
        assertThat(struct.getInt(rule + Abi.RuleStruct.NUMBER)).isEqualTo(1400);
    }

    @Test
    void aRedirectNamesAnInterfaceThatExists() throws Exception {
        ByteBuffer struct = AbiEncoder.policy(1, Level.XDP, Policy.forward().fate(new Fate.Redirect("lo")), false);

        assertThat(struct.get(Abi.PolicyStruct.FATE)).isEqualTo((byte) Abi.FATE_REDIRECT);
        assertThat(struct.getInt(Abi.PolicyStruct.IFINDEX)).isPositive();
        assertThatThrownBy(() ->
                        AbiEncoder.policy(1, Level.XDP, Policy.forward().fate(new Fate.Redirect("no-such-if")), false))
                .isInstanceOf(LevelException.class)
                .hasMessage("network interface no-such-if does not exist: name one that \"ip link\" shows");
    }

    @Test
    void aHookNamesInstanceTypeIdAndPorts() {
        ByteBuffer hook = AbiEncoder.hook(
                AbiEncoder.upMark(15), 0xFEDC, new LinkedHashSet<>(List.of(3322, 65535)), Set.of(80), true);

        assertThat(hook.getInt(Abi.HookStruct.ABI)).isEqualTo(Abi.ABI_VERSION);
        assertThat(hook.getInt(Abi.HookStruct.MARK)).isEqualTo(0x54F0_0000);
        assertThat(hook.getShort(Abi.HookStruct.TYPE_ID)).isEqualTo((short) 0xFEDC);
        assertThat(hex(hook, Abi.HookStruct.UDP_PORTS, 3)).isEqualTo("020101");
        assertThat(hex(hook, Abi.HookStruct.UDP, 6)).isEqualTo("0cfaffff0000");
        assertThat(hex(hook, Abi.HookStruct.TCP, 4)).isEqualTo("00500000");
    }

    @Test
    void countersAndStatesReadAsTheyWereWritten() {
        ByteBuffer struct = ByteBuffer.allocate(Abi.CountersStruct.SIZE).order(ByteOrder.nativeOrder());
        for (int i = 0; i < Abi.CountersStruct.SIZE / Long.BYTES; i++) {
            struct.putLong(i * Long.BYTES, i + 1);
        }
        long[] rules = new long[Policy.MAX_RULES + 1];
        java.util.Arrays.setAll(rules, i -> i + 10);

        assertThat(AbiDecoder.counters(struct)).isEqualTo(new LevelCounters(1, 2, 3, 4, 5, 6, 7, 8, 9, rules));
        assertThat(AbiDecoder.counters(struct.duplicate().order(ByteOrder.BIG_ENDIAN)))
                .isEqualTo(AbiDecoder.counters(struct.duplicate().order(ByteOrder.LITTLE_ENDIAN)));
        assertThat(AbiDecoder.state(struct)).isEqualTo(new AbiDecoder.State(1, 2, 3));
        assertThat(AbiDecoder.state(struct).pending()).isEqualTo(-1);
    }

    private static InetAddress address(String numeric) throws UnknownHostException {
        return InetAddress.getByName(numeric);
    }

    private static String hex(ByteBuffer buffer) {
        return hex(buffer, 0, buffer.capacity());
    }

    private static String hex(ByteBuffer buffer, int at, int bytes) {
        byte[] copy = new byte[bytes];
        buffer.get(at, copy);
        return HexFormat.of().formatHex(copy);
    }
}
