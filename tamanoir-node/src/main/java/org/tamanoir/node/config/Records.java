package org.tamanoir.node.config;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The settings of records that stand in a list, such as routes: each is read by the same table, and written by it. Put
 * together while its table's class is initialised, then immutable.
 *
 * @param <R> what a record becomes
 */
final class Records<R> {
    private record Field<R, T>(Setting<T> setting, Function<R, @Nullable T> value) {
        @Nullable
        Object data(R record) {
            return setting.data(value.apply(record));
        }
    }

    private final Setting.Table table;
    private final List<Field<R, ?>> fields = new ArrayList<>();

    /** @param name under which {@code settings.properties} says what its settings are for */
    Records(String name) {
        table = new Setting.Table(name);
    }

    /** Adds a setting that has a default. */
    <T> Setting<T> add(String key, Kind<T> kind, T preset, Function<R, @Nullable T> value) {
        return known(table.add(key, kind, preset), value);
    }

    /** Adds a setting that has a default, of which the documentation says this, or none: null. */
    <T> Setting<T> add(
            String key, Kind<T> kind, @Nullable T preset, String presetText, Function<R, @Nullable T> value) {
        return known(table.add(key, kind, preset, presetText), value);
    }

    /** Adds a setting that must be given, as in the example. */
    <T> Setting<T> require(String key, Kind<T> kind, String example, Function<R, @Nullable T> value) {
        return known(table.require(key, kind, example), value);
    }

    private <T> Setting<T> known(Setting<T> setting, Function<R, @Nullable T> value) {
        fields.add(new Field<>(setting, value));
        return setting;
    }

    List<Setting<?>> settings() {
        return table.settings();
    }

    /** Reads one. */
    Values read(Section section) {
        return Values.of(section, settings());
    }

    /** Makes the data of one that {@link #read} takes for the same: its keys with texts, numbers, lists, maps, null. */
    Map<String, @Nullable Object> data(R record) {
        Map<String, @Nullable Object> data = new LinkedHashMap<>();
        fields.forEach(field -> data.put(field.setting.key(), field.data(record)));
        return data;
    }
}
