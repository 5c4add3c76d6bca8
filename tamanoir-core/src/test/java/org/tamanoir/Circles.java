package org.tamanoir;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/** Classes that cannot be understood without each other: the circles of dependencies, by Tarjan's algorithm. One thread. */
final class Circles {
    private final Map<String, Set<String>> dependencies = new TreeMap<>();
    private final Map<String, Integer> indexes = new HashMap<>();
    private final Map<String, Integer> lowest = new HashMap<>();
    private final Deque<String> stack = new ArrayDeque<>();
    private final Set<String> onStack = new HashSet<>();
    private final List<Set<String>> circles = new ArrayList<>();

    private Circles() {}

    /** Returns the names of top-level classes, for each circle of them; those in none are circles of one. */
    static List<Set<String>> of(JavaClasses classes) {
        return new Circles().found(classes);
    }

    private List<Set<String>> found(JavaClasses classes) {
        for (JavaClass each : classes) {
            Set<String> of = dependencies.computeIfAbsent(topLevel(each), name -> new TreeSet<>());
            each.getDirectDependenciesFromSelf().forEach(dependency -> of.add(topLevel(dependency.getTargetClass())));
        }
        dependencies.values().forEach(targets -> targets.retainAll(dependencies.keySet()));
        for (String each : dependencies.keySet()) {
            if (!indexes.containsKey(each)) {
                visit(each);
            }
        }
        return circles;
    }

    private static String topLevel(JavaClass type) {
        JavaClass base = type.getBaseComponentType();
        return base.getEnclosingClass().map(Circles::topLevel).orElse(base.getName());
    }

    private void visit(String node) {
        int index = indexes.size();
        indexes.put(node, index);
        lowest.put(node, index);
        stack.push(node);
        onStack.add(node);
        for (String next : dependencies.getOrDefault(node, Set.of())) {
            if (!indexes.containsKey(next)) {
                visit(next);
                lowest.merge(node, lowest.getOrDefault(next, index), Math::min);
            } else if (onStack.contains(next)) {
                lowest.merge(node, indexes.getOrDefault(next, index), Math::min);
            }
        }
        if (lowest.getOrDefault(node, 0) == index) {
            Set<String> circle = new TreeSet<>();
            String last;
            do {
                last = stack.pop();
                onStack.remove(last);
                circle.add(last);
            } while (!last.equals(node));
            circles.add(circle);
        }
    }
}
