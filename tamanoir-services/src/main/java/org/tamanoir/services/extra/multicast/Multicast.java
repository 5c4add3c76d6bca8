package org.tamanoir.services.extra.multicast;

import java.nio.ByteBuffer;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.Anep;
import org.tamanoir.anep.Packet;
import org.tamanoir.service.Amplifier;
import org.tamanoir.service.ChangesSize;
import org.tamanoir.service.Counter;
import org.tamanoir.service.Service;
import org.tamanoir.service.ServiceConfig;
import org.tamanoir.service.Setting;
import org.tamanoir.service.Settings;
import org.tamanoir.service.SizeEffect;
import org.tamanoir.service.StreamInfo.Transport;
import org.tamanoir.service.Verdict;
import org.tamanoir.services.NextService;

/**
 * A node of a tree that brings each packet of a flow to all receivers, over UDP. At the root packets are numbered
 * ({@link MulticastHeader}); each node sends them on to its branches at once, keeps the last ones, and asks the node above
 * for those that are missing: so a packet that was lost is asked for once, and sent again by the nearest node that has it,
 * on the branches that asked alone. Plain receivers at a node get what was sent, each packet once and in order.
 *
 * <p>Nothing waits for a slow branch. Branches report how far they are; one that is further behind than the node keeps
 * packets is let go from the flow, and told so. It may join again, and goes on from what is there then.
 *
 * <p>When a flow is silent, branches that have not said that they have all are told the highest number, so that the loss
 * of the last packets is noticed; {@code heartbeat-ms} later, then twice as late each time up to a second, ten times.
 *
 * <p>Counters: {@code packets} (that came, each once), {@code copies} (to branches), {@code delivered} (to plain receivers),
 * {@code refused} (copies that the node did not let leave), {@code asked} (reports upwards that asked for packets), {@code
 * recovered} (came because of that), {@code lost} (given up), {@code reports} (of branches), {@code repairs} (sent again),
 * {@code repaired} (packets that this was done for), {@code repairs-over} (not sent again, since the branch had its part),
 * {@code branches}, {@code joined}, {@code left} (had not wished to stay), {@code let-go} (lagged: flows times branches),
 * {@code was-let-go} (this node was), {@code heartbeats}, {@code flows}.
 *
 * <p>Drops: {@code came before}, {@code no multicast header}, {@code not from the node above}, {@code report of no branch},
 * {@code bad join}, {@code join not allowed}, {@code too many branches}, {@code offer not asked for}, {@code header leaves no
 * room for multicast}.
 */
@Settings(
        of = NextService.class,
        value = {
            @Setting(
                    name = "branches",
                    text = "up to 64 nodes that run this service, each an address and a port, separated by blanks"),
            @Setting(name = "deliver", text = "up to 64 plain receivers, likewise"),
            @Setting(name = "upstream", text = "the node above; without it this one is the root"),
            @Setting(
                    name = "address",
                    text =
                            "where the node above reaches this one: this one then joins there, and takes data only with the token that it was given"),
            @Setting(name = "join", text = "up to 64 prefixes, separated by blanks: where others may join from"),
            @Setting(
                    name = "max-branches",
                    kind = Setting.Kind.NUMBER,
                    standard = "64",
                    min = 1,
                    max = 64,
                    text = "with those that have joined"),
            @Setting(
                    name = "join-timeout-ms",
                    kind = Setting.Kind.NUMBER,
                    standard = "30000",
                    min = 10_000,
                    max = 60_000,
                    text = "how long one that has joined may be silent"),
            @Setting(
                    name = "window",
                    kind = Setting.Kind.NUMBER,
                    standard = "1024",
                    min = 64,
                    max = 65_536,
                    text = "packets of a flow that are kept"),
            @Setting(
                    name = "late",
                    kind = Setting.Kind.CHOICE,
                    standard = "window",
                    choices = {"window", "now"},
                    text = "window: who comes late gets what is kept; now: what comes"),
            @Setting(
                    name = "flows",
                    kind = Setting.Kind.NUMBER,
                    standard = "256",
                    min = 1,
                    max = 65_536,
                    text = "at once; the one that was silent for longest ends for a new one"),
            @Setting(
                    name = "memory",
                    kind = Setting.Kind.NUMBER,
                    standard = "67108864",
                    min = 8 << 20,
                    max = 4L << 30,
                    text = "bytes of all flows; the same way"),
            @Setting(
                    name = "idle-ms",
                    kind = Setting.Kind.NUMBER,
                    standard = "30000",
                    min = 1_000,
                    max = 600_000,
                    text = "a flow that is silent for so long ends"),
            @Setting(
                    name = "heartbeat-ms",
                    kind = Setting.Kind.NUMBER,
                    standard = "50",
                    min = 10,
                    max = 10_000,
                    text = "between heartbeats"),
            @Setting(
                    name = "service",
                    standard = "org.tamanoir.services.extra.multicast.Multicast",
                    text = "the name of this service in the tree")
        })
@ChangesSize(SizeEffect.GROWS)
public final class Multicast extends Service implements Amplifier {
    private static final String NOT_FROM_ABOVE = "not from the node above";
    private static final long TICK_NS = 5_000_000;
    private static final long IDLE_TICK_NS = 100_000_000;
    private static final int REPORTS_A_TICK = 64;

    private final Random random;
    private final MulticastHeader head = new MulticastHeader();
    private final Agenda agenda = new Agenda();
    private final Runnable tick = this::tick;
    private MulticastConfig config = MulticastConfig.DEFAULT;
    private MulticastCounters counts = new MulticastCounters(Counter::new);
    private Outlet outlet = new Outlet(this::send, counts, config);
    private Branches branches;
    private Progress progress = new Progress(outlet, counts);
    private Flows flows;
    private Rounds rounds;
    private @Nullable Membership membership;
    private long startNs;
    private long nowNs;
    private long timerNs = Long.MAX_VALUE;
    private boolean isTickNear;

    /** For the node. */
    public Multicast() {
        this(new SecureRandom());
    }

    /** Makes one whose sessions, secret and waits come from there. */
    Multicast(Random random) {
        this.random = random;
        branches = new Branches(config, random);
        flows = new Flows(config, counts, branches, progress, agenda, random);
        rounds = new Rounds(branches, progress, outlet, counts);
    }

    @Override
    public void init(ServiceConfig settings) {
        config = MulticastConfig.of(settings);
        if (stream().transport() != Transport.UDP) {
            throw new IllegalArgumentException("a packet came over TCP: Multicast runs over UDP alone; send datagrams");
        }
        counts = new MulticastCounters(this::counter);
        outlet = new Outlet(this::send, counts, config);
        branches = new Branches(config, random);
        progress = new Progress(outlet, counts);
        flows = new Flows(config, counts, branches, progress, agenda, random);
        rounds = new Rounds(branches, progress, outlet, counts);
        membership = config.address() == null ? null : new Membership(config.address(), random);
        counts.branches.set(branches.size());
        startNs = nanoTime();
        await();
    }

    private boolean send(Peer to, Packet packet) {
        return emitTo(to.address(), to.port(), packet);
    }

    // ---- a packet in hand ---------------------------------------------------------------------------------------

    @Override
    public Verdict process(Packet packet) {
        nowNs = nanoTime() - startNs;
        outlet.typeId(packet.typeId());
        head.read(packet);
        Verdict verdict = switch (head.kind()) {
            case MulticastHeader.REPORT -> report(packet);
            case MulticastHeader.JOIN -> join(packet);
            case MulticastHeader.LEAVE -> branches.showing(head.token()) == null ? take(packet) : leave();
            default -> take(packet);
        };
        await();
        return verdict;
    }

    private Verdict take(Packet packet) {
        return config.upstream() == null ? number(packet) : fromAbove(packet);
    }

    /** Takes a packet into the tree. */
    private Verdict number(Packet packet) {
        int bytes = MulticastHeader.BYTES + packet.payloadLength();
        if (packet.headerLength() + config.tree().extraBytes(packet) + bytes > Anep.MAX_DATAGRAM_OCTETS) {
            return drop("header leaves no room for multicast");
        }
        Flow flow = flows.of(packet);
        long sequence = flow.window().highest() + 1;
        ByteBuffer payload = packet.payload();
        ByteBuffer room = packet.newPayload(bytes);
        MulticastHeader.write(room, MulticastHeader.DATA, 0, flow.session(), 0, sequence);
        room.put(payload);
        packet.commitPayload(bytes);
        config.tree().name(packet);
        return takeIn(flow, packet, sequence);
    }

    private Verdict fromAbove(Packet packet) {
        int kind = head.kind();
        if (kind == MulticastHeader.NONE) {
            return drop("no multicast header");
        }
        Membership own = membership;
        if (kind == MulticastHeader.OFFER) {
            return own != null && own.offered(head, nowNs) ? Verdict.CONSUME : drop("offer not asked for");
        }
        if (own != null && !own.accepts(head.token())) {
            return drop(NOT_FROM_ABOVE);
        }
        Flow flow = flows.of(head.session());
        if (kind == MulticastHeader.LEAVE) {
            if (flow == null || flow.token() != head.token()) {
                return drop(NOT_FROM_ABOVE);
            }
            counts.wasLetGo.add(1);
            return Verdict.CONSUME;
        }
        if (flow == null) {
            flow = flows.begin(head);
        }
        flow.above(head.token(), head.depth());
        long sequence = head.sequence();
        if (kind == MulticastHeader.HEARTBEAT) {
            flow.came(sequence > flow.window().highest(), nowNs);
            progress.reach(flow, sequence, nowNs);
            progress.skip(flow, head.lowest());
            flow.reportSoon();
            agenda.setAtMost(flow, nowNs);
            return Verdict.CONSUME;
        }
        if (sequence < flow.gaps().next()
                || flow.window().isInside(sequence)
                        && flow.window().place(sequence).isHere()) {
            return drop("came before");
        }
        progress.reach(flow, sequence, nowNs);
        progress.skip(flow, head.lowest());
        counts.recovered.add(kind == MulticastHeader.REPAIR ? 1 : 0);
        return takeIn(flow, packet, sequence);
    }

    /** Takes a packet that has not come before, and sends it on. */
    private Verdict takeIn(Flow flow, Packet packet, long sequence) {
        progress.reach(flow, sequence, nowNs);
        flow.gaps().close(flow.window().place(sequence), nowNs);
        flow.window().put(sequence, packet);
        flow.came(true, nowNs);
        counts.packets.add(1);
        flows.bound(flow);
        boolean isNext = sequence == flow.gaps().next();
        if (isNext) {
            flow.gaps().advance();
        }
        if (flow.gaps().isAny() || flow.isReportDue() || flow.audience().isAnyLetGo()) {
            agenda.setAtMost(flow, nowNs);
            if (isNext && flow.gaps().isAny() && !isTickNear) {
                isTickNear = execute(tick); // What waited for this one goes on soon.
            }
        } else {
            agenda.setAtMost(flow, flow.heartbeatDueNs());
        }
        return sendOn(flow, packet, sequence, isNext && outlet.delivers());
    }

    private Verdict sendOn(Flow flow, Packet packet, long sequence, boolean delivers) {
        Branch last = null;
        for (long left = flow.audience().members(); left != 0; left &= left - 1) {
            if (last != null) {
                outlet.copy(flow, packet, sequence, last);
            }
            last = branches.get(Long.numberOfTrailingZeros(left));
        }
        if (delivers) {
            if (last != null) {
                outlet.copy(flow, packet, sequence, last);
            }
            Peer receiver = outlet.deliverButLast(packet);
            counts.delivered.add(1);
            return forwardTo(receiver.address(), receiver.port());
        }
        if (last == null) {
            return Verdict.CONSUME;
        }
        outlet.direct(flow, packet, sequence, last);
        counts.copies.add(1);
        return forwardTo(last.peer().address(), last.peer().port());
    }

    // ---- branches -----------------------------------------------------------------------------------------------

    private Verdict report(Packet packet) {
        Branch branch = branches.showing(head.token());
        Flow flow = flows.of(head.session());
        if (branch == null || flow == null || !flow.audience().has(branch)) {
            return drop("report of no branch");
        }
        counts.reports.add(1);
        Audience audience = flow.audience();
        audience.confirm(branch, head.sequence());
        if (head.sequence() < flow.window().lowest()) {
            audience.inform(branch); // It need not wait for those.
        }
        ByteBuffer look = packet.look();
        int at = look.position() + packet.headerLength() + MulticastHeader.BYTES;
        int left = Audience.MAX_ASKED;
        for (int i = 0; i < head.depth(); i++, at += MulticastHeader.RANGE_BYTES) {
            long first = head.sequence() + Math.max(0, look.getInt(at));
            long last = Math.min(
                    first + look.getInt(at + Integer.BYTES) - 1, flow.window().highest());
            left -= audience.want(branch, first, last, left);
        }
        if (audience.isAnyWanted() || !audience.isInformed()) {
            agenda.setAtMost(flow, nowNs);
        }
        return Verdict.CONSUME;
    }

    private Verdict join(Packet packet) {
        ByteBuffer look = packet.look();
        int at = look.position() + packet.headerLength() + MulticastHeader.BYTES;
        Peer peer = Peer.of(look.getLong(at), look.getLong(at + 8), look.getShort(at + 16) & 0xFFFF);
        if (peer == null) {
            return drop("bad join");
        }
        if (!branches.mayJoin(peer)) {
            return drop("join not allowed");
        }
        if (branches.isProof(head.token(), peer, nowNs)) {
            Branch branch = branches.at(peer);
            if (branch == null) {
                branch = branches.add(peer, head.token());
                if (branch == null) {
                    return drop("too many branches");
                }
                counts.joined.add(1);
                counts.branches.set(branches.size());
            }
            branch.refresh(head.token(), nowNs);
            for (Flow flow : flows.all()) {
                if (!flow.audience().has(branch)) {
                    flow.audience().add(branch);
                    flow.audience().inform(branch);
                    agenda.setAtMost(flow, nowNs);
                }
            }
        }
        outlet.offer(peer, head.session(), branches.token(peer, nowNs));
        return Verdict.CONSUME;
    }

    private Verdict leave() {
        Branch branch = branches.showing(head.token());
        if (branch != null && !branch.isFixed()) {
            forget(branch);
        }
        return Verdict.CONSUME;
    }

    private void forget(Branch branch) {
        branches.remove(branch);
        flows.all().forEach(flow -> flow.audience().remove(branch));
        counts.left.add(1);
        counts.branches.set(branches.size());
    }

    // ---- time ---------------------------------------------------------------------------------------------------

    /** Has {@link #tick} come when something is to be done; at most some twenty times at once. */
    private void await() {
        long dueNs = agenda.dueNs();
        if (membership != null) {
            dueNs = Math.min(dueNs, membership.dueNs());
        }
        if (dueNs == Long.MAX_VALUE && !branches.hasJoined()) {
            return;
        }
        long waitNs = Math.max(TICK_NS, Math.min(IDLE_TICK_NS, dueNs - nowNs));
        if (nowNs + waitNs < timerNs) {
            long atNs = nowNs + waitNs;
            timerNs = atNs;
            after(Duration.ofNanos(waitNs), () -> {
                if (timerNs == atNs) {
                    timerNs = Long.MAX_VALUE;
                    tick();
                }
            });
        }
    }

    private void tick() {
        nowNs = nanoTime() - startNs;
        isTickNear = false;
        Peer above = config.upstream();
        if (membership != null && above != null && membership.dueNs() <= nowNs) {
            outlet.join(above, membership, nowNs);
        }
        for (Branch gone = branches.expired(nowNs); gone != null; gone = branches.expired(nowNs)) {
            forget(gone);
        }
        int reports = REPORTS_A_TICK;
        for (Flow flow = agenda.due(nowNs); flow != null; flow = agenda.due(nowNs)) {
            if (nowNs - flow.lastNs() >= config.idleNs()) {
                flows.endIdle(flow);
                continue;
            }
            rounds.go(flow, nowNs);
            if (above != null && reports > 0) {
                reports -= outlet.report(above, flow, nowNs) ? 1 : 0;
            }
            long dueNs = Math.min(flow.lastNs() + config.idleNs(), flow.heartbeatDueNs());
            dueNs = Math.min(dueNs, flow.gaps().dueNs());
            agenda.set(flow, Math.max(nowNs + TICK_NS, flow.audience().isAnyWanted() ? nowNs : dueNs));
        }
        await();
    }

    /** Sends what it was asked for, and tells branches how far flows are, a last time. */
    @Override
    public void endOfStream() {
        nowNs = nanoTime() - startNs;
        for (Flow flow : flows.all()) {
            rounds.last(flow, nowNs);
        }
        Peer above = config.upstream();
        if (membership != null && above != null) {
            outlet.leave(above, membership.shown());
        }
    }
}
