package org.tamanoir.node.cli;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.Configurator.ExecutionStatus;
import ch.qos.logback.classic.util.LogbackMDCAdapter;
import ch.qos.logback.core.ConsoleAppender;
import java.io.ByteArrayOutputStream;
import java.io.PrintWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;
import org.tamanoir.node.Main;

class LoggingTest {
    private final LoggerContext context = new LoggerContext();
    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

    @AfterEach
    void stop() {
        context.stop();
        System.clearProperty(Logging.VERBOSE);
    }

    private void configure() {
        context.setMDCAdapter(new LogbackMDCAdapter()); // as SLF4J gives one to the context of a process
        assertThat(new Logging().configure(context)).isEqualTo(ExecutionStatus.DO_NOT_INVOKE_NEXT_IF_ANY);
        LimitedLog limited =
                (LimitedLog) context.getLogger("ROOT").iteratorForAppenders().next();
        ConsoleAppender<?> appender = (ConsoleAppender<?>) limited.log();
        assertThat(appender.getTarget()).isEqualTo("System.err");
        appender.setOutputStream(bytes);
    }

    private String text() {
        return bytes.toString(StandardCharsets.UTF_8);
    }

    @Test
    void eventsAreOneLineWithTheThreadsName() {
        configure();
        context.getLogger("org.tamanoir.ee.Demultiplexer").info("one", new IllegalStateException("why"));
        context.getLogger("org.tamanoir.ee.Demultiplexer").debug("two");
        context.getLogger("io.netty.channel").info("three");
        context.getLogger("io.netty.channel").warn("four");
        context.getLogger("io.vertx.core.net.impl.VertxConnection").error(null, new java.io.IOException("reset"));
        context.getLogger("io.vertx.ext.web.RoutingContext").error("Unhandled exception in router");
        context.getLogger("org.jgroups.stack.Configurator").warn("no address but loopback");
        context.getLogger("io.netty.util.internal.MacAddressUtil").warn("no usable hardware address");
        assertThat(text().lines())
                .satisfiesExactly(
                        line -> assertThat(line)
                                .matches("[\\d:.]+ INFO  \\["
                                        + Thread.currentThread().getName() + "\\] Demultiplexer: one"),
                        line -> assertThat(line).endsWith("four"));
    }

    @Test
    void linesThatNoStrangerCanCauseAreAllWritten() {
        configure();
        for (int i = 0; i < 200; i++) {
            context.getLogger("org.tamanoir.node").info("by a stranger: {}", i);
            context.getLogger("org.tamanoir.node").info(LogMarkers.UNLIMITED, "by an operator: {}", i);
        }
        assertThat(text().lines().filter(line -> line.contains("by an operator")))
                .hasSize(200);
        assertThat(text()).doesNotContain("by a stranger: 199");
    }

    @Test
    void verboseAddsDetailsAndStackTraces() {
        PrintWriter nowhere = new PrintWriter(Writer.nullWriter());
        Main.run(nowhere, nowhere, "-v", "node", "--validate");
        configure();
        context.getLogger("org.tamanoir").debug("one", new IllegalStateException("why"));
        assertThat(context.getLogger("io.netty").getEffectiveLevel()).isEqualTo(Level.WARN);
        assertThat(text()).contains("one", "IllegalStateException: why", "\tat ");
    }

    @Test
    void aFileOfTheOperatorsOwnTakesItsPlace() {
        System.setProperty("logback.configurationFile", "/nowhere/logback.xml");
        try {
            assertThat(new Logging().configure(context)).isEqualTo(ExecutionStatus.INVOKE_NEXT_IF_ANY);
        } finally {
            System.clearProperty("logback.configurationFile");
        }
    }

    @Test
    void theFirstLoggerSetsTheLogUp() {
        assertThat(LoggerFactory.getLogger("org.tamanoir.node").isInfoEnabled()).isTrue();
        assertThat(LoggerFactory.getLogger("io.netty").isInfoEnabled()).isFalse();
    }
}
