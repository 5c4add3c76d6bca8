package org.tamanoir.deploy;

import com.google.common.hash.Hashing;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeoutException;
import java.util.jar.Attributes;
import org.jspecify.annotations.Nullable;
import org.tamanoir.platform.Causes;
import org.tamanoir.preemption.CheckpointPolicy;
import org.tamanoir.preemption.Checkpoints;

/**
 * What a jar holds, found without running any of it: its classes are loaded, not initialised. It is refused for what a node
 * with the same Java refuses: one check is for both.
 *
 * @param sha256 of the file, 64 hexadecimal digits
 * @param bytes size of the file
 * @param services its public classes that extend {@code Service} and have a public constructor without arguments, by
 *     name
 * @param faults classes that would be services but for what this says, by name
 * @param mainClass the one that its attribute {@code Tamanoir-Service} names, else the only one; null = several
 * @param version its attribute {@code Implementation-Version}; null = none
 * @param description its attribute {@code Tamanoir-Description}; empty = none
 */
public record ServiceJar(
        String sha256,
        long bytes,
        List<String> services,
        Map<String, String> faults,
        @Nullable String mainClass,
        @Nullable String version,
        String description) {
    /** The newest class files that this virtual machine loads; 61 is Java 17. */
    static final int MAX_MAJOR = 44 + Runtime.version().feature();

    /** For jars that are read before; a jar takes some seconds at most. */
    private static final Duration PATIENCE = Duration.ofMinutes(1);

    private static final String CLASS = ".class";
    private static final Attributes.Name MAIN = new Attributes.Name("Tamanoir-Service");
    private static final Attributes.Name DESCRIPTION = new Attributes.Name("Tamanoir-Description");

    /**
     * Reads a jar, and unpacks all of it to count what it really holds.
     *
     * @param maxUnpackedBytes the most that all its entries together may unpack to
     * @throws CodeRefusedException {@link Refusal#TOO_LARGE}, {@link Refusal#MALFORMED} or
     *     {@link Refusal#NOT_A_SERVICE}
     */
    public static ServiceJar inspect(Path jar, long maxUnpackedBytes) throws CodeRefusedException {
        return inspect(jar, maxUnpackedBytes, CheckpointPolicy.REQUIRED);
    }

    /**
     * Inspects a jar for nodes of another policy than usual.
     *
     * @param checkpoints theirs; with {@link CheckpointPolicy#REQUIRED} each class has to be fit for them
     */
    public static ServiceJar inspect(Path jar, long maxUnpackedBytes, CheckpointPolicy checkpoints)
            throws CodeRefusedException {
        String label = "jar " + OneLine.quoted(String.valueOf(jar.getFileName()));
        return inspect(read(jar, label), label, maxUnpackedBytes, checkpoints);
    }

    static ServiceJar inspect(byte[] bytes, String label, long maxUnpackedBytes) throws CodeRefusedException {
        return inspect(bytes, label, maxUnpackedBytes, CheckpointPolicy.REQUIRED);
    }

    private static ServiceJar inspect(byte[] bytes, String label, long maxUnpackedBytes, CheckpointPolicy checkpoints)
            throws CodeRefusedException {
        long deadlineNs = System.nanoTime() + PATIENCE.toNanos();
        try {
            return JarReading.IN_HEAP.read(label, deadlineNs, memory -> {
                JarContents jar = JarContents.of(bytes, label, maxUnpackedBytes, memory);
                memory.take(Checkpoints.memory(jar.largestClassBytes()), label, "its largest class");
                return inspect(bytes, label, jar, checkpoints);
            });
        } catch (TimeoutException | LocalException e) { // Whoever publishes reads the line.
            throw new CodeRefusedException(Refusal.NOT_A_SERVICE, String.valueOf(e.getMessage()));
        }
    }

    private static ServiceJar inspect(byte[] bytes, String label, JarContents jar, CheckpointPolicy checkpoints)
            throws CodeRefusedException {
        ClassFile.requireAll(jar, label);
        LoadedService.requireClasses(jar, label, checkpoints);
        Map<String, String> unloadable = new TreeMap<>();
        List<String> services =
                services(jar, label, new ServiceClassLoader(label, jar, CheckpointPolicy.OFF), unloadable);
        Attributes attributes = JarAttributes.read(jar.manifest(), label);
        String wanted = attributes.getValue(MAIN);
        if (services.isEmpty() || wanted != null && !services.contains(wanted)) {
            throw new CodeRefusedException(
                    Refusal.NOT_A_SERVICE,
                    label + " has no service" + (wanted == null ? "" : " " + OneLine.quoted(wanted))
                            + ": a public class is wanted that extends org.tamanoir.service.Service and has a "
                            + "public constructor without arguments; it has " + services
                            + unloadable(unloadable, wanted));
        }
        String description = attributes.getValue(DESCRIPTION);
        return new ServiceJar(
                Hashing.sha256().hashBytes(bytes).toString(),
                bytes.length,
                services,
                Collections.unmodifiableMap(unloadable),
                wanted != null ? wanted : services.size() == 1 ? services.get(0) : null,
                attributes.getValue(Attributes.Name.IMPLEMENTATION_VERSION),
                description == null ? "" : description);
    }

    /** Says of the class that is wanted, or else of the first one, why it cannot be loaded; empty = all can. */
    private static String unloadable(Map<String, String> faults, @Nullable String wanted) {
        String name = wanted != null && faults.containsKey(wanted)
                ? wanted
                : faults.keySet().stream().findFirst().orElse(null);
        return name == null ? "" : "; class " + OneLine.quoted(name) + " " + faults.get(name);
    }

    private static byte[] read(Path jar, String label) throws CodeRefusedException {
        try {
            return SmallFile.read(jar, Manifest.MAX_JAR_BYTES);
        } catch (SmallFile.TooLargeException e) {
            throw new CodeRefusedException(
                    Refusal.TOO_LARGE, label + " has more than " + Manifest.MAX_JAR_BYTES + " bytes; make it smaller");
        } catch (IOException e) {
            throw new CodeRefusedException(
                    Refusal.MALFORMED,
                    label + " cannot be read: " + Causes.text(e) + "; correct the path, or its permissions");
        }
    }

    /** Finds the services. @param unloadable gets each class that cannot be loaded, and why */
    private static List<String> services(
            JarContents jar, String label, ServiceClassLoader loader, Map<String, String> unloadable)
            throws CodeRefusedException {
        List<String> services = new ArrayList<>();
        for (String entry : jar.entries().keySet()) {
            String name = entry.substring(0, Math.max(0, entry.length() - CLASS.length()))
                    .replace('/', '.');
            if (isClass(entry) && isService(name, label, jar, loader, unloadable)) {
                services.add(name);
            }
        }
        Collections.sort(services);
        return services;
    }

    static boolean isClass(String entry) {
        return entry.endsWith(CLASS) && !entry.startsWith("META-INF/") && !entry.endsWith("module-info.class");
    }

    private static boolean isService(
            String className, String label, JarContents jar, ServiceClassLoader loader, Map<String, String> unloadable)
            throws CodeRefusedException {
        try {
            return JarReading.blaming(label, "class " + OneLine.quoted(className), () -> {
                try {
                    Class<?> type = Class.forName(className, false, loader);
                    ServiceFactory.of(type);
                    if (type.getClassLoader() != loader) {
                        return false;
                    }
                    LoadedService.requireService(className, label, jar, loader);
                    return true;
                } catch (LinkageError e) {
                    unloadable.put(
                            className,
                            "cannot be loaded: " + OneLine.quoted(e.toString()) + "; pack all that it needs");
                    return false;
                } catch (ClassNotFoundException | IllegalArgumentException e) {
                    return false;
                }
            });
        } catch (CodeRefusedException e) {
            if (e.refusal() == Refusal.TOO_LARGE) {
                throw e;
            }
            String why = String.valueOf(e.getMessage());
            unloadable.put(
                    className, "is refused: " + (why.startsWith(label) ? why.substring(label.length() + 2) : why));
            return false;
        }
    }
}
