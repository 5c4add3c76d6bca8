package org.tamanoir.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.support.Waiting.eventually;

import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.tamanoir.nodeos.Flow;
import org.tamanoir.nodeos.Level;
import org.tamanoir.nodeos.LevelException;
import org.tamanoir.nodeos.Policy;
import org.tamanoir.support.TestNet;

/**
 * Policies that change while a packet is between XDP's program and traffic control's: both agree on it, whatever each
 * finds. The kernel holds packets there, in the list of those that it might join (GRO), until a timer goes off; a round
 * in which the change came too late for that is played again with a longer timer.
 */
@Tag("once")
@Tag("namespace")
class XdpWordTest {
    private static final String DEVICE = TestNet.ROUTER_CLIENT_DEVICE;
    private static final int CLASS_AT = 8 + 12 + 4;
    private static final int UNMARKED = 0;
    private static final int MARK_OF_TC = 8;
    private static final int MARK_OF_XDP = 9;
    private static final Duration LONGEST_HOLD = Duration.ofSeconds(8);
    private static final int AF_PACKET = 17;
    private static final int ALL_PROTOCOLS = 0x0300; // ETH_P_ALL, as on the wire

    private static TestNet net;
    private static BpfBed bed;
    private static DatagramSocket node;
    private static DatagramSocket last;

    /** What the tables say of a packet. */
    private enum Policies {
        NONE,
        TC,
        XDP,
        XDP_DROPS,
        /** Packets are on their way up, so that this one goes up too. */
        XDP_WAITS;

        boolean isOfXdp() {
            return ordinal() >= XDP.ordinal();
        }

        void set() throws LevelException {
            switch (this) {
                case NONE -> bed.remove(Flow.ANY);
                case TC ->
                    bed.set(
                            BpfBed.SLOT + 1,
                            Flow.ANY,
                            AbiEncoder.policy(
                                    BpfBed.SLOT + 1, Level.TC, Policy.forward().markClass(MARK_OF_TC), false));
                case XDP -> bed.set(Policy.forward().markClass(MARK_OF_XDP));
                case XDP_DROPS -> bed.set(Policy.drop());
                case XDP_WAITS ->
                    bed.set(BpfBed.SLOT, Flow.ANY, Policy.forward().markClass(MARK_OF_XDP), true);
            }
        }
    }

    /** Where a packet came to, and with which class; null: nowhere. */
    private record Arrival(String where, int mark) {}

    @BeforeAll
    static void makeNet() throws Exception {
        BpfBed.require();
        net = new TestNet("bpfw");
        bed = new BpfBed(net, Level.XDP);
        node = bed.node();
        last = net.namespaces().in(net.client(), () -> new DatagramSocket());
    }

    @AfterAll
    static void removeNet() throws Exception {
        if (last != null) {
            last.close();
        }
        if (node != null) {
            node.close();
        }
        if (bed != null) {
            bed.close();
        }
        if (net != null) {
            net.close();
        }
    }

    static Stream<Arguments> changes() {
        return Stream.of(Policies.values())
                .flatMap(atXdp -> Stream.of(Policies.values()).map(atTc -> List.of(atXdp, atTc)))
                .flatMap(both ->
                        Stream.of(true, false).map(unknownUp -> Arguments.of(both.get(0), both.get(1), unknownUp)));
    }

    /** What XDP did counts; where it did nothing, what traffic control finds; what is XDP's and was missed goes up. */
    private static @Nullable Arrival expected(Policies atXdp, Policies atTc, boolean unknownUp) {
        if (atXdp.isOfXdp()) {
            return switch (atXdp) {
                case XDP -> new Arrival("server", MARK_OF_XDP);
                case XDP_DROPS -> null;
                default -> new Arrival("node", UNMARKED);
            };
        }
        if (atTc == Policies.TC) {
            return new Arrival("server", MARK_OF_TC);
        }
        return new Arrival(atTc == Policies.NONE && !unknownUp ? "server" : "node", UNMARKED);
    }

    @ParameterizedTest
    @MethodSource("changes")
    void aChangeBetweenTheTwoLeavesOneDecision(Policies atXdp, Policies atTc, boolean unknownUp) throws Exception {
        assertThat(arrivals(atXdp, atTc, unknownUp)).isEqualTo(listOf(expected(atXdp, atTc, unknownUp)));
    }

    /** Who reads along shares the packet's memory, which the kernel copies without metadata before it is written to. */
    @ParameterizedTest
    @EnumSource(Policies.class)
    void aCaptureDoesNotTakeTheWordAway(Policies policies) throws Exception {
        int capture = bed.inRouter(() -> LibC.socket(AF_PACKET, LibC.SOCK_RAW | LibC.SOCK_CLOEXEC, ALL_PROTOCOLS));
        assertThat(capture).isNotNegative();
        try {
            assertThat(arrivals(policies, policies, true)).isEqualTo(listOf(expected(policies, policies, true)));
        } finally {
            LibC.close(capture);
        }
    }

    private static List<Arrival> listOf(@Nullable Arrival arrival) {
        return arrival == null ? List.of() : List.of(arrival);
    }

    /** Sends a packet and changes the policies when XDP has seen it and traffic control has not. */
    private static List<Arrival> arrivals(Policies atXdp, Policies atTc, boolean unknownUp) throws Exception {
        Duration hold = Duration.ofMillis(30);
        while (hold.compareTo(LONGEST_HOLD) < 0) {
            bed.begin(Level.XDP, BpfBed.TYPE_ID, unknownUp);
            bed.tc.clear(BpfBed.SLOT + 1);
            atXdp.set();
            net.hold(DEVICE, hold);
            long unseen = bed.tc.met()[Abi.MET_SEEN];
            bed.send(TestNet.SERVER4, BpfBed.bytes(BpfBed.packet(), 20));
            eventually().untilAsserted(() -> assertThat(bed.met(Abi.MET_SEEN)).isEqualTo(1));
            atTc.set();
            boolean isInTime = bed.tc.met()[Abi.MET_SEEN] == unseen;
            net.hold(DEVICE, Duration.ZERO);
            List<Arrival> arrivals = all();
            if (isInTime) {
                return arrivals;
            }
            hold = hold.multipliedBy(2);
        }
        throw new AssertionError("traffic control had seen the packet before each change, though it was held for up to "
                + hold.dividedBy(2));
    }

    /**
     * All that comes to server and node. The first of what is sent after it has the kernel let go what it holds, which
     * may come behind; all are flows of their own, so that nothing is joined.
     */
    private static List<Arrival> all() throws IOException {
        List<Arrival> arrivals = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            sendLast(TestNet.SERVER4);
            BpfBed.receiveUntilLast(bed.server)
                    .forEach(packet -> arrivals.add(new Arrival("server", packet[CLASS_AT])));
        }
        sendLast(TestNet.ROUTER4);
        BpfBed.receiveUntilLast(node).forEach(packet -> arrivals.add(new Arrival("node", packet[CLASS_AT])));
        return arrivals;
    }

    private static void sendLast(String to) throws IOException {
        last.send(new DatagramPacket(BpfBed.LAST, BpfBed.LAST.length, InetAddress.getByName(to), BpfBed.PORT));
    }
}
