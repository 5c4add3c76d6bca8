package org.tamanoir.offload;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.tamanoir.nodeos.Flow;
import org.tamanoir.nodeos.Level;
import org.tamanoir.nodeos.NodeOs;
import org.tamanoir.nodeos.Offload;
import org.tamanoir.nodeos.Policy;
import org.tamanoir.nodeos.Share;
import org.tamanoir.transport.Backlogs;

/** One policy, on levels that note what they are told. */
class KeyedOffloadTest {
    private final List<String> told = new ArrayList<>();
    private final Offload placed = (Offload) Proxy.newProxyInstance(
            Offload.class.getClassLoader(), new Class<?>[] {Offload.class}, (p, method, with) -> {
                return switch (method.getName()) {
                    case "isClosed" -> false;
                    case "level" -> Level.TC;
                    default -> null;
                };
            });
    private final NodeOs levels = (NodeOs) Proxy.newProxyInstance(
            NodeOs.class.getClassLoader(), new Class<?>[] {NodeOs.class}, (p, method, with) -> {
                told.add(method.getName());
                return switch (method.getName()) {
                    case "offload" -> placed;
                    case "awaitRead" -> (BooleanSupplier) () -> true;
                    default -> null;
                };
            });
    private final KeyedOffload offload = new KeyedOffload(levels, Flow.ANY, Policy.up());
    private final KeyedOffload connections =
            new KeyedOffload(levels, new Flow(Flow.Protocol.TCP, null, null, null), Policy.up());
    private boolean isUnsent;
    private long nowNs;

    private void catchUp(boolean holdsBack) {
        offload.beginPassing();
        offload.catchUp(holdsBack, this::outflow);
    }

    private Outflow outflow() {
        return new Outflow(() -> isUnsent, () -> nowNs, new Backlogs(Path.of("none")));
    }

    /** The last packet of before has left the service's queue in this turn, and is flushed behind it. */
    @Test
    void aLevelBeginsWhenWhatTheServiceHasSentIsOut() throws Exception {
        offload.begin(List.of(1L), Set.of(Level.TC), true);
        catchUp(true);
        catchUp(true);
        assertThat(told).doesNotContain("caughtUp");
        catchUp(false);
        isUnsent = true;
        catchUp(false);
        assertThat(told).doesNotContain("caughtUp");
        assertThat(offload.isBehind()).isTrue();
        isUnsent = false;
        catchUp(false);
        assertThat(told).endsWith("caughtUp");
        assertThat(offload.isBehind()).isFalse();
    }

    /** Packets may be in the level's hands that go by the share of before. */
    @Test
    void aChangeWhileTheThreadWaitsForTheLevelsIsWaitedForToo() throws Exception {
        offload.begin(List.of(1L), Set.of(Level.TC), true);
        assertThat(offload.beginPassing()).isTrue();
        offload.change(Policy.forward().share(Share.first(5)));
        offload.catchUp(false, this::outflow);
        assertThat(told).doesNotContain("awaitRead");
        assertThat(offload.beginPassing()).isTrue();
        offload.catchUp(false, this::outflow);
        assertThat(told).endsWith("awaitRead");
    }

    /** Packets of another policy's that ends come to it, and earlier ones of the same flow may be in the node. */
    @Test
    void aPolicyOfWhichTheFirstPacketsGoUpWaitsForThoseOfAnotherThatEnds() throws Exception {
        KeyedOffload first = new KeyedOffload(levels, Flow.ANY, Policy.forward().share(Share.first(5)));
        KeyedOffload samples =
                new KeyedOffload(levels, Flow.ANY, Policy.forward().share(Share.every(5)));
        first.begin(List.of(1L), Set.of(Level.TC), false);
        samples.begin(List.of(1L), Set.of(Level.TC), false);
        told.clear();
        samples.beginAnew();
        assertThat(told).isEmpty();
        first.beginAnew();
        assertThat(told).containsExactly("move");
        assertThat(first.isBehind()).isTrue();
    }

    @Test
    void nobodyRestsForTheOrderOfConnections() throws Exception {
        connections.begin(List.of(1L), Set.of(Level.TC), true);
        assertThat(connections.isBehind()).isFalse();
        connections.change(Policy.forward().share(Share.first(5)));
        connections.close();
        assertThat(told).containsExactly("offload");

        offload.begin(List.of(1L), Set.of(Level.TC), true);
        offload.close();
        assertThat(told).contains("awaitPassed", "awaitLeft");
    }

    @Test
    void aSocketThatIsNeverEmptyHoldsItUpForASecond() throws Exception {
        offload.begin(List.of(1L), Set.of(Level.TC), true);
        isUnsent = true;
        catchUp(false);
        catchUp(false);
        catchUp(false);
        nowNs = 999_999_999;
        catchUp(false);
        assertThat(told).doesNotContain("caughtUp");
        nowNs = 1_000_000_000;
        catchUp(false);
        assertThat(told).endsWith("caughtUp");
    }
}
