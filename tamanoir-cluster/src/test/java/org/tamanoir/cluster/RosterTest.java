package org.tamanoir.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.tamanoir.cluster.Configs.address;
import static org.tamanoir.cluster.Configs.backEnd;

import java.net.InetAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.tamanoir.cluster.config.DirectorConfig;
import org.tamanoir.cluster.config.RegistrationPolicy;
import org.tamanoir.cluster.config.WeightPolicy;
import org.tamanoir.cluster.lvs.ClusterException;
import org.tamanoir.routing.Prefix;

class RosterTest {
    private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");

    private final Map<InetAddress, Integer> kernel = new HashMap<>();
    private DirectorConfig config = Configs.director(
            Path.of("unused"), WeightPolicy.DEFAULT, Configs.REGISTRATION, backEnd("l1", "10.99.1.1", null));
    private DirectorState state = DirectorState.EMPTY;
    private long nowNs = -7;

    private Instant now() {
        return START.plusNanos(nowNs);
    }

    private Roster roster() throws ClusterException {
        return new Roster(config, state, at -> kernel.getOrDefault(at, -1), nowNs, now());
    }

    private static Registration registration(String at, @Nullable String address, boolean leaving) {
        String host = at.indexOf(':') < 0 ? at : "[" + at + "]";
        return new Registration(
                address, "http://" + host + ":3324", null, leaving, List.of("rp_filter is 1"), List.of());
    }

    private Member register(Roster roster, String name, String from) throws ClusterException {
        return roster.register(name, registration(from, null, false), address(from), nowNs, now());
    }

    private void assertRefused(Roster roster, String name, Registration asked, String from, String... words) {
        assertThatThrownBy(() -> roster.register(name, asked, address(from), nowNs, now()))
                .isInstanceOf(ClusterException.class)
                .satisfies(e -> assertThat(e.getMessage()).contains(words).doesNotContain("\n"));
    }

    private void pass(Duration time) {
        nowNs += time.toNanos();
    }

    private static void ready(Member member) {
        member.health.ready();
        member.health.ready();
    }

    private DirectorState remembered(Roster roster) {
        return new DirectorState(DirectorState.FORMAT, roster.registered(), roster.drains(), List.of(), Map.of());
    }

    @Test
    void aBackEndTakesItsPlaceWhenItIsUp() throws ClusterException {
        Roster roster = roster();
        Member member = register(roster, "b2", "10.99.1.2");
        assertThat(roster.places()).isEmpty();
        ready(member);
        assertThat(roster.places()).containsExactly(new WantedTable.Place(address("10.99.1.2"), 100));
        assertThat(member.findings).containsExactly("rp_filter is 1");
    }

    @Test
    void itsOwnWeightCountsBeforeThePolicys() throws ClusterException {
        Roster roster = roster();
        Registration asked = new Registration(null, "http://10.99.1.2:3324", 7, false, List.of(), List.of());
        ready(roster.register("b2", asked, address("10.99.1.2"), nowNs, now()));
        assertThat(roster.places()).containsExactly(new WantedTable.Place(address("10.99.1.2"), 7));
    }

    @Test
    void whoTheKernelHasIsTrustedAndKeepsItsWeight() throws ClusterException {
        config = Configs.director(
                Path.of("unused"), Configs.WEIGHTS, Configs.REGISTRATION, backEnd("l1", "10.99.1.1", null));
        kernel.put(address("10.99.1.1"), 137);
        Roster roster = roster();
        assertThat(roster.member("l1").health.state()).isEqualTo(BackEndState.UP);
        assertThat(roster.places()).containsExactly(new WantedTable.Place(address("10.99.1.1"), 137));
    }

    @Test
    void aSuccessorKnowsWhoRegisteredAndWhoDrains() throws ClusterException {
        Roster first = roster();
        ready(register(first, "b2", "10.99.1.2"));
        ready(register(first, "b3", "10.99.1.3"));
        ready(first.member("l1"));
        first.drain("b2", Duration.ofSeconds(60), nowNs, now());
        first.drain("b3", Duration.ofSeconds(60), nowNs, now());
        first.member("b3").health.drained("drained");

        state = remembered(first);
        kernel.put(address("10.99.1.1"), 100);
        kernel.put(address("10.99.1.2"), 0);
        pass(Duration.ofSeconds(20));
        Roster second = roster();
        assertThat(second.places())
                .containsExactly(
                        new WantedTable.Place(address("10.99.1.2"), 0),
                        new WantedTable.Place(address("10.99.1.1"), 100));
        assertThat(second.member("b3").health.state()).isEqualTo(BackEndState.DRAINED);
        assertThat(second.member("b2").health.drainEndsNs() - nowNs)
                .as("what is left of the deadline")
                .isEqualTo(TimeUnit.SECONDS.toNanos(40));
        assertThat(remembered(second)).isEqualTo(state);

        pass(Duration.ofSeconds(41));
        assertThat(second.tick(nowNs)).isEmpty();
        assertThat(second.member("b2").health.state()).isEqualTo(BackEndState.DRAINED);
        assertThat(second.member("b2").health.reason()).contains("deadline cut 0 streams", "tell it to join");
    }

    @Test
    void whoDrainedWithoutAnOrderComesInAgainWhenItIsReady() throws ClusterException {
        kernel.put(address("10.99.1.1"), 0);
        Roster roster = roster();
        assertThat(roster.places()).containsExactly(new WantedTable.Place(address("10.99.1.1"), 0));
        ready(roster.member("l1"));
        assertThat(roster.places()).containsExactly(new WantedTable.Place(address("10.99.1.1"), 100));
    }

    @Test
    void aDrainEndsWhenItsStreamsHave() throws ClusterException {
        Roster roster = roster();
        Member member = roster.member("l1");
        ready(member);
        roster.drain("l1", Duration.ofSeconds(60), nowNs, now());
        assertThat(roster.places()).containsExactly(new WantedTable.Place(address("10.99.1.1"), 0));
        member.placed(nowNs);
        pass(Duration.ofSeconds(2));
        member.look(1, 0, 0, nowNs);
        assertThat(member.streams()).isEqualTo(1);
        assertThat(member.health.state()).isEqualTo(BackEndState.DRAINING);
        pass(Duration.ofSeconds(2));
        member.look(0, 0, 0, nowNs);
        assertThat(member.health.state()).isEqualTo(BackEndState.DRAINED);
        roster.join("l1");
        assertThat(member.health.state()).isEqualTo(BackEndState.JOINING);
    }

    @Test
    void aDrainIsNotOverBeforeTheKernelKnowsOfIt() throws ClusterException {
        Roster roster = roster();
        Member member = roster.member("l1");
        ready(member);
        pass(Duration.ofSeconds(10));
        roster.drain("l1", Duration.ofSeconds(60), nowNs, now());
        member.look(0, 0, 0, nowNs);
        assertThat(member.health.state()).isEqualTo(BackEndState.DRAINING);
    }

    @Test
    void aLeavingNodeIsDrainedAndComesBackWhenItRegistersAgain() throws ClusterException {
        Roster roster = roster();
        Member member = register(roster, "b2", "10.99.1.2");
        ready(member);
        roster.register("b2", registration("10.99.1.2", null, true), address("10.99.1.2"), nowNs, now());
        assertThat(member.health.state()).isEqualTo(BackEndState.DRAINING);
        assertThat(member.drainUntil).isEqualTo(now().plusSeconds(60));
        member.health.drained("it left");
        register(roster, "b2", "10.99.1.2");
        assertThat(member.health.state()).isEqualTo(BackEndState.JOINING);
    }

    @Test
    void anOrderToDrainHoldsThoughTheNodeGoesOnToRegister() throws ClusterException {
        Roster roster = roster();
        Member member = register(roster, "b2", "10.99.1.2");
        ready(member);
        roster.drain("b2", Duration.ofSeconds(60), nowNs, now());
        register(roster, "b2", "10.99.1.2");
        assertThat(member.health.state()).isEqualTo(BackEndState.DRAINING);
    }

    @Test
    void whoIsSilentAndOutIsForgotten() throws ClusterException {
        Roster roster = roster();
        ready(register(roster, "b2", "10.99.1.2"));
        register(roster, "b3", "10.99.1.3");
        pass(Duration.ofMinutes(5));
        assertThat(roster.tick(nowNs)).isEmpty();
        pass(Duration.ofNanos(1));
        assertThat(roster.tick(nowNs)).as("b2 is up").containsExactly("b3");
        assertThatThrownBy(() -> roster.member("b3")).hasMessageContaining("there are: b2, l1");
    }

    @Test
    void leavingForgetsWhoRegisteredAndDrainsWhoIsListed() throws ClusterException {
        Roster roster = roster();
        ready(register(roster, "b2", "10.99.1.2"));
        ready(roster.member("l1"));
        assertThat(roster.leave("b2", nowNs, now())).isTrue();
        assertThat(roster.leave("l1", nowNs, now())).isFalse();
        assertThat(roster.places()).isEmpty();
        assertThat(roster.drains()).containsExactly(new DirectorState.Drain("l1", null));
        assertThat(roster.registered()).isEmpty();
    }

    @Test
    void whoMayNotRegisterIsToldWhy() throws ClusterException {
        Roster roster = roster();
        Registration own = registration("10.99.1.3", null, false);
        ready(register(roster, "b2", "10.99.1.2"));
        assertRefused(roster, "b 3", own, "10.99.1.3", "'b 3'", "letters");
        Registration named = registration("10.99.1.3", "node.example", false);
        assertRefused(roster, "b3", named, "10.99.1.3", "node.example");
        Registration network = registration("10.99.1.3", "10.99.1.0/24", false);
        assertRefused(roster, "b3", network, "10.99.1.3", "without a length");
        assertRefused(roster, "b3", registration("10.99.0.1", null, false), "10.99.0.1", "10.99.0.1", "a service");
        assertRefused(roster, "b3", registration("10.99.1.2", null, false), "10.99.1.2", "is that of back-end b2");
        assertRefused(roster, "b3", registration("10.99.1.1", null, false), "10.99.1.1", "is that of back-end l1");
        assertRefused(roster, "l1", own, "10.99.1.3", "is listed with address 10.99.1.1");
        assertRefused(roster, "b2", own, "10.99.1.3", "registers from 10.99.1.2 too", "--cluster-name");
        Registration byName = new Registration(null, "http://node:3324", null, false, List.of(), List.of());
        assertRefused(roster, "b3", byName, "10.99.1.3", "http://node:3324", "IP address");
        Registration spaced = new Registration(null, "10.99.1.3 :3324", null, false, List.of(), List.of());
        assertRefused(roster, "b3", spaced, "10.99.1.3", "'10.99.1.3 :3324'", "http://ADDRESS:PORT");
        register(roster, "b3", "10.99.1.3");
        register(roster, "b4", "10.99.1.4");
        Registration fifth = registration("10.99.1.5", null, false);
        assertRefused(roster, "b5", fifth, "10.99.1.5", "4 back-ends", "registration.max-back-ends");
    }

    @Test
    void aNodeSpeaksForTheAddressThatItAsksFromAlone() throws ClusterException {
        RegistrationPolicy policy = new RegistrationPolicy(
                List.of(Prefix.parse("10.99.0.0/16")), Duration.ofSeconds(2), Duration.ofMinutes(5), 9);
        config = Configs.director(Path.of("unused"), WeightPolicy.DEFAULT, policy, backEnd("l1", "10.99.1.1", null));
        Roster roster = roster();
        Member member = register(roster, "b2", "10.99.1.2");
        ready(member);
        ready(roster.member("l1"));
        Registration leaving = registration("10.99.1.2", "10.99.1.2", true);
        assertRefused(roster, "b2", leaving, "10.99.1.3", "is not the one that it asks from, 10.99.1.3", "token-file");
        assertRefused(roster, "l1", registration("10.99.1.1", "10.99.1.1", true), "10.99.1.3", "10.99.1.3");
        assertRefused(roster, "b3", registration("10.99.1.2", "10.99.1.2", false), "10.99.1.3", "10.99.1.3");
        Registration redirecting = registration("10.99.1.3", "10.99.1.2", false);
        assertRefused(roster, "b2", redirecting, "10.99.1.3", "10.99.1.3");
        assertThat(member.health.state()).isEqualTo(BackEndState.UP);
        assertThat(member.backEnd.admin().getHost()).isEqualTo("10.99.1.2");
        assertThat(roster.member("l1").health.state()).isEqualTo(BackEndState.UP);
        assertThat(roster.registered()).hasSize(1);
    }

    @Test
    void theAdminApiOfANodeIsAtItsAddress() throws ClusterException {
        Roster roster = roster();
        for (String elsewhere : List.of("127.0.0.1", "10.99.1.4", "169.254.169.254", "::1")) {
            Registration asked = registration(elsewhere, null, false);
            assertRefused(roster, "b3", asked, "10.99.1.3", elsewhere, "is not at its address, 10.99.1.3", "--admin");
        }
        assertThat(roster.registered()).isEmpty();
        register(roster, "b6", "fd00::7");
    }

    @Test
    void anAdminApiElsewhereThatIsRememberedIsNotAsked() throws ClusterException {
        state = new DirectorState(
                DirectorState.FORMAT,
                List.of(
                        new DirectorState.Known("b2", "10.99.1.2", "http://10.99.1.9:1", null),
                        new DirectorState.Known("b3", "10.99.1.3", "http://10.99.1.3:1", null)),
                List.of(),
                List.of(),
                Map.of());
        assertThat(roster().members())
                .extracting(member -> member.backEnd.name())
                .containsExactly("b3", "l1");
    }

    @Test
    void whoIsListedWithATokenOfItsOwnIsKnownByItWhereverItAsksFrom() throws ClusterException {
        Roster roster = roster();
        Member listed = roster.member("l1");
        ready(listed);
        Registration natted = registration("192.168.0.9", null, true);
        roster.register("l1", natted, null, nowNs, now());
        assertThat(listed.health.state()).isEqualTo(BackEndState.DRAINING);
        assertThat(listed.backEnd.admin().getHost()).isEqualTo("10.99.1.1");
        assertThatThrownBy(
                        () -> roster.register("l1", registration("10.99.1.3", "10.99.1.3", false), null, nowNs, now()))
                .hasMessageContaining("is listed with address 10.99.1.1");
        assertThatThrownBy(() -> roster.register("b2", natted, null, nowNs, now()))
                .hasMessageContaining("b2 is not listed");
    }

    @Test
    void nobodyRegistersWithADirectorThatTakesNone() throws ClusterException {
        config = Configs.director(Path.of("unused"), WeightPolicy.DEFAULT, null, backEnd("l1", "10.99.1.1", null));
        Registration own = registration("10.99.1.2", null, false);
        assertRefused(roster(), "b2", own, "10.99.1.2", "takes no registrations", "token-file");
    }

    @Test
    void networksSayWhichAddressesNodesMayHave() throws ClusterException {
        RegistrationPolicy policy = new RegistrationPolicy(
                List.of(Prefix.parse("10.99.0.0/16"), Prefix.parse("fd00::/16")),
                Duration.ofSeconds(2),
                Duration.ofMinutes(5),
                9);
        config = Configs.director(Path.of("unused"), WeightPolicy.DEFAULT, policy);
        Roster roster = roster();
        assertThat(register(roster, "a", "10.99.3.3").backEnd.address()).isEqualTo(address("10.99.3.3"));
        register(roster, "b", "fd00::7");
        Registration outside = registration("10.98.3.3", null, false);
        assertRefused(roster, "c", outside, "10.98.3.3", "10.98.3.3", "10.99.0.0/16", "registration.networks");
    }

    @Test
    void aNodeThatMovedTakesItsNameWithItWhenTheOldPlaceIsGone() throws ClusterException {
        Roster roster = roster();
        Member old = register(roster, "b2", "10.99.1.2");
        ready(old);
        pass(Duration.ofSeconds(6));
        Registration asked = registration("10.99.1.3", null, false);
        assertRefused(roster, "b2", asked, "10.99.1.3", "is at 10.99.1.2 and up", "--cluster-name");
        assertThat(roster.places()).hasSize(1);

        for (int i = 0; i < 3; i++) {
            old.health.fails("no answer", nowNs);
        }
        Member moved = register(roster, "b2", "10.99.1.3");
        assertThat(moved.health.state()).isEqualTo(BackEndState.JOINING);
        assertThat(roster.places()).isEmpty();
        assertThat(roster.has(moved)).isTrue();
    }

    @Test
    void aNodeWithANewNameTakesTheAddressOfOneThatIsGone() throws ClusterException {
        Roster roster = roster();
        register(roster, "b2", "10.99.1.2");
        register(roster, "b2new", "10.99.1.2");
        assertThat(roster.registered()).extracting(DirectorState.Known::name).containsExactly("b2new");
    }

    @Test
    void whatCannotBeRememberedIsNamed() {
        state = new DirectorState(
                DirectorState.FORMAT,
                List.of(new DirectorState.Known("b2", "node.example", "http://10.0.0.1:1", null)),
                List.of(),
                List.of(),
                Map.of());
        assertThatThrownBy(this::roster).isInstanceOf(ClusterException.class).hasMessageContaining("node.example");
    }
}
