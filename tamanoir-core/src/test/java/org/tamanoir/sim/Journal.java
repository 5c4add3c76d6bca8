package org.tamanoir.sim;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.ThrowableProxyUtil;
import ch.qos.logback.core.AppenderBase;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.slf4j.LoggerFactory;

/** Keeps what nodes of simulations say of faults of their own, and prints nothing of the rest. */
final class Journal extends AppenderBase<ILoggingEvent> {
    private static final Map<Simulation, List<String>> FAULTS = new ConcurrentHashMap<>();

    private Journal() {}

    /** Takes over the log of the node while simulations run; returns what gives it back. */
    static Runnable begin() {
        Logger logger = (Logger) LoggerFactory.getLogger("org.tamanoir");
        Level before = logger.getLevel();
        Journal journal = new Journal();
        journal.setContext(logger.getLoggerContext());
        journal.start();
        logger.setLevel(Simulation.TRACE ? Level.INFO : Level.ERROR);
        logger.setAdditive(Simulation.TRACE);
        logger.addAppender(journal);
        return () -> {
            logger.detachAppender(journal);
            logger.setLevel(before);
            logger.setAdditive(true);
        };
    }

    static void listen(Simulation simulation) {
        FAULTS.put(simulation, new CopyOnWriteArrayList<>());
    }

    @Override
    protected void append(ILoggingEvent event) {
        Simulation simulation = Simulation.ofThread(Thread.currentThread());
        List<String> faults = simulation == null ? null : FAULTS.get(simulation);
        if (faults != null && event.getLevel() == Level.ERROR) {
            faults.add(event.getFormattedMessage()
                    + (event.getThrowableProxy() == null
                            ? ""
                            : "\n" + ThrowableProxyUtil.asString(event.getThrowableProxy())));
        }
    }

    static void check(Simulation simulation) {
        List<String> faults = FAULTS.remove(simulation);
        if (faults != null && !faults.isEmpty()) {
            throw new AssertionError("the node says: " + String.join("\n", faults));
        }
    }

    static void forget(Simulation simulation) {
        FAULTS.remove(simulation);
    }
}
