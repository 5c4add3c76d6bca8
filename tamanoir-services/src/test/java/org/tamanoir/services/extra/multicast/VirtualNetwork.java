package org.tamanoir.services.extra.multicast;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.BiPredicate;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.Anep;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketLoan;
import org.tamanoir.anep.PacketSpace;
import org.tamanoir.format.FormatRegistry;
import org.tamanoir.format.FormatSource;
import org.tamanoir.nodeos.Flow;
import org.tamanoir.nodeos.Offload;
import org.tamanoir.nodeos.Policy;
import org.tamanoir.service.Counter;
import org.tamanoir.service.Service;
import org.tamanoir.service.ServiceConfig;
import org.tamanoir.service.ServiceControl;
import org.tamanoir.service.ServiceHost;
import org.tamanoir.service.StreamInfo;
import org.tamanoir.service.Verdict;

/**
 * Nodes that run one service each, in virtual time from a seed: what is sent takes 2 to 4 ms, so packets overtake each
 * other, and is lost by chance. All on the calling thread.
 */
final class VirtualNetwork {
    private static final long LEAST_DELAY_NS = 2_000_000;
    private static final int JITTER_NS = 2_000_000;

    private record Event(long atNs, long number, Runnable what) {}

    /** Says which packets between two addresses are lost, besides those by chance. */
    BiPredicate<InetSocketAddress, InetSocketAddress> cut = (from, to) -> false;

    private final PriorityQueue<Event> events = new PriorityQueue<>((one, other) ->
            one.atNs != other.atNs ? Long.compare(one.atNs, other.atNs) : Long.compare(one.number, other.number));
    private final Map<InetSocketAddress, VirtualNode> nodes = new HashMap<>();
    private final Map<InetSocketAddress, List<Packet>> receivers = new HashMap<>();
    private final Random random;
    private final double loss;
    private long nowNs;
    private long numbered;

    VirtualNetwork(long seed, double loss) {
        this.random = new Random(seed);
        this.loss = loss;
    }

    static InetSocketAddress address(String text) {
        int colon = text.lastIndexOf(':');
        return new InetSocketAddress(text.substring(0, colon), Integer.parseInt(text.substring(colon + 1)));
    }

    /** Adds a node. */
    VirtualNode node(String address, Map<String, String> config) {
        VirtualNode node = new VirtualNode(this, address(address), new Random(random.nextLong()));
        nodes.put(node.address, node);
        node.start(config);
        return node;
    }

    /** Adds a plain receiver, to which nothing is lost. Returns what it gets. */
    List<Packet> receiver(String address) {
        return receivers.computeIfAbsent(address(address), key -> new ArrayList<>());
    }

    void at(long delayNs, Runnable what) {
        events.add(new Event(nowNs + delayNs, numbered++, what));
    }

    long nowNs() {
        return nowNs;
    }

    /** Lets time pass. */
    void run(Duration time) {
        long untilNs = nowNs + time.toNanos();
        while (!events.isEmpty() && events.peek().atNs <= untilNs) {
            Event event = events.remove();
            nowNs = event.atNs;
            event.what.run();
        }
        nowNs = untilNs;
    }

    private void carry(VirtualNode from, InetSocketAddress to, Packet packet) {
        List<Packet> receiver = receivers.get(to);
        if (receiver != null) {
            receiver.add(packet);
            return;
        }
        from.sent(packet);
        if (random.nextDouble() < loss || cut.test(from.address, to)) {
            from.lost(to, packet);
            return;
        }
        at(LEAST_DELAY_NS + random.nextInt(JITTER_NS), () -> {
            VirtualNode node = nodes.get(to);
            if (node != null) {
                node.give(packet);
            }
        });
    }

    /** One node. */
    static final class VirtualNode implements ServiceHost, PacketSpace {
        final InetSocketAddress address;
        /** Numbers of data that left here for the first time and were lost, on any way. */
        final Set<String> lost = new HashSet<>();
        /** Data and repairs that left here and were lost. */
        long lostCopies;
        /** Drops by reason. */
        final Map<String, Long> drops = new TreeMap<>();

        long in;
        long made;
        long out;
        long consumed;

        private final VirtualNetwork network;
        private final Multicast service;
        private final ByteBuffer received = ByteBuffer.allocateDirect(1 << 16);
        private final ByteBuffer space = ByteBuffer.allocateDirect(1 << 17);
        private final PacketLoan loan = new PacketLoan(Anep.DEFAULT_TYPE_ID, this);
        private final Map<String, Counter> counters = new HashMap<>();
        private final MulticastHeader head = new MulticastHeader();
        private @Nullable InetSocketAddress elsewhere;
        private int timers;
        private boolean hasEnded;

        private VirtualNode(VirtualNetwork network, InetSocketAddress address, Random random) {
            this.network = network;
            this.address = address;
            this.service = new Multicast(random);
        }

        private void start(Map<String, String> config) {
            service.attach(this);
            service.init(new ServiceConfig(config));
        }

        long count(String counter) {
            return counter(counter).get();
        }

        Map<String, Long> counts() {
            Map<String, Long> counts = new TreeMap<>();
            counters.forEach((name, counter) -> counts.put(name, counter.get()));
            return counts;
        }

        /** Gives it a packet, now. */
        void give(Packet packet) {
            in++;
            packet.copyTo(received, 0);
            Packet own = loan.packet();
            if (own.parse(received, 0, packet.length()) != null) {
                throw new AssertionError("no packet arrived");
            }
            loan.lend();
            Verdict verdict = service.process(own);
            if (loan.takeBack() != null) {
                throw new AssertionError("not a packet any more");
            }
            own.seal();
            switch (verdict) {
                case FORWARD_ELSEWHERE -> leave(own.copy(), elsewhere);
                case CONSUME -> consumed++;
                case DROP -> {}
                default -> throw new AssertionError(verdict);
            }
        }

        void end() {
            service.endOfStream();
            hasEnded = true;
            network.nodes.remove(address);
        }

        private void leave(Packet packet, @Nullable InetSocketAddress to) {
            if (to == null) {
                throw new AssertionError("a packet that goes nowhere");
            }
            out++;
            network.carry(this, to, packet);
        }

        private void sent(Packet packet) {
            if (new Packet().parse(packet.buffer(), packet.offset(), packet.length()) != null) {
                throw new AssertionError("no packet left");
            }
        }

        private void lost(InetSocketAddress to, Packet packet) {
            head.read(packet);
            if (head.kind() == MulticastHeader.DATA || head.kind() == MulticastHeader.REPAIR) {
                lostCopies++;
                lost.add(head.session() + "." + head.sequence());
            }
        }

        @Override
        public boolean emit(Packet packet, @Nullable InetSocketAddress destination) {
            made++;
            leave(packet.copy(), destination);
            return true;
        }

        @Override
        public void elsewhere(InetSocketAddress destination) {
            elsewhere = destination;
        }

        @Override
        public void dropping(String reason) {
            drops.merge(reason, 1L, Long::sum);
        }

        @Override
        public void schedule(Duration delay, Runnable task) {
            timers++;
            if (timers > 64) {
                throw new AssertionError("timers at once");
            }
            network.at(delay.toNanos(), () -> {
                timers--;
                if (!hasEnded) {
                    task.run();
                }
            });
        }

        @Override
        public boolean execute(Runnable task) {
            network.at(0, task);
            return true;
        }

        @Override
        public long nanoTime() {
            return network.nowNs;
        }

        @Override
        public Counter counter(String name, Counter.Kind kind) {
            return counters.computeIfAbsent(name, own -> new Counter(own, kind));
        }

        @Override
        public Counter counter(String name) {
            return counters.computeIfAbsent(name, Counter::new);
        }

        @Override
        public StreamInfo stream() {
            return new StreamInfo(StreamInfo.Transport.UDP, null, address);
        }

        @Override
        public ByteBuffer reserve(int octets) {
            return space.clear();
        }

        @Override
        public void commit(int octets) {}

        @Override
        public void run(Service service) {}

        @Override
        public Offload offload(Flow flow, Policy policy) {
            throw new UnsupportedOperationException();
        }

        @Override
        public boolean isOffloaded() {
            return false;
        }

        @Override
        public void droppedBelow(String reason, long packets) {}

        @Override
        public FormatSource formats() {
            return FormatSource.of(new FormatRegistry(1, 1 << 10));
        }

        @Override
        public @Nullable ServiceControl control() {
            return null;
        }
    }
}
