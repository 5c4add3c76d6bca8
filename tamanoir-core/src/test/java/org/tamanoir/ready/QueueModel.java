package org.tamanoir.ready;

import java.util.ArrayDeque;
import java.util.Queue;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.IntStream;

/** Does what a {@link ReadyQueue} does, by lists. */
final class QueueModel {
    private final SortedMap<Integer, Queue<Integer>> byPriority = new TreeMap<>();
    private final int capacity;

    QueueModel(int capacity) {
        this.capacity = capacity;
    }

    boolean put(int value, int priority) {
        Queue<Integer> queue = byPriority.computeIfAbsent(priority, p -> new ArrayDeque<>());
        return queue.size() < capacity && queue.add(value);
    }

    int[] take(int limit) {
        Queue<Integer> first = byPriority.values().stream()
                .filter(queue -> !queue.isEmpty())
                .findFirst()
                .orElseGet(ArrayDeque::new);
        return IntStream.range(0, Math.min(limit, first.size()))
                .map(i -> first.remove())
                .toArray();
    }
}
