package org.tamanoir.services.morph;

import java.util.ArrayList;
import java.util.List;

/**
 * The handlers of a plan while it is put together, and the paths that lead to them.
 *
 * <p>Thread contract: immutable; what changes it returns another.
 */
record PlanGraph(List<StageSpec> stages, List<PathRule> paths) {

    /** Adds what is wrong: circles, and handlers that nothing leads to. */
    void check(List<String> problems) {
        List<Integer> order = topological();
        for (int i = 0; i < stages.size(); i++) {
            StageSpec stage = stages.get(i);
            if (!order.contains(i)) {
                problems.add(
                        "handlers." + stage.name() + ".then: messages would go in a circle: let them leave by out");
            } else if (predecessors(i).isEmpty() && !isEntered(i)) {
                problems.add(
                        "handlers." + stage.name()
                                + ": nothing leads to it: name it in paths (enter) or behind a handler (then), or leave it out");
            }
        }
    }

    /** Returns the stages, each behind those that lead to it, else as they were written; those of circles are missing. */
    List<Integer> topological() {
        List<Integer> order = new ArrayList<>();
        boolean grows = true;
        while (grows) {
            grows = false;
            for (int i = 0; i < stages.size() && !grows; i++) {
                if (!order.contains(i) && order.containsAll(predecessors(i))) {
                    order.add(i);
                    grows = true;
                }
            }
        }
        return order;
    }

    List<Integer> predecessors(int of) {
        List<Integer> found = new ArrayList<>();
        for (int i = 0; i < stages.size(); i++) {
            if (successors(i).contains(of)) {
                found.add(i);
            }
        }
        return found;
    }

    /** Returns the handlers behind a stage, each once. */
    List<Integer> successors(int of) {
        return stages.get(of).next().stream()
                .flatMap(List::stream)
                .filter(next -> next != Plan.OUT)
                .distinct()
                .toList();
    }

    boolean isEntered(int stage) {
        return paths.stream().anyMatch(path -> path.enter().contains(stage));
    }

    /** Returns the graph with its stages numbered in the order in which they run. */
    PlanGraph sorted() {
        List<Integer> order = topological();
        List<StageSpec> sorted = new ArrayList<>();
        for (int old : order) {
            StageSpec stage = stages.get(old);
            sorted.add(stage.withNext(
                    stage.next().stream().map(port -> renumbered(port, order)).toList()));
        }
        List<PathRule> entering = paths.stream()
                .map(path -> path.withEnter(renumbered(path.enter(), order)))
                .toList();
        return new PlanGraph(List.copyOf(sorted), entering);
    }

    private static List<Integer> renumbered(List<Integer> stages, List<Integer> order) {
        return stages.stream()
                .map(stage -> stage == Plan.OUT ? Plan.OUT : order.indexOf(stage))
                .toList();
    }

    /** Returns the graph in which two stages, one of which follows the other alone, have changed places. */
    PlanGraph swapped(int first, int second) {
        List<StageSpec> changed = new ArrayList<>();
        for (int i = 0; i < stages.size(); i++) {
            StageSpec stage = stages.get(i);
            if (i == first) {
                changed.add(stage.withNext(stages.get(second).next()));
            } else if (i == second) {
                changed.add(stage.withNext(List.of(List.of(first))));
            } else {
                changed.add(stage.withNext(stage.next().stream()
                        .map(port -> replaced(port, first, second))
                        .toList()));
            }
        }
        List<PathRule> entering = paths.stream()
                .map(path -> path.withEnter(replaced(path.enter(), first, second)))
                .toList();
        return new PlanGraph(List.copyOf(changed), entering);
    }

    private static List<Integer> replaced(List<Integer> stages, int old, int by) {
        return stages.stream()
                .map(stage -> stage == old ? Integer.valueOf(by) : stage)
                .toList();
    }
}
