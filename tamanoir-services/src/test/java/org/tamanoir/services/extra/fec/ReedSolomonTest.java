package org.tamanoir.services.extra.fec;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.tamanoir.services.extra.Header;
import org.tamanoir.services.extra.KeyedHash;
import org.tamanoir.support.Seeds;

/** The code against one that is written down a second time, a bit at a time. */
@Tag("once")
class ReedSolomonTest {
    /** Shifts and adds, and reduces by x⁸ = x⁴ + x³ + x² + 1. */
    private static int naive(int a, int b) {
        int product = 0;
        for (int bit = 0; bit < 8; bit++) {
            if ((b >> bit & 1) == 1) {
                product ^= a << bit;
            }
        }
        for (int bit = 14; bit >= 8; bit--) {
            if ((product >> bit & 1) == 1) {
                product ^= 0x11D << bit - 8;
            }
        }
        return product;
    }

    private static int naiveInverse(int a) {
        for (int b = 1; b < 256; b++) {
            if (naive(a, b) == 1) {
                return b;
            }
        }
        throw new IllegalArgumentException("0 has no inverse");
    }

    /** Element of a Cauchy matrix, divided by the first of its column. */
    private static int naiveCoefficient(int repair, int data) {
        return naive(naiveInverse(repair ^ 32 + data), 32 + data);
    }

    private static byte[][] naiveRepairs(byte[][] data, int m) {
        int length = 0;
        for (byte[] each : data) {
            length = Math.max(length, each.length);
        }
        byte[][] repairs = new byte[m][length];
        for (int r = 0; r < m; r++) {
            for (int i = 0; i < data.length; i++) {
                for (int x = 0; x < data[i].length; x++) {
                    repairs[r][x] ^= (byte) naive(data[i][x] & 0xFF, naiveCoefficient(r, i));
                }
            }
        }
        return repairs;
    }

    private static byte[][] repairs(RepairSums sums, byte[][] data, int m) {
        sums.begin(m);
        for (int i = 0; i < data.length; i++) {
            sums.add(i, data[i], 0, data[i].length);
        }
        byte[][] repairs = new byte[m][];
        for (int r = 0; r < m; r++) {
            ByteBuffer target = ByteBuffer.allocate(sums.length() + 3).position(3);
            sums.write(r, target);
            assertThat(target.hasRemaining()).isFalse();
            repairs[r] = new byte[sums.length()];
            target.get(3, repairs[r]);
        }
        return repairs;
    }

    @Test
    void productsAndInversesAreThoseOfTheField() {
        for (int a = 0; a < 256; a++) {
            byte[] expected = new byte[256];
            for (int b = 0; b < 256; b++) {
                expected[b] = (byte) naive(a, b);
            }
            assertThat(ReedSolomon.products(a)).isEqualTo(expected);
            if (a > 0) {
                assertThat(ReedSolomon.inverse(a)).isEqualTo(naiveInverse(a));
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"1,1", "10,1", "64,1", "10,3", "1,32", "64,32", "7,8", "7,9", "33,17"})
    void repairsAreThoseOfTheNaiveCodeAlsoWhereMemoryIsUsedAgain(int k, int m) {
        Random random = new Random(k * 100L + m);
        RepairSums sums = new RepairSums();
        for (int round = 0; round < 4; round++) {
            byte[][] data = new byte[k][];
            for (int i = 0; i < k; i++) {
                data[i] = new byte[random.nextInt(round == 2 ? 20 : 300)];
                random.nextBytes(data[i]);
            }
            assertThat(repairs(sums, data, m)).isDeepEqualTo(naiveRepairs(data, m));
            sums.begin(random.nextInt(32) + 1);
            sums.add(0, new byte[] {1, 2, 3}, 0, 3);
        }
    }

    /** Every way to lose 3 of 8. */
    @Test
    void anyFiveOfEightGiveTheDataBack() {
        int k = 5;
        int m = 3;
        for (int kept = 0; kept < 1 << k + m; kept++) {
            if (Integer.bitCount(kept) == k) {
                assertThatAllComeBack(new Random(kept), k, m, kept & (1L << k) - 1, kept >> k);
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"64,32", "64,1", "1,32", "10,3", "40,20"})
    void anyPartThatIsLargeEnoughGivesTheDataBack(int k, int m) {
        for (long seed : Seeds.ofCommit(ReedSolomonTest.class, 50)) {
            Random random = new Random(seed);
            long data = k == 64 ? -1 : (1L << k) - 1;
            int repairs = m == 32 ? -1 : (1 << m) - 1;
            int lost = 0;
            while (lost < m) {
                int slot = random.nextInt(k + m);
                if (slot < k && (data >>> slot & 1) == 1) {
                    data &= ~(1L << slot);
                    lost++;
                } else if (slot >= k && (repairs >>> slot - k & 1) == 1) {
                    repairs &= ~(1 << slot - k);
                    lost++;
                }
            }
            assertThatAllComeBack(random, k, m, data, repairs);
        }
    }

    private static void assertThatAllComeBack(Random random, int k, int m, long keptData, int keptRepairs) {
        Header none = new Header();
        Symbols symbols = new Symbols();
        OpenBlock sums = new OpenBlock().begin(new FecFlow(none, 1, new RepairNeed(m, m)), 0, m);
        Block block = new Block(new KeyedHash()).begin(1, 0, 0, new byte[0]);
        byte[][] payloads = new byte[k][];
        for (int i = 0; i < k; i++) {
            payloads[i] = new byte[random.nextInt(90)];
            random.nextBytes(payloads[i]);
            int bytes = symbols.write(ByteBuffer.wrap(payloads[i]), 0, 0);
            sums.add(symbols.octets(), bytes, none);
            if ((keptData >>> i & 1) == 1) {
                block.grow(block.growth(200));
                block.add(i, ByteBuffer.wrap(payloads[i]), 0, 0);
            }
        }
        for (int r = 0; r < m; r++) {
            if ((keptRepairs >>> r & 1) == 1) {
                ByteBuffer sum = ByteBuffer.allocate(sums.repairBytes());
                sums.writeRepair(r, sum);
                block.grow(block.growth(200));
                block.addRepair(r, k, m, sum.flip());
            }
        }
        assertThat(block.isSolvable()).isEqualTo(block.missing() > 0);
        if (!block.isSolvable()) {
            return;
        }
        Solver solver = new Solver();
        int missing = solver.solve(block);
        assertThat(missing).isEqualTo(k - Long.bitCount(keptData));
        for (int i = 0; i < missing; i++) {
            byte[] back = new byte[Math.max(0, solver.payloadBytes(i))];
            System.arraycopy(solver.octets(), solver.at(i) + FecHeader.OWN_BYTES, back, 0, back.length);
            assertThat(back).as("packet %d", solver.data(i)).isEqualTo(payloads[solver.data(i)]);
        }
    }
}
