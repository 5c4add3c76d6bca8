package org.tamanoir.deploy;

import com.google.common.hash.Hashing;
import java.io.IOException;
import java.io.InputStream;
import java.lang.ref.WeakReference;
import java.nio.file.Files;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.tamanoir.platform.Causes;
import org.tamanoir.preemption.CheckpointPolicy;
import org.tamanoir.preemption.Checkpoints;
import org.tamanoir.preemption.ClassAnnotations;
import org.tamanoir.preemption.ProofEffort;
import org.tamanoir.preemption.UnfitClassException;
import org.tamanoir.service.ChangesSize;
import org.tamanoir.service.ControlledBy;
import org.tamanoir.service.DeclaredSettings;
import org.tamanoir.service.FanOut;
import org.tamanoir.service.PerPacket;
import org.tamanoir.service.Service;
import org.tamanoir.service.ServiceControl;
import org.tamanoir.service.ServiceTraits;
import org.tamanoir.service.SizeEffect;

/**
 * One version of a service, loaded by a class loader of its own: classes of its jar come first, then those of
 * {@code org.tamanoir.service}, {@code org.tamanoir.anep} and the JDK; it sees nothing else of the node. Classes of
 * these two packages and of {@code java.*} are the node's even if the jar brings them.
 *
 * <p>The jar is read once, and kept in memory, unpacked, until {@link #close}: what was verified is what runs,
 * whatever becomes of the file.
 *
 * <p>Thread contract: any thread.
 */
public final class LoadedService implements AutoCloseable {
    private final ServicePackage code;
    private final WeakReference<ServiceClassLoader> classes;
    private volatile @Nullable Live live;

    /** What {@link #close} forgets; holders of {@link #factory} keep no class in memory. */
    private record Live(
            ServiceClassLoader loader,
            Supplier<Service> maker,
            @Nullable Supplier<ServiceControl> controls,
            ServiceTraits traits) {}

    private LoadedService(ServicePackage code, Live live) {
        this.code = code;
        this.classes = new WeakReference<>(live.loader);
        this.live = live;
    }

    /**
     * Opens the jar and finds the main class; runs none of its code, static initialisers included.
     *
     * @param maxUnpackedBytes the most that all entries of the jar together may unpack to
     * @param checkpoints whether its classes get any
     * @param deadlineNs until when it waits for jars that are read before, as of {@link System#nanoTime}
     * @throws TimeoutException in one line, if it was not read
     * @throws LocalException in one line, if this host has no room to read it
     * @throws CodeRefusedException {@link Refusal#NOT_A_SERVICE}, {@link Refusal#WRONG_DIGEST},
     *     {@link Refusal#MALFORMED} or {@link Refusal#TOO_LARGE}
     */
    static LoadedService load(ServicePackage code, long maxUnpackedBytes, CheckpointPolicy checkpoints, long deadlineNs)
            throws CodeRefusedException, LocalException, TimeoutException {
        return load(code, maxUnpackedBytes, checkpoints, deadlineNs, JarReading.IN_HEAP);
    }

    /** Does the same in other memory. */
    static LoadedService load(
            ServicePackage code,
            long maxUnpackedBytes,
            CheckpointPolicy checkpoints,
            long deadlineNs,
            JarReading reading)
            throws CodeRefusedException, LocalException, TimeoutException {
        Manifest manifest = code.manifest();
        String label = manifest.id().toString();
        if (!manifest.levels().contains(Manifest.JVM)) {
            throw notAService(
                    label,
                    "its levels " + manifest.levels() + " lack " + Manifest.JVM
                            + ", where every service says what other levels do");
        }
        return reading.read(label, deadlineNs, memory -> {
            memory.take(manifest.jarBytes(), label, "its jar");
            JarContents jar = JarContents.of(verified(code), label, maxUnpackedBytes, memory);
            memory.take(Checkpoints.memory(jar.largestClassBytes()), label, "its largest class");
            ClassFile.requireAll(jar, label);
            requireClasses(jar, label, checkpoints);
            ServiceClassLoader loader = new ServiceClassLoader(label, jar, checkpoints);
            String main = "class " + manifest.mainClass();
            return JarReading.blaming(
                    label, main, () -> new LoadedService(code, live(manifest.mainClass(), label, jar, loader)));
        });
    }

    /** Refuses a class of a jar as the main class of a service as loading it would. */
    static void requireService(String mainClass, String label, JarContents jar, ServiceClassLoader loader)
            throws CodeRefusedException {
        live(mainClass, label, jar, loader);
    }

    private static Live live(String mainClass, String label, JarContents jar, ServiceClassLoader loader)
            throws CodeRefusedException {
        try {
            Class<?> type = Class.forName(mainClass, false, loader);
            byte[] file = jar.entries().get(ServiceClassLoader.fileOf(mainClass));
            if (type.getClassLoader() != loader || file == null) {
                throw notAService(label, "class " + type.getName() + " is not of its own jar");
            }
            // Not by reflection, which may initialise classes of the jar.
            ClassAnnotations says = ClassAnnotations.read(file);
            return new Live(
                    loader,
                    maker(label, () -> ServiceFactory.of(type)),
                    controls(label, type, says.value(ControlledBy.class)),
                    traits(label, says, settings(label, type, new SettingsReader(jar, loader))));
        } catch (ClassNotFoundException e) {
            throw notAService(label, "its jar lacks the main class " + mainClass);
        } catch (UnfitClassException e) {
            throw notAService(label, "class " + mainClass + " cannot be read: " + e.getMessage());
        }
    }

    private static @Nullable Supplier<ServiceControl> controls(String label, Class<?> service, @Nullable String name)
            throws CodeRefusedException {
        if (name == null) {
            return null;
        }
        return JarReading.blaming(label, "class " + OneLine.quoted(name) + ", its control,", () -> {
            try {
                Class<?> type = Class.forName(name, false, service.getClassLoader());
                return maker(label, () -> ServiceFactory.controls(service, type));
            } catch (ClassNotFoundException e) {
                throw notAService(label, "its jar lacks the class " + OneLine.quoted(name) + ", its control");
            }
        });
    }

    /** Returns what is made, or refuses for the reason why it cannot be. */
    private static <T> T maker(String label, Supplier<T> factory) throws CodeRefusedException {
        try {
            return factory.get();
        } catch (IllegalArgumentException e) {
            throw notAService(label, String.valueOf(e.getMessage()));
        }
    }

    private static DeclaredSettings settings(String label, Class<?> type, SettingsReader reader)
            throws CodeRefusedException, UnfitClassException {
        try {
            return DeclaredSettings.of(type, reader);
        } catch (IllegalArgumentException e) {
            throw notAService(label, OneLine.of(String.valueOf(e.getMessage())));
        }
    }

    private static ServiceTraits traits(String label, ClassAnnotations says, DeclaredSettings settings)
            throws CodeRefusedException {
        SizeEffect sizes = sizes(label, says.value(ChangesSize.class));
        Duration patience = says.has(FanOut.class) ? patience(label, says.element(FanOut.class, "patienceMs")) : null;
        return maker(label, () -> new ServiceTraits(sizes, says.has(PerPacket.class), patience, settings));
    }

    private static Duration patience(String label, @Nullable Object ms) throws CodeRefusedException {
        if (ms != null && !(ms instanceof Integer)) {
            throw notAService(label, "the patienceMs of its FanOut is no int");
        }
        return Duration.ofMillis(ms instanceof Integer given ? given : FanOut.DEFAULT_PATIENCE_MS);
    }

    private static SizeEffect sizes(String label, @Nullable String name) throws CodeRefusedException {
        for (SizeEffect each : SizeEffect.values()) {
            if (name == null || each.name().equals(name)) {
                return name == null ? SizeEffect.KEEPS : each;
            }
        }
        throw notAService(
                label,
                "its ChangesSize says " + OneLine.quoted(String.valueOf(name)) + ", which is none of "
                        + Arrays.toString(SizeEffect.values()));
    }

    /** Refuses a jar before any of its code runs, though its classes are loaded when they are wanted. */
    static void requireClasses(JarContents jar, String label, CheckpointPolicy checkpoints)
            throws CodeRefusedException {
        if (checkpoints != CheckpointPolicy.REQUIRED) {
            return;
        }
        ProofEffort effort = new ProofEffort();
        for (Map.Entry<String, byte[]> entry : jar.entries().entrySet()) {
            String name = entry.getKey();
            if (ServiceJar.isClass(name) && ServiceClassLoader.defines(name)) {
                JarReading.blaming(
                        label, OneLine.quoted(name), () -> withCheckpoints(label, name, entry.getValue(), effort));
            }
        }
    }

    private static byte[] withCheckpoints(String label, String name, byte[] file, ProofEffort effort)
            throws CodeRefusedException {
        try {
            return Checkpoints.put(file, effort);
        } catch (UnfitClassException e) {
            throw new CodeRefusedException(
                    Refusal.NOT_A_SERVICE,
                    label + ": " + OneLine.quoted(name) + " gets no checkpoints: "
                            + OneLine.quoted(String.valueOf(e.getMessage())) + "; compile it anew"
                            + (isReadable(file) ? ", or let it run without by 'deploy.checkpoints: preferred'" : ""));
        }
    }

    private static boolean isReadable(byte[] file) {
        try {
            return Checkpoints.plain(file).length > 0;
        } catch (UnfitClassException e) {
            return false;
        }
    }

    private static CodeRefusedException notAService(String label, String what) {
        return new CodeRefusedException(
                Refusal.NOT_A_SERVICE, label + ": " + what + "; publish a new version that has all it needs");
    }

    private static byte[] verified(ServicePackage code) throws CodeRefusedException {
        Manifest manifest = code.manifest();
        String remedy = "; have it fetched again";
        byte[] bytes = new byte[Math.toIntExact(manifest.jarBytes())];
        try (InputStream file = Files.newInputStream(code.jar())) {
            boolean isWhole = file.readNBytes(bytes, 0, bytes.length) == bytes.length && file.read() < 0;
            if (isWhole && Hashing.sha256().hashBytes(bytes).toString().equals(manifest.jarSha256())) {
                return bytes;
            }
        } catch (IOException e) {
            throw new CodeRefusedException(
                    Refusal.WRONG_DIGEST,
                    manifest.id() + ": its jar cannot be read any more: " + Causes.text(e) + remedy);
        }
        throw new CodeRefusedException(
                Refusal.WRONG_DIGEST,
                manifest.id() + ": its jar is not the one of " + manifest.jarBytes() + " bytes with SHA-256 "
                        + manifest.jarSha256() + " that the manifest names" + remedy);
    }

    /** Returns what it was loaded from. */
    public ServicePackage code() {
        return code;
    }

    /**
     * Makes instances; throws what the constructor or a static initialiser throws, and
     * {@link IllegalStateException} after {@link #close}. The first call runs static initialisers, which may take
     * any time: give it a thread that can be spared. The service's class loader is the context class loader
     * meanwhile, and that of the instance.
     */
    public Supplier<Service> factory() {
        return this::make;
    }

    /** Makes its control likewise; null if it names none. */
    public @Nullable Supplier<ServiceControl> controls() {
        return live().controls == null ? null : () -> make(Objects.requireNonNull(live().controls));
    }

    /** Returns what its class says of itself. */
    public ServiceTraits traits() {
        return live().traits;
    }

    private Live live() {
        Live now = live;
        if (now == null) {
            throw new IllegalStateException(code.manifest().id() + " is closed: ask for the service again");
        }
        return now;
    }

    private Service make() {
        return make(live().maker);
    }

    private <T> T make(Supplier<T> maker) {
        Thread thread = Thread.currentThread();
        ClassLoader before = thread.getContextClassLoader();
        thread.setContextClassLoader(live().loader);
        try {
            return maker.get();
        } finally {
            thread.setContextClassLoader(before);
        }
    }

    /** Closes the jar and forgets the classes. Instances should have ended. */
    @Override
    public void close() {
        Live now = live;
        live = null;
        if (now != null) {
            now.loader.close();
        }
    }

    /**
     * Returns whether, after {@link #close}, the classes have been unloaded; asks the collector at most once a call.
     */
    public boolean isUnloaded() {
        if (live == null && !classes.refersTo(null)) {
            System.gc();
        }
        return classes.refersTo(null);
    }

    /**
     * Returns what keeps the classes in memory after {@link #close}, as far as it can be found: threads that run its
     * code, are instances of its classes, have its class loader as their context, or hand uncaught exceptions to it;
     * one line each.
     *
     * <p>Not to be seen from outside are: shutdown hooks, what a thread that runs none of the service's code at the
     * moment was given to run, virtual threads, thread-local variables, and references from static fields of the
     * JDK or the node, as of a registered driver or listener. With two loaders of one name and version, a thread
     * that runs code of one may be counted for the other too.
     */
    public List<String> holders() {
        ServiceClassLoader loader = classes.get();
        return loader == null ? List.of() : CodeHolders.of(loader);
    }
}
