package org.tamanoir.kernel;

import com.google.common.util.concurrent.Uninterruptibles;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.anep.PlainGenerations;
import org.tamanoir.nodeos.LevelException;
import org.tamanoir.plain.PlainMatch;
import org.tamanoir.plain.PlainRule;
import org.tamanoir.plain.PlainRules;
import org.tamanoir.plain.PlainTraffic;

/**
 * Plain datagrams and connections of this host for one node: the program that finds them, the way up that is marked for them, and a
 * thread that tells the program that the node is alive.
 *
 * <p>Thread contract: as {@link PlainTraffic} says.
 */
final class KernelPlain implements PlainTraffic {
    private static final Logger LOG = LoggerFactory.getLogger(KernelPlain.class);
    private static final Path FORWARDS_V4 = Path.of("/proc/sys/net/ipv4/ip_forward");
    private static final Path FORWARDS_V6 = Path.of("/proc/sys/net/ipv6/conf/all/forwarding");
    /** A fifth of what the program waits for. */
    private static final long BEAT_NS = PlainAbi.STALE_NS / 5;

    private static final int BEATS_PER_ADDRESSES = 5;
    private static final Duration PATIENCE = Duration.ofSeconds(5);

    private final List<String> interfaces;
    private final @Nullable InstanceLock instance;
    private final AtomicLong lost = new AtomicLong();
    private volatile PlainRules rules;
    private volatile String detail;
    private volatile boolean isAttached;
    private volatile boolean isReleased;
    private final int alertsPerSecond;
    private int port4;
    private int port6;
    private boolean isHeld;
    private PlainPlaces places = PlainPlaces.NONE;
    private @Nullable PlainDriver driver;
    private @Nullable WayUp wayUp;
    private @Nullable Thread thread;

    /**
     * @param instance the right to a number; null if nothing can be attached
     * @param whyNot the reason then, with its remedy
     */
    KernelPlain(PlainConfig config, @Nullable InstanceLock instance, String whyNot) {
        this.interfaces = config.interfaces();
        this.rules = config.rules();
        this.alertsPerSecond = config.alertsPerSecond();
        this.instance = instance;
        this.detail = whyNot;
    }

    @Override
    public PlainRules rules() {
        return rules;
    }

    @Override
    public int upMark() {
        return instance == null ? 0 : AbiEncoder.upMark(instance.number());
    }

    @Override
    public int sentMark() {
        return PlainAbi.SENT;
    }

    @Override
    public void notAttached(String why) {
        detail = why;
    }

    @Override
    public synchronized void attach(@Nullable InetSocketAddress v4, @Nullable InetSocketAddress v6, Listening listening)
            throws LevelException {
        if (instance == null) {
            throw new LevelException(detail);
        }
        if (wayUp != null || isReleased) {
            throw new LevelException("plain IP was attached, or closed, before");
        }
        port4 = v4 != null && isSet(FORWARDS_V4) ? v4.getPort() : 0;
        port6 = v6 != null && isSet(FORWARDS_V6) ? v6.getPort() : 0;
        if (port4 == 0 && port6 == 0) {
            throw new LevelException("this host forwards no packets: sysctl -w net.ipv4.ip_forward=1,"
                    + " and net.ipv6.conf.all.forwarding=1 for IPv6");
        }
        if (port4 != 0) {
            refuseMarkedSources();
        }
        PlainDriver loaded = new PlainDriver(instance.number());
        WayUp opened = null;
        try {
            opened = WayUp.open();
            opened.make(instance.number());
            loaded.locals(opened.addresses());
            fill(loaded, places.next(rules), alertsPerSecond, 0, listening);
            loaded.rules().turn();
            loaded.beat(System.nanoTime()); // CLOCK_MONOTONIC, which the program reads too
            loaded.attach(interfaces);
        } catch (NetlinkException | LevelException e) {
            loaded.close();
            close(opened);
            throw e instanceof LevelException refused ? refused : new LevelException("plain IP: " + e.getMessage(), e);
        }
        driver = loaded;
        wayUp = opened;
        places = places.next(rules);
        isAttached = true;
        detail = "tc on " + String.join(", ", interfaces) + families(port4, port6);
        LOG.info("plain IP: {} rules, {}", rules.rules().size(), detail);
        WayUp reads = opened;
        Thread beats = new Thread(() -> beat(loaded, reads), "plain");
        beats.setDaemon(true);
        beats.start();
        thread = beats;
    }

    /** Fills what is not in force, and returns whether connections of rules that leave are asked for then. */
    private boolean fill(PlainDriver loaded, PlainPlaces next, int alertsPerSecond, int generation, Listening listening)
            throws LevelException {
        boolean holds = isHeld;
        for (PlainRule rule : rules.rules()) {
            if (rule.match().protocol() == PlainMatch.Protocol.TCP
                    && !next.rules().rules().contains(rule)) {
                loaded.rules().hold(rule.match().firstPort(), rule.match().lastPort());
                holds = true;
            }
        }
        for (int place : next.fresh()) {
            loaded.clear(place);
        }
        int mark = upMark() | generation << PlainGenerations.MARK_SHIFT;
        PlainTables tables = new PlainTables(next.rules());
        ByteBuffer hook = tables.hook(mark, port4, port6, listening, alertsPerSecond);
        hook.putShort(PlainAbi.HookStruct.HELD, (short) (holds ? 1 : 0));
        loaded.rules().fill(tables, next.putInto(hook));
        return holds;
    }

    @Override
    public synchronized Staged stage(PlainRules wanted, int alertsPerSecond, int generation, Listening listening)
            throws LevelException {
        PlainDriver attached = driver;
        if (attached == null) {
            return () -> rules = wanted;
        }
        PlainPlaces next = places.next(wanted);
        boolean holds = fill(attached, next, alertsPerSecond, generation, listening);
        return () -> turn(next, holds);
    }

    private synchronized void turn(PlainPlaces next, boolean holds) throws LevelException {
        PlainDriver attached = driver;
        if (attached == null) {
            throw new LevelException("plain IP was closed meanwhile");
        }
        attached.rules().turn();
        isHeld = holds;
        places = next;
        rules = next.rules();
        LOG.info("plain IP: {} rules, {}", rules.rules().size(), detail);
    }

    /** Where sources are looked up with the mark too, they would seem to be this host, and what goes up would be dropped. */
    private void refuseMarkedSources() throws LevelException {
        List<String> names = new ArrayList<>(List.of("all"));
        names.addAll(interfaces);
        for (String name : names) {
            if (isSet(Path.of("/proc/sys/net/ipv4/conf", name, "src_valid_mark"))) {
                throw new LevelException(
                        "net.ipv4.conf." + name + ".src_valid_mark is 1, by which the kernel drops what"
                                + " rules send up: sysctl -w net.ipv4.conf." + name + ".src_valid_mark=0");
            }
        }
    }

    private static String families(int port4, int port6) {
        if (port4 != 0 && port6 != 0) {
            return "";
        }
        return port4 == 0
                ? "; IPv6 alone: IPv4 is not forwarded here (sysctl net.ipv4.ip_forward)"
                : "; IPv4 alone: IPv6 is not there or not forwarded (sysctl net.ipv6.conf.all.forwarding)";
    }

    private static boolean isSet(Path setting) {
        try {
            return !Files.readString(setting).strip().equals("0");
        } catch (IOException absent) {
            return false;
        }
    }

    private void beat(PlainDriver driver, WayUp reads) {
        for (int beats = 1; !isReleased; beats++) {
            LockSupport.parkNanos(BEAT_NS);
            try {
                synchronized (driver) {
                    if (!isReleased) {
                        driver.beat(System.nanoTime());
                    }
                }
                if (beats % BEATS_PER_ADDRESSES == 0 && !isReleased) {
                    driver.locals(reads.addresses());
                }
            } catch (NetlinkException | LevelException refused) {
                LOG.warn("plain IP: addresses of this host: {}", refused.getMessage());
            } catch (RuntimeException | Error fault) {
                LOG.error("plain IP: a fault of the node; it goes on", fault);
            }
        }
    }

    @Override
    public void lost(long datagrams) {
        lost.addAndGet(datagrams);
    }

    @Override
    public synchronized Status status() {
        PlainDriver attached = driver;
        if (attached == null) {
            return new Status(false, detail, Map.of(), List.of(), lost.get());
        }
        try {
            List<RuleCount> counts = new ArrayList<>();
            for (int place : places.places()) {
                counts.add(attached.count(place));
            }
            return new Status(isAttached && !isReleased, detail, attached.met(), counts, lost.get());
        } catch (LevelException refused) {
            return new Status(false, String.valueOf(refused.getMessage()), Map.of(), List.of(), lost.get());
        }
    }

    @Override
    public synchronized void release() {
        isReleased = true;
        PlainDriver attached = driver;
        if (attached != null) {
            synchronized (attached) {
                attached.beat(System.nanoTime() - 2 * PlainAbi.STALE_NS);
            }
        }
    }

    @Override
    public synchronized void close() {
        release();
        Thread beats = thread;
        if (beats != null) {
            thread = null;
            LockSupport.unpark(beats);
            Uninterruptibles.joinUninterruptibly(beats, PATIENCE);
        }
        PlainDriver attached = driver;
        if (attached != null) {
            driver = null;
            attached.close();
            detail = "closed";
        }
        close(wayUp);
        wayUp = null;
        if (instance != null) {
            instance.close();
        }
    }

    /** Takes the way up away: what was marked before has long come up it. */
    private void close(@Nullable WayUp way) {
        if (way == null || instance == null) {
            return;
        }
        try {
            way.remove(instance.number());
        } catch (NetlinkException refused) {
            LOG.warn("plain IP: way up: {}", refused.getMessage());
        }
        way.close();
    }
}
