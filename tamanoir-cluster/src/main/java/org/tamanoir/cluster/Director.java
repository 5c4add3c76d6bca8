package org.tamanoir.cluster;

import java.net.InetAddress;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.cluster.config.DirectorConfig;
import org.tamanoir.cluster.config.Welcome;
import org.tamanoir.cluster.lvs.ClusterException;
import org.tamanoir.cluster.lvs.Ipvs;
import org.tamanoir.cluster.lvs.LvsTable;
import org.tamanoir.cluster.lvs.Ownership;
import org.tamanoir.cluster.lvs.Plan;
import org.tamanoir.cluster.lvs.Planner;
import org.tamanoir.cluster.lvs.VirtualAddress;

/**
 * The front-end's control: asks back-ends for their health and load, and keeps the kernel's table as it follows from
 * that. The kernel forwards; nothing of a packet passes here, and when the director ends or dies streams go on.
 *
 * <p>Thread contract: any thread. One thread of its own decides and changes the table, a few ask the back-ends: all in
 * the network namespace of the thread that called {@link #start}.
 */
public final class Director implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Director.class);

    private final DirectorConfig config;
    private final Ipvs ipvs;
    private volatile Map<URI, String> authorizations = Map.of();
    /** Null until it is started. */
    private volatile @Nullable DirectorLoop loop;

    /** Makes a director that is not started; opens nothing. */
    public Director(DirectorConfig config, Ipvs ipvs) {
        this.config = config;
        this.ipvs = ipvs;
    }

    /**
     * Shows nodes these tokens from the next question on: to nobody else, whatever address a node registers.
     *
     * @param byAdminApi the header {@code Authorization} for a listed back-end, by the address of its admin API
     */
    public void authorizations(Map<URI, String> byAdminApi) {
        authorizations = Map.copyOf(byAdminApi);
    }

    /**
     * Returns what a start with this configuration would change, taking listed back-ends as they answer now and those
     * that registered as the state folder remembers them. Changes nothing.
     */
    public static Plan plan(DirectorConfig config, Ipvs ipvs) throws ClusterException {
        Set<VirtualAddress> owned = Ownership.look(config.stateFolder());
        LvsTable actual = ipvs.read();
        LvsTable known = LvsTable.of(actual.services().values().stream()
                .filter(service -> owned.contains(service.at()))
                .toList());
        Roster roster = new Roster(
                config,
                StateFile.open(config.stateFolder()).saved(),
                Roster.weights(known),
                System.nanoTime(),
                Instant.now());
        askOnce(config, roster);
        return Planner.plan(WantedTable.of(config.services(), roster.places()), actual, owned);
    }

    /** Takes in whoever is ready. */
    private static void askOnce(DirectorConfig config, Roster roster) throws ClusterException {
        try (NodeQuestions questions = new NodeQuestions(config.name(), config.tls())) {
            Map<Member, CompletableFuture<NodeQuestions.Answer>> asked = new HashMap<>();
            for (Member member : roster.members()) {
                if (member.health.state() == BackEndState.JOINING) {
                    asked.put(
                            member,
                            questions.get(
                                    member.backEnd.admin(),
                                    "/ready",
                                    config.health().timeout(),
                                    NodeAnswers.MAX_READY_BYTES));
                }
            }
            asked.forEach((member, answer) -> {
                boolean ready = answer.handle((done, error) -> done != null && NodeAnswers.notReady(done) == null)
                        .join();
                for (int i = 0; ready && i < config.health().successes(); i++) {
                    member.health.ready();
                }
            });
        }
    }

    /**
     * Returns what the running director would change now, by the last look at the kernel's table and at the back-ends:
     * nothing is asked for it, and no program runs.
     */
    public Plan planned() throws ClusterException {
        return running().planned();
    }

    /** Removes the virtual services, and the addresses, that the director of this configuration has made. */
    public static Plan remove(DirectorConfig config, Ipvs ipvs) throws ClusterException {
        try (DirectorMemory memory = DirectorMemory.open(config, ipvs)) {
            return memory.takeBack(new HostSide(config));
        }
    }

    /**
     * Takes the state folder, sets the host up and brings the table up to date, before it returns; running connections
     * are not touched.
     *
     * @throws ClusterException if something is missing or another's; nothing is changed then
     */
    public synchronized void start() throws ClusterException {
        if (loop != null) {
            throw new IllegalStateException("director " + config.name() + " was started before");
        }
        DirectorMemory memory = DirectorMemory.open(config, ipvs);
        try {
            loop = started(memory);
        } catch (ClusterException | RuntimeException e) {
            memory.close();
            throw e;
        }
    }

    private DirectorLoop started(DirectorMemory memory) throws ClusterException {
        HostSide host = new HostSide(config);
        LvsTable wanted = WantedTable.of(config.services(), memory.roster().places());
        memory.keeper().plan(wanted); // Refuses what is another's, before anything is changed.
        host.requireFree();
        NodeQuestions questions = new NodeQuestions(config.name(), config.tls(), admin -> authorizations.get(admin));
        boolean first = !memory.ownsAny();
        try {
            host.apply();
            memory.set(config.settings());
            memory.keeper().bring(wanted);
        } catch (ClusterException | RuntimeException e) {
            questions.close();
            if (first) { // A predecessor's streams need what it made.
                takeBack(memory, host);
            }
            throw e;
        }
        host.announce();
        DirectorLoop made = new DirectorLoop(config, ipvs, memory, host, questions);
        made.start();
        return made;
    }

    private static void takeBack(DirectorMemory memory, HostSide host) {
        try {
            memory.takeBack(host);
        } catch (ClusterException | RuntimeException e) {
            LOG.warn("not all could be taken back: {}", e.getMessage());
        }
    }

    private DirectorLoop running() throws ClusterException {
        DirectorLoop found = loop;
        if (found == null) {
            throw new ClusterException("director " + config.name() + " has not started yet: try again");
        }
        return found;
    }

    /**
     * Registers a node, or takes its word that it is still there.
     *
     * @param from the address that the request comes from, and the only one that it may speak for; null = the node has
     *     shown a token of its own, and is listed
     * @throws ClusterException if it is refused
     */
    public Welcome register(String name, Registration registration, @Nullable InetAddress from)
            throws ClusterException {
        return running().register(name, registration, from);
    }

    /**
     * Gives a back-end no new streams; it leaves the table when it has none any more, or at the deadline. Returns at once.
     *
     * @throws ClusterException if there is none of this name
     */
    public void drain(String name, Duration deadline) throws ClusterException {
        running().order((memory, nowNs, now) -> {
            memory.roster().drain(name, deadline, nowNs, now);
            return name;
        });
    }

    /** Takes a drained or held back-end in again, once it answers. */
    public void join(String name) throws ClusterException {
        running().order((memory, nowNs, now) -> {
            memory.roster().join(name);
            return name;
        });
    }

    /** Forgets a registered back-end; one that is listed stays drained. Its streams are cut. */
    public void leave(String name) throws ClusterException {
        running().leave(name);
    }

    /** Adds to what every node deploys at once, and remembers it; a name without version takes the newest. */
    public void deploy(String service) throws ClusterException {
        running().order((memory, nowNs, now) -> {
            memory.deployed().add(service);
            return service;
        });
    }

    /** Takes that back: nodes that register later do not deploy it any more. What runs goes on. */
    public void undeploy(String service) throws ClusterException {
        running().order((memory, nowNs, now) -> {
            memory.deployed().remove(service);
            return service;
        });
    }

    public DirectorStatus status() {
        DirectorLoop found = loop;
        return found != null
                ? found.status()
                : new DirectorStatus(config.name(), false, "the director has not started", false, List.of(), List.of());
    }

    /** Returns whether it has decided about the table lately: its thread lives, and no program that it runs hangs. */
    public boolean comesRound() {
        DirectorLoop found = loop;
        return found != null && found.comesRound();
    }

    public DirectorStatus.Totals totals() {
        DirectorLoop found = loop;
        return found != null ? found.totals() : new DirectorStatus.Totals(0, List.of(), 0, Load.Traffic.NONE, Map.of());
    }

    /** Ends the director; the table stays as it is unless the configuration says otherwise. */
    @Override
    public synchronized void close() {
        DirectorLoop found = loop;
        if (found != null) {
            found.close();
        }
    }
}
