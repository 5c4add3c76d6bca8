package org.tamanoir.node.cli;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.encoder.PatternLayoutEncoder;
import ch.qos.logback.classic.spi.Configurator;
import ch.qos.logback.classic.spi.ConfiguratorRank;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.ConsoleAppender;
import ch.qos.logback.core.spi.ContextAwareBase;

/**
 * Sets the log up when the first logger is made: one line per event on standard error, with the thread's name;
 * information of the node, warnings of libraries. In code because it is ready in half the time that a
 * logback.xml takes (0.17 s in place of 0.33 s on two shared cores), which every start of a node waits for. Lines of
 * one kind are limited, see {@link LimitedLog}.
 * {@code -Dlogback.configurationFile} takes its place.
 */
@ConfiguratorRank(ConfiguratorRank.CUSTOM_HIGH_PRIORITY)
public final class Logging extends ContextAwareBase implements Configurator {
    private static final String OWN_FILE = "logback.configurationFile";

    /** Vert.x reports each connection that a client aborts here, as an error without a word of text. */
    private static final String CONNECTIONS = "io.vertx.core.net.impl.VertxConnection";

    /** Set before the first logger is made: details, and stack traces of exceptions. */
    public static final String VERBOSE = "tamanoir.log.verbose";

    /** Made by Logback. */
    public Logging() {}

    @Override
    public ExecutionStatus configure(LoggerContext context) {
        if (System.getProperty(OWN_FILE) != null) {
            return ExecutionStatus.INVOKE_NEXT_IF_ANY;
        }
        boolean verbose = Boolean.getBoolean(VERBOSE);
        PatternLayoutEncoder encoder = new PatternLayoutEncoder();
        encoder.setContext(context);
        encoder.setPattern("%d{HH:mm:ss.SSS} %-5level [%thread] %logger{0}: %msg%n" + (verbose ? "%ex" : "%nopex"));
        encoder.start();
        ConsoleAppender<ILoggingEvent> appender = new ConsoleAppender<>();
        appender.setContext(context);
        appender.setName("stderr");
        appender.setTarget("System.err");
        appender.setEncoder(encoder);
        appender.start();
        Logger root = context.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
        root.setLevel(Level.WARN);
        LimitedLog limited = new LimitedLog(appender);
        limited.setContext(context);
        limited.setName("limited");
        limited.start();
        root.addAppender(limited);
        context.getLogger(CONNECTIONS).setLevel(verbose ? Level.WARN : Level.OFF);
        context.getLogger("org.tamanoir").setLevel(verbose ? Level.DEBUG : Level.INFO);
        return ExecutionStatus.DO_NOT_INVOKE_NEXT_IF_ANY;
    }
}
