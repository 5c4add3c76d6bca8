package org.tamanoir.deploy;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.tamanoir.preemption.ClassAnnotations;
import org.tamanoir.preemption.UnfitClassException;
import org.tamanoir.service.DeclaredSetting;
import org.tamanoir.service.DeclaredSettings;
import org.tamanoir.service.DeclaredSettings.Said;
import org.tamanoir.service.Setting;
import org.tamanoir.service.Settings;

/**
 * Reads which settings the classes of a jar declare from their files, by the annotations' elements; the node's own, such as
 * those that a service extends, by reflection.
 *
 * <p>Thread contract: one thread.
 */
final class SettingsReader implements DeclaredSettings.Reader<UnfitClassException> {
    private final JarContents jar;
    private final ClassLoader loader;

    SettingsReader(JarContents jar, ClassLoader loader) {
        this.jar = jar;
        this.loader = loader;
    }

    @Override
    public Said read(Class<?> type) throws UnfitClassException {
        byte[] file = jar.entries().get(ServiceClassLoader.fileOf(type.getName()));
        if (type.getClassLoader() != loader || file == null) {
            return Said.of(type);
        }
        ClassAnnotations says = ClassAnnotations.read(file);
        List<DeclaredSetting> settings = new ArrayList<>();
        if (says.has(Setting.class)) {
            settings.add(setting(says.all(Setting.class)));
        }
        for (Object each : list(says.element(Settings.class, "value"))) {
            settings.add(setting(each));
        }
        List<Class<?>> others = new ArrayList<>();
        for (Object each : list(says.element(Settings.class, "of"))) {
            others.add(type(each));
        }
        return new Said(says.has(Setting.class) || says.has(Settings.class), settings, others);
    }

    private Class<?> type(Object named) {
        String name = ClassAnnotations.named(named);
        try {
            return Class.forName(name, false, loader);
        } catch (ClassNotFoundException e) {
            throw new IllegalArgumentException(
                    "its jar lacks the class " + OneLine.quoted(name) + ", which its Settings name", e);
        }
    }

    /** @throws IllegalArgumentException for what no compiler of Java writes, and a setting that cannot be meant */
    private static DeclaredSetting setting(Object annotation) {
        if (!(annotation instanceof Map<?, ?> elements)) {
            throw new IllegalArgumentException("its Settings have a value that is no Setting");
        }
        return new DeclaredSetting(
                element(elements, "name", String.class, ""),
                kind(elements.get("kind")),
                element(elements, "standard", String.class, ""),
                element(elements, "min", Long.class, Long.MIN_VALUE),
                element(elements, "max", Long.class, Long.MAX_VALUE),
                list(elements.get("choices")).stream().map(String::valueOf).toList(),
                element(elements, "text", String.class, ""));
    }

    private static Setting.Kind kind(@Nullable Object constant) {
        String name = constant == null ? Setting.Kind.TEXT.name() : ClassAnnotations.named(constant);
        return Arrays.stream(Setting.Kind.values())
                .filter(kind -> kind.name().equals(name))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("a Setting of kind " + OneLine.quoted(name)
                        + ": this node knows " + Arrays.toString(Setting.Kind.values())));
    }

    private static <T> T element(Map<?, ?> elements, String name, Class<T> type, T otherwise) {
        Object given = elements.get(name);
        if (given != null && !type.isInstance(given)) {
            throw new IllegalArgumentException("the " + name + " of a Setting is no " + type.getSimpleName());
        }
        return given == null ? otherwise : type.cast(given);
    }

    private static List<?> list(@Nullable Object array) {
        return array instanceof List<?> values ? values : List.of();
    }
}
