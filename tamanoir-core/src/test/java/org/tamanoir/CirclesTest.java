package org.tamanoir;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
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
import org.junit.jupiter.api.Test;

/** Classes that cannot be understood without each other are few: the circles of dependencies, by Tarjan's algorithm. */
class CirclesTest {
    /** Classes of one circle, in any room. Lower it when the largest circle becomes smaller, never raise it. */
    private static final int LIMIT = 7;

    private final Map<String, Set<String>> dependencies = new TreeMap<>();
    private final Map<String, Integer> indexes = new HashMap<>();
    private final Map<String, Integer> lowest = new HashMap<>();
    private final Deque<String> stack = new ArrayDeque<>();
    private final Set<String> onStack = new HashSet<>();
    private final List<Set<String>> circles = new ArrayList<>();

    @Test
    void noCircleOfClassesIsLarge() {
        JavaClasses classes = new ClassFileImporter()
                .withImportOption(new ImportOption.DoNotIncludeTests())
                .importPackages("org.tamanoir");
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
        assertThat(circles).allSatisfy(circle -> assertThat(circle).hasSizeLessThanOrEqualTo(LIMIT));
    }

    private static String topLevel(JavaClass type) {
        JavaClass base = type.getBaseComponentType();
        return base.getEnclosingClass().map(CirclesTest::topLevel).orElse(base.getName());
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
