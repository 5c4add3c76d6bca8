package org.tamanoir.node.run;

import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.node.cli.Systemd;

/**
 * Tells systemd's watchdog that the node lives, while all of its core threads come round. Of a node that lost one, or
 * that hangs, systemd hears nothing any more, and starts it anew.
 *
 * <p>Thread contract: a thread of its own, to the end of the process.
 */
final class Heartbeat implements Runnable {
    private static final Logger LOG = LoggerFactory.getLogger(Heartbeat.class);

    private final Runnable alive;
    private final Duration pause;
    private final Supplier<List<String>> problems;
    private boolean isSilent;

    /** @param problems what is wrong with the node, a line each */
    Heartbeat(Runnable alive, Duration pause, Supplier<List<String>> problems) {
        this.alive = alive;
        this.pause = pause;
        this.problems = problems;
    }

    /** Begins to tell systemd, if it watches. */
    static void start(Systemd systemd, Supplier<List<String>> problems) {
        Duration pause = systemd.watchdogInterval();
        if (pause != null) {
            Thread thread = new Thread(new Heartbeat(systemd::alive, pause, problems), "heartbeat");
            thread.setDaemon(true);
            thread.start();
        }
    }

    @Override
    public void run() {
        while (true) {
            try {
                beat();
            } catch (RuntimeException e) {
                LOG.error("systemd is not told how the node is this time: {}", e.toString());
            } catch (OutOfMemoryError e) {
                // The next beat finds whether the node lives on.
            }
            try {
                Thread.sleep(pause.toMillis());
            } catch (InterruptedException e) {
                // A service's doing: the node interrupts nobody here.
            }
        }
    }

    void beat() {
        List<String> wrong = problems.get();
        if (wrong.isEmpty()) {
            alive.run();
        } else if (!isSilent) {
            LOG.error("systemd is not told that the node lives, so that it starts it anew: {}", wrong.get(0));
        }
        isSilent = !wrong.isEmpty();
    }
}
