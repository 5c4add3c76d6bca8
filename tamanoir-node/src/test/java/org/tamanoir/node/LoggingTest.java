package org.tamanoir.node;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.joran.JoranConfigurator;
import ch.qos.logback.core.joran.spi.JoranException;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.Writer;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class LoggingTest {
    private static final URL CONFIGURATION = Objects.requireNonNull(Main.class.getResource("/logback.xml"));

    private final LoggerContext context = new LoggerContext();
    private final ByteArrayOutputStream octets = new ByteArrayOutputStream();
    private final PrintStream before = System.err;

    @BeforeEach
    void captureStandardError() {
        System.setErr(new PrintStream(octets, true, StandardCharsets.UTF_8));
    }

    @AfterEach
    void releaseStandardError() {
        context.stop();
        System.setErr(before);
        System.clearProperty("tamanoir.log.level");
        System.clearProperty("tamanoir.log.exceptions");
    }

    private void configure() throws JoranException {
        JoranConfigurator configurator = new JoranConfigurator();
        configurator.setContext(context);
        configurator.doConfigure(CONFIGURATION);
    }

    private String text() {
        return octets.toString(StandardCharsets.UTF_8);
    }

    @Test
    void eventsAreOneLineWithTheThreadsName() throws JoranException {
        configure();
        context.getLogger("org.tamanoir.ee.Demultiplexer").info("one", new IllegalStateException("why"));
        context.getLogger("org.tamanoir.ee.Demultiplexer").debug("two");
        context.getLogger("io.netty.channel").info("three");
        context.getLogger("io.netty.channel").warn("four");
        assertThat(text().lines())
                .satisfiesExactly(
                        line -> assertThat(line)
                                .matches("[\\d:.]+ INFO  \\["
                                        + Thread.currentThread().getName() + "\\] Demultiplexer: one"),
                        line -> assertThat(line).endsWith("four"));
    }

    @Test
    void verboseAddsDetailsAndStackTraces() throws JoranException {
        PrintWriter nowhere = new PrintWriter(Writer.nullWriter());
        Main.run(nowhere, nowhere, "-v", "node", "--validate");
        configure();
        context.getLogger("org.tamanoir").debug("one", new IllegalStateException("why"));
        assertThat(context.getLogger("io.netty").getEffectiveLevel()).isEqualTo(Level.WARN);
        assertThat(text()).contains("one", "IllegalStateException: why", "\tat ");
    }
}
