package org.tamanoir.ee;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.ee.TestServices.ECHO;
import static org.tamanoir.ee.TestServices.MARK;
import static org.tamanoir.ee.TestServices.number;
import static org.tamanoir.ee.TestServices.packets;
import static org.tamanoir.sched.TurnTesting.config;
import static org.tamanoir.support.Waiting.eventually;

import com.google.common.net.InetAddresses;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Option;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.anep.ServiceKey;
import org.tamanoir.auth.AuthKey;
import org.tamanoir.auth.AuthRules;
import org.tamanoir.auth.Authentication;
import org.tamanoir.auth.PacketGuard;
import org.tamanoir.auth.PacketSigner;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.client.AnepSender;
import org.tamanoir.sched.TurnTesting;
import org.tamanoir.service.FailurePolicy;
import org.tamanoir.service.Service;
import org.tamanoir.service.ServiceConfig;
import org.tamanoir.service.Suspension;
import org.tamanoir.service.Verdict;

/** TCP streams through nodes that authenticate packets. */
class AuthTcpTest extends TcpNodeTesting {
    static final AuthKey SENDER = AuthKey.of(7, "07".repeat(32));
    static final AuthKey BETWEEN = AuthKey.of(8, "08".repeat(32));
    static final AuthKey LAST = AuthKey.of(9, "09".repeat(32));

    private static final ServiceDefinition NEXT_IS_ECHO = TestServices.define("next is echo", () -> new Service() {
        @Override
        public Verdict process(Packet packet) {
            packet.setServiceKey(ServiceKey.of("echo"));
            return Verdict.FORWARD;
        }
    });

    /** Guards all packets, and signs those that this fits. */
    static void guard(ExecutionEnvironment node, AuthRules.@Nullable Signer signer, AuthKey... keys) {
        node.authentication().change(rules(signer), List.of(), List.of(keys));
    }

    private static AuthRules rules(AuthRules.@Nullable Signer signer) {
        return new AuthRules(
                List.of(AuthRules.Guarded.of("any")),
                List.of(),
                signer == null ? List.of() : List.of(signer),
                1024,
                64);
    }

    static AuthRules.Signer signer(AuthKey key) {
        return new AuthRules.Signer(AuthRules.Guarded.of("any"), null, key.id());
    }

    /** Checks as who has this key alone. */
    static PacketGuard holder(AuthKey key) {
        Authentication own = new Authentication(System::nanoTime);
        own.change(AuthRules.ALL, List.of(), List.of(key));
        return Objects.requireNonNull(own.guard(null));
    }

    private AnepSender sender(TestNode node, @Nullable AuthKey key) throws IOException {
        return keep(AnepSender.to(node.address()).sign(key).tcp());
    }

    private static void send(AnepSender sender, PacketBuilder builder, int from, int to) throws IOException {
        for (int i = from; i < to; i++) {
            sender.send(builder, number(i));
        }
        sender.flush();
    }

    private static ByteBuffer signed(PacketBuilder builder, int number, AuthKey key) {
        Packet packet = builder.build(number(number));
        new PacketSigner(key).sign(packet);
        return packet.buffer().rewind();
    }

    @Test
    void eachNodeOfAChainChecksAndSignsAnew() throws IOException {
        TestSink sink = sink();
        TestNode second = node(MARK).toHost(sink.address());
        TestNode first = node(MARK).toNode(second);
        guard(first.environment, new AuthRules.Signer(null, second.address(), 8), SENDER, BETWEEN);
        guard(second.environment, signer(LAST), BETWEEN, LAST);
        try (AnepSender sender = sender(first, SENDER)) {
            send(sender, packets("mark").previousNode(false).authentication().checksum(), 0, 2000);
            sender.finish();
            sink.await(2000);
        }
        assertThat(sink.awaitEnds().numbers()).hasSize(2000).isSorted().doesNotHaveDuplicates();
        PacketGuard far = holder(LAST);
        for (Packet packet : sink.packets()) {
            assertThat(far.check(packet)).isNull();
            assertThat(packet.classOfService()).isEqualTo(2);
            assertThat(packet.hopBudget()).isEqualTo(15);
        }
        first.assertDrops(Map.of());
        second.assertDrops(Map.of());
    }

    @Test
    void packetsWithoutRoomForAMacGetIt() throws IOException {
        TestSink sink = sink();
        TestNode node = node(MARK).toHost(sink.address());
        node.environment
                .authentication()
                .change(new AuthRules(List.of(), List.of(), List.of(signer(LAST)), 1024, 64), List.of(), List.of(LAST));
        try (AnepSender sender = sender(node)) {
            send(sender, packets("mark"), 0, 500);
            sender.finish();
            sink.await(500);
        }
        PacketGuard far = holder(LAST);
        assertThat(sink.awaitEnds().packets()).hasSize(500).allMatch(packet -> far.check(packet) == null);
        assertThat(sink.numbers()).isSorted();
        node.assertDrops(Map.of());
    }

    @Test
    void aNodeThatHasNoRuleForAPacketLeavesNoMacInIt() throws IOException {
        TestSink sink = sink();
        TestNode node = node(MARK).toHost(sink.address());
        guard(node.environment, null, SENDER);
        try (AnepSender sender = sender(node, SENDER)) {
            send(sender, packets("mark").authentication(), 0, 10);
            sender.finish();
            sink.await(10);
        }
        PacketGuard far = holder(SENDER);
        assertThat(sink.awaitEnds().packets())
                .hasSize(10)
                .allMatch(packet -> packet.has(Option.AUTHENTICATION))
                .allMatch(packet -> far.check(packet) == DropReason.AUTH_MISSING);
    }

    @Test
    void aFirstPacketThatIsNotSignedFetchesNothing() throws IOException {
        TestSource source = new TestSource();
        settings.source = source;
        TestNode node = node(MARK);
        guard(node.environment, null, SENDER);
        try (AnepSender sender = sender(node)) {
            send(sender, packets("org.example.Late"), 0, 1);
            sender.finish();
            eventually().until(() -> node.dropped(DropReason.AUTH_MISSING) == 1);
        }
        ByteBuffer forged = signed(packets("org.example.Late").authentication(), 0, AuthKey.of(7, "aa".repeat(32)));
        try (SocketChannel other = connect(node)) {
            other.write(forged);
            assertThat(other.read(ByteBuffer.allocate(1))).as("it is closed").isNegative();
        }
        node.assertDrops(Map.of(DropReason.AUTH_MISSING, 1L, DropReason.AUTH_MAC, 1L));
        assertThat(source.requests()).isEmpty();
        assertThat(node.environment.waitingForCode()).isZero();
    }

    @Test
    void aSignedFirstPacketFetchesItsServiceAndCountsOnce() throws IOException {
        TestSource source = new TestSource();
        settings.source = source;
        TestSink sink = sink();
        TestNode node = node().toHost(sink.address());
        guard(node.environment, null, SENDER);
        try (AnepSender sender = sender(node, SENDER)) {
            send(sender, packets("mark").authentication(), 0, 10);
            sender.finish();
            source.answer(node.services, MARK);
            sink.await(10);
        }
        assertThat(sink.awaitEnds().numbers()).hasSize(10);
        node.assertDrops(Map.of());
    }

    @Test
    void aFirstPacketIsJudgedWhenItIsWhole() throws IOException {
        TestSink sink = sink();
        TestNode node = node(MARK).toHost(sink.address());
        guard(node.environment, null, SENDER);
        ByteBuffer packet = signed(packets("mark").authentication(), 1, SENDER);
        try (SocketChannel channel = connect(node)) {
            int bytes = packet.capacity();
            for (int i = 0; i < bytes; i++) {
                channel.write(packet.limit(i + 1).position(i));
            }
            sink.await(1);
            channel.shutdownOutput();
            assertThat(channel.read(ByteBuffer.allocate(1))).isNegative();
        }
        try (SocketChannel channel = connect(node)) {
            channel.write(signed(packets("mark").authentication().nextSequence(1), 1, SENDER)
                    .limit(100));
            channel.shutdownOutput();
            assertThat(channel.read(ByteBuffer.allocate(1))).isNegative();
        }
        node.assertDrops(Map.of(DropReason.TRUNCATED, 1L));
        assertThat(sink.numbers()).containsExactly(1);
    }

    @Test
    void theLargestFirstPacketIsWaitedFor() throws IOException {
        TestSink sink = sink();
        TestNode node = node(MARK).toHost(sink.address());
        guard(node.environment, null, SENDER);
        PacketBuilder builder = packets("mark").authentication();
        ByteBuffer payload = ByteBuffer.allocate(65_535 - builder.headerLength());
        try (AnepSender sender = sender(node, SENDER)) {
            sender.send(builder, payload);
            sender.finish();
            sink.await(1);
        }
        assertThat(sink.awaitEnds().packets()).singleElement().matches(packet -> packet.length() == 65_535);
        node.assertDrops(Map.of());
    }

    @Test
    void aRecordedStreamIsRefused() throws IOException {
        TestSource source = new TestSource();
        settings.source = source;
        TestSink sink = sink();
        TestNode node = node(MARK).toHost(sink.address());
        guard(node.environment, null, SENDER);
        ByteBuffer recorded = signed(packets("mark").authentication(), 1, SENDER);
        for (int i = 0; i < 3; i++) {
            try (SocketChannel channel = connect(node)) {
                channel.write(recorded.rewind());
                channel.shutdownOutput();
                assertThat(channel.read(ByteBuffer.allocate(1))).isNegative();
            }
        }
        node.assertDrops(Map.of(DropReason.AUTH_REPLAY, 2L));
        assertThat(sink.numbers()).containsExactly(1);
    }

    @Test
    void packetsInMidStreamEndByThemselvesAndFetchNothing() throws IOException {
        TestSource source = new TestSource();
        settings.source = source;
        TestSink sink = sink();
        TestNode node = node(MARK).toHost(sink.address());
        guard(node.environment, null, SENDER);
        PacketBuilder good = packets("mark").authentication();
        try (SocketChannel channel = connect(node)) {
            channel.write(signed(good, 0, SENDER));
            channel.write(packets("mark").build(number(50)).buffer().rewind());
            ByteBuffer second = signed(good, 1, SENDER);
            channel.write(second);
            channel.write(second.rewind());
            channel.write(packets("org.example.Late").build(number(51)).buffer().rewind());
            channel.write(signed(packets("org.example.Late").authentication(), 52, BETWEEN));
            channel.write(signed(good, 2, SENDER));
            sink.await(3);
            channel.shutdownOutput();
            assertThat(channel.read(ByteBuffer.allocate(1))).isNegative();
        }
        assertThat(sink.numbers()).containsExactly(0, 1, 2);
        node.assertDrops(Map.of(DropReason.AUTH_MISSING, 2L, DropReason.AUTH_REPLAY, 1L, DropReason.AUTH_KEY, 1L));
        assertThat(source.requests()).isEmpty();
    }

    @Test
    void keysChangeUnderAStream() throws IOException {
        TestSink sink = sink();
        TestNode node = node(MARK).toHost(sink.address());
        guard(node.environment, null, SENDER);
        PacketBuilder builder = packets("mark").authentication();
        try (SocketChannel channel = connect(node)) {
            channel.write(signed(builder, 0, SENDER));
            sink.await(1);
            node.environment.authentication().add(BETWEEN);
            channel.write(signed(builder, 1, SENDER));
            channel.write(signed(builder, 2, BETWEEN));
            sink.await(3);
            node.environment.authentication().remove(7);
            channel.write(signed(builder, 3, SENDER));
            channel.write(signed(builder, 4, BETWEEN));
            sink.await(4);
            channel.shutdownOutput();
            assertThat(channel.read(ByteBuffer.allocate(1))).isNegative();
        }
        assertThat(sink.numbers()).containsExactly(0, 1, 2, 4);
        node.assertDrops(Map.of(DropReason.AUTH_KEY, 1L));
    }

    @Test
    void aGuardThatComesUnderAStreamHoldsForItsNextPacket() throws IOException {
        TestSink sink = sink();
        TestNode node = node(MARK).toHost(sink.address());
        try (AnepSender sender = sender(node)) {
            PacketBuilder builder = packets("mark");
            send(sender, builder, 0, 1000);
            sink.await(1000);
            guard(node.environment, null, SENDER);
            send(sender, builder, 1000, 1100);
            eventually().until(() -> node.dropped(DropReason.AUTH_MISSING) == 100);
            sender.finish();
        }
        assertThat(sink.awaitEnds().packets()).hasSize(1000);
        node.assertDrops(Map.of(DropReason.AUTH_MISSING, 100L));
    }

    @Test
    void repliesOfNextHopsAreChecked() throws IOException {
        TestSink sink = echoSink();
        TestNode node = node(MARK).toHost(sink.address());
        guard(node.environment, null, SENDER);
        try (AnepSender sender = sender(node, SENDER)) {
            send(sender, packets("mark").authentication(), 0, 10);
            sink.await(10); // It sends back what it got, which nobody has signed.
            eventually().until(() -> node.dropped(DropReason.AUTH_MISSING) == 10);
            assertThat(sender.poll(new Packet(), Duration.ZERO)).isFalse();
            sender.finish();
        }
        sink.awaitEnds();
        node.assertDrops(Map.of(DropReason.AUTH_MISSING, 10L));
    }

    @Test
    void repliesThatAreSignedGoBackAsTheyCame() throws IOException {
        TestNode far = node(ECHO);
        guard(far.environment, signer(LAST), BETWEEN, LAST);
        TestNode near = node(NEXT_IS_ECHO).toNode(far);
        guard(near.environment, signer(BETWEEN), SENDER, BETWEEN, LAST);
        PacketGuard holder = holder(LAST);
        try (AnepSender sender = sender(near, SENDER)) {
            send(sender, packets("next is echo").authentication(), 0, 20);
            sender.finish();
            for (int i = 0; i < 20; i++) {
                Packet answer = new Packet();
                assertThat(sender.poll(answer, TestServices.PATIENCE)).isTrue();
                assertThat(TestSink.number(answer)).isEqualTo(i);
                assertThat(holder.check(answer)).isNull();
            }
        }
        near.assertDrops(Map.of());
        far.assertDrops(Map.of());
    }

    @Test
    void answersThatHaveNoRoomForAMacGetIt() throws IOException {
        TestNode node = node(ECHO);
        node.environment
                .authentication()
                .change(new AuthRules(List.of(), List.of(), List.of(signer(LAST)), 1024, 64), List.of(), List.of(LAST));
        PacketGuard far = holder(LAST);
        try (AnepSender sender = sender(node)) {
            send(sender, packets("echo"), 0, 20);
            sender.finish();
            for (int i = 0; i < 20; i++) {
                Packet answer = new Packet();
                assertThat(sender.poll(answer, TestServices.PATIENCE)).isTrue();
                assertThat(TestSink.number(answer)).isEqualTo(i);
                assertThat(far.check(answer)).isNull();
            }
        }
        node.assertDrops(Map.of());
    }

    @Test
    void answersOfAServiceAreSigned() throws IOException {
        TestNode node = node(ECHO);
        guard(node.environment, signer(LAST), SENDER, LAST);
        PacketGuard far = holder(LAST);
        try (AnepSender sender = sender(node, SENDER)) {
            send(sender, packets("echo").authentication(), 0, 20);
            sender.finish();
            for (int i = 0; i < 20; i++) {
                Packet answer = new Packet();
                assertThat(sender.poll(answer, TestServices.PATIENCE)).isTrue();
                assertThat(TestSink.number(answer)).isEqualTo(i);
                assertThat(far.check(answer)).isNull();
            }
        }
        node.assertDrops(Map.of());
    }

    /** Sends its first packet before any has come. */
    @Test
    void whatAServiceSendsInInitIsSigned() throws IOException {
        TestSink sink = sink();
        ServiceDefinition early = TestServices.define("early", () -> new Service() {
            @Override
            public void init(ServiceConfig config) {
                emit(packets("early").authentication().build(number(0)));
            }

            @Override
            public Verdict process(Packet packet) {
                return Verdict.FORWARD;
            }
        });
        TestNode node = node(early).toHost(sink.address());
        guard(node.environment, signer(LAST), SENDER, LAST);
        try (AnepSender sender = sender(node, SENDER)) {
            send(sender, packets("early").authentication(), 1, 2);
            sender.finish();
            sink.await(2);
        }
        PacketGuard far = holder(LAST);
        assertThat(sink.awaitEnds().numbers()).containsExactly(0, 1);
        assertThat(sink.packets()).allMatch(packet -> far.peek(packet) == null);
    }

    // ---- rules that come while a packet waits
    // ------------------------------------------------------------------------

    /** What a packet waits for, and then goes on. */
    private interface Obstacle {
        void pass(TestNode node) throws IOException;
    }

    /** The second service of a stream; waits in its code until the test says so, for packets of class 9. */
    private static ServiceDefinition second(CountDownLatch released, AtomicInteger blocked) {
        return TestServices.define("second", () -> new Service() {
            @Override
            public Verdict process(Packet packet) throws InterruptedException {
                if (packet.classOfService() == 9) {
                    blocked.incrementAndGet();
                    released.await();
                    return Verdict.CONSUME;
                }
                return Verdict.FORWARD;
            }
        });
    }

    /**
     * Sends a stream, in which a packet that nobody signed and one that is signed follow the first, has rules come when
     * they wait, and looks at what leaves.
     */
    private void rulesComeBefore(
            TestNode node, TestSink sink, List<ByteBuffer> first, Predicate<TestNode> waits, Obstacle obstacle)
            throws IOException {
        node.toHost(sink.address());
        PacketBuilder builder = packets("second").stream(5).authentication();
        try (SocketChannel channel = connect(node)) {
            for (ByteBuffer packet : first) {
                channel.write(packet);
            }
            channel.write(builder.build(number(1)).buffer().rewind());
            eventually().until(() -> waits.test(node));
            guard(node.environment, signer(LAST), SENDER, LAST);
            obstacle.pass(node);
            channel.write(signed(builder, 2, SENDER));
            eventually().until(() -> sink.numbers().contains(2));
            channel.shutdownOutput();
            assertThat(channel.read(ByteBuffer.allocate(1))).isNegative();
        }
        PacketGuard far = holder(LAST);
        assertThat(sink.packets().stream().filter(packet -> packet.streamId() == 5))
                .singleElement()
                .satisfies(packet -> assertThat(TestSink.number(packet)).isEqualTo(2))
                .matches(packet -> far.check(packet) == null);
        assertThat(node.dropped(DropReason.AUTH_MISSING)).isEqualTo(1);
    }

    @Test
    void aPacketThatWaitsForASecondServicesCodeIsJudgedByTheRulesThatCame() throws IOException {
        TestSource source = new TestSource();
        settings.source = source;
        rulesComeBefore(
                node(MARK),
                sink(),
                List.of(packets("mark").build(number(0)).buffer().rewind()),
                node -> node.environment.waitingForCode() == 1,
                node -> source.answer(node.services, second(new CountDownLatch(0), new AtomicInteger())));
    }

    @Test
    void aPacketThatGoesOnWithoutASecondServiceIsJudgedByTheRulesThatCame() throws IOException {
        TestSource source = new TestSource();
        settings.source = source;
        settings.unknownService = FailurePolicy.PASS;
        rulesComeBefore(
                node(MARK),
                sink(),
                List.of(packets("mark").build(number(0)).buffer().rewind()),
                node -> node.environment.waitingForCode() == 1,
                node -> source.refuse("second", DropReason.DEPLOYMENT_FAILED));
    }

    @Test
    void aPacketInTheRingOfASecondServiceIsJudgedByTheRulesThatCame() throws IOException {
        CountDownLatch released = new CountDownLatch(1);
        AtomicInteger blocked = new AtomicInteger();
        try {
            rulesComeBefore(
                    node(MARK, second(released, blocked)),
                    sink(),
                    List.of(
                            packets("mark").build(number(0)).buffer().rewind(),
                            packets("second")
                                    .classOfService(9, 0)
                                    .build(number(0))
                                    .buffer()
                                    .rewind()),
                    node -> blocked.get() == 1 && node.traffic().packetsIn() == 3,
                    node -> released.countDown());
        } finally {
            released.countDown();
        }
    }

    @Test
    void aPacketThatWaitsForATurnIsJudgedByTheRulesThatCame() throws IOException {
        CountDownLatch released = new CountDownLatch(1);
        AtomicInteger blocked = new AtomicInteger();
        TestNode node = node(MARK, second(released, blocked));
        node.environment.qos(config(
                "pq", 1, Duration.ofSeconds(1), TurnTesting.named("blocker", 9, 1), TurnTesting.named("rest", 0, 1)));
        try (AnepSender blocker = sender(node)) {
            blocker.send(packets("second").classOfService(9, 0), number(0));
            blocker.flush();
            eventually().until(() -> blocked.get() == 1);
            rulesComeBefore(
                    node,
                    sink(),
                    List.of(),
                    each -> node.environment.qosStatus().points().get(0).classes().stream()
                            .anyMatch(status -> status.name().equals("rest") && status.waitingTurns() == 1),
                    each -> released.countDown());
            blocker.finish();
        } finally {
            released.countDown();
        }
    }

    /** Its service has had it, and may have changed it: what leaves is signed where nobody else could be meant. */
    @Test
    void aPacketThatItsServiceHoldsLeavesByTheRulesThatCame() throws Exception {
        BlockingQueue<Suspension> held = new LinkedBlockingQueue<>();
        ServiceDefinition holds = TestServices.define("holds", () -> new Service() {
            @Override
            public Verdict process(Packet packet) {
                held.add(hold(packet, Duration.ofMinutes(5)));
                return Verdict.HELD;
            }
        });
        TestSink sink = sink();
        TestNode node = node(holds).toHost(sink.address());
        try (AnepSender sender = sender(node)) {
            send(sender, packets("holds").authentication(), 0, 1);
            send(sender, named("holds"), 1, 2);
            Suspension first = Objects.requireNonNull(held.poll(40, TimeUnit.SECONDS));
            guardNames(node, SENDER, LAST);
            assertThat(first.resume(Verdict.FORWARD)).isTrue();
            sink.await(1);
            sender.finish();
        }
        assertThat(holder(LAST).check(sink.awaitEnds().packets().get(0))).isNull();
        node.assertDrops(Map.of(DropReason.AUTH_MISSING, 1L));
    }

    // ---- names of others -------------------------------------------------------------------------------------------

    /** Checks what claims to be from 10.1.0.0/16, and signs all. */
    private static void guardNames(TestNode node, AuthKey... keys) {
        AuthRules rules =
                new AuthRules(List.of(AuthRules.Guarded.of("10.1.0.0/16")), List.of(), List.of(signer(LAST)), 1024, 64);
        node.environment.authentication().change(rules, List.of(), List.of(keys));
    }

    /** Sends on what has come when all has come, as one packet of a guarded name. */
    private static final ServiceDefinition GATHER = TestServices.define("gather", () -> new Service() {
        @Override
        public Verdict process(Packet packet) {
            return Verdict.CONSUME;
        }

        @Override
        public void endOfStream() {
            emit(named("sum").build(number(1)));
        }
    });

    private static PacketBuilder named(String service) {
        return packets(service).source(InetAddresses.forString("10.1.0.7")).authentication();
    }

    @Test
    void whatIsMadeOfCheckedPacketsIsSigned() throws IOException {
        assertThat(gathered(0)).isNull();
    }

    /** Who is not checked has his octets sent on, but not signed as another's. */
    @Test
    void whatIsMadeOfAStrangersPacketsIsNotSignedInAGuardedName() throws IOException {
        assertThat(gathered(1)).isEqualTo(DropReason.AUTH_MISSING);
    }

    /** Returns what who has the node's key finds in what is made of ten packets, of which the first so many are a stranger's. */
    private @Nullable DropReason gathered(int strangers) throws IOException {
        TestSink sink = sink();
        TestNode node = node(GATHER).toHost(sink.address());
        guardNames(node, SENDER, LAST);
        PacketBuilder good = named("gather");
        try (SocketChannel channel = connect(node)) {
            for (int i = 0; i < 10; i++) {
                channel.write(
                        i < strangers
                                ? packets("gather").build(number(i)).buffer().rewind()
                                : signed(good, i, SENDER));
            }
            channel.shutdownOutput();
            sink.await(1);
        }
        node.assertDrops(Map.of(DropReason.CONSUMED, 10L));
        return holder(LAST).check(sink.awaitEnds().packets().get(0));
    }

    /** Who names an address that he cannot send from as destination has its answer, but no signature in its name. */
    @Test
    void anAnswerToAStrangerIsNotSignedInAGuardedName() throws IOException {
        TestNode node = node(ECHO);
        guardNames(node, LAST);
        assertThat(answerTo(node, "10.1.0.7")).isEqualTo(DropReason.AUTH_MISSING);
        assertThat(answerTo(node, "10.2.0.7")).isNull();
        node.assertDrops(Map.of());
    }

    /** Returns what who has the node's key finds in the answer to a packet from nobody to there. */
    private @Nullable DropReason answerTo(TestNode node, String destination) throws IOException {
        try (AnepSender sender = sender(node, null)) {
            send(sender, packets("echo").destination(InetAddress.getByName(destination)), 0, 1);
            sender.finish();
            Packet answer = new Packet();
            assertThat(sender.poll(answer, TestServices.PATIENCE)).isTrue();
            return holder(LAST).check(answer);
        }
    }
}
