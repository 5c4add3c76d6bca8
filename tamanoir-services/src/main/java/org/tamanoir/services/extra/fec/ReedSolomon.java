package org.tamanoir.services.extra.fec;

/**
 * A systematic Reed–Solomon code over GF(2⁸), polynomial x⁸ + x⁴ + x³ + x² + 1: repair r of a block is the sum over its
 * data i of {@code coefficient(r, i) · data(i)}, whatever k and m the block has. The coefficients are a Cauchy matrix
 * (Blömer and others, 1995), each column divided by its first element:
 *
 * <pre>
 *   coefficient(r, i) = (0 ^ (32 + i)) / (r ^ (32 + i)),   r &lt; 32, i &lt; 64
 * </pre>
 *
 * <p>Each square part of a Cauchy matrix can be inverted, and of one with columns that are multiplied too, so any k of
 * the k + m give the data back. Repair 0 has ones alone: it is the exclusive or.
 *
 * <p>Stateless; any threads.
 */
final class ReedSolomon {
    /** Most data packets of a block. */
    static final int MAX_DATA = 64;
    /** Most repair packets of a block. */
    static final int MAX_REPAIR = 32;
    /** Repairs that one {@link #products} gives. */
    static final int GROUP = Long.BYTES;

    private static final int POLYNOMIAL = 0x11D;
    private static final int SIZE = 256;
    private static final byte[] LOG = new byte[SIZE];
    private static final byte[] POWER = new byte[2 * SIZE];
    private static final byte[][] PRODUCTS = new byte[SIZE][SIZE];
    private static final long[][] PACKED = new long[MAX_REPAIR / GROUP * MAX_DATA][SIZE];

    static {
        for (int i = 0, x = 1; i < SIZE - 1; i++) {
            POWER[i] = (byte) x;
            POWER[i + SIZE - 1] = (byte) x;
            LOG[x] = (byte) i;
            x = x << 1 ^ (x >= SIZE / 2 ? POLYNOMIAL : 0);
        }
        for (int a = 0; a < SIZE; a++) {
            for (int b = 0; b < SIZE; b++) {
                PRODUCTS[a][b] = (byte) multiply(a, b);
            }
        }
        for (int repair = 0; repair < MAX_REPAIR; repair++) {
            for (int data = 0; data < MAX_DATA; data++) {
                byte[] products = PRODUCTS[coefficient(repair, data)];
                long[] packed = PACKED[repair / GROUP * MAX_DATA + data];
                for (int x = 0; x < SIZE; x++) {
                    packed[x] |= (products[x] & 0xFFL) << repair % GROUP * Byte.SIZE;
                }
            }
        }
    }

    private ReedSolomon() {}

    static int multiply(int a, int b) {
        return a == 0 || b == 0 ? 0 : POWER[(LOG[a] & 0xFF) + (LOG[b] & 0xFF)] & 0xFF;
    }

    /** Returns the inverse of a number that is not 0. */
    static int inverse(int a) {
        return POWER[SIZE - 1 - (LOG[a] & 0xFF)] & 0xFF;
    }

    static int coefficient(int repair, int data) {
        int column = MAX_REPAIR + data;
        return multiply(column, inverse(repair ^ column));
    }

    /** Returns the products of {@code factor} with each octet. */
    static byte[] products(int factor) {
        return PRODUCTS[factor];
    }

    /**
     * Returns, for each octet of this data packet, what it adds to the eight repairs of a group, the first one in the
     * lowest octet: one look-up in place of eight.
     */
    static long[] products(int group, int data) {
        return PACKED[group * MAX_DATA + data];
    }

    /**
     * Inverts a matrix in place, by Gauss and Jordan.
     *
     * @param size rows and columns that count
     * @param inverse gets the result
     */
    static void invert(int[][] matrix, int size, int[][] inverse) {
        for (int row = 0; row < size; row++) {
            for (int column = 0; column < size; column++) {
                inverse[row][column] = row == column ? 1 : 0;
            }
        }
        // No element of the diagonal becomes 0: all leading parts of the matrix can be inverted.
        for (int pivot = 0; pivot < size; pivot++) {
            int scale = inverse(matrix[pivot][pivot]);
            scale(matrix[pivot], size, scale);
            scale(inverse[pivot], size, scale);
            for (int row = 0; row < size; row++) {
                int factor = matrix[row][pivot];
                if (row != pivot && factor != 0) {
                    subtract(matrix[row], matrix[pivot], size, factor);
                    subtract(inverse[row], inverse[pivot], size, factor);
                }
            }
        }
    }

    private static void scale(int[] row, int size, int factor) {
        for (int i = 0; i < size; i++) {
            row[i] = multiply(row[i], factor);
        }
    }

    private static void subtract(int[] row, int[] other, int size, int factor) {
        for (int i = 0; i < size; i++) {
            row[i] ^= multiply(other[i], factor);
        }
    }
}
