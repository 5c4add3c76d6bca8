package org.tamanoir.node.config;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Values of settings, with the places that gave them: defaults, then the file, then the command line. One thread. */
public final class Values {
    private record Given(Object value, String where) {}

    private final Map<Setting<?>, Given> given = new HashMap<>();

    /** None is given yet. */
    public Values() {}

    /** The same values, to be changed apart. */
    Values copy() {
        Values copy = new Values();
        copy.given.putAll(given);
        return copy;
    }

    /** The value of a setting that has a default. */
    public <T> T get(Setting<T> setting) {
        return Objects.requireNonNull(find(setting));
    }

    /** The value of a setting; null when nobody gave it and it has no default. */
    @SuppressWarnings("unchecked") // put takes what the setting has
    public <T> @Nullable T find(Setting<T> setting) {
        Given value = given.get(setting);
        return value == null ? setting.preset() : (T) value.value;
    }

    /** The value of a setting; another one when nobody gave it and it has no default. */
    <T> T find(Setting<T> setting, T absent) {
        T value = find(setting);
        return value == null ? absent : value;
    }

    /** Looks closer at a value that somebody gave: what the look throws is a problem of the place that gave it. */
    public <T> void check(Setting<T> setting, Problems problems, Consumer<T> look) {
        try {
            if (isGiven(setting)) {
                look.accept(get(setting));
            }
        } catch (IllegalArgumentException e) {
            problems.add(where(setting), String.valueOf(e.getMessage()));
        }
    }

    public boolean isGiven(Setting<?> setting) {
        return given.containsKey(setting);
    }

    /** Is the value another one than the default? */
    boolean differs(Setting<?> setting) {
        return !Objects.equals(find(setting), setting.preset());
    }

    /** Where the value stands, {@code FILE:LINE: path} or an option; the path when nobody gave it. */
    public String where(Setting<?> setting) {
        Given value = given.get(setting);
        return value == null ? setting.path() : value.where;
    }

    public <T> void put(Setting<T> setting, T value, String where) {
        given.put(setting, new Given(value, where));
    }

    /** Reads a record, a section whose keys are these settings and no others. */
    public static Values of(Section section, List<Setting<?>> settings) {
        Values values = new Values();
        values.read(section, settings);
        return values;
    }

    /** Reads the settings of one section. */
    public void read(Section section, List<Setting<?>> settings) {
        section.allow(settings);
        settings.forEach(setting -> read(section, setting));
    }

    public <T> void read(Section section, Setting<T> setting) {
        String example = setting.example();
        if (example != null) {
            section.require(setting.key(), example);
        }
        T value = setting.kind().reader().apply(section, setting.key());
        if (value != null) {
            put(setting, value, section.where(setting.key()));
        }
    }

    /** Puts texts of an option over it; several are for lists, which they replace. */
    <T> void override(Setting<T> setting, List<String> texts, Problems problems) {
        List<Object> all = new ArrayList<>();
        for (String text : texts) {
            try {
                T value = setting.kind().parser().apply(text);
                if (value instanceof List<?> list) {
                    if (!Collections.disjoint(all, list)) {
                        throw new IllegalArgumentException(Kind.repeated(text));
                    }
                    all.addAll(list);
                } else {
                    put(setting, value, String.valueOf(setting.option()));
                }
            } catch (IllegalArgumentException e) {
                problems.add(setting.where(text), String.valueOf(e.getMessage()));
            }
        }
        if (setting.preset() instanceof List) {
            if (setting.isAdded()) {
                all.addAll(0, (List<?>) get(setting));
            }
            given.put(setting, new Given(all, String.valueOf(setting.option())));
        }
    }

    /** Takes what the others say of a setting, also that nobody gave it. */
    void take(Setting<?> setting, Values others) {
        Given value = others.given.get(setting);
        if (value == null) {
            given.remove(setting);
        } else {
            given.put(setting, value);
        }
    }

    /** Puts all that the others give over these. */
    void putAll(Values others) {
        given.putAll(others.given);
    }

    /** Returns whether the option of the setting gave its value. */
    boolean isOverridden(Setting<?> setting) {
        return where(setting).equals(setting.option());
    }

    /** Puts the values of the settings into the mapping of a file, each where its path says. */
    Map<String, @Nullable Object> write(List<Setting<?>> settings, Map<String, @Nullable Object> file) {
        Map<String, Map<String, @Nullable Object>> sections = new LinkedHashMap<>(Map.of("", file));
        for (Setting<?> setting : settings) {
            sections.computeIfAbsent(setting.section(), name -> {
                        Map<String, @Nullable Object> section = new LinkedHashMap<>();
                        file.put(name, section);
                        return section;
                    })
                    .put(setting.key(), data(setting));
        }
        return file;
    }

    private <T> @Nullable Object data(Setting<T> setting) {
        return setting.data(find(setting));
    }
}
