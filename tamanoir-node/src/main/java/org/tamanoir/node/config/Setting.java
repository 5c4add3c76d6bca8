package org.tamanoir.node.config;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Properties;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.OptionSpec;

/**
 * A setting: the one place that says where it stands in the file, what it may be, what it is when nobody gives it, what
 * it is for, and which option overrides it. Put together while its table's class is initialised, then immutable.
 */
public final class Setting<T> {
    private static final Properties TEXTS = texts();

    private final String table;
    private final String path;
    private final Kind<T> kind;
    private final @Nullable T preset;
    private final @Nullable String presetText;
    private @Nullable String example;
    private @Nullable String option;
    private String label = "";
    private boolean isRepeatedInErrors;
    private boolean isAdded;
    private boolean isLive;

    private Setting(String table, String path, Kind<T> kind, @Nullable T preset, @Nullable String presetText) {
        this.table = table;
        this.path = path;
        this.kind = kind;
        this.preset = preset;
        this.presetText = presetText;
    }

    private static Properties texts() {
        Properties texts = new Properties();
        try (InputStream in = Setting.class.getResourceAsStream("settings.properties")) {
            texts.load(Objects.requireNonNull(in));
            return texts;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The settings of a component, in the order of its documentation. One thread. */
    public static final class Table {
        private final String name;
        private final List<Setting<?>> settings = new ArrayList<>();

        /** @param name under which {@code settings.properties} says what its settings are for */
        public Table(String name) {
            this.name = name;
        }

        /**
         * Adds a setting.
         *
         * @param path keys in the file, with dots between them
         */
        public <T> Setting<T> add(String path, Kind<T> kind, T preset) {
            return known(path, kind, preset, null);
        }

        /**
         * Adds a setting.
         *
         * @param preset null = nothing
         * @param presetText what the documentation says instead of the default
         */
        public <T> Setting<T> add(String path, Kind<T> kind, @Nullable T preset, String presetText) {
            return known(path, kind, preset, presetText);
        }

        private <T> Setting<T> known(String path, Kind<T> kind, @Nullable T preset, @Nullable String presetText) {
            Setting<T> setting = new Setting<>(name, path, kind, preset, presetText);
            settings.add(setting);
            return setting;
        }

        /**
         * Adds a setting that must be given.
         *
         * @param example of a value, for the error where it is missing
         */
        public <T> Setting<T> require(String path, Kind<T> kind, String example) {
            Setting<T> setting = add(path, kind, null, "required");
            setting.example = example;
            return setting;
        }

        public List<Setting<?>> settings() {
            return List.copyOf(settings);
        }
    }

    /** Lets a flag of the command line set it. */
    Setting<T> flag(String name) {
        return option(name, "");
    }

    /** Lets an option of the command line override it. */
    Setting<T> option(String name, String label) {
        this.option = name;
        this.label = label;
        return this;
    }

    /** Lets errors of its option repeat the value behind the option's name. */
    Setting<T> repeatedInErrors() {
        isRepeatedInErrors = true;
        return this;
    }

    /** Lets the values of its option stand behind the file's, not in place of them. */
    Setting<T> added() {
        isAdded = true;
        return this;
    }

    /** Lets a running node take another value when its configuration is read again. */
    Setting<T> live() {
        isLive = true;
        return this;
    }

    boolean isLive() {
        return isLive;
    }

    boolean isAdded() {
        return isAdded;
    }

    public String path() {
        return path;
    }

    Kind<T> kind() {
        return kind;
    }

    /** What it is when nobody gives it; null = nothing. */
    @Nullable
    T preset() {
        return preset;
    }

    String key() {
        return path.substring(path.lastIndexOf('.') + 1);
    }

    /** The section that it is in; empty for a setting of the file itself. */
    public String section() {
        return path.substring(0, Math.max(0, path.lastIndexOf('.')));
    }

    /** An example of a value, of a setting that must be given; else null. */
    @Nullable
    String example() {
        return example;
    }

    /** Makes the data of a value that a file has for it; null of null. */
    @Nullable
    Object data(@Nullable T value) {
        return value == null ? null : kind.writer().apply(value);
    }

    /** Returns what the documentation says of the default; made when asked for, since it loads a writer of YAML. */
    private String presetText() {
        Object value = data(preset);
        return presetText != null
                ? presetText
                : "`" + (value == null ? "" : Yaml.flow(value).replace("\"", "")) + "`";
    }

    /** Returns what it is for, as Markdown; the settings of {@code tls} are for all components the same. */
    private String help() {
        return TEXTS.getProperty(table + "." + path, TEXTS.getProperty(path, ""));
    }

    /** The option that overrides it; null when there is none. */
    public @Nullable String option() {
        return option;
    }

    /** Where errors say that a text of its option stands. */
    String where(String text) {
        return isRepeatedInErrors ? option + " " + text : String.valueOf(option);
    }

    /**
     * The row of the documentation's table.
     *
     * @param name of the setting there: its key, or its path
     */
    public String row(String name) {
        return ("| `" + name + "` | " + kind.unit() + " | " + presetText() + " | " + help() + " |").replace("  ", " ");
    }

    /** Makes the option for the command line's parser, of a setting that has one. */
    public OptionSpec spec() {
        OptionSpec.Builder builder = OptionSpec.builder(String.valueOf(option)).description(optionHelp());
        if (label.isEmpty()) {
            return builder.arity("0").type(boolean.class).build();
        }
        builder.paramLabel(label).arity("1");
        return preset instanceof List
                ? builder.type(List.class).auxiliaryTypes(String.class).build()
                : builder.type(String.class).completionCandidates(kind.words()).build();
    }

    private String optionHelp() {
        String plain = (help() + ": " + kind.unit() + ".")
                .replaceAll("\\[([^]]*)]\\([^)]*\\)", "$1")
                .replace("`", "");
        String repeatable =
                preset instanceof List ? " Repeatable; " + (isAdded ? "adds to" : "replaces") + " the file's." : "";
        return plain.substring(0, 1).toUpperCase(Locale.ROOT) + plain.substring(1) + repeatable
                + " Default: the file's, or " + presetText().replace("`", "") + ".";
    }
}
