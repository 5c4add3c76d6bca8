package org.tamanoir.node.cli;

import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.transport.NotifySocket;

/**
 * Tells systemd how the process is, where a unit of {@code Type=notify} started it, sd_notify(3); elsewhere nothing
 * happens. What cannot be told is a warning, the first time: the process does its work all the same.
 *
 * <p>Thread contract: any thread.
 */
public final class Systemd {
    private static final Logger LOG = LoggerFactory.getLogger(Systemd.class);
    /** Beyond the time that a process gives itself for its end. */
    private static final Duration MARGIN = Duration.ofSeconds(30);
    /** Characters. */
    private static final int MAX_STATUS = 300;

    private final @Nullable NotifySocket socket;
    private final @Nullable Duration beat;
    private volatile boolean isReady;
    private volatile boolean warned;

    private Systemd(@Nullable NotifySocket socket, @Nullable Duration beat) {
        this.socket = socket;
        this.beat = beat;
    }

    /** Returns what this process was started by. */
    public static Systemd ofProcess() {
        return of(System.getenv(), ProcessHandle.current().pid());
    }

    static Systemd of(Map<String, String> environment, long pid) {
        String name = environment.get("NOTIFY_SOCKET");
        if (name == null || name.isEmpty()) {
            return new Systemd(null, null);
        }
        try {
            return new Systemd(new NotifySocket(name), beat(environment, pid));
        } catch (IllegalArgumentException e) {
            LOG.warn("systemd is told nothing: NOTIFY_SOCKET: {}", e.getMessage());
            return new Systemd(null, null);
        }
    }

    /** Half of the time after which the unit's watchdog takes the process for dead, sd_watchdog_enabled(3). */
    private static @Nullable Duration beat(Map<String, String> environment, long pid) {
        String us = environment.get("WATCHDOG_USEC");
        String of = environment.get("WATCHDOG_PID");
        if (us == null || of != null && !of.equals(Long.toString(pid))) {
            return null;
        }
        if (!us.matches("[1-9][0-9]{0,15}")) {
            LOG.warn(
                    "systemd's watchdog is told nothing: WATCHDOG_USEC: '{}' is no number of microseconds above 0", us);
            return null;
        }
        return Duration.ofNanos(Long.parseLong(us) * 500);
    }

    /** Says that all listeners are bound. */
    public void ready(String status) {
        isReady = true;
        tell("READY=1\nSTATUS=" + line(status));
    }

    /** Says that a reload begins, which {@link #reloaded} ends; nothing while the process starts. */
    public void reloading() {
        if (isReady) { // CLOCK_MONOTONIC is what the JVM's nanoTime reads on Linux.
            tell("RELOADING=1\nMONOTONIC_USEC=" + System.nanoTime() / 1000 + "\nSTATUS=reloading");
        }
    }

    /** Says that a reload has ended, and how: a unit that is told nothing else shows one that failed as one that is ready. */
    public void reloaded(String status) {
        if (isReady) {
            ready(status);
        }
    }

    /** Returns a text as one line that systemctl shows whole. */
    private static String line(String text) {
        String line = text.replaceAll("\\s*\\R\\s*", "; ");
        return line.length() <= MAX_STATUS ? line : line.substring(0, MAX_STATUS) + "...";
    }

    /** Says that the process ends, and takes at most so long for it; the unit's own limit may be shorter. */
    public void stopping(Duration within) {
        tell("STOPPING=1\nSTATUS=stopping\nEXTEND_TIMEOUT_USEC="
                + within.plus(MARGIN).toMillis() + "000");
    }

    /** Says that the process lives. */
    public void alive() {
        tell("WATCHDOG=1");
    }

    /** Returns after which time {@link #alive} is due again; null = nobody watches. */
    public @Nullable Duration watchdogInterval() {
        return beat;
    }

    private void tell(String state) {
        NotifySocket told = socket;
        if (told == null) {
            return;
        }
        try {
            told.send(state);
        } catch (IOException e) {
            if (!warned) {
                warned = true;
                LOG.warn("systemd does not hear of this process: {}", e.getMessage());
            }
        }
    }
}
