package org.tamanoir.kernel;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.nodeos.Flow;
import org.tamanoir.nodeos.Level;
import org.tamanoir.nodeos.LevelException;
import org.tamanoir.nodeos.LevelStatus;
import org.tamanoir.nodeos.NodeOs;
import org.tamanoir.nodeos.Offload;
import org.tamanoir.nodeos.Policy;
import org.tamanoir.routing.Addresses;

/**
 * The levels of this host for one node: puts the way up, the drivers and the policies together.
 *
 * <p>Thread contract: as {@link NodeOs} says.
 */
final class KernelLevels implements NodeOs {
    private static final Logger LOG = LoggerFactory.getLogger(KernelLevels.class);

    /** As long as a socket's buffer holds what comes up meanwhile, at 100,000 packets a second. */
    private static final long LEAVING_NS = TimeUnit.MILLISECONDS.toNanos(50);
    /** Between looks. */
    private static final long LOOK_NS = 200_000;

    private final KernelConfig config;
    private final @Nullable InstanceLock instance;
    private final AttachedLevels levels;
    private final Slots slots = new Slots();
    private final Reconciler reconciler = new Reconciler(new UsedSlot.Intake() {
        @Override
        public long arrived(int slot) {
            return slots.arrived(slot);
        }

        @Override
        public boolean isEmpty() {
            return sockets.areEmpty();
        }
    });
    private final Policies policies;
    private volatile int upMark;
    private volatile UpSockets sockets = new UpSockets(Set.of());
    private Set<Integer> tcpPorts = Set.of();
    private @Nullable WayUp wayUp;
    private @Nullable LevelsThread thread;
    private boolean isClosed;

    /**
     * @param instance the right to a number; null if no level can be attached
     * @param reasons for the levels that cannot
     */
    KernelLevels(KernelConfig config, @Nullable InstanceLock instance, Map<Level, String> reasons) {
        this.config = config;
        this.instance = instance;
        levels = new AttachedLevels(reasons);
        policies = new Policies(levels, slots, reconciler, Grace::await, config.unknownUp());
    }

    @Override
    public List<LevelStatus> levels() {
        return levels.statuses();
    }

    @Override
    public synchronized void attach(List<InetSocketAddress> udp, List<InetSocketAddress> tcp, int typeId)
            throws LevelException {
        if (isClosed || wayUp != null) {
            throw new LevelException("the levels of this node were " + (isClosed ? "closed" : "attached") + " before");
        }
        Set<Integer> udpPorts = wildcardPorts("UDP", udp);
        Set<Integer> tcpPorts = wildcardPorts("TCP", tcp);
        if (udpPorts.isEmpty() && tcpPorts.isEmpty()) {
            throw new LevelException("no socket of the node takes packets for other hosts, it listens on "
                    + addresses(udp, tcp) + ": listen on *:PORT, as in *:3322");
        }
        if (instance == null) {
            throw new LevelException("no level can be used: " + levels.reasonsInOneLine());
        }
        int mark = AbiEncoder.upMark(instance.number());
        ByteBuffer hook = AbiEncoder.hook(mark, typeId, udpPorts, tcpPorts, config.unknownUp());
        WayUp opened = openWayUp();
        boolean isAttached = false;
        try {
            opened.make(instance.number());
            Set<InetAddress> locals = readAddresses(opened);
            isAttached = levels.attach(
                    instance.number(),
                    config.interfaces(),
                    hook,
                    AbiEncoder.addresses(locals.stream().limit(Abi.MAX_LOCALS).toList()));
            if (!isAttached) {
                throw new LevelException("no level can be used: " + levels.reasonsInOneLine());
            }
            policies.begin(locals);
        } finally {
            if (!isAttached) {
                removeWayUp(opened, instance.number());
                opened.close();
            }
        }
        wayUp = opened;
        this.tcpPorts = tcpPorts;
        sockets = new UpSockets(udpPorts);
        upMark = mark;
        thread = new LevelsThread(opened, levels, policies, reconciler);
        thread.start();
    }

    private static Set<Integer> wildcardPorts(String protocol, List<InetSocketAddress> sockets) throws LevelException {
        Set<Integer> ports = sockets.stream()
                .filter(socket -> socket.getAddress().isAnyLocalAddress())
                .map(InetSocketAddress::getPort)
                .collect(Collectors.toCollection(TreeSet::new));
        if (ports.size() > Abi.MAX_PORTS) {
            throw new LevelException(
                    ports.size() + " " + protocol + " ports: levels look at no more than " + Abi.MAX_PORTS);
        }
        return ports;
    }

    private static String addresses(List<InetSocketAddress> udp, List<InetSocketAddress> tcp) {
        return java.util.stream.Stream.concat(udp.stream(), tcp.stream())
                .map(Addresses::text)
                .distinct()
                .collect(Collectors.joining(", "));
    }

    private static WayUp openWayUp() throws LevelException {
        try {
            return WayUp.open();
        } catch (NetlinkException refused) {
            throw new LevelException("way up: " + refused.getMessage(), refused);
        }
    }

    private static Set<InetAddress> readAddresses(WayUp wayUp) throws LevelException {
        try {
            return wayUp.addresses();
        } catch (NetlinkException refused) {
            throw new LevelException("addresses of this host: " + refused.getMessage(), refused);
        }
    }

    private static void removeWayUp(WayUp wayUp, int number) {
        try {
            wayUp.remove(number);
        } catch (NetlinkException refused) {
            LOG.warn("levels: way up: {}", refused.getMessage());
        }
    }

    @Override
    public int upMark() {
        return upMark;
    }

    @Override
    public void arrived(int slot, long packets) {
        slots.arrived(slot, packets);
    }

    @Override
    public boolean isAwaited(int slot) {
        return slots.isAwaited(slot);
    }

    @Override
    public void awaitPassed() {
        if (upMark != 0) {
            Grace.await();
        }
    }

    @Override
    public void awaitLeft() {
        if (upMark == 0) {
            return;
        }
        long endNs = System.nanoTime() + LEAVING_NS;
        try (DeviceQueues queues = new DeviceQueues()) {
            long leftNs = LEAVING_NS;
            while (leftNs > 0 && !queues.areThrough((int) TimeUnit.NANOSECONDS.toMillis(leftNs))) {
                LockSupport.parkNanos(LOOK_NS);
                leftNs = endNs - System.nanoTime();
            }
        } catch (NetlinkException refused) {
            LOG.debug("levels: queues of devices: {}", refused.getMessage());
        }
    }

    @Override
    public BooleanSupplier awaitRead() {
        return sockets.awaitRead();
    }

    @Override
    public void settled(int slot, long packets) {
        LevelDriver owner = slots.owner(slot);
        if (owner != null) {
            owner.settled(slot, packets);
        }
    }

    @Override
    public void lost(long packets) {
        reconciler.lost(packets);
    }

    @Override
    public Offload offload(List<Long> serviceKeys, Flow flow, Policy policy, Set<Level> allowed, boolean isOrdered)
            throws LevelException {
        return policies.place(serviceKeys, flow, policy, allowed, isOrdered);
    }

    @Override
    public void move(Offload offload, Policy policy, Set<Level> allowed, boolean isOrdered) throws LevelException {
        if (offload instanceof KernelOffload ours) {
            policies.move(ours, policy, allowed, isOrdered);
        }
    }

    @Override
    public void follow(Offload offload, List<Long> serviceKeys) throws LevelException {
        if (offload instanceof KernelOffload ours) {
            policies.follow(ours, serviceKeys);
        }
    }

    @Override
    public void caughtUp(Offload offload) {
        if (offload instanceof KernelOffload ours) {
            ours.slot().release();
        }
    }

    @Override
    public boolean passesUnknown() {
        return !config.unknownUp();
    }

    @Override
    public List<Offload> offloads() {
        return policies.offloads();
    }

    @Override
    public synchronized void release() {
        if (!isClosed && wayUp != null) {
            policies.look(AbiEncoder.hook(upMark, 0, Set.of(), tcpPorts, false));
        }
    }

    /**
     * Levels stop looking at packets first, which from then on cross the host as if there were no node; then counts are
     * read, then all is taken away, and last the way up: what had been marked before has long come up it.
     */
    @Override
    public synchronized void close() {
        if (isClosed) {
            return;
        }
        isClosed = true;
        if (thread != null) {
            thread.stop();
        }
        policies.close(AbiEncoder.hook(upMark, 0, Set.of(), Set.of(), false));
        upMark = 0;
        if (wayUp != null && instance != null) {
            removeWayUp(wayUp, instance.number());
            wayUp.close();
        }
        if (instance != null) {
            instance.close();
        }
    }
}
