package org.tamanoir.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.IntToDoubleFunction;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.tamanoir.cluster.config.WeightPolicy;
import org.tamanoir.cluster.lvs.RealServer;
import org.tamanoir.support.Seeds;

class CapacityTest {
    private static final double LOOK_S = 2;
    private static final int PROCESSORS = 4;
    private static final long SEED = Seeds.ofCommit(CapacityTest.class);

    /** Half-life of five looks: a look counts 1 - 2^(-1/5) = 0.1294. */
    private static final WeightPolicy POLICY = new WeightPolicy(true, 100, 100, Duration.ofSeconds(2));

    private double uptimeS = 100;
    private double usedS = 7;

    private Load load(String instance, int processors, @Nullable Double hostS, int streams) {
        return new Load(instance, uptimeS, processors, usedS, hostS, streams, 100, Load.Traffic.NONE);
    }

    private Load next(double busy) {
        uptimeS += LOOK_S;
        usedS += busy * LOOK_S * PROCESSORS;
        return load("a", PROCESSORS, null, 0);
    }

    private List<Integer> weights(Capacity capacity, int looks, IntToDoubleFunction busy) {
        List<Integer> weights = new ArrayList<>();
        for (int i = 0; i < looks; i++) {
            capacity.heard(next(busy.applyAsDouble(i)));
            weights.add(capacity.weight());
        }
        return weights;
    }

    @Test
    void anIdleNodeHasTheWeightOfItsProcessors() {
        Capacity capacity = new Capacity(POLICY, 0);
        assertThat(capacity.weight()).as("nothing known yet").isEqualTo(100);
        capacity.heard(next(0));
        assertThat(capacity.weight()).isEqualTo(400);
        assertThat(capacity.busy()).isNull();
        assertThat(weights(capacity, 20, i -> 0)).containsOnly(400);
        assertThat(capacity.busy()).isZero();
    }

    @Test
    void theWeightFollowsTheLoadInSteps() {
        Capacity capacity = new Capacity(POLICY, 0);
        capacity.heard(next(0));
        // The first difference is taken as it is: 400 x (1 - 0.75) = 100, at most a quarter less at each look.
        assertThat(weights(capacity, 8, i -> 0.75)).containsExactly(300, 225, 169, 127, 100, 100, 100, 100);
    }

    @Test
    void anOldLoadCountsHalfAfterTheHalfLife() {
        Capacity capacity = new Capacity(POLICY, 0);
        capacity.heard(next(0));
        capacity.heard(next(0.8));
        assertThat(capacity.busy()).isCloseTo(0.8, within(1e-9));
        weights(capacity, 5, i -> 0);
        assertThat(capacity.busy()).isCloseTo(0.4, within(1e-9));
        weights(capacity, 5, i -> 0);
        assertThat(capacity.busy()).isCloseTo(0.2, within(1e-9));
    }

    @Test
    void aLoadThatComesIsDamped() {
        Capacity capacity = new Capacity(POLICY, 0);
        weights(capacity, 2, i -> 0);
        // busy = 1 - 2^(-n/5): 0.129, 0.242, 0.340, 0.426, 0.5, 0.565, 0.621, 0.670, 0.713, 0.75
        assertThat(weights(capacity, 10, i -> 1)).containsExactly(348, 303, 264, 230, 200, 174, 152, 132, 115, 100);
    }

    @Test
    void loadsThatAlternateChangeNothing() {
        Capacity capacity = new Capacity(POLICY, 0);
        weights(capacity, 100, i -> i % 2 == 0 ? 0.2 : 0.8);
        int settled = capacity.weight();
        assertThat(weights(capacity, 100, i -> i % 2 == 0 ? 0.2 : 0.8)).containsOnly(settled);
        assertThat(settled).isBetween(180, 220);
    }

    @Test
    void smallChangesOfTheLoadChangeNothing() {
        Capacity capacity = new Capacity(POLICY, 0);
        weights(capacity, 100, i -> 0.5);
        int settled = capacity.weight();
        assertThat(weights(capacity, 100, i -> 0.5 + 0.04 * Math.sin(i / 20.0))).containsOnly(settled);
    }

    @Test
    void theBusierOfNodeAndHostCounts() {
        Capacity capacity = new Capacity(POLICY, 0);
        capacity.heard(load("a", PROCESSORS, 50.0, 0));
        uptimeS += LOOK_S;
        usedS += 1;
        capacity.heard(load("a", PROCESSORS, 54.0, 0));
        assertThat(capacity.busy()).isCloseTo(0.5, within(1e-9));
    }

    @Test
    void streamsNearTheirBoundTakeWeightThoughProcessorsAreIdle() {
        Capacity capacity = new Capacity(POLICY, 0);
        capacity.heard(load("a", PROCESSORS, null, 90));
        assertThat(capacity.weight()).isEqualTo(40);
        Capacity full = new Capacity(POLICY, 0);
        full.heard(load("a", PROCESSORS, null, 100));
        assertThat(full.weight()).isEqualTo(1);
    }

    @Test
    void aNodeThatStartedAnewBeginsAnew() {
        Capacity capacity = new Capacity(POLICY, 0);
        weights(capacity, 100, i -> 0.9);
        assertThat(capacity.weight()).isBetween(36, 44);
        uptimeS = 0.5;
        usedS = 3;
        capacity.heard(load("b", PROCESSORS, null, 0));
        assertThat(capacity.weight()).isEqualTo(400);
        assertThat(capacity.busy()).isNull();
    }

    @Test
    void theWeightInTheKernelIsWhereItGoesOnFrom() {
        Capacity capacity = new Capacity(POLICY, 200);
        assertThat(capacity.weight()).isEqualTo(200);
        assertThat(weights(capacity, 4, i -> 0)).containsExactly(200, 250, 312, 390);
    }

    @Test
    void twoAnswersOfOneMomentCountAsOne() {
        Capacity capacity = new Capacity(POLICY, 0);
        weights(capacity, 3, i -> 0.5);
        Double before = capacity.busy();
        capacity.heard(load("a", PROCESSORS, null, 0));
        assertThat(capacity.busy()).isEqualTo(before);
    }

    @Test
    void whateverNodesSayTheWeightIsOneTheKernelTakes() {
        Random random = new Random(SEED);
        Capacity capacity = new Capacity(new WeightPolicy(true, 1, 65_535, Duration.ofSeconds(2)), 0);
        for (int i = 0; i < Seeds.scaled(20_000); i++) {
            uptimeS = Math.abs(uptimeS + random.nextGaussian() * 5);
            usedS = Math.abs(usedS + random.nextGaussian() * 1e6);
            capacity.heard(
                    load(random.nextInt(50) == 0 ? "b" : "a", 1 + random.nextInt(512), null, random.nextInt(200)));
            assertThat(capacity.weight()).as("seed %d, look %d", SEED, i).isBetween(1, RealServer.MAX_WEIGHT);
        }
    }

    @Test
    void weightOneGrowsAgain() {
        Capacity capacity = new Capacity(POLICY, 1);
        assertThat(weights(capacity, 6, i -> 0)).containsExactly(1, 2, 3, 4, 5, 6);
    }
}
