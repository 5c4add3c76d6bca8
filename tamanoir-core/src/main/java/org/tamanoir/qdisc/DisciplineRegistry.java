package org.tamanoir.qdisc;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The providers that a class loader sees. One that cannot be used becomes a line of {@link #problems}, and leaves the
 * others alone.
 *
 * <p>Thread contract: immutable.
 */
final class DisciplineRegistry {
    /** Enough to tell what is wrong; it also ends a ServiceLoader that fails for ever. */
    private static final int MAX_PROBLEMS = 100;

    private static final Pattern NAME = Pattern.compile("[a-z0-9]+(-[a-z0-9]+)*\\+?");

    private final SortedMap<String, DisciplineProvider> providers = new TreeMap<>();
    private final SortedMap<String, DisciplineProvider> forTurns = new TreeMap<>();
    private final List<String> problems = new ArrayList<>();

    DisciplineRegistry(List<DisciplineProvider> builtIn, ClassLoader loader) {
        for (DisciplineProvider provider : builtIn) {
            add(provider);
        }
        Iterator<DisciplineProvider> found =
                ServiceLoader.load(DisciplineProvider.class, loader).iterator();
        while (problems.size() < MAX_PROBLEMS && hasNext(found)) {
            DisciplineProvider provider = attempt("a discipline's provider", found::next);
            if (provider != null) {
                attempt("discipline provider " + provider.getClass().getName(), () -> {
                    add(provider);
                    return provider;
                });
            }
        }
    }

    /** By name. */
    SortedMap<String, DisciplineProvider> providers() {
        return Collections.unmodifiableSortedMap(providers);
    }

    /** Those that may order turns, by name. */
    SortedMap<String, DisciplineProvider> forTurns() {
        return Collections.unmodifiableSortedMap(forTurns);
    }

    /** What could not be used, and why, a line each. */
    List<String> problems() {
        return Collections.unmodifiableList(problems);
    }

    private boolean hasNext(Iterator<DisciplineProvider> found) {
        while (problems.size() < MAX_PROBLEMS) {
            Boolean answer = attempt("a discipline's provider", found::hasNext);
            if (answer != null) {
                return answer;
            }
        }
        return false;
    }

    private void add(DisciplineProvider provider) {
        String name = provider.name();
        if (name == null || !NAME.matcher(name).matches()) {
            throw new IllegalArgumentException("name '" + name
                    + "': must be lower-case letters, digits, hyphens between them, and perhaps a + at the end");
        }
        boolean ordersTurns = provider.ordersTurns();
        DisciplineProvider first = providers.putIfAbsent(name, provider);
        if (first != null) {
            throw new IllegalArgumentException(
                    "name '" + name + "': " + first.getClass().getName() + " has it already; give it another one");
        }
        if (ordersTurns) {
            forTurns.put(name, provider);
        }
    }

    private <T> @Nullable T attempt(String what, Supplier<T> action) {
        try {
            return action.get();
        } catch (RuntimeException | ServiceConfigurationError | LinkageError | AssertionError e) {
            problems.add(what + " cannot be used: " + Disciplines.line(e));
            return null;
        }
    }
}
