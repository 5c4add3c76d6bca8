package org.tamanoir.node.cli;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.encoder.PatternLayoutEncoder;
import ch.qos.logback.classic.spi.Configurator;
import ch.qos.logback.classic.spi.ConfiguratorRank;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.turbo.TurboFilter;
import ch.qos.logback.core.ConsoleAppender;
import ch.qos.logback.core.spi.ContextAwareBase;
import ch.qos.logback.core.spi.FilterReply;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;
import org.slf4j.Marker;

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

    /**
     * Vert.x reports here each client that leaves before its request is whole, as an error, and what the handlers of
     * errors of each server here log themselves.
     */
    private static final String REQUESTS = "io.vertx.ext.web.RoutingContext";

    /**
     * JGroups looks here, for each protocol and kind of address, for one that is not loopback, and warns 18 times at a
     * start where there is none; addresses that it is to bind are always given.
     */
    private static final String GROUP_ADDRESSES = "org.jgroups.stack.Configurator";

    /** Netty warns here at each start of a host without a network card; the number that it wants names no channel of ours. */
    private static final String CARDS = "io.netty.util.internal.MacAddressUtil";

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
        encoder.setCharset(StandardCharsets.UTF_8); // Whatever the locale says.
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
        for (String repeated : List.of(CONNECTIONS, REQUESTS)) {
            context.getLogger(repeated).setLevel(verbose ? Level.WARN : Level.OFF);
        }
        for (String absent : List.of(GROUP_ADDRESSES, CARDS)) {
            context.getLogger(absent).setLevel(verbose ? Level.WARN : Level.ERROR);
        }
        context.getLogger("org.tamanoir").setLevel(verbose ? Level.DEBUG : Level.INFO);
        return ExecutionStatus.DO_NOT_INVOKE_NEXT_IF_ANY;
    }

    /** Runs code, and keeps all that the process would log meanwhile from the log, whoever set that up. */
    public static <T> T silently(Callable<T> code) throws Exception {
        LoggerContext context = (LoggerContext) LoggerFactory.getILoggerFactory();
        TurboFilter silence = new Silence();
        context.addTurboFilter(silence);
        try {
            return code.call();
        } finally {
            context.getTurboFilterList().remove(silence);
        }
    }

    private static final class Silence extends TurboFilter {
        @Override
        public FilterReply decide(
                @Nullable Marker marker,
                Logger logger,
                Level level,
                @Nullable String format,
                Object @Nullable [] values,
                @Nullable Throwable thrown) {
            return FilterReply.DENY;
        }
    }
}
