package org.tamanoir.node.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.tamanoir.anep.Packet;
import org.tamanoir.node.Main;
import org.tamanoir.node.cli.ExitCode;
import org.tamanoir.service.ControlHost;
import org.tamanoir.service.ControlledBy;
import org.tamanoir.service.Service;
import org.tamanoir.service.ServiceConfig;
import org.tamanoir.service.ServiceControl;
import org.tamanoir.service.Verdict;

/** {@code ctl morph} against a real node, with a control that shows what it was told. */
@Tag("once")
@Timeout(120)
public class CtlMorphTest {
    @TempDir
    Path folder;

    private LiveNode node;

    /** Shows a plan, and the operation that came last. */
    public static final class Knob implements ServiceControl {
        private final Map<String, Object> view = new LinkedHashMap<>();

        @Override
        public void init(ServiceConfig config, ControlHost host) {
            String plan = config.text("plan", "none");
            if (plan.equals("missing.yaml")) {
                throw new IllegalArgumentException("missing.yaml: there is no such file: write one");
            }
            view.put("plan", Map.of("handlers", Map.of("late", Map.of("filter", "delay > 15", "then", "out"))));
            view.put(
                    "handlers",
                    List.of(
                            Map.of("name", "late", "in", 17),
                            new LinkedHashMap<>(Map.of("name", "metric", "ports", List.of("out", "copies")))));
            view.put("conservation", new LinkedHashMap<>(Map.of("in", 17)));
            view.put("formats", List.of());
        }

        @Override
        public synchronized Map<String, Object> view() {
            return new LinkedHashMap<>(view);
        }

        @Override
        public synchronized Map<String, Object> change(String operation, Map<String, Object> arguments) {
            if (operation.equals("remove")) {
                throw new IllegalArgumentException(
                        "handler 'metric': two others send to it\nhandler 'metric': it holds");
            }
            view.put("told", operation + " " + new java.util.TreeMap<>(arguments));
            return Map.of("done", operation);
        }
    }

    /** Has a control. */
    @ControlledBy(Knob.class)
    public static final class Told extends Service {
        @Override
        public Verdict process(Packet packet) {
            return Verdict.FORWARD;
        }
    }

    private static String services(String plan) {
        return "services: [{name: flights, class: " + Told.class.getName() + ", config: {plan: " + plan + "}}]\n";
    }

    @BeforeEach
    void start() throws Exception {
        node = LiveNode.start(folder.resolve("node"), services("flights.yaml"));
    }

    @AfterEach
    void stop() {
        node.close();
    }

    private String file(String text) throws Exception {
        return Files.writeString(folder.resolve("file.yaml"), text).toString();
    }

    private String told() {
        return node.ctl(ExitCode.OK, "morph", "show", "flights")
                .lines()
                .filter(line -> line.startsWith("told: "))
                .findFirst()
                .orElse("nothing");
    }

    @Test
    void theListHasServicesWithAControlAlone() {
        assertThat(node.ctl(ExitCode.OK, "morph").lines().map(line -> line.split(" ")[0]))
                .containsExactly("SERVICE", "org.tamanoir.services.flights");
    }

    @Test
    void whatItShowsIsPrintedFieldByField() {
        assertThat(node.ctl(ExitCode.OK, "morph", "show", "flights").lines().map(String::stripTrailing))
                .contains(
                        "plan:",
                        "  handlers:",
                        "    late:",
                        "      filter: \"delay > 15\"",
                        "handlers:",
                        "conservation: in 17",
                        "formats: -")
                .anyMatch(line -> line.matches("  .*late.*"))
                .anyMatch(line -> line.matches("  .*metric.*out, copies.*|  .*out, copies.*metric.*"));
    }

    @Test
    void aPlanIsSentAsATree() throws Exception {
        String plan =
                file("contexts: {work: {ring: 1MiB, share: 0.5}}\nhandlers: {a: {limit: 7, text: '7', on: true}}\n");
        assertThat(node.ctl(ExitCode.OK, "morph", "apply", "flights", plan)).startsWith("done: apply");
        assertThat(told())
                .isEqualTo("told: apply {plan={contexts={work={ring=1MiB, share=0.5}}, "
                        + "handlers={a={limit=7, text=7, on=true}}}}");
        node.ctl(ExitCode.OK, "morph", "check", "flights", plan);
        assertThat(told()).startsWith("told: check {plan={");
    }

    @Test
    void handlersAreChangedOneByOne() throws Exception {
        node.ctl(ExitCode.OK, "morph", "set", "flights", "late", "limit=20", "window=5s");
        assertThat(told()).isEqualTo("told: set {handler=late, settings={limit=20, window=5s}}");
        node.ctl(ExitCode.OK, "morph", "insert", "flights", "new", file("nothing: {}"), "--after", "late");
        assertThat(told()).isEqualTo("told: insert {after=late, definition={nothing={}}, handler=new}");
        node.ctl(ExitCode.OK, "morph", "replace", "flights", "late", file("filter: 'a > 1'"));
        assertThat(told()).isEqualTo("told: replace {definition={filter=a > 1}, handler=late}");
    }

    @Test
    void aRefusalIsALineForEachThingThatIsWrong() {
        assertThat(node.ctl(ExitCode.FAILED, "morph", "remove", "flights", "metric"))
                .contains("handler 'metric': two others send to it", "handler 'metric': it holds");
    }

    @Test
    void aFileThatIsNoPlanIsRefusedWithItsPlace() throws Exception {
        assertThat(node.ctl(ExitCode.USAGE, "morph", "check", "flights", file("a: 1\nb: 2\na: 3\n")))
                .contains(":3: a stands here a second time; remove one");
        assertThat(node.ctl(ExitCode.USAGE, "morph", "check", "flights", file("- 1\n")))
                .contains("a mapping is wanted");
        assertThat(node.ctl(ExitCode.USAGE, "morph", "check", "flights", "no-such-file"))
                .contains("no-such-file: cannot be read: there is no such file");
    }

    @Test
    void validatingAsksTheControls() throws Exception {
        StringWriter err = new StringWriter();
        PrintWriter ignored = new PrintWriter(new StringWriter());
        assertThat(Main.run(
                        ignored,
                        new PrintWriter(err, true),
                        "node",
                        "--validate",
                        "--config",
                        file(services("missing.yaml"))))
                .isEqualTo(ExitCode.USAGE);
        assertThat(err.toString().strip())
                .isEqualTo("service org.tamanoir.services.flights: missing.yaml: there is no such file: write one");
    }
}
