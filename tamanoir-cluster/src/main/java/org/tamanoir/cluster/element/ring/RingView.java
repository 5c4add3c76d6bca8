package org.tamanoir.cluster.element.ring;

import java.util.List;

/**
 * A ring that holds.
 *
 * @param epoch 0 to 65,535, greater with each view
 * @param master the unit that injects the token
 * @param round up to which packets may have been sent when it began; unsigned
 * @param units in the token's order, ascending
 */
public record RingView(int epoch, int master, long round, List<Integer> units) {
    public RingView {
        units = List.copyOf(units);
    }

    Ballot ballot() {
        return new Ballot(epoch, master);
    }

    int after(int unit) {
        return units.get((units.indexOf(unit) + 1) % units.size());
    }

    boolean has(int unit) {
        return units.contains(unit);
    }
}
