package org.tamanoir.sim;

import java.util.Arrays;

/**
 * The fluid model of a link on which classes share the queues of others: at each instant the queues that have something
 * share the link's rate by their weights, and the senders that lead to a queue share the queue's part by theirs. What one
 * cannot use the others have. Rates are those of the steady state, in bytes a second.
 *
 * @param queue in which each sender's packets wait
 * @param weight of each sender beside the others of its queue
 * @param demand of each sender; infinite for one that always has something
 */
record FluidShares(double rate, double[] queueWeight, int[] queue, double[] weight, double[] demand) {
    /** Returns what each sender gets. */
    double[] rates() {
        double[] wanted = new double[queueWeight.length];
        for (int i = 0; i < queue.length; i++) {
            wanted[queue[i]] += demand[i];
        }
        double[] ofQueue = fill(rate, queueWeight, wanted);
        double[] all = new double[queue.length];
        for (int each = 0; each < queueWeight.length; each++) {
            double[] inner = demand.clone();
            for (int i = 0; i < queue.length; i++) {
                inner[i] = queue[i] == each ? demand[i] : 0;
            }
            double[] given = fill(ofQueue[each], weight, inner);
            Arrays.setAll(all, i -> all[i] + given[i]);
        }
        return all;
    }

    /** Divides a rate by weights; whoever wants less than its part has what it wants, and the others divide the rest. */
    private static double[] fill(double rate, double[] weights, double[] wanted) {
        double[] given = new double[weights.length];
        boolean[] isContent = new boolean[weights.length];
        boolean isChanged = true;
        while (isChanged) {
            isChanged = false;
            double left = rate;
            double open = 0;
            for (int i = 0; i < weights.length; i++) {
                left -= isContent[i] ? wanted[i] : 0;
                open += isContent[i] ? 0 : weights[i];
            }
            for (int i = 0; i < weights.length && !isChanged; i++) {
                given[i] = isContent[i] ? wanted[i] : left * weights[i] / open;
                if (!isContent[i] && wanted[i] <= given[i]) {
                    isContent[i] = true;
                    isChanged = true;
                }
            }
        }
        return given;
    }
}
