package org.tamanoir.cluster;

import com.google.common.util.concurrent.Uninterruptibles;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.cluster.config.Bounds;
import org.tamanoir.cluster.config.Welcome;
import org.tamanoir.cluster.lvs.ClusterException;
import org.tamanoir.deploy.HttpCalls;
import org.tamanoir.deploy.PublisherKey;
import org.tamanoir.tls.TlsFiles;

/**
 * A node as a back-end of a cluster: registers with every director again and again, sets its host up, deploys what the
 * directors want. Directors that fail, or say what cannot be, are told of and asked again; the node goes on.
 *
 * <pre>
 *   join   ask all directors; take the first answer, else the remembered one, else none; set the host up
 *   serve  the node listens: deploy what is wanted, look at the host now and then
 *   leave  tell all directors, wait until they know: no new streams come from then on
 *   drain  wait until those that there are have ended
 *   close  end, take the host's set-up back
 * </pre>
 *
 * <p>Thread contract: one thread calls {@link #join}, {@link #serve}, {@link #leave}, {@link #drain} and {@link #close} in
 * this order; {@link #status} is any thread's. One thread of its own registers, one for each director waits for its
 * answers, another deploys and looks at the host.
 */
public final class Membership implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Membership.class);
    /** The longest that a thread waits without looking what there is to do. */
    private static final long MAX_PAUSE_NS = Duration.ofSeconds(1).toNanos();

    private static final Duration CLOSE_PATIENCE = Duration.ofMillis(2_000);
    private static final int MAX_FINDINGS = 32;

    /** Puts a service to work. */
    public interface Deployer {
        /**
         * Blocks until it is done, in bounded time.
         *
         * @param service {@code name:version}, or a name for the newest version
         * @return {@code name:version}, or the name of one that the node has without a version
         * @throws ClusterException in one line, if it cannot be done now
         */
        String deploy(String service) throws ClusterException;
    }

    private final MembershipSettings settings;
    private final List<MembershipLink> links = new ArrayList<>();
    private final MembershipMemory memory;
    private final MembershipHost host;
    private final MembershipRoute route;
    private final MembershipServices services = new MembershipServices();
    private final Thread registrar = new Thread(this::register, "cluster-register");
    private final Thread worker = new Thread(this::work, "cluster-work");
    private final HttpCalls senders;
    private final MembershipSignal signal = new MembershipSignal();

    private volatile boolean closed;
    private volatile boolean leaves;
    private volatile @Nullable Deployer deployer;
    private volatile MembershipPorts ports = MembershipPorts.NOT_YET;
    /** What the directors said first, or what is remembered. */
    private volatile @Nullable Welcome known;

    private volatile boolean remembered;
    private volatile Welcome.Code code = new Welcome.Code(List.of(), List.of(), List.of());
    private volatile List<String> publisherIds = List.of();

    /**
     * Makes a membership that is not begun; opens nothing.
     *
     * @throws IOException in one line, if a TLS file is no good
     */
    public Membership(MembershipSettings settings) throws IOException {
        this.settings = settings;
        memory = new MembershipMemory(settings.folder().resolve("cluster.json"));
        host = new MembershipHost(settings.setUp(), settings.folder().resolve("host-set-up"));
        TlsFiles tls = settings.tls();
        senders = new HttpCalls(
                "cluster-send",
                HttpCalls.client(tls == null ? null : tls.context())
                        .proxy(HttpClient.Builder.NO_PROXY)
                        .connectTimeout(settings.timing().requestTimeout()));
        RandomGenerator random = new SplittableRandom(new SecureRandom().nextLong());
        for (URI director : settings.directors()) {
            MembershipPace pace = new MembershipPace(settings.timing().maxBackOff(), System.nanoTime(), random);
            links.add(new MembershipLink(director, settings, senders, pace, signal::wake));
        }
        route = new MembershipRoute(settings.networkInterface(), links);
        registrar.setDaemon(true);
        worker.setDaemon(true);
    }

    /**
     * Registers, and waits for what the directors say, for as long as the settings allow; then sets the host up. Before
     * the node opens its sockets, which may want an address that it has from here.
     */
    public void join() {
        Welcome before = memory.read();
        registrar.start();
        signal.awaitUntil(
                settings.timing().joinPatience(),
                () -> known != null || links.stream().allMatch(MembershipLink::refuses));
        Welcome first = known;
        if (first == null && before != null) {
            LOG.warn("no director answers: the node starts with what they said before");
            remembered = true;
            known = before;
            first = before;
        }
        if (first == null) {
            LOG.warn("no director answers: the node starts without the cluster's code sources and host set-up");
            return;
        }
        code = first.code();
        publisherIds = code.publishers().stream()
                .map(each -> PublisherKey.parse(each.key()).id())
                .toList();
        want();
        setUpHost(first);
    }

    /** Returns where services come from by the cluster's word, from {@link #join} on; the same until the node ends. */
    public Welcome.Code code() {
        return code;
    }

    /**
     * The node has begun to listen.
     *
     * @param tcp with the real ports, those of TLS among them
     * @param udp with the real ports
     */
    public void serve(Deployer wayToDeploy, List<InetSocketAddress> tcp, List<InetSocketAddress> udp) {
        ports = new MembershipPorts(tcp, udp);
        deployer = wayToDeploy;
        Welcome last = known;
        if (last != null) {
            ports.findings(last.services()).forEach(finding -> LOG.warn("cluster: {}", finding));
        }
        worker.start();
        signal.tellNews();
    }

    /**
     * Tells all directors that the node leaves; returns when they know, in bounded time. The node has to go on listening
     * until then: what they sent before is on its way.
     */
    public void leave() {
        if (leaves || !registrar.isAlive()) {
            return;
        }
        leaves = true;
        links.forEach(MembershipLink::leave);
        signal.tellNews();
        if (!signal.awaitUntil(
                settings.timing().leavePatience(), () -> links.stream().allMatch(MembershipLink::hasConfirmed))) {
            LOG.warn("not every director has confirmed that this node leaves; new streams from there are refused");
        }
    }

    /**
     * Waits, after {@link #leave}, until no director has streams for this node any more. The node has to go on meanwhile:
     * of a UDP stream it cannot see itself whether there is more to come.
     *
     * @return what is left of the deadline, a quarter of it at least
     */
    public Duration drain(Duration deadline) {
        if (!leaves) {
            return deadline;
        }
        long startNs = System.nanoTime();
        signal.awaitUntil(
                deadline.multipliedBy(3).dividedBy(4), () -> links.stream().noneMatch(MembershipLink::hasStreams));
        Duration left = deadline.minusNanos(System.nanoTime() - startNs);
        Duration least = deadline.dividedBy(4);
        return left.compareTo(least) < 0 ? least : left;
    }

    /** Ends the membership, and takes back what was done to the host. */
    @Override
    public void close() {
        closed = true;
        signal.close();
        for (Thread thread : List.of(registrar, worker)) {
            thread.interrupt();
            Uninterruptibles.joinUninterruptibly(thread, CLOSE_PATIENCE);
        }
        senders.close();
        host.undo();
    }

    private void register() {
        MembershipLink.Listener listener = this::answered;
        while (!closed) {
            try {
                long seen = signal.signals();
                boolean news = signal.takeNews();
                long nowNs = System.nanoTime();
                long leftNs = MAX_PAUSE_NS;
                for (MembershipLink link : links) {
                    if (news) {
                        link.hurry(nowNs);
                    }
                    leftNs = Math.min(leftNs, link.step(nowNs, this::registration, listener));
                }
                signal.pause(seen, leftNs);
            } catch (InterruptedException e) {
                if (closed) { // Else it is a service of this JVM that interrupts: ignored.
                    Thread.currentThread().interrupt();
                    return;
                }
            } catch (RuntimeException | Error e) {
                // Whatever it is: a node that is no longer registered would be worse off.
                LOG.error("registration: {}", e.toString(), e);
            }
        }
    }

    /** @param welcome null = one that helps has not come */
    private void answered(@Nullable Welcome welcome) {
        if (welcome == null) {
            signal.wake(); // join and leave look at it.
            return;
        }
        if (known == null) {
            known = welcome;
        }
        memory.write(welcome);
        want();
        signal.wake();
    }

    private void want() {
        Set<String> wanted = new LinkedHashSet<>();
        boolean anyAnswered = false;
        for (MembershipLink link : links) {
            Welcome last = link.welcome();
            if (last != null) {
                anyAnswered = true;
                wanted.addAll(last.code().services());
            }
        }
        Welcome before = known;
        if (!anyAnswered && before != null) {
            wanted.addAll(before.code().services());
        }
        if (services.want(wanted, System.nanoTime())) {
            signal.wake();
        }
    }

    private Registration registration(InetAddress local) {
        List<String> findings = new ArrayList<>(host.state().findings());
        findings.addAll(problems());
        return new Registration(
                settings.address(),
                settings.adminAt(local),
                settings.weight(),
                leaves,
                findings.subList(0, Math.min(findings.size(), MAX_FINDINGS)),
                services.deployed());
    }

    private void work() {
        long lookNs = System.nanoTime();
        while (!closed) {
            try {
                long seen = signal.signals();
                long nowNs = System.nanoTime();
                Welcome first = known;
                if (first != null && host.services() == null) {
                    setUpHost(first); // The first director that answered since the node started without one.
                    signal.tellNews();
                }
                if (nowNs - lookNs >= settings.timing().lookInterval().toNanos()) {
                    lookNs = nowNs;
                    host.look();
                }
                String service = leaves ? null : services.next(nowNs);
                if (service == null) {
                    signal.pause(seen, MAX_PAUSE_NS);
                } else {
                    deploy(service);
                }
            } catch (InterruptedException e) {
                if (closed) { // Else it is a service of this JVM that interrupts: ignored.
                    Thread.currentThread().interrupt();
                    return;
                }
            } catch (RuntimeException | Error e) {
                LOG.error("cluster: {}", e.toString(), e);
            }
        }
    }

    private void deploy(String service) {
        Deployer to = deployer;
        if (to == null) {
            return;
        }
        try {
            String version = to.deploy(service);
            services.deployed(service, version);
            LOG.info("{} is deployed, as the directors want", version);
        } catch (ClusterException | RuntimeException e) {
            String why = Bounds.reason(e);
            services.failed(service, why, System.nanoTime());
            LOG.warn("{} is not deployed, as the directors want: {}", service, why);
        }
        signal.tellNews();
    }

    private void setUpHost(Welcome welcome) {
        String through = route.networkInterface();
        if (through != null) {
            host.take(welcome.services(), through, route.directorsThrough(through));
        }
    }

    /** Returns whether one of the directors is at this address, by what its name meant when it was last looked up. */
    public boolean isDirector(InetAddress from) {
        return links.stream().anyMatch(link -> link.isAt(from));
    }

    /** Returns what the node knows. */
    public MembershipStatus status() {
        List<Welcome.Served> served = host.services();
        MembershipStatus.HostState setUp = host.state();
        List<String> all = new ArrayList<>(setUp.findings());
        all.addAll(problems());
        return new MembershipStatus(
                settings.name(),
                leaves,
                links.stream().map(MembershipLink::status).toList(),
                served == null ? List.of() : served,
                setUp,
                services.status(),
                new MembershipStatus.Code(code.repositories(), publisherIds, remembered),
                all);
    }

    /** Returns what an operator has to know beside what the host lacks. */
    private List<String> problems() {
        List<Welcome> said = new ArrayList<>();
        for (MembershipLink link : links) {
            Welcome last = link.welcome();
            if (last != null) {
                said.add(last);
            }
        }
        return new MembershipProblems(code, host.services(), ports).of(said, services.status());
    }
}
