package org.tamanoir.node.cli;

import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.LoggingEvent;
import ch.qos.logback.core.Appender;
import ch.qos.logback.core.UnsynchronizedAppenderBase;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Marker;
import org.tamanoir.manager.KindLimiter;

/**
 * Bounds how many lines of each kind the log gets: strangers cause some of them, with every connection they open. All
 * lines of the process come through here. A kind is a logger, a level and a text with its places still open, together
 * with those of its values that are constants, as a drop's reason is; so the number of kinds is bounded by the program,
 * whatever peers send. A line that came too often is followed, within a second, by one that says how many more there
 * were. Lines marked {@link LogMarkers#UNLIMITED} are all written.
 *
 * <p>Thread contract: any thread. What is left out costs no formatting but for the first of each second.
 */
final class LimitedLog extends UnsynchronizedAppenderBase<ILoggingEvent> {
    /** Lines of one kind at once; more than a start or an operator's command gives. */
    private static final int BURST = 50;
    /** Libraries put values into texts: what they say beyond this shares one bound. */
    private static final int MAX_KINDS = 512;

    /** Between looks at what was left out, while there is something. */
    private static final long LOOK_MS = KindLimiter.INTERVAL.toMillis() / 4;

    private final Appender<ILoggingEvent> log;
    private final KindLimiter<Kind, Line> limiter = new KindLimiter<>(BURST, MAX_KINDS, System::nanoTime);
    private final AtomicBoolean summaryIsDue = new AtomicBoolean();

    /** Writes to this appender, which has been started. */
    LimitedLog(Appender<ILoggingEvent> log) {
        this.log = log;
    }

    /** Returns where lines go. */
    Appender<ILoggingEvent> log() {
        return log;
    }

    private record Kind(String logger, int level, @Nullable String text, List<Object> constants) {
        static Kind of(ILoggingEvent event) {
            List<Object> constants = List.of();
            Object[] values = event.getArgumentArray();
            for (Object value : values == null ? new Object[0] : values) {
                if (value instanceof Enum) {
                    constants = new ArrayList<>(constants);
                    constants.add(value);
                }
            }
            return new Kind(event.getLoggerName(), event.getLevel().toInt(), event.getMessage(), constants);
        }
    }

    /** One of those that were left out, as it would have been. */
    private record Line(ILoggingEvent event, String text, String thread, Instant time) {
        static Line of(ILoggingEvent event) {
            return new Line(event, event.getFormattedMessage(), event.getThreadName(), event.getInstant());
        }
    }

    @Override
    protected void append(ILoggingEvent event) {
        if (isUnlimited(event) || limiter.admits(Kind.of(event), () -> Line.of(event))) {
            log.doAppend(event);
        } else if (!summaryIsDue.get() && summaryIsDue.compareAndSet(false, true)) {
            schedule();
        }
    }

    private static boolean isUnlimited(ILoggingEvent event) {
        List<Marker> markers = event.getMarkerList();
        return markers != null && markers.contains(LogMarkers.UNLIMITED);
    }

    private void schedule() {
        boolean comes = false;
        try {
            ScheduledExecutorService timer = getContext().getScheduledExecutorService();
            timer.schedule(this::summarise, LOOK_MS, TimeUnit.MILLISECONDS);
            comes = true;
        } finally {
            if (!comes) {
                summaryIsDue.set(false); // The next line that is left out tries again.
            }
        }
    }

    private void summarise() {
        summaryIsDue.set(false);
        for (KindLimiter.LeftOut<Line> leftOut : limiter.due()) {
            Line first = leftOut.sample();
            LoggingEvent summary = new LoggingEvent();
            summary.setLoggerContext((LoggerContext) getContext());
            summary.setLoggerName(first.event().getLoggerName());
            summary.setLevel(first.event().getLevel());
            summary.setThreadName(first.thread());
            summary.setInstant(first.time());
            summary.setMessage(leftOut.say(first.text()));
            log.doAppend(summary);
        }
        if (limiter.isPending() && summaryIsDue.compareAndSet(false, true)) {
            schedule();
        }
    }
}
