package org.tamanoir.service;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * The settings that a service's class declares, by name. Immutable.
 *
 * @param isDeclared whether it declares any, or that it takes none; else all settings are its own business
 */
public record DeclaredSettings(boolean isDeclared, List<DeclaredSetting> all) {
    /** A class that declares nothing. */
    public static final DeclaredSettings ANY = new DeclaredSettings(false, List.of());

    /** Copies the list. */
    public DeclaredSettings {
        all = List.copyOf(all);
    }

    /**
     * What one class says.
     *
     * @param isDeclared whether it has one of the annotations
     * @param of other classes that say more
     */
    public record Said(boolean isDeclared, List<DeclaredSetting> settings, List<Class<?>> of) {
        /** A class without the annotations. */
        public static final Said NOTHING = new Said(false, List.of(), List.of());

        /**
         * Reads a class by reflection.
         *
         * @throws IllegalArgumentException in one line, for a setting that cannot be meant
         */
        public static Said of(Class<?> type) {
            Setting[] each = type.getDeclaredAnnotationsByType(Setting.class);
            Settings several = type.getDeclaredAnnotation(Settings.class);
            return new Said(
                    each.length > 0 || several != null,
                    Arrays.stream(each).map(DeclaredSetting::of).toList(),
                    several == null ? List.of() : List.of(several.of()));
        }
    }

    /** Reads what one class says. */
    public interface Reader<E extends Exception> {
        /** Returns what this class says itself, without its superclasses. */
        Said read(Class<?> type) throws E;
    }

    /**
     * Reads a class of the class path by reflection.
     *
     * @throws IllegalArgumentException in one line, for a setting that cannot be meant
     */
    public static DeclaredSettings of(Class<?> service) {
        return of(service, Said::of);
    }

    /**
     * Collects what a service's class declares, with its superclasses and the classes that they name; nothing if it has
     * none of the annotations itself.
     *
     * @throws IllegalArgumentException in one line, for a setting that is declared twice in different ways
     */
    public static <E extends Exception> DeclaredSettings of(Class<?> service, Reader<E> reader) throws E {
        if (!reader.read(service).isDeclared()) {
            return ANY;
        }
        Map<String, DeclaredSetting> found = new TreeMap<>();
        Set<Class<?>> seen = new HashSet<>();
        Deque<Class<?>> left = new ArrayDeque<>(List.of(service));
        while (!left.isEmpty()) {
            Class<?> type = left.pop();
            if (seen.add(type)) {
                Said said = reader.read(type);
                said.settings().forEach(setting -> add(found, setting));
                left.addAll(said.of());
                if (type.getSuperclass() != null) {
                    left.add(type.getSuperclass());
                }
            }
        }
        return new DeclaredSettings(true, new ArrayList<>(found.values()));
    }

    private static void add(Map<String, DeclaredSetting> found, DeclaredSetting setting) {
        DeclaredSetting before = found.putIfAbsent(setting.name(), setting);
        if (before != null && !before.equals(setting)) {
            throw new IllegalArgumentException(
                    "Setting '" + setting.name() + "' is declared twice, and not alike: remove one");
        }
    }

    /** Returns what is wrong with a service's settings, a line each: those that it does not know, and values. */
    public List<String> problems(ServiceConfig config) {
        List<String> problems = new ArrayList<>();
        if (!isDeclared) {
            return problems;
        }
        List<String> names = all.stream().map(DeclaredSetting::name).toList();
        for (String key : new TreeSet<>(config.asMap().keySet())) {
            if (!names.contains(key)) {
                problems.add(ServiceConfig.unknown(key, names));
            }
        }
        all.forEach(setting -> setting.problem(config).ifPresent(problems::add));
        return problems;
    }

    /**
     * Refuses settings that a node would.
     *
     * @throws IllegalArgumentException with all that is wrong, a line each
     */
    public void require(ServiceConfig config) {
        List<String> problems = problems(config);
        if (!problems.isEmpty()) {
            throw new IllegalArgumentException(String.join("\n", problems));
        }
    }
}
