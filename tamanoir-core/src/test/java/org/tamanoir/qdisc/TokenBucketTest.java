package org.tamanoir.qdisc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.tamanoir.support.Seeds;

class TokenBucketTest {
    private static final long MAX_RATE = 1_000_000_000_000L;
    private static final long MAX_BURST = 1L << 32;
    private static final BigInteger UNITS = BigInteger.valueOf(TestItem.SECOND);

    @Test
    void givesWhatExactArithmeticGives() {
        for (long seed : Seeds.ofCommit(TokenBucketTest.class, 1_000)) {
            Random random = new Random(seed);
            long rate = pick(random, MAX_RATE);
            long burst = pick(random, MAX_BURST);
            long nowNs = random.nextLong() / 4;
            TokenBucket bucket = new TokenBucket(rate, burst, nowNs);
            BigInteger capacity = BigInteger.valueOf(burst).multiply(UNITS);
            BigInteger tokens = capacity;
            long filledNs = nowNs;
            List<long[]> taken = new ArrayList<>();
            for (int step = 0; step < 60; step++) {
                nowNs += random.nextInt(10) == 0
                        ? -random.nextInt(1_000_000)
                        : random.nextLong(1L << random.nextInt(58));
                if (nowNs > filledNs) {
                    BigInteger passed = BigInteger.valueOf(nowNs).subtract(BigInteger.valueOf(filledNs));
                    tokens = capacity.min(tokens.add(passed.multiply(BigInteger.valueOf(rate))));
                    filledNs = nowNs;
                }
                long bytes = random.nextInt(20) == 0 ? pick(random, Long.MAX_VALUE) : random.nextLong(burst + 1);
                BigInteger units = BigInteger.valueOf(bytes).multiply(UNITS);
                boolean enough = tokens.compareTo(units) >= 0;
                assertThat(bucket.take(bytes, nowNs))
                        .as("seed %d step %d", seed, step)
                        .isEqualTo(enough);
                if (enough) {
                    tokens = tokens.subtract(units);
                    taken.add(new long[] {filledNs, bytes});
                }
            }
            checkEveryInterval(seed, rate, burst, taken);
        }
    }

    private static void checkEveryInterval(long seed, long rate, long burst, List<long[]> taken) {
        for (int from = 0; from < taken.size(); from++) {
            BigInteger bytes = BigInteger.ZERO;
            for (int to = from; to < taken.size(); to++) {
                bytes = bytes.add(BigInteger.valueOf(taken.get(to)[1]));
                BigInteger passedNs =
                        BigInteger.valueOf(taken.get(to)[0]).subtract(BigInteger.valueOf(taken.get(from)[0]));
                BigInteger bound =
                        BigInteger.valueOf(burst).multiply(UNITS).add(passedNs.multiply(BigInteger.valueOf(rate)));
                assertThat(bytes.multiply(UNITS)).as("seed %d", seed).isLessThanOrEqualTo(bound);
            }
        }
    }

    /** Of any magnitude from 1 to the maximum. */
    private static long pick(Random random, long max) {
        return switch (random.nextInt(5)) {
            case 0 -> max;
            case 1 -> 1;
            default -> 1 + random.nextLong(Math.max(1, max >>> random.nextInt(63 - Long.numberOfLeadingZeros(max))));
        };
    }

    @Test
    void saysToTheNanosecondWhenTokensAreThere() {
        for (long seed : Seeds.ofCommit(TokenBucketTest.class, 1_000)) {
            Random random = new Random(seed);
            long rate = pick(random, MAX_RATE);
            long burst = pick(random, MAX_BURST);
            TokenBucket bucket = new TokenBucket(rate, burst, 0);
            long nowNs = 0;
            for (int step = 0; step < 20; step++) {
                long bytes = 1 + random.nextLong(burst);
                long readyNs = bucket.readyNs(bytes, nowNs);
                assertThat(readyNs).isGreaterThanOrEqualTo(nowNs);
                if (readyNs == Long.MAX_VALUE) {
                    break; // 4 Gi bytes at 1 byte/s take longer than the clock has room for
                }
                if (readyNs > nowNs) {
                    assertThat(bucket.take(bytes, readyNs - 1))
                            .as("seed %d step %d", seed, step)
                            .isFalse();
                }
                assertThat(bucket.take(bytes, readyNs))
                        .as("seed %d step %d", seed, step)
                        .isTrue();
                nowNs = readyNs + random.nextInt(1000);
            }
        }
    }

    @Test
    void isFullAgainAfterAnyTimeWithoutOverflow() {
        TokenBucket bucket = new TokenBucket(MAX_RATE, MAX_BURST, Long.MIN_VALUE / 2);
        assertThat(bucket.take(MAX_BURST, Long.MIN_VALUE / 2)).isTrue();
        assertThat(bucket.take(1, Long.MIN_VALUE / 2)).isFalse();
        assertThat(bucket.take(MAX_BURST, Long.MAX_VALUE / 2 - 1)).isTrue();
        assertThat(bucket.take(1, Long.MAX_VALUE / 2 - 1)).isFalse();
    }

    @Test
    void standsStillWhileTheClockIsBehind() {
        TokenBucket bucket = new TokenBucket(1000, 1000, 10 * TestItem.SECOND);
        assertThat(bucket.take(1000, 10 * TestItem.SECOND)).isTrue();
        assertThat(bucket.take(1, 0)).isFalse();
        assertThat(bucket.readyNs(500, 0)).isEqualTo(10 * TestItem.SECOND + 500 * TestItem.MS);
        assertThat(bucket.take(1, 9 * TestItem.SECOND)).isFalse();
        assertThat(bucket.take(1, 10 * TestItem.SECOND)).isFalse();
        assertThat(bucket.take(1, 10 * TestItem.SECOND + TestItem.MS)).isTrue();
        bucket.giveBack(1000);
        assertThat(bucket.readyNs(1000, 5)).isEqualTo(5);
    }

    @Test
    void neverGivesMoreAtOnceThanItHolds() {
        TokenBucket bucket = new TokenBucket(1_000_000, 256, 0);
        assertThat(bucket.take(257, TestItem.SECOND)).isFalse();
        assertThat(bucket.take(Long.MAX_VALUE, TestItem.SECOND)).isFalse();
        assertThat(bucket.readyNs(257, 0)).isEqualTo(Long.MAX_VALUE);
        assertThat(bucket.take(256, TestItem.SECOND)).isTrue();
    }

    @Test
    void takesBackWhatWasNotUsedUpToItsSize() {
        TokenBucket bucket = new TokenBucket(1, 1000, 0);
        assertThat(bucket.take(600, 0)).isTrue();
        bucket.giveBack(100);
        assertThat(bucket.take(501, 0)).isFalse();
        assertThat(bucket.take(500, 0)).isTrue();
        bucket.giveBack(Long.MAX_VALUE);
        assertThat(bucket.take(1000, 0)).isTrue();
        assertThat(bucket.take(1, 0)).isFalse();
    }

    @Test
    void owesWhatIsTakenAhead() {
        TokenBucket bucket = new TokenBucket(1000, 1000, 0);
        bucket.takeAhead(1500);
        assertThat(bucket.readyNs(1, 0)).isEqualTo(501 * TestItem.MS);
        for (int i = 0; i < 5; i++) {
            bucket.takeAhead(Long.MAX_VALUE);
        }
        assertThat(bucket.readyNs(1000, 0)).isEqualTo(((1L << 32) + 1000) * TestItem.MS);
        bucket.giveBack(Long.MAX_VALUE);
        assertThat(bucket.readyNs(1000, 0)).isEqualTo(TestItem.SECOND);
    }

    @Test
    void keepsWhatIsInItWhenItIsChanged() {
        TokenBucket bucket = new TokenBucket(1000, 1000, 0);
        assertThat(bucket.take(900, 0)).isTrue();
        bucket.change(2000, 5000, 100 * TestItem.MS); // 100 and 100 at the old rate
        assertThat(bucket.take(201, 100 * TestItem.MS)).isFalse();
        assertThat(bucket.take(200, 100 * TestItem.MS)).isTrue();
        assertThat(bucket.readyNs(200, 100 * TestItem.MS)).isEqualTo(200 * TestItem.MS);
        bucket.change(1, 50, 200 * TestItem.MS);
        assertThat(bucket.take(50, 200 * TestItem.MS)).isTrue();
        assertThat(bucket.take(1, 200 * TestItem.MS)).isFalse();
    }

    @Test
    void refusesWhatItCannotCount() {
        assertThatThrownBy(() -> new TokenBucket(0, 1, 0))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("rate 0 bytes/s: must be 1 to 1000000000000");
        assertThatThrownBy(() -> new TokenBucket(1, MAX_BURST + 1, 0))
                .hasMessage("burst 4294967297 bytes: must be 1 to 4294967296");
        TokenBucket bucket = new TokenBucket(1000, 1000, 0);
        assertThatThrownBy(() -> bucket.change(1, 0, 0)).isInstanceOf(IllegalArgumentException.class);
        assertThat(bucket.take(1000, 0)).as("as before").isTrue();
    }
}
