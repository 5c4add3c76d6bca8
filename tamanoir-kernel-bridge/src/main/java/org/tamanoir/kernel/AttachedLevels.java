package org.tamanoir.kernel;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.tamanoir.nodeos.Level;
import org.tamanoir.nodeos.LevelException;
import org.tamanoir.nodeos.LevelStatus;

/**
 * The levels of one node: their drivers where they could be attached, and reasons where not. XDP and tc have one table
 * of policies, the module has its own; every table knows of every policy, so that a level steps aside where it is
 * another's.
 *
 * <p>Thread contract: {@link #statuses} and {@link #proceed} any thread; all others under the lock of {@link Policies}.
 */
final class AttachedLevels {
    private static final String READY = "ready";
    private static final String[] MET_NAMES = {
        "seen",
        "short",
        "version",
        "header-length",
        "truncated",
        "option-length",
        "checksum",
        "option",
        "option-format",
        "type-id",
        "no-key",
        "no-policy",
        "policy",
        "other-level",
        "fragment",
        "trailer",
        "complex",
        "aggregated",
        "absent",
        "connections"
    };

    private final Map<Level, LevelDriver> drivers = new EnumMap<>(Level.class);
    private final Map<Level, String> reasons = new EnumMap<>(Level.class);

    /** @param reasons for the levels that cannot be attached */
    AttachedLevels(Map<Level, String> reasons) {
        this.reasons.putAll(reasons);
    }

    static String metName(int met) {
        return MET_NAMES[met];
    }

    /**
     * Attaches all levels that can be; what cannot has its reason from now on.
     *
     * @return whether there is one at least
     */
    synchronized boolean attach(int instance, List<String> interfaces, ByteBuffer hook, ByteBuffer locals) {
        if (isWanted(Level.XDP) || isWanted(Level.TC)) {
            TcDriver tc = attach(Level.TC, () -> new TcDriver(instance, interfaces), hook, locals);
            if (tc == null) {
                reasons.putIfAbsent(Level.XDP, "needs tc: " + reasons.get(Level.TC));
            } else if (isWanted(Level.XDP)) {
                attach(Level.XDP, () -> new XdpDriver(instance, interfaces, tc), hook, locals);
            }
        }
        if (isWanted(Level.MODULE)) {
            attach(Level.MODULE, ModuleDriver::open, hook, locals);
        }
        if (drivers.keySet().stream().allMatch(reasons::containsKey)) {
            close();
        }
        return !drivers.isEmpty();
    }

    private boolean isWanted(Level level) {
        return !reasons.containsKey(level);
    }

    private interface Opening<D extends LevelDriver> {
        D open() throws LevelException;
    }

    private <D extends LevelDriver> @Nullable D attach(
            Level level, Opening<D> opening, ByteBuffer hook, ByteBuffer locals) {
        D driver = null;
        try {
            driver = opening.open();
            driver.locals(locals);
            driver.attach(hook);
            add(driver);
            return driver;
        } catch (LevelException refused) {
            if (driver != null) {
                driver.close();
            }
            reasons.put(level, String.valueOf(refused.getMessage()));
            return null;
        }
    }

    /** Adds a level that is attached. */
    synchronized void add(LevelDriver driver) {
        drivers.put(driver.level(), driver);
    }

    /** Returns why policies cannot be placed on it; null where they can. */
    synchronized @Nullable String whyNot(Level level) {
        String reason = reasons.get(level);
        LevelDriver driver = drivers.get(level);
        if (reason != null || driver == null) {
            return reason != null ? reason : "not attached";
        }
        try {
            return driver.whyNot();
        } catch (LevelException gone) {
            return String.valueOf(gone.getMessage());
        }
    }

    /** Has levels go on with what packets have shown to be possible. */
    synchronized void proceed() throws LevelException {
        for (LevelDriver driver : drivers.values()) {
            driver.proceed();
        }
    }

    /** Returns one that {@link #whyNot} has nothing against. */
    synchronized LevelDriver driver(Level level) {
        LevelDriver driver = drivers.get(level);
        if (driver == null) {
            throw new IllegalStateException(level + " is not attached");
        }
        return driver;
    }

    /** Drivers of the tables that are not this level's. */
    synchronized List<LevelDriver> othersThan(Level level) {
        LevelDriver other = drivers.get(level == Level.MODULE ? Level.TC : Level.MODULE);
        return other == null ? List.of() : List.of(other);
    }

    synchronized Collection<LevelDriver> all() {
        return List.copyOf(drivers.values());
    }

    synchronized List<LevelStatus> statuses() {
        List<LevelStatus> statuses = new ArrayList<>();
        statuses.add(new LevelStatus(Level.JVM, true, "always there", Map.of()));
        for (Level level : List.of(Level.MODULE, Level.TC, Level.XDP)) {
            String reason = reasons.get(level);
            LevelDriver driver = drivers.get(level);
            if (driver != null) {
                statuses.add(status(driver, reason));
            } else {
                statuses.add(new LevelStatus(level, reason == null, reason == null ? READY : reason, Map.of()));
            }
        }
        return statuses;
    }

    /** Returns the status of a level that is attached; it may have gone since, as a module that was unloaded. */
    private static LevelStatus status(LevelDriver driver, @Nullable String reason) {
        try {
            Map<String, Long> met = new LinkedHashMap<>();
            long[] numbers = driver.met();
            for (int i = 0; i < numbers.length; i++) {
                met.put(metName(i), numbers[i]);
            }
            String whyNot = reason == null ? driver.whyNot() : reason;
            return new LevelStatus(driver.level(), whyNot == null, whyNot == null ? driver.detail() : whyNot, met);
        } catch (LevelException gone) {
            return new LevelStatus(driver.level(), false, String.valueOf(gone.getMessage()), Map.of());
        }
    }

    /** Returns all reasons, in one line. */
    synchronized String reasonsInOneLine() {
        List<String> parts = new ArrayList<>();
        for (Level level : List.of(Level.XDP, Level.TC, Level.MODULE)) {
            parts.add(level.label() + ": " + reasons.getOrDefault(level, READY));
        }
        return String.join("; ", parts);
    }

    /** Detaches all, those first that hand packets on to others. */
    synchronized void close() {
        for (Level level : List.of(Level.XDP, Level.TC, Level.MODULE)) {
            LevelDriver driver = drivers.remove(level);
            if (driver != null) {
                driver.close();
                reasons.putIfAbsent(level, "closed");
            }
        }
    }
}
