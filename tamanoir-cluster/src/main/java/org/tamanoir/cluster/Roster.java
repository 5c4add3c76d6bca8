package org.tamanoir.cluster;

import java.net.InetAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;
import org.tamanoir.cluster.config.BackEnd;
import org.tamanoir.cluster.config.Bounds;
import org.tamanoir.cluster.config.DirectorConfig;
import org.tamanoir.cluster.config.RegistrationPolicy;
import org.tamanoir.cluster.lvs.ClusterException;
import org.tamanoir.cluster.lvs.LvsTable;
import org.tamanoir.routing.Addresses;

/**
 * All back-ends of the cluster: those that are listed, and those that registered. Time is given by the caller.
 *
 * <p>Thread contract: none, its owner guards it.
 */
final class Roster {
    /** Another node may take a name over when its owner has not repeated its registration for so many intervals. */
    private static final int SILENT_INTERVALS = 3;

    private final DirectorConfig config;
    private final Map<String, Member> members = new TreeMap<>();

    /**
     * Begins with what is listed and remembered.
     *
     * @param weightOf its weight in the kernel's table by its address, -1 = it is not there: one that is there is
     *     believed to be well, so that its streams go on
     */
    Roster(DirectorConfig config, DirectorState state, ToIntFunction<InetAddress> weightOf, long nowNs, Instant now)
            throws ClusterException {
        this.config = config;
        for (BackEnd backEnd : config.backEnds()) {
            add(backEnd, true, weightOf, nowNs, now);
        }
        for (DirectorState.Known known : state.registered()) {
            BackEnd backEnd = remembered(known);
            boolean taken = members.containsKey(backEnd.name()) || holder(backEnd.address()) != null;
            if (!taken && !config.isVirtual(backEnd.address()) && Bounds.isAt(backEnd.admin(), backEnd.address())) {
                add(backEnd, false, weightOf, nowNs, now);
            }
        }
        for (DirectorState.Drain drain : state.drains()) {
            Member member = members.get(drain.name());
            if (member != null) {
                drainAgain(member, drain, nowNs, now);
            }
        }
    }

    /** Returns the weight by address in a table, -1 for addresses that are not in it. */
    static ToIntFunction<InetAddress> weights(LvsTable table) {
        Map<String, Integer> weights = new TreeMap<>();
        table.services()
                .values()
                .forEach(service -> service.servers()
                        .values()
                        .forEach(
                                server -> weights.merge(Addresses.host(server.address()), server.weight(), Math::max)));
        return address -> weights.getOrDefault(Addresses.host(address), -1);
    }

    private void add(BackEnd backEnd, boolean listed, ToIntFunction<InetAddress> weightOf, long nowNs, Instant now) {
        int weight = weightOf.applyAsInt(backEnd.address());
        Health health = weight < 0 ? Health.joining(config.health()) : Health.trusted(config.health());
        Member member = new Member(backEnd, listed, health, new Capacity(config.weights(), Math.max(0, weight)), nowNs);
        if (weight == 0) {
            Health.Cause cause = listed ? Health.Cause.STOPPING : Health.Cause.LEAVING;
            member.drain(cause, "drained before the director was restarted", config.drainDeadline(), nowNs, now);
        }
        members.put(backEnd.name(), member);
    }

    private static BackEnd remembered(DirectorState.Known known) throws ClusterException {
        try {
            return new BackEnd(
                    known.name(), Bounds.address(known.address()), Bounds.admin(known.admin()), known.weight());
        } catch (IllegalArgumentException e) {
            throw new ClusterException(
                    "the state folder remembers a back-end that cannot be ("
                            + Bounds.line(String.valueOf(e.getMessage())) + "): remove it from director.json there",
                    e);
        }
    }

    private static void drainAgain(Member member, DirectorState.Drain drain, long nowNs, Instant now) {
        String until = drain.until();
        Duration left = Duration.ZERO;
        if (until != null) {
            left = Duration.between(now, Instant.parse(until));
        }
        member.drain(Health.Cause.ORDER, "told to drain", left.isNegative() ? Duration.ZERO : left, nowNs, now);
        if (until == null || left.isZero() || left.isNegative()) {
            member.health.drained("drained; tell it to join to take it in again");
        }
    }

    Collection<Member> members() {
        return members.values();
    }

    Member member(String name) throws ClusterException {
        Member member = members.get(name);
        if (member == null) {
            throw new ClusterException("there is no back-end '" + Bounds.line(name) + "'; there are: "
                    + (members.isEmpty() ? "none" : String.join(", ", members.keySet())));
        }
        return member;
    }

    /** Returns whether it is one of these still. */
    boolean has(Member member) {
        return members.get(member.backEnd.name()) == member;
    }

    /** Returns who has an address; null = nobody. */
    @Nullable
    Member holder(InetAddress address) {
        return members.values().stream()
                .filter(member -> member.backEnd.address().equals(address))
                .findFirst()
                .orElse(null);
    }

    /**
     * Registers a node, or takes the repetition of that.
     *
     * @param from the address that it asks from, which must be its own; null = it is known by a token of its own, and
     *     listed
     */
    Member register(String name, Registration registration, @Nullable InetAddress from, long nowNs, Instant now)
            throws ClusterException {
        RegistrationPolicy policy = config.registration();
        if (policy == null) {
            throw new ClusterException(
                    "director " + config.name() + " takes no registrations: list the back-end in its "
                            + "configuration, or set registration.token-file there");
        }
        Member member = members.get(name);
        boolean isListed = member != null && member.listed;
        if (from == null && !isListed) {
            throw new ClusterException("back-end " + name + " is not listed: a token of its own is for those that are");
        }
        BackEnd asked =
                asked(name, registration, from == null ? member(name).backEnd.address() : withoutZone(from));
        if (from != null) {
            requireOwn(asked, withoutZone(from), isListed);
            admit(asked, policy);
        }
        if (member == null) {
            makeRoom(policy);
            member =
                    new Member(asked, false, Health.joining(config.health()), new Capacity(config.weights(), 0), nowNs);
            members.put(name, member);
        } else if (member.listed) {
            requireListed(member, asked);
        } else {
            member = moved(member, asked, policy, nowNs);
        }
        member.registeredNs = nowNs;
        member.findings = registration.findings().stream().map(Bounds::line).toList();
        member.services = registration.services().stream().map(Bounds::line).toList();
        leave(member, registration.leaving(), nowNs, now);
        return member;
    }

    private void leave(Member member, boolean leaving, long nowNs, Instant now) {
        boolean left = member.health.cause() == Health.Cause.LEAVING;
        if (leaving && member.health.cause() == null) {
            member.drain(Health.Cause.LEAVING, "it leaves", config.drainDeadline(), nowNs, now);
        } else if (!leaving && left) {
            member.health.join();
        }
    }

    /** @param usual its address unless it gives one */
    private static BackEnd asked(String name, Registration registration, InetAddress usual) throws ClusterException {
        try {
            String address = registration.address();
            URI admin = Bounds.admin(registration.admin());
            InetAddress own = address == null ? usual : Bounds.address(address);
            BackEnd asked = new BackEnd(name, own, admin, registration.weight());
            Bounds.numeric(admin);
            return asked;
        } catch (IllegalArgumentException e) {
            throw new ClusterException(
                    "registration of '" + Bounds.line(name) + "': " + Bounds.line(String.valueOf(e.getMessage())), e);
        }
    }

    /**
     * Refuses whoever speaks for another host: all nodes show the same token, and the address that a request comes from
     * is what tells them apart.
     */
    private static void requireOwn(BackEnd asked, InetAddress from, boolean isListed) throws ClusterException {
        String at = Addresses.host(from);
        if (!asked.address().equals(from)) {
            throw new ClusterException("back-end " + asked.name() + ": address "
                    + Addresses.host(asked.address()) + " is not the one that it asks from, " + at
                    + ": a node registers itself alone; leave --cluster-address out, or list the back-end with a "
                    + "token-file of its own");
        }
        // What is listed keeps the admin API of the list.
        if (!isListed && !Bounds.isAt(asked.admin(), from)) {
            throw new ClusterException("back-end " + asked.name() + ": admin API "
                    + Bounds.line(asked.admin().toString()) + " is not at its address, " + at
                    + ": directors ask nobody else; listen there with --admin, or list the back-end with its admin");
        }
    }

    private void admit(BackEnd asked, RegistrationPolicy policy) throws ClusterException {
        String address = Addresses.host(asked.address());
        if (config.isVirtual(asked.address())) {
            throw new ClusterException("back-end " + asked.name() + ": " + address
                    + " is the address of a service: register from the host's own");
        }
        if (!policy.admits(asked.address())) {
            throw new ClusterException("back-end " + asked.name() + ": address " + address
                    + " is not admitted: it must be in one of " + policy.networks()
                    + "; or add its network to the director's registration.networks");
        }
        Member holder = holder(asked.address());
        if (holder == null || holder.backEnd.name().equals(asked.name())) {
            return;
        }
        if (holder.listed || !holder.health.isGone()) {
            throw new ClusterException("back-end " + asked.name() + ": address " + address + " is that of back-end "
                    + holder.backEnd.name() + ": use that name, or let it leave first");
        }
        members.remove(holder.backEnd.name());
    }

    private void makeRoom(RegistrationPolicy policy) throws ClusterException {
        if (members.size() >= policy.maxBackEnds()) {
            throw new ClusterException(
                    "there are " + members.size() + " back-ends, the most that may be: let one leave, "
                            + "or raise the director's registration.max-back-ends");
        }
    }

    private static void requireListed(Member member, BackEnd asked) throws ClusterException {
        BackEnd listed = member.backEnd;
        if (!listed.address().equals(asked.address())) {
            throw new ClusterException("back-end " + asked.name() + " is listed with address "
                    + Addresses.host(listed.address()) + ", and registers with "
                    + Addresses.host(asked.address()) + ": make them the same, or use another --cluster-name");
        }
    }

    private Member moved(Member member, BackEnd asked, RegistrationPolicy policy, long nowNs) throws ClusterException {
        if (member.backEnd.address().equals(asked.address())) {
            member.backEnd = asked;
            return member;
        }
        long silentNs = nowNs - member.registeredNs;
        if (silentNs < policy.interval().multipliedBy(SILENT_INTERVALS).toNanos()) {
            throw new ClusterException("back-end " + asked.name() + " registers from "
                    + Addresses.host(member.backEnd.address()) + " too: use another --cluster-name at "
                    + Addresses.host(asked.address()));
        }
        if (!member.health.isGone()) {
            throw new ClusterException("back-end " + asked.name() + " is at "
                    + Addresses.host(member.backEnd.address()) + " and "
                    + member.health.state().label() + ": use another --cluster-name at "
                    + Addresses.host(asked.address()) + ", or let that one leave first");
        }
        Member fresh =
                new Member(asked, false, Health.joining(config.health()), new Capacity(config.weights(), 0), nowNs);
        members.put(asked.name(), fresh);
        return fresh;
    }

    void drain(String name, Duration deadline, long nowNs, Instant now) throws ClusterException {
        if (deadline.isNegative() || deadline.compareTo(Duration.ofDays(1)) > 0) {
            throw new ClusterException("deadline " + Bounds.text(deadline) + " must be 0 s to 1 day");
        }
        member(name).drain(Health.Cause.ORDER, "told to drain", deadline, nowNs, now);
    }

    void join(String name) throws ClusterException {
        member(name).health.join();
    }

    /** @return whether it is forgotten: one that is listed stays, drained */
    boolean leave(String name, long nowNs, Instant now) throws ClusterException {
        Member member = member(name);
        if (!member.listed) {
            members.remove(name);
            return true;
        }
        member.drain(Health.Cause.ORDER, "told to leave", Duration.ZERO, nowNs, now);
        member.health.drained("told to leave; tell it to join to take it in again");
        return false;
    }

    /** Lets time go on; returns who is forgotten by it. */
    List<String> tick(long nowNs) {
        members.values().forEach(member -> member.tick(nowNs));
        RegistrationPolicy policy = config.registration();
        long expiryNs = policy == null ? Long.MAX_VALUE : policy.expiry().toNanos();
        List<String> expired = members.values().stream()
                .filter(member -> !member.listed && member.health.isGone() && nowNs - member.registeredNs > expiryNs)
                .map(member -> member.backEnd.name())
                .toList();
        expired.forEach(members::remove);
        return expired;
    }

    /** Returns those that have a place in the table. */
    List<WantedTable.Place> places() {
        List<WantedTable.Place> places = new ArrayList<>();
        for (Member member : members.values()) {
            Integer weight = member.weight(config.weights());
            if (weight != null) {
                places.add(new WantedTable.Place(member.backEnd.address(), weight));
            }
        }
        return places;
    }

    /** Returns what of it is to be remembered. */
    List<DirectorState.Known> registered() {
        return members.values().stream()
                .filter(member -> !member.listed)
                .map(member -> member.backEnd)
                .map(backEnd -> new DirectorState.Known(
                        backEnd.name(),
                        Addresses.host(backEnd.address()),
                        backEnd.admin().toString(),
                        backEnd.weight()))
                .toList();
    }

    List<DirectorState.Drain> drains() {
        return members.values().stream()
                .filter(member -> member.health.cause() == Health.Cause.ORDER)
                .map(member -> new DirectorState.Drain(
                        member.backEnd.name(),
                        member.health.state() == BackEndState.DRAINING ? String.valueOf(member.drainUntil) : null))
                .toList();
    }

    private static InetAddress withoutZone(InetAddress address) {
        try {
            return InetAddress.getByAddress(address.getAddress());
        } catch (UnknownHostException e) {
            throw new IllegalStateException("an address has its own length", e);
        }
    }
}
