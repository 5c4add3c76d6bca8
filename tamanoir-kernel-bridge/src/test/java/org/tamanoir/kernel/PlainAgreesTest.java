package org.tamanoir.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.jna.Memory;
import com.sun.jna.Pointer;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.tamanoir.icmp.IcmpType;
import org.tamanoir.plain.PlainFlow;
import org.tamanoir.plain.PlainMatch;
import org.tamanoir.plain.PlainRule;
import org.tamanoir.plain.PlainRules;
import org.tamanoir.plain.PlainTraffic;
import org.tamanoir.routing.Addresses;
import org.tamanoir.routing.Prefix;
import org.tamanoir.service.FailurePolicy;
import org.tamanoir.support.Seeds;

/** What the kernel's program and {@link PlainRules} say of the same datagrams and beginning connections, by random rules. */
@Tag("namespace")
class PlainAgreesTest {
    private static final int INSTANCE = 5;
    private static final int ROUNDS = Seeds.scaled(20);
    private static final int DATAGRAMS = 500;
    private static final String[] V4 = {"10.1.2.3", "10.1.9.9", "10.200.0.1", "192.0.2.7"};
    private static final String[] V6 = {"2001:db8::1", "2001:db8:1::2", "2001:db9::3"};
    private static final String[] PREFIXES = {
        "10.0.0.0/8",
        "10.1.0.0/16",
        "10.1.2.3/32",
        "192.0.2.0/24",
        "0.0.0.0/0",
        "2001:db8::/32",
        "2001:db8:1::/48",
        "::/0",
        "10.128.0.0/9"
    };

    private final long seed = Seeds.ofCommit(PlainAgreesTest.class);
    private final Random random = new Random(seed);

    @BeforeAll
    static void require() {
        BpfBed.require();
    }

    @Test
    void theProgramFindsTheRuleThatTheNodeNames() throws Exception {
        try (PlainDriver driver = new PlainDriver(INSTANCE)) {
            PlainPlaces places = PlainPlaces.NONE;
            for (int round = 0; round < ROUNDS; round++) { // Each round in the place of the rules of the one before.
                PlainRules rules = new PlainRules(randomRules(1 + random.nextInt(PlainRules.MAX_RULES)));
                places = places.next(rules);
                for (int place : places.fresh()) {
                    driver.clear(place);
                }
                PlainTables tables = new PlainTables(rules);
                driver.rules()
                        .fill(
                                tables,
                                places.putInto(tables.hook(
                                        AbiEncoder.upMark(INSTANCE), 1, 1, PlainTraffic.Listening.NONE, 1)));
                driver.rules().turn();
                agree(driver, rules, places);
            }
        }
    }

    private void agree(PlainDriver driver, PlainRules rules, PlainPlaces places) throws Exception {
        long[] fits = new long[rules.rules().size()];
        for (int rule = 0; rule < fits.length; rule++) {
            fits[rule] = driver.count(places.places().get(rule)).fits(); // Of a rule that stayed.
        }
        for (int i = 0; i < DATAGRAMS; i++) {
            PlainFlow flow = randomFlow();
            int rule = rules.find(flow);
            if (rule != PlainRules.NO_RULE) {
                fits[rule]++;
            }
            run(driver.program(), frame(flow));
            if (rule != PlainRules.NO_RULE) {
                assertThat(driver.count(places.places().get(rule)).fits())
                        .as("rule %s after %s of %s", rule, flow, rules)
                        .isEqualTo(fits[rule]);
            }
        }
        for (int rule = 0; rule < fits.length; rule++) {
            assertThat(driver.count(places.places().get(rule)).fits())
                    .as("rule %s of %s", rule, rules)
                    .isEqualTo(fits[rule]);
        }
    }

    private List<PlainRule> randomRules(int count) {
        List<PlainRule> rules = new ArrayList<>();
        while (rules.size() < count) {
            try {
                rules.add(new PlainRule(
                        randomMatch(5000 + random.nextInt(10)),
                        "org.example.Any",
                        1,
                        PlainMatch.ANY,
                        FailurePolicy.PASS));
            } catch (IllegalArgumentException ofTwoFamilies) {
                continue;
            }
        }
        return rules;
    }

    private PlainMatch randomMatch(int first) {
        PlainMatch.Protocol protocol = randomProtocol();
        boolean isIcmp = protocol == PlainMatch.Protocol.ICMP;
        return new PlainMatch(
                protocol,
                randomPrefix(),
                randomPrefix(),
                isIcmp || random.nextInt(4) == 0 ? 0 : first,
                isIcmp || random.nextInt(4) == 0 ? 65_535 : first + random.nextInt(4),
                isIcmp ? Set.of(randomType(), IcmpType.UNREACHABLE) : Set.of(),
                random.nextInt(3) > 0 ? PlainMatch.ANY : random.nextInt(3) * 31,
                PlainMatch.ANY,
                random.nextInt(3) > 0 ? null : random.nextBoolean());
    }

    private PlainMatch.Protocol randomProtocol() {
        PlainMatch.Protocol[] all = PlainMatch.Protocol.values();
        return all[random.nextInt(all.length)];
    }

    private IcmpType randomType() {
        return IcmpType.values()[random.nextInt(IcmpType.UNREACHABLE.ordinal())];
    }

    private @Nullable Prefix randomPrefix() {
        return random.nextInt(3) == 0 ? null : Prefix.parse(PREFIXES[random.nextInt(PREFIXES.length)]);
    }

    private PlainFlow randomFlow() throws Exception {
        String[] family = random.nextBoolean() ? V4 : V6;
        InetAddress from = InetAddress.getByName(family[random.nextInt(family.length)]);
        InetAddress to = InetAddress.getByName(family[random.nextInt(family.length)]);
        PlainMatch.Protocol protocol = randomProtocol();
        boolean isIcmp = protocol == PlainMatch.Protocol.ICMP;
        return new PlainFlow(
                protocol,
                Addresses.high(from),
                Addresses.low(from),
                Addresses.high(to),
                Addresses.low(to),
                isIcmp ? 0 : 4998 + random.nextInt(16),
                isIcmp ? IcmpType.values()[random.nextInt(IcmpType.values().length)] : null,
                random.nextInt(3) * 31,
                0,
                !isIcmp && random.nextInt(4) == 0);
    }

    /** The packet as it stands on the wire, to the link address of lo, in whose place the kernel runs the program. */
    private static byte[] frame(PlainFlow flow) {
        String from = Addresses.of(flow.sourceHigh(), flow.sourceLow()).getHostAddress();
        String to = Addresses.of(flow.destinationHigh(), flow.destinationLow()).getHostAddress();
        byte[] alert = from.indexOf(':') < 0 ? PlainPackets.ALERT_V4 : PlainPackets.ALERT_V6;
        byte[] between = flow.routerAlert() ? alert : new byte[0];
        int trafficClass = flow.dscp() << 2;
        IcmpType type = flow.type();
        if (type != null) {
            boolean isIpv6 = from.indexOf(':') >= 0;
            int code = !isIpv6 && type == IcmpType.PACKET_TOO_BIG ? 4 : 0;
            return framed(PlainPackets.icmp(from, to, type.number(isIpv6), code, 1, trafficClass, 64, new byte[700]));
        }
        return framed(
                flow.protocol() == PlainMatch.Protocol.TCP
                        ? PlainPackets.syn(from, to, 7000, flow.destinationPort(), trafficClass, between)
                        : PlainPackets.udp(
                                from, to, 7000, flow.destinationPort(), trafficClass, 64, between, new byte[20]));
    }

    private static byte[] framed(byte[] packet) {
        return PlainPackets.framed(new byte[6], new byte[6], packet);
    }

    /** Runs the program on a frame: struct bpf_test_run_opts, size at 0, frame at 8, its bytes at 24, how often at 60. */
    private static void run(int program, byte[] frame) {
        try (Memory memory = new Memory(256 + frame.length)) {
            memory.clear();
            memory.write(256, frame, 0, frame.length);
            ByteBuffer options = memory.getByteBuffer(0, 256);
            options.order(java.nio.ByteOrder.nativeOrder());
            long at = Pointer.nativeValue(memory);
            options.putLong(0, 80).putLong(8, at + 256).putInt(24, frame.length).putInt(60, 1);
            assertThat(LibBpf.bpf_prog_test_run_opts(program, at)).isZero();
        }
    }
}
