package org.tamanoir.sim;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.anep.ParseFault;
import org.tamanoir.catalog.InstanceStatus;
import org.tamanoir.catalog.ServiceCatalog;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.catalog.ServiceSource;
import org.tamanoir.ee.EeConfig;
import org.tamanoir.ee.ExecutionEnvironment;
import org.tamanoir.ee.SimulatedLife;
import org.tamanoir.qdisc.Disciplines;
import org.tamanoir.qdisc.Link;
import org.tamanoir.qdisc.PreProcessing;
import org.tamanoir.qdisc.QosConfig;
import org.tamanoir.qdisc.TrafficClass;
import org.tamanoir.routing.NextHop;
import org.tamanoir.routing.Prefix;
import org.tamanoir.routing.Route;
import org.tamanoir.routing.RoutingTable;
import org.tamanoir.sched.QosStatus;
import org.tamanoir.service.FailurePolicy;
import org.tamanoir.service.ServiceConfig;
import org.tamanoir.service.StreamInfo;
import org.tamanoir.traffic.TrafficSnapshot;
import org.tamanoir.transport.BufferPool;

/**
 * One life of a whole environment, as a seed has it: streams, services, next hops, and what happens to them. All that
 * must hold of it is looked at, as it goes and at its end.
 */
final class Schedule {
    private static final InetSocketAddress NODE = SimNet.at("10.0.0.1", 3322);
    private static final int HOPS = 4;
    /** The hop that services send packets to on their own account. */
    private static final int ELSEWHERE = 3;

    private static final long SECOND = 1_000_000_000;
    /** How often each action comes, by its place. */
    private static final int[] WEIGHTS = {140, 60, 32, 20, 32, 16, 12, 36, 24, 16, 2, 1};

    private static final int LOTS = IntStream.of(WEIGHTS).sum();
    /**
     * Drops that end no TCP stream: whoever misses a packet of a stream that finished finds it here, or among
     * {@link DropReason#QUARANTINED} if its service was in quarantine.
     */
    private static final Set<DropReason> OF_ONE_PACKET = EnumSet.of(
            DropReason.SERVICE_FAILURE,
            DropReason.UNKNOWN_SERVICE,
            DropReason.DEPLOYMENT_FAILED,
            DropReason.NO_INSTANCE,
            DropReason.STREAM_LIMIT,
            DropReason.PEER_GONE,
            DropReason.SHUTDOWN,
            DropReason.AUTH_MISSING,
            DropReason.AUTH_KEY,
            DropReason.AUTH_REPLAY);

    private static final List<String> SHARING = List.of("scfq", "wf2q+", "stfq", "wfq");

    private final long seed;
    private final Simulation simulation;
    private final SplittableRandom random;
    private final SimNet net;
    private final BufferPool pool = BufferPool.of(64 << 20);
    private final ServiceCatalog catalog = new ServiceCatalog();
    private final List<SimService> made = new ArrayList<>();
    private final List<ServiceDefinition> definitions = new ArrayList<>();
    private final List<Stream> streams = new ArrayList<>();
    private final List<Datagrams> datagrams = new ArrayList<>();
    /** The next hops' ends of connections, with the number of the hop. */
    private final Map<FarTcp, Integer> sinks = new LinkedHashMap<>();

    private final List<String> ends = new ArrayList<>();
    /** Many streams with several services want one processor, and some break off. */
    private final boolean isCrowded;
    /** Changes of the scheduling put traffic into other classes. */
    private final boolean remaps;
    /** Null where nothing is authenticated. */
    private final @Nullable SimAuth auth;

    private final SimHolds holds;

    /** A service was taken away. */
    private boolean hasRetired;
    /** Datagrams that overtook others, as those may that find their service in quarantine, or taken away. */
    private final List<String> overtaken = new ArrayList<>();

    Schedule(long seed) {
        this.seed = seed;
        this.simulation = new Simulation(seed);
        this.random = simulation.random;
        this.net = new SimNet(simulation);
        this.remaps = random.nextInt(4) == 0;
        this.isCrowded = random.nextInt(4) == 0;
        simulation.isCrowded = isCrowded;
        this.auth = SimAuth.of(seed);
        this.holds = new SimHolds(simulation);
    }

    /** What came of it. */
    record Outcome(
            long seed, long hash, long steps, @Nullable Throwable failure) {
        /** Says what failed, and how to see it again. */
        String text() {
            StringBuilder text = new StringBuilder("-Dtamanoir.sim.seed=" + seed + ": " + failure);
            for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
                for (StackTraceElement frame : cause.getStackTrace()) {
                    text.append("\n    at ").append(frame);
                }
            }
            return text.toString();
        }
    }

    Outcome run() {
        Journal.listen(simulation);
        simulation.run(this::live);
        Journal.forget(simulation);
        return new Outcome(seed, simulation.hash(), simulation.steps(), simulation.failure());
    }

    private void check(boolean holds, String what) {
        if (!holds) {
            throw new AssertionError(what);
        }
    }

    private void fault(String what) {
        simulation.fail(new AssertionError(what));
    }

    // ---- the world -------------------------------------------------------------------------------------------------

    /** A TCP stream of a far sender. */
    private final class Stream {
        final int number;
        final @Nullable FarTcp far;
        final List<Content> sent;
        /** The hop that each packet of {@link #sent} is routed to, at the same index. */
        final List<Integer> hops = new ArrayList<>();
        /** The service that each packet of {@link #sent} names, at the same index. */
        final List<String> services = new ArrayList<>();

        final InetSocketAddress local;
        /** What sinks and sender have got, with how often. */
        final Map<String, Integer> got = new TreeMap<>();

        boolean wasCut;
        /** All its packets are to come back. */
        boolean isAnswered;

        Stream(int number, @Nullable FarTcp far, InetSocketAddress local, List<Content> sent) {
            this.number = number;
            this.far = far;
            this.local = local;
            this.sent = sent;
        }
    }

    /** A flow of datagrams. */
    private static final class Datagrams {
        final Map<String, Integer> got = new TreeMap<>();
        int sent;
    }

    private void live() {
        try {
            if (seed % 25 == 0) {
                share();
                return;
            }
            ExecutionEnvironment node = build();
            if (auth != null) {
                auth.begin(simulation, node);
            }
            node.start();
            turbulence(node);
            int tcp = isCrowded ? 3 + random.nextInt(4) : random.nextInt(6);
            int udp = tcp == 0 ? 1 + random.nextInt(3) : random.nextInt(3);
            for (int i = 0; i < tcp; i++) {
                int number = i;
                simulation.at(random.nextInt(20_000_000), () -> beginStream(number));
            }
            for (int i = 0; i < udp; i++) {
                int number = 100 + i;
                datagrams.add(new Datagrams());
                beginDatagrams(number, i);
            }
            operate(node);
            end(node);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private ExecutionEnvironment build() {
        List<Route> routes = new ArrayList<>();
        for (int i = 1; i <= HOPS; i++) {
            NextHop.Transport transport =
                    i == HOPS && random.nextBoolean() ? NextHop.Transport.TCP : NextHop.Transport.SAME;
            InetSocketAddress hop = SimNet.at("10.0.2." + i, 4000);
            routes.add(new Route(
                    Prefix.parse("10.0.1." + i + "/32"),
                    new NextHop(
                            hop.getAddress(),
                            hop.getPort(),
                            transport,
                            random.nextInt(3) == 0 ? NextHop.Kind.ACTIVE_NODE : NextHop.Kind.HOST)));
            Hop far = new Hop(i);
            if (net.isCalm || random.nextInt(12) > 0) {
                net.listen(hop, far);
                net.receive(hop, far);
            }
        }
        for (String name : List.of("one", "two", "three", "late", "never")) {
            ServiceDefinition definition = new ServiceDefinition(
                    name,
                    "",
                    () -> new SimService(
                            simulation,
                            net.isCalm,
                            SimNet.at("10.0.1." + ELSEWHERE, 0).getAddress(),
                            holds,
                            made),
                    ServiceConfig.EMPTY,
                    FailurePolicy.values()[random.nextInt(FailurePolicy.values().length)],
                    SimulatedLife.of(simulation::nanoTime));
            definitions.add(definition);
            if (definitions.size() <= 3) {
                catalog.add(definition);
            }
        }
        EeConfig config = new EeConfig(
                        List.of(NODE),
                        List.of(NODE),
                        EeConfig.defaults().typeId(),
                        EeConfig.defaults().transport(),
                        FailurePolicy.values()[random.nextInt(FailurePolicy.values().length)],
                        64,
                        16,
                        1 << 18,
                        Duration.ofSeconds(2),
                        Duration.ofMillis(700),
                        Duration.ofSeconds(2),
                        Duration.ofSeconds(1))
                .deploying(Duration.ofSeconds(1), Duration.ofSeconds(1), 1 << 16);
        ExecutionEnvironment node =
                new ExecutionEnvironment(config, new RoutingTable(routes), catalog, pool, simulation, net);
        node.stuckAfter(Duration.ofMillis(300));
        node.onStreamEnd(record -> ends.add(record.stream().peer() + " " + record.end()));
        node.fetchFrom((key, then) -> {
            boolean[] asked = new boolean[1];
            return origin -> {
                if (!asked[0]) {
                    asked[0] = true;
                    fetch(key, then);
                }
            };
        });
        if (isCrowded || random.nextInt(3) == 0) {
            changeScheduling(node);
        }
        return node;
    }

    private void fetch(long key, java.util.function.Consumer<ServiceSource.Answer> then) {
        ServiceDefinition late = definitions.get(3);
        long afterNs = random.nextInt(4) == 0 ? 3 * SECOND : random.nextInt(200_000_000);
        simulation.at(afterNs, () -> {
            if (key == late.key() && random.nextInt(4) > 0) {
                catalog.add(late);
                then.accept(ServiceSource.Answer.of(late));
            } else if (random.nextInt(4) > 0) {
                then.accept(ServiceSource.Answer.refused(
                        random.nextBoolean() ? DropReason.UNKNOWN_SERVICE : DropReason.DEPLOYMENT_FAILED));
            }
        });
    }

    /** A next hop, for TCP and UDP. */
    private final class Hop implements SimNet.FarListener, SimNet.FarDatagrams {
        final int number;
        final boolean answers = random.nextInt(4) == 0;
        final boolean isFickle = random.nextInt(8) == 0;
        final boolean isSlow = random.nextInt(4) == 0;
        final boolean isStalling = random.nextInt(8) == 0;
        final Map<String, Integer> last = new TreeMap<>();

        Hop(int number) {
            this.number = number;
        }

        @Override
        public @Nullable FarTcp accept(SimPipe toFar, SimPipe toNode) {
            if (net.isCalm) {
                FarTcp far = new FarTcp(simulation, toFar, toNode, packet -> {}, Schedule.this::fault, true);
                sinks.put(far, number);
                far.endWithNode();
                return far;
            }
            if (random.nextInt(12) == 0) {
                return null;
            }
            Map<String, Integer> lastOfConnection = new TreeMap<>();
            FarTcp[] self = new FarTcp[1];
            Content[] latest = new Content[1];
            FarTcp far = new FarTcp(
                    simulation,
                    toFar,
                    toNode,
                    packet -> {
                        take(packet, lastOfConnection);
                        latest[0] = Content.read(packet.payload());
                        if (answers && random.nextInt(4) == 0) {
                            answer(latest[0], self[0]);
                        }
                    },
                    Schedule.this::fault,
                    false);
            self[0] = far;
            sinks.put(far, number);
            far.endWithNode();
            if (isStalling) {
                simulation.at(random.nextInt(30_000_000), far::stall);
                if (random.nextBoolean()) {
                    answerOften(latest, far, 400);
                }
            } else if (isSlow) {
                far.sleep(random.nextInt(random.nextInt(6) == 0 ? 4_000_000 : 400_000) * 1_000L);
            }
            if (isFickle) {
                simulation.at(random.nextInt(300_000_000), far::cut);
            } else if (random.nextInt(10) == 0) {
                simulation.at(random.nextInt(50_000_000), far::endWhenSent);
            }
            return far;
        }

        @Override
        public void take(byte[] datagram) {
            Packet packet = new Packet();
            ParseFault fault = packet.parse(ByteBuffer.wrap(datagram), 0, datagram.length);
            if (fault != null) {
                fault("a datagram that is no packet: " + fault);
                return;
            }
            take(packet, last);
        }

        private void take(Packet packet, Map<String, Integer> lastOnes) {
            Schedule.this.take(packet, number, lastOnes);
        }
    }

    /** Has a far end, which may read no more, go on answering the packet that it has read last. */
    private void answerOften(Content[] latest, FarTcp far, int times) {
        simulation.at(200_000_000, () -> {
            if (!far.isOver() && times > 0) {
                if (latest[0] != null) {
                    answer(latest[0], far);
                }
                answerOften(latest, far, times - 1);
            }
        });
    }

    /** A far end's own packet, on the way back. */
    private void answer(Content to, FarTcp far) {
        Content content = to.made(Content.ANSWER);
        ByteBuffer payload = ByteBuffer.allocate(Content.HEAD + 8);
        content.write(payload);
        far.send(builder(content.stream(), 1, "none")
                .build(payload)
                .buffer()
                .duplicate()
                .rewind());
    }

    /** Looks at a packet that came out. */
    private void take(Packet packet, int where, Map<String, Integer> last) {
        ByteBuffer payload = packet.payload();
        String fault = Content.fault(payload);
        if (fault != null) {
            fault("at " + where + ": " + fault);
            return;
        }
        Content content = Content.read(payload);
        simulation.note("arrived", content.number());
        String misjudged = auth == null ? null : auth.fault(packet, content);
        if (misjudged != null) {
            fault("at " + where + ": " + content + " " + misjudged);
        }
        Map<String, Integer> got =
                content.stream() >= 100 ? datagrams.get(content.stream() - 100).got : streamOf(content.stream()).got;
        String name = content.sequence() + "." + content.made();
        int times = got.merge(name, 1, Integer::sum);
        boolean isAnswer = content.made() == Content.ANSWER;
        if (!holds.mayLeave(content)) {
            fault("at " + where + ": " + content + " left, though its service has held it and not let it go");
        }
        if (times > 1 && !isAnswer) {
            fault("at " + where + ": " + content + " came " + times + " times");
        }
        SimHolds.Place resumed = content.stream() < 100 ? null : holds.place(content);
        if (resumed != null) {
            Integer before = last.put(content.stream() + " of instance " + resumed.instance(), resumed.place());
            if (before != null && before >= resumed.place()) {
                fault("at " + where + ": " + content + " was resumed before one that it came behind");
            }
        }
        // Datagrams go past one that is held, and packets of a stream do not.
        boolean mayBeLate = content.stream() >= 100 && content.action() == Content.Action.HOLD;
        if (!isAnswer && !mayBeLate) {
            String order = content.stream() + " " + packet.serviceKey();
            int place = content.sequence() * 8 + (content.made() == 0 ? 7 : content.made());
            Integer before = last.put(order, place);
            if (before != null && before >= place) {
                String late = "at " + where + ": " + content + " came behind " + before / 8 + "." + before % 8;
                if (content.stream() < 100) {
                    fault(late);
                } else {
                    overtaken.add(late);
                }
            }
        }
    }

    private Stream streamOf(int number) {
        return streams.stream()
                .filter(each -> each.number == number)
                .findFirst()
                .orElseThrow();
    }

    /** Builds a packet, and signs it where its sender does that. */
    private ByteBuffer packet(PacketBuilder builder, Content content, ByteBuffer payload) {
        return auth == null
                ? builder.build(payload).buffer().duplicate().rewind()
                : auth.packet(builder, content, payload);
    }

    private static PacketBuilder builder(int stream, int destination, String service) {
        return builder(stream, stream % 3, destination, service);
    }

    private static PacketBuilder builder(int stream, int trafficClass, int destination, String service) {
        PacketBuilder builder = new PacketBuilder()
                        .source(SimNet.at("10.0.9." + (1 + stream % 100), 0).getAddress())
                        .destination(SimNet.at("10.0.1." + destination, 0).getAddress())
                        .classOfService(trafficClass, 0)
                        .stream(stream)
                        .hopBudget(9);
        return service.equals("none") ? builder : builder.service(service);
    }

    private Content content(int stream, int sequence) {
        int lot = random.nextInt(LOTS);
        int action = 0;
        while (lot >= WEIGHTS[action]) {
            lot -= WEIGHTS[action++];
        }
        Content content = new Content(stream, sequence, Content.Action.values()[action], random.nextInt(128), 0, false);
        return SimHolds.isOf(seed, content) ? content.held() : content.ending(seed);
    }

    private String service() {
        int lot = random.nextInt(20);
        return lot < 8
                ? "one"
                : lot < 12 ? "two" : lot < 14 ? "three" : lot < 17 ? "late" : lot < 18 ? "never" : "none";
    }

    private void beginStream(int number) {
        SimPipe toFar = new SimPipe(simulation, net, net.window());
        SimPipe toNode = new SimPipe(simulation, net, net.window());
        InetSocketAddress local = SimNet.at("10.0.9." + (1 + number), 9000);
        List<Content> sent = new ArrayList<>();
        if (!net.connectToNode(NODE, local, pool, toFar, toNode)) {
            streams.add(new Stream(number, null, local, sent));
            return;
        }
        Map<String, Integer> last = new TreeMap<>();
        // More answers than lie between a branch and its sender, who takes many at long intervals.
        boolean isAnswered = random.nextInt(12) == 0;
        FarTcp far = new FarTcp(simulation, toFar, toNode, packet -> take(packet, 0, last), this::fault, isAnswered);
        Stream stream = new Stream(number, far, local, sent);
        streams.add(stream);
        String main = service();
        String other = random.nextInt(3) == 0 || isCrowded ? service() : main;
        int destination = 1 + random.nextInt(HOPS);
        boolean isSpread = random.nextInt(4) == 0;
        boolean isMixed = random.nextInt(3) == 0;
        stream.isAnswered = isAnswered;
        int packets = isAnswered ? 30 : 1 + random.nextInt(random.nextInt(4) == 0 ? 60 : 20);
        int size = isAnswered ? 30_000 : random.nextInt(4) == 0 ? 4000 : 300;
        for (int i = 0; i < packets; i++) {
            Content content =
                    isAnswered ? new Content(number, i, Content.Action.REPLY, 0, 0, false) : content(number, i);
            sent.add(content);
            ByteBuffer payload = ByteBuffer.allocate(Content.HEAD + random.nextInt(size));
            content.write(payload);
            int to = isSpread ? 1 + random.nextInt(HOPS) : destination;
            int trafficClass = isMixed ? random.nextInt(3) : number % 3;
            String key = isAnswered ? i == 0 ? "one" : "two" : random.nextInt(4) == 0 ? other : main;
            stream.hops.add(to);
            stream.services.add(key);
            far.send(packet(builder(number, trafficClass, to, key), content, payload));
        }
        int lot = random.nextInt(isCrowded ? 3 : 12);
        if (lot == 0) {
            stream.wasCut = true;
            simulation.at(random.nextInt(100_000_000), far::cut);
        } else if (lot == 1) {
            simulation.at(random.nextInt(2_000) * 1_000_000L, far::endWhenSent);
        } else if (lot > 2) {
            far.endWhenSent();
        }
        if (isAnswered) {
            far.doze(500_000_000L + random.nextInt(1_300_000_000), 15);
        } else if (random.nextInt(8) == 0) {
            far.sleep(random.nextInt(600_000_000));
        }
    }

    private void beginDatagrams(int number, int index) {
        String service = service();
        String other = random.nextInt(3) == 0 ? service() : service;
        int destination = 1 + random.nextInt(HOPS);
        int packets = 1 + random.nextInt(40);
        long atNs = random.nextInt(20_000_000);
        InetSocketAddress local = SimNet.at("10.0.9." + (50 + index), 9000);
        net.receive(local, datagram -> {
            Packet packet = new Packet();
            ParseFault fault = packet.parse(ByteBuffer.wrap(datagram), 0, datagram.length);
            if (fault != null) {
                fault("an answer that is no packet: " + fault);
            } else {
                take(packet, 50, new TreeMap<>());
            }
        });
        int stuck = random.nextInt(8) == 0 ? random.nextInt(4) : -1;
        for (int i = 0; i < packets; i++) {
            Content content = i == stuck
                    ? new Content(number, i, Content.Action.STUCK, random.nextInt(128), 0, false)
                    : content(number, i);
            ByteBuffer payload = ByteBuffer.allocate(Content.HEAD + random.nextInt(500));
            content.write(payload);
            PacketBuilder builder = builder(number, destination, random.nextInt(5) == 0 ? other : service);
            byte[] bytes = packet(builder, content, payload).array();
            atNs += random.nextInt(3) == 0 ? random.nextInt(5_000_000) : 10_000;
            simulation.at(atNs, () -> {
                datagrams.get(index).sent++;
                net.sendToNode(bytes, local, NODE);
            });
        }
    }

    // ---- what happens to it ----------------------------------------------------------------------------------------

    private void turbulence(ExecutionEnvironment node) {
        if (random.nextInt(10) == 0) {
            simulation.at(random.nextInt(50_000_000), () -> net.outOfSockets(true));
            simulation.at(50_000_000 + random.nextInt(600_000_000), () -> net.outOfSockets(false));
        }
    }

    private void operate(ExecutionEnvironment node) {
        long untilNs = simulation.nanoTime() + (random.nextInt(isCrowded ? 3 : 8) == 0 ? SECOND / 20 : 12 * SECOND);
        int changes = random.nextInt(3) == 0 ? 1 + random.nextInt(6) : 0;
        int retirements = random.nextInt(10) == 0 ? 1 : 0;
        while (simulation.nanoTime() < untilNs && !isQuiet()) {
            if (changes > 0) {
                simulation.sleep(1 + random.nextInt(30_000_000), false);
                changeScheduling(node);
                changes--;
            } else if (retirements > 0) {
                simulation.sleep(1 + random.nextInt(60_000_000), false);
                ServiceDefinition one = definitions.get(0);
                hasRetired = true;
                catalog.remove(one);
                node.retire(one, Duration.ofMillis(random.nextInt(500)));
                if (random.nextBoolean()) {
                    catalog.add(one);
                }
                retirements--;
            } else {
                simulation.sleep(100_000_000, false);
            }
        }
        if (simulation.nanoTime() >= untilNs && untilNs > 12 * SECOND && !isQuiet()) {
            simulation.sleep(60 * SECOND, false);
            for (InstanceStatus each : node.instances()) {
                check(
                        each.stream().transport() == StreamInfo.Transport.UDP
                                || each.traffic().held() == 0,
                        "packets of a stream wait for ever: " + each.thread() + " " + each.traffic());
            }
        }
        if (isQuiet() && random.nextBoolean()) {
            net.outOfSockets(false);
            ByteBuffer payload = ByteBuffer.allocate(Content.HEAD);
            new Content(99, 0, Content.Action.FORWARD, 0, 0, false).write(payload);
            byte[] probe = builder(99, 200, "none").build(payload).buffer().array();
            net.sendToNode(probe, SimNet.at("10.0.9.99", 9000), NODE);
            simulation.sleep(6 * SECOND, false);
            check(net.unread() == 0, net.unread() + " datagrams lie in ports that nobody reads");
            atRest(node);
        }
    }

    private boolean isQuiet() {
        return simulation.nanoTime() > SECOND + SECOND / 5
                && streams.stream().allMatch(each -> each.far == null || each.far.isOver())
                && sinks.keySet().stream().allMatch(FarTcp::isOver);
    }

    private void changeScheduling(ExecutionEnvironment node) {
        QosConfig config = scheduling();
        if (config.problems().isEmpty()) {
            node.qos(config);
        }
    }

    private QosConfig scheduling() {
        if (random.nextInt(6) == 0) {
            return QosConfig.OFF;
        }
        List<TrafficClass> classes = new ArrayList<>();
        int count = remaps ? 1 + random.nextInt(3) : 3;
        for (int i = 0; i < count; i++) {
            int limit = random.nextInt(4) == 0 ? 2 + random.nextInt(10) : 1000;
            classes.add(new TrafficClass(
                    "c" + (remaps ? i + random.nextInt(2) * 3 : i), Set.of(i), 1 + random.nextInt(9), limit, 1 << 16));
        }
        List<String> forTurns = List.copyOf(Disciplines.namesForTurns());
        List<String> forLinks = List.copyOf(Disciplines.names());
        int points = isCrowded ? 1 : 1 + random.nextInt(3);
        PreProcessing pre = (points & 1) == 0
                ? null
                : new PreProcessing(
                        forTurns.get(random.nextInt(forTurns.size())),
                        Map.of(),
                        isCrowded ? 1 : 1 + random.nextInt(2),
                        Duration.ofNanos(10_000 + random.nextInt(1_000_000)));
        List<Link> links = new ArrayList<>();
        if ((points & 2) != 0) {
            boolean isPart = random.nextBoolean();
            links.add(new Link(
                    "a" + random.nextInt(2),
                    List.of(Prefix.parse(isPart ? "10.0.2.1/32" : "0.0.0.0/0")),
                    100_000 + random.nextInt(2_000_000),
                    10_000 + random.nextInt(20_000),
                    random.nextInt(8) == 0,
                    forLinks.get(random.nextInt(forLinks.size())),
                    Map.of()));
        }
        return new QosConfig(classes, classes.get(0).name(), List.of(), pre, links);
    }

    // ---- shares ----------------------------------------------------------------------------------------------------

    /** Two streams that always have work, one of which leaves its processor idle most of the time. */
    private void share() throws IOException {
        net.isCalm = true;
        ExecutionEnvironment node = build();
        String discipline = SHARING.get((int) (seed / 25 % SHARING.size()));
        node.qos(new QosConfig(
                List.of(new TrafficClass("c0", Set.of(0), 1), new TrafficClass("c1", Set.of(1), 1)),
                "c0",
                List.of(),
                new PreProcessing(discipline, Map.of(), 1, Duration.ofMillis(1)),
                List.of()));
        node.start();
        int[] busy = {10 + random.nextInt(20), 100};
        for (int i = 0; i < 2; i++) {
            SimPipe toFar = new SimPipe(simulation, net, 1 << 16);
            SimPipe toNode = new SimPipe(simulation, net, 1 << 16);
            net.connectToNode(NODE, SimNet.at("10.0.9." + (1 + i), 9000), pool, toFar, toNode);
            FarTcp far = new FarTcp(simulation, toFar, toNode, packet -> {}, this::fault, true);
            for (int sequence = 0; sequence < 1500; sequence++) {
                ByteBuffer payload = ByteBuffer.allocate(100);
                new Content(i, sequence, Content.Action.PACE, busy[i], 0, false).write(payload);
                far.send(
                        builder(i, 1, "one").build(payload).buffer().duplicate().rewind());
            }
            far.endWhenSent();
        }
        simulation.sleep(120_000_000, false);
        List<QosStatus.ClassStatus> classes = node.qosStatus().points().get(0).classes();
        double idle = classes.get(0).processorTime().toNanos();
        double greedy = classes.get(1).processorTime().toNanos();
        check(
                idle > 0.7 * greedy && greedy > 0.7 * idle,
                discipline + ": of the same share one has " + idle + " ns, the other " + greedy);
        end(node);
    }

    // ---- what must hold --------------------------------------------------------------------------------------------

    /** Nothing runs any more, but the node does. */
    private void atRest(ExecutionEnvironment node) {
        if (node.streams().open() > 0) {
            return;
        }
        balance(node.traffic(), false);
        List<String> grants = SimulatedLife.grants(node);
        check(grants.isEmpty(), "scheduling holds what nobody waits for: " + grants);
        check(node.coreProblems().isEmpty(), String.valueOf(node.coreProblems()));
    }

    private void balance(TrafficSnapshot traffic, boolean isEnd) {
        check(
                traffic.packetsIn() + traffic.packetsMade() == traffic.packetsOut() + traffic.dropped() + traffic.held()
                        && (!isEnd || traffic.held() == 0),
                "packets do not add up: " + traffic);
    }

    private void end(ExecutionEnvironment node) {
        long beganNs = simulation.nanoTime();
        node.stop(Duration.ofMillis(random.nextInt(3) * 1000L));
        long tookNs = simulation.nanoTime() - beganNs;
        check(tookNs < 30 * SECOND, "stopping took " + tookNs / 1_000_000 + " ms");
        simulation.sleep(50 * SECOND, false); // Services that were stuck come back.
        TrafficSnapshot traffic = node.traffic();
        balance(traffic, true);
        check(node.instances().isEmpty(), "instances are left: " + node.instances());
        check(node.streams().open() == 0, "places are left: " + node.streams());
        check(net.leaks().isEmpty(), "left open: " + net.leaks());
        check(pool.usedBytes() == 0, "memory is left: " + pool.usedBytes() + " bytes");
        Journal.check(simulation);
        check(
                overtaken.isEmpty()
                        || hasRetired
                        || definitions.stream().anyMatch(each -> each.health().quarantines() > 0),
                "datagrams overtook others: " + overtaken);
        whole(traffic);
        made.forEach(SimServices::letGo);
        check(simulation.threads().equals(List.of("operator")), "threads are left: " + simulation.threads());
    }

    /** Streams that finished are whole: what is missing was dropped by itself, and is counted. */
    private void whole(TrafficSnapshot traffic) {
        long excused = traffic.drops().entrySet().stream()
                .filter(each -> OF_ONE_PACKET.contains(each.getKey()))
                .mapToLong(Map.Entry::getValue)
                .sum();
        Set<Integer> deaf = new TreeSet<>();
        sinks.forEach((far, hop) -> {
            if (far.isDeaf()) {
                deaf.add(hop);
            }
        });
        Set<String> quarantined = definitions.stream()
                .filter(each -> each.health().quarantines() > 0)
                .map(ServiceDefinition::name)
                .collect(Collectors.toSet());
        List<String> missing = new ArrayList<>();
        List<String> missingInQuarantine = new ArrayList<>();
        long unanswered = 0;
        for (Stream stream : streams) {
            boolean mayBeRefused = auth != null && auth.isStranger(stream.number); // As a whole, and counted once.
            if (stream.isAnswered && stream.far != null && stream.far.hasEnded() && !mayBeRefused) {
                unanswered += stream.sent.size() - stream.got.size();
            }
            if (!ends.contains(stream.local + " finished")) {
                continue;
            }
            for (int i = 0; i < stream.sent.size(); i++) {
                Content content = stream.sent.get(i);
                boolean isDeaf = deaf.contains(stream.hops.get(i))
                        || (content.action() == Content.Action.ELSEWHERE && deaf.contains(ELSEWHERE));
                boolean leaves = switch (content.action()) {
                    case CONSUME, DROP, THROW, STUCK, REPLY, CLOSE, RESET -> false;
                    case HOLD -> holds.mustLeave(content);
                    default -> true;
                };
                if (leaves && !isDeaf && !stream.got.containsKey(content.sequence() + ".0")) {
                    (quarantined.contains(stream.services.get(i)) ? missingInQuarantine : missing)
                            .add(content.toString());
                }
            }
        }
        boolean farEndsAreWhole = sinks.keySet().stream().noneMatch(FarTcp::isCut);
        check(
                unanswered <= traffic.dropped() - traffic.drops().getOrDefault(DropReason.PEER_GONE, 0L),
                "streams that ended in order lack " + unanswered + " answers; ends: " + ends + ", drops: "
                        + traffic.drops());
        if (farEndsAreWhole) {
            long excusedInQuarantine = traffic.drops().getOrDefault(DropReason.QUARANTINED, 0L);
            check(
                    missing.size() <= excused
                            && missing.size() + missingInQuarantine.size() <= excused + excusedInQuarantine,
                    "streams that finished lack " + missing + ", and of services that were in quarantine "
                            + missingInQuarantine + "; ends: " + ends + ", drops: " + traffic.drops());
        }
    }
}
