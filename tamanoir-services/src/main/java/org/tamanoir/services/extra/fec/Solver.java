package org.tamanoir.services.extra.fec;

import java.util.Arrays;

/**
 * Gets back what a block lacks: the repairs, less what the data that came add to them, are sums of the missing ones
 * alone, as many equations as unknowns.
 *
 * <p>Thread contract: one thread.
 */
final class Solver {
    private final RepairSums sums = new RepairSums();
    private final Symbols symbols = new Symbols();
    private final int[] rows = new int[ReedSolomon.MAX_REPAIR];
    private final int[] lost = new int[ReedSolomon.MAX_REPAIR];
    private final int[][] matrix = new int[ReedSolomon.MAX_REPAIR][ReedSolomon.MAX_REPAIR];
    private final int[][] inverse = new int[ReedSolomon.MAX_REPAIR][ReedSolomon.MAX_REPAIR];
    private byte[] equations = new byte[0];
    private byte[] solved = new byte[0];
    private int stride;

    /** Solves a block that {@linkplain Block#isSolvable can be}. Returns how many data packets were missing. */
    int solve(Block block) {
        int unknowns = choose(block);
        stride = block.repairBytes();
        if (solved.length < unknowns * stride) {
            solved = new byte[unknowns * stride];
            equations = new byte[unknowns * stride];
        }
        byte[] octets = block.octets();
        sums.begin(rows[unknowns - 1] + 1);
        for (int data = 0; data < block.k(); data++) {
            if (block.has(data)) {
                symbols.seal(octets, block.at(data), block.bytes(data));
                sums.add(data, octets, block.at(data), block.bytes(data));
            }
        }
        for (int row = 0; row < unknowns; row++) {
            System.arraycopy(octets, block.at(ReedSolomon.MAX_DATA + rows[row]), equations, row * stride, stride);
            sums.addTo(rows[row], equations, row * stride);
            for (int column = 0; column < unknowns; column++) {
                matrix[row][column] = ReedSolomon.coefficient(rows[row], lost[column]);
            }
        }
        ReedSolomon.invert(matrix, unknowns, inverse);
        Arrays.fill(solved, 0, unknowns * stride, (byte) 0);
        for (int unknown = 0; unknown < unknowns; unknown++) {
            for (int row = 0; row < unknowns; row++) {
                addProducts(unknown, row, ReedSolomon.products(inverse[unknown][row]));
            }
        }
        return unknowns;
    }

    /** Settles which data packets are the unknowns, and which repairs the equations. */
    private int choose(Block block) {
        int unknowns = 0;
        for (int data = 0; data < block.k(); data++) {
            if (!block.has(data)) {
                lost[unknowns++] = data;
            }
        }
        int equationsFound = 0;
        for (int repair = 0; equationsFound < unknowns; repair++) {
            if (block.hasRepair(repair)) {
                rows[equationsFound++] = repair;
            }
        }
        return unknowns;
    }

    private void addProducts(int unknown, int row, byte[] products) {
        int to = unknown * stride;
        int from = row * stride;
        for (int i = 0; i < stride; i++) {
            solved[to + i] ^= products[equations[from + i] & 0xFF];
        }
    }

    /** Returns which data packet an unknown is. */
    int data(int unknown) {
        return lost[unknown];
    }

    byte[] octets() {
        return solved;
    }

    /** Returns where an unknown lies in {@link #octets}. */
    int at(int unknown) {
        return unknown * stride;
    }

    /** Returns the length of an unknown's payload; negative if it is not what it was. */
    int payloadBytes(int unknown) {
        int at = at(unknown);
        int payload = FecHeader.ownPayloadBytes(solved, at);
        int bytes = FecHeader.OWN_BYTES + payload;
        if (bytes > stride) {
            return -1;
        }
        return symbols.isSealed(solved, at, bytes) ? payload : -1;
    }
}
