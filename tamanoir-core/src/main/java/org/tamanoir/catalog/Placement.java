package org.tamanoir.catalog;

import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.nodeos.Level;

/**
 * Where the UDP packets of one service version are to be handled, and where they are. TCP streams run in the JVM.
 *
 * <p>Thread contract: any thread.
 */
public final class Placement {
    private static final Logger LOG = LoggerFactory.getLogger(Placement.class);
    private static final String AUTO = "auto";

    private final Set<Level> allowed;
    private Wanted wanted;
    private int version;
    /** The version of the wish that was tried last. */
    private int tried;
    /** Whether no packet of the service can be on its way up. */
    private boolean isCalm;

    private @Nullable Object owner;
    private Level actual = Level.JVM;
    private @Nullable String reason;
    private @Nullable String refusal;

    /** Makes one in the JVM; every level is allowed. */
    public Placement() {
        this(EnumSet.allOf(Level.class), Wanted.JVM);
    }

    /**
     * To begin with.
     *
     * @param allowed by the service's manifest
     */
    public Placement(Set<Level> allowed, Wanted wanted) {
        this.allowed = Set.copyOf(allowed);
        this.wanted = wanted;
        this.version = 1;
        this.reason = wanted.isJvm() ? null : "not placed yet";
    }

    /**
     * What an operator wants.
     *
     * @param level null = the first below the JVM that can, in the order xdp, tc, module
     */
    public record Wanted(@Nullable Level level) {
        /** In the JVM. */
        public static final Wanted JVM = new Wanted(Level.JVM);

        /**
         * Reads {@code jvm}, {@code module}, {@code tc}, {@code xdp} or {@code auto}.
         *
         * @throws IllegalArgumentException for any other text
         */
        public static Wanted of(String label) {
            if (label.equals(AUTO)) {
                return new Wanted(null);
            }
            try {
                return new Wanted(Level.of(label));
            } catch (IllegalArgumentException e) {
                throw new IllegalArgumentException(e.getMessage() + ", " + AUTO, e);
            }
        }

        /** Returns what {@link #of} reads. */
        public String label() {
            return level == null ? AUTO : level.label();
        }

        private boolean isJvm() {
            return level == Level.JVM;
        }
    }

    /**
     * How it is now.
     *
     * @param wanted as the operator wrote it
     * @param actual where its UDP packets are handled, but for those that go up
     * @param reason why that is another level than the one wanted; null when it is that one
     * @param refusal why the service, which asked for levels below by itself, got none the last time; null when it did
     */
    public record Status(
            String wanted,
            Level actual,
            @Nullable String reason,
            @Nullable String refusal) {}

    /** Returns how the placement is now. */
    public synchronized Status status() {
        return new Status(wanted.label(), actual, reason, refusal);
    }

    /** Returns what the operator wants. */
    public synchronized Wanted wanted() {
        return wanted;
    }

    /** Returns whether the JVM is all that is wanted. */
    public synchronized boolean wantsJvm() {
        return wanted.isJvm();
    }

    /** Returns where the service may be handled. */
    public Set<Level> allowed() {
        return allowed;
    }

    /** Says where it is to be from now on; the environment's {@code place} has that done. */
    public synchronized void want(Wanted now) {
        wanted = now;
        version++;
        isCalm = false;
    }

    /** Waits, bounded, until the wish of now was tried; returns whether it was. */
    public synchronized boolean awaitTried(Duration time) throws InterruptedException {
        long endNs = System.nanoTime() + time.toNanos();
        while (tried != version) {
            long leftMs = TimeUnit.NANOSECONDS.toMillis(endNs - System.nanoTime());
            if (leftMs <= 0) {
                return false;
            }
            wait(leftMs);
        }
        return true;
    }

    /** Says that the node has not begun to look at packets: none needs to be waited for. */
    public synchronized void calm() {
        isCalm = true;
    }

    /** Returns whether still no packet was there before the first policy. */
    public synchronized boolean isCalm() {
        return isCalm;
    }

    /** Packets wait for an instance, or are on their way to one. */
    public synchronized void disturb() {
        isCalm = false;
    }

    /** Returns whether anybody has said where it is to be: that it is in the JVM to begin with is no wish. */
    public synchronized boolean isWished() {
        return version > 1 || !wanted.isJvm();
    }

    /** Counts wishes. */
    public synchronized int version() {
        return version;
    }

    /** Returns the levels below that it may be on; empty when the operator wants it in the JVM. */
    public synchronized Set<Level> wantedBelow() {
        Set<Level> levels = EnumSet.noneOf(Level.class);
        if (!wanted.isJvm()) {
            levels.addAll(allowed);
            levels.remove(Level.JVM);
            if (wanted.level() != null) {
                levels.removeIf(level -> level != wanted.level());
            }
        }
        return levels;
    }

    /** Returns why none of the levels that are wanted is allowed. */
    public synchronized String notAllowed() {
        List<String> labels = new ArrayList<>();
        allowed.forEach(level -> labels.add(level.label()));
        labels.sort(null);
        return "its manifest allows " + String.join(", ", labels) + " and not " + wanted.label()
                + "; publish it with this level";
    }

    /**
     * What has come of a wish.
     *
     * @param by who keeps it there from now on
     */
    public synchronized void tried(Object by, String label, int ofVersion, Level level, @Nullable String why) {
        if (level != actual || !Objects.equals(why, reason)) {
            LOG.info(
                    "service {}: UDP packets are handled at level {}{}",
                    label,
                    level.label(),
                    why == null ? "" : ", " + wanted.label() + " was wanted: " + why);
        }
        owner = by;
        actual = level;
        reason = why;
        isCalm = false;
        tried = Math.max(tried, ofVersion);
        notifyAll();
    }

    /** Notes that no instance can be had. */
    public synchronized void failed(String label, String why) {
        if (owner == null) {
            tried(this, label, version, Level.JVM, wanted.isJvm() ? null : why);
            owner = null;
        }
    }

    /** Notes that the instance that kept it there has ended. */
    public synchronized void left(Object by) {
        if (owner == by) {
            owner = null;
            actual = Level.JVM;
            reason = wanted.isJvm() ? null : "its instance has ended; the next packet brings another one";
        }
    }

    /** Notes what came of the service's own asking; returns true when that is news. */
    public synchronized boolean asked(@Nullable String refused) {
        boolean isNews = !Objects.equals(refused, refusal);
        refusal = refused;
        return isNews;
    }
}
