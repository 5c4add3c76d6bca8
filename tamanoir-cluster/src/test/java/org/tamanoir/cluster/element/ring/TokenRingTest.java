package org.tamanoir.cluster.element.ring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.tamanoir.support.Waiting.PATIENCE;
import static org.tamanoir.support.Waiting.eventually;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.tamanoir.cluster.element.Token;
import org.tamanoir.support.Ports;

/** Three units and a distributor on real sockets. */
@Tag("process")
class TokenRingTest {
    static final byte[] KEY = "a key of 16 byte".getBytes(StandardCharsets.US_ASCII);

    private final Map<Integer, TokenRing> rings = new HashMap<>();
    private final Map<Integer, Runner> runners = new HashMap<>();
    private RingSettings settings;
    private RingWatch watch;

    @BeforeEach
    void start() throws IOException {
        settings = freePorts();
        for (int unit = 0; unit < 3; unit++) {
            start(unit);
        }
        watch = RingWatch.open(settings, () -> 77);
        eventually().until(() -> all(0, 1, 2) && watch.units().equals(List.of(0, 1, 2)));
    }

    @AfterEach
    void stop() throws IOException {
        for (TokenRing ring : rings.values()) {
            ring.close();
        }
        watch.close();
        runners.values().forEach(runner -> assertThat(runner.mistakes).isEmpty());
    }

    static RingSettings freePorts() throws IOException {
        return settings(Ports.free(4));
    }

    /** Returns a ring with these control ports of units 0 to 2 and of the distributor. */
    static RingSettings settings(int... ports) {
        InetAddress host = InetAddress.getLoopbackAddress();
        Map<Integer, InetSocketAddress> units = new HashMap<>();
        for (int unit = 0; unit < 3; unit++) {
            units.put(unit, new InetSocketAddress(host, ports[unit]));
        }
        return RingSettings.of(5, KEY, units, new InetSocketAddress(host, ports[3]));
    }

    private void start(int unit) throws IOException {
        TokenRing ring = new TokenRing(settings, unit);
        Runner runner = new Runner(unit, ring);
        rings.put(unit, ring);
        runners.put(unit, runner);
        ring.start(runner);
    }

    private TokenRing ring(int unit) {
        return Objects.requireNonNull(rings.get(unit));
    }

    private Runner runner(int unit) {
        return Objects.requireNonNull(runners.get(unit));
    }

    /** Returns whether these units, and no others, are in the ring, as they all say. */
    private boolean all(Integer... units) {
        RingView view = ring(units[0]).status().view();
        for (int unit : units) {
            if (view == null || !view.equals(ring(unit).status().view())) {
                return false;
            }
        }
        return Runner.units(view).equals(List.of(units));
    }

    private void tokenGoesRound(int... units) {
        for (int unit : units) {
            long before = runner(unit).tokens.get();
            eventually().until(() -> runner(unit).tokens.get() > before + 100);
        }
    }

    private void kill(int unit) throws IOException {
        ring(unit).close();
    }

    @Test
    void theTokenGoesRound() {
        tokenGoesRound(0, 1, 2);
        assertThat(ring(0).status().roundTripNs()).isPositive();
    }

    @Test
    void aSlaveThatDiesIsOut() throws IOException {
        kill(1);
        eventually().until(() -> all(0, 2) && watch.units().equals(List.of(0, 2)));
        tokenGoesRound(0, 2);
    }

    @Test
    void aMasterThatDiesIsFollowed() throws IOException {
        RingView before = Objects.requireNonNull(ring(0).status().view());
        int master = before.master();
        Integer[] rest = before.units().stream().filter(unit -> unit != master).toArray(Integer[]::new);
        kill(master);
        eventually().until(() -> all(rest));
        RingView after = Objects.requireNonNull(ring(rest[0]).status().view());
        assertThat(after.master()).isNotEqualTo(master);
        assertThat(after.round()).isGreaterThanOrEqualTo(before.round());
        tokenGoesRound(rest[0], rest[1]);
    }

    @Test
    void aUnitThatBeginsAnewIsTakenIn() throws IOException {
        kill(2);
        eventually().until(() -> all(0, 1));
        start(2);
        eventually().until(() -> all(0, 1, 2));
        tokenGoesRound(0, 1, 2);
    }

    @Test
    void aUnitThatHasSentAllIsOut() {
        ring(1).announceLeaving();
        eventually().until(() -> {
            RingWatch.Unit unit = watch.unit(1);
            return unit != null && unit.leaving();
        });
        ring(1).drained();
        eventually().until(() -> ring(1).status().ended() && all(0, 2));
        tokenGoesRound(0, 2);
    }

    @Test
    void theLastOneSendsAlone() throws IOException {
        kill(0);
        kill(1);
        eventually().until(() -> runner(2).alone && ring(2).status().alone());
        eventually().until(() -> watch.units().equals(List.of(2)));
    }

    @Test
    void aForgedTokenIsCounted() throws IOException {
        Map<Refusal, RingCodec> forgers = Map.of(
                Refusal.TAG, codec(5, new byte[16]),
                Refusal.RING, codec(6, KEY));
        kill(2);
        eventually().until(() -> all(0, 1));
        for (Map.Entry<Refusal, RingCodec> forger : forgers.entrySet()) {
            sendAs2(forger.getValue().encode(token(Long.MAX_VALUE)));
            eventually().until(() -> refused(forger.getKey()) == 1);
        }
        sendAs2(ByteBuffer.wrap(new byte[48]));
        eventually().until(() -> refused(Refusal.FORM) == 1);
        tokenGoesRound(0, 1);
    }

    @Test
    void aStrangersTokenIsCounted() throws IOException {
        try (DatagramChannel stranger = DatagramChannel.open()) {
            stranger.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            stranger.send(codec(5, KEY).encode(token(Long.MAX_VALUE)), address(0));
        }
        eventually().until(() -> refused(Refusal.ADDRESS) == 1);
        tokenGoesRound(0, 1, 2);
    }

    @Test
    void aReplayedTokenIsStale() throws IOException {
        kill(2);
        eventually().until(() -> all(0, 1));
        tokenGoesRound(0, 1);
        long before = ring(1).status().stale();
        RingView view = Objects.requireNonNull(ring(1).status().view());
        sendAs2Token(codec(5, KEY), new Token(Epoch.begin(view.epoch()) + 1, 1, 0, 0, 0, view.master()), 1);
        sendAs2Token(codec(5, KEY), new Token(Epoch.begin(view.epoch() - 1) + 999, 1, 0, 0, 0, view.master()), 1);
        eventually().until(() -> ring(1).status().stale() >= before + 2);
        tokenGoesRound(0, 1);
    }

    @Test
    void aProcessThatIsStoppedIsOutAndComesBack() throws Exception {
        kill(2);
        eventually().until(() -> all(0, 1));
        Process unit = UnitProcess.start(settings);
        try {
            eventually().until(() -> ringOf0().equals(List.of(0, 1, 2)));
            signal(unit, "STOP");
            eventually().until(() -> ringOf0().equals(List.of(0, 1)));
            tokenGoesRound(0, 1);
            signal(unit, "CONT");
            eventually().until(() -> ringOf0().equals(List.of(0, 1, 2)));
            tokenGoesRound(0, 1);
        } finally {
            unit.destroyForcibly();
        }
    }

    private List<Integer> ringOf0() {
        return Runner.units(ring(0).status().view());
    }

    private static void signal(Process process, String name) throws Exception {
        Process kill = new ProcessBuilder("kill", "-" + name, Long.toString(process.pid())).start();
        assertThat(kill.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
        assertThat(kill.exitValue()).isZero();
    }

    private RingCodec codec(int ring, byte[] key) {
        return new RingCodec(ring, key, new Peers(settings.addresses()));
    }

    private static Token token(long serial) {
        return new Token(serial, 1, 0, 0, 0, 0);
    }

    private long refused(Refusal refusal) {
        return Objects.requireNonNull(ring(0).refused().get(refusal));
    }

    private InetSocketAddress address(int unit) {
        return Objects.requireNonNull(settings.units().get(unit));
    }

    private void sendAs2(ByteBuffer datagram) throws IOException {
        send(datagram, 0);
    }

    private void sendAs2Token(RingCodec codec, Token token, int to) throws IOException {
        send(codec.encode(token), to);
    }

    /** Sends from the address of unit 2, which must be closed. */
    private void send(ByteBuffer datagram, int to) throws IOException {
        try (DatagramChannel channel = DatagramChannel.open()) {
            channel.bind(address(2));
            channel.send(datagram, address(to));
        }
    }

    @Test
    void theDistributorKnowsHowUnitsAre() {
        eventually().until(() -> Objects.requireNonNull(watch.unit(1)).round() > 0);
        RingWatch.Unit unit = Objects.requireNonNull(watch.unit(1));
        assertThat(unit.silent()).isFalse();
        assertThat(unit.leaving()).isFalse();
    }

    @Test
    void anAddressInUseIsAnErrorInOneLine() {
        assertThatThrownBy(() -> new TokenRing(settings, 0))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("control address 127.0.0.1:" + address(0).getPort())
                .hasMessageContaining("give a free one");
    }
}
